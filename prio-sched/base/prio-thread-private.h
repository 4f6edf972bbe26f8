/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-thread-private.h: the library's record of a thread
 *
 * Promises: the record is a thread-local variable, which is accessed without a function call. */

#pragma once

#include <glib.h>

typedef struct
{
  /* The id of this thread, or 0 before prio_thread_get_id () is called.  An id is never reused. */
  gsize id;

  /* The owner lock that this thread has entered, or NULL (prio-owner-lock-private.h). */
  const struct _PrioOwnerLock *inside;

  /* The owner lock of the loop whose batch is the innermost on this thread, or NULL. */
  const struct _PrioOwnerLock *dispatches;

  /* The scheduling state of the code that runs on this thread (the WICG draft's "current continuation state"), or NULL.
   * The state is in the stack frame of the function that set this pointer. */
  const struct _PrioState *state;

  /* The deadline of the idle callback that runs on this thread, or NULL. */
  const struct _PrioIdleDeadline *deadline;

  /* The calls of prio_loop_flush_releases () on this thread's stack, innermost first, or NULL. */
  struct _PrioFlush *flushes;

  /* The innermost observed task that runs on this thread, or NULL (prio-observer). */
  struct _PrioObservedTask *observed;

  /* The program's name for the task that this thread posts, or NULL. */
  const char *posting_name;

  /* The innermost batch that runs on this thread, or NULL. */
  struct _PrioBatch *batch;

  /* Whether the running task runs the jobs of an interpreter: see prio_runner_set_runs_jobs ().  The library clears
   * this flag when the task's function ends, and before it calls another function. */
  gboolean runs_jobs;
} PrioThread;

/* With this TLS model an access needs no call.  The library can still be loaded with dlopen (), because glibc reserves
 * a few bytes of static TLS. */
#ifdef __GLIBC__
#define PRIO_TLS __thread __attribute__ ((tls_model ("initial-exec")))
#else
#define PRIO_TLS __thread
#endif

extern PRIO_TLS PrioThread prio_thread G_GNUC_INTERNAL;

/* An id that no thread has.  The id 0 stands for any thread that has not called prio_thread_get_id (). */
#define PRIO_NO_THREAD G_MAXSIZE

gsize prio_thread_get_id (void) G_GNUC_INTERNAL;
