/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* turns.c: gives the other threads of Python their turns */

#include "native.h"

/* A thread that waits for the interpreter's lock requests the lock if that has not been free for 5 ms, and then gets it.  The main
 * loop releases the lock between two batches of tasks, each a millisecond at most, and takes it again at once.  That wakes the
 * thread up, but the thread finds the lock taken and waits for another 5 ms.  So the lock stays free here long enough for
 * the thread to take it, every 5 ms, as often as Python itself would switch threads. */
#define SWITCH_INTERVAL 5000 /* microseconds */
#define LONG_ENOUGH 100 /* microseconds for which the lock has to be free */

/* When other threads had the last chance to take the lock from this thread, and when this thread last ran tasks. */
static _Thread_local gint64 was_free, has_run;

static gboolean
has_others (void)
{
  return PyThreadState_Next (PyInterpreterState_ThreadHead (PyInterpreterState_Get ())) != NULL;
}

void
prio_turn_begin (void)
{
  gint64 now;

  if (!has_others ())
    return;
  now = g_get_monotonic_time ();
  if (now - has_run >= LONG_ENOUGH)
    was_free = now;
}

void
prio_turn_end (void)
{
  if (!has_others ())
    return;
  has_run = g_get_monotonic_time ();
  if (has_run - was_free < SWITCH_INTERVAL)
    return;

  Py_BEGIN_ALLOW_THREADS
  g_usleep (1); /* this takes about 50 µs */
  Py_END_ALLOW_THREADS
  was_free = has_run = g_get_monotonic_time ();
}
