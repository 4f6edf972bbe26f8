/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-thread-private.h: the library's thread-local variable
 *
 * Promises: one variable, which is accessed without a function call.
 */

#pragma once

#include <glib.h>

typedef struct
{
  /* The id of this thread, once prio_thread_get_id () has been called.  It is never reused. */
  gsize id;

  /* The lock that this thread is inside of, or NULL (prio-owner-lock). */
  const struct _PrioOwnerLock *inside;

  /* The lock of the loop whose batch runs on this thread, innermost, or NULL. */
  const struct _PrioOwnerLock *dispatches;

  /* The scheduling state of the code that runs on this thread, or NULL: the draft's "current continuation state".
   * It points into the stack frame of the function that set it. */
  const struct _PrioState *state;

  /* The deadline of the idle callback that runs on this thread, or NULL. */
  const struct _PrioIdleDeadline *deadline;

  /* The calls of prio_loop_flush_releases () on this thread's stack, innermost first, or NULL. */
  struct _PrioFlush *flushes;

  /* The observed task that runs on this thread, innermost, or NULL (prio-observer). */
  struct _PrioObservedTask *observed;

  /* The program's name for the task that this thread posts, or NULL. */
  const char *posting_name;

  /* The innermost batch that runs on this thread, or NULL. */
  struct _PrioBatch *batch;

  /* Whether the running task runs the jobs of an interpreter.  Its binding sets it; it is cleared before other code
   * of the binding is called (prio-runner-interlude.c). */
  gboolean runs_jobs;
} PrioThread;

/* glibc reserves the few bytes that a library needs if it is loaded with dlopen (). */
#ifdef __GLIBC__
#define PRIO_TLS __thread __attribute__ ((tls_model ("initial-exec")))
#else
#define PRIO_TLS __thread
#endif

extern PRIO_TLS PrioThread prio_thread G_GNUC_INTERNAL;

/* The id of no thread. 0 stands for a thread that has not called prio_thread_get_id (). */
#define PRIO_NO_THREAD G_MAXSIZE

gsize prio_thread_get_id (void) G_GNUC_INTERNAL;
