/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* follow.c: forwards aborts and priority changes of a signal to JavaScript
 *
 * GJS 1.74 blocks all closures, including handlers, while its garbage collector sweeps, but properties can always be set.  So
 * handlers in C set properties, whose setters are functions of JavaScript.
 */

#include "prio-sched-gjs.h"

/* Sets a property of @follower.  If System.exit () has stopped the setter, so that `ended` is FALSE, ends the program. */
static void
set (gpointer follower, const char *name, guint value)
{
  gboolean ended;

  g_object_set (follower, name, value, NULL);
  g_object_get (follower, "ended", &ended, NULL);
  if (!ended)
    prio_sched_gjs_exit ();
}

static void
cancelled (GCancellable *signal G_GNUC_UNUSED, gpointer follower)
{
  set (follower, "aborted", 1);
}

static void
priority_changed (PrioTaskSignal *signal, gint previous G_GNUC_UNUSED, gpointer follower)
{
  set (follower, "priority", prio_task_signal_get_priority (signal));
}

/**
 * prio_sched_gjs_follow:
 * @signal: a signal
 * @follower: an object with three properties: `aborted` and `priority`, which are written, and `ended`, which is read: whether the setter
 *   has come to its end
 *
 * Sets a property of @follower when @signal is aborted, and when its priority changes, as long as both exist.
 */
void
prio_sched_gjs_follow (PrioTaskSignal *signal, GObject *follower)
{
  g_return_if_fail (PRIO_IS_TASK_SIGNAL (signal));
  g_return_if_fail (G_IS_OBJECT (follower));

  g_signal_connect_object (signal, "cancelled", G_CALLBACK (cancelled), follower, 0);
  g_signal_connect_object (signal, "priority-change", G_CALLBACK (priority_changed), follower, 0);
}
