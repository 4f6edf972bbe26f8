/* prio-thread-private.h: what the library keeps per thread
 *
 * Promises: one variable, reached without a call.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

typedef struct
{
  /* The state of what is running on this thread, or NULL: the draft's "current
   * continuation state".  It points to the stack of whoever set it. */
  const struct _PrioState *state;

  /* That of the idle callback that runs on this thread, or NULL. */
  const struct _PrioIdleDeadline *deadline;

  /* Whose garbage is being released on this thread, innermost first, or NULL. */
  struct _PrioFlush *flushes;

  /* The innermost batch that runs on this thread, or NULL. */
  struct _PrioBatch *batch;
} PrioThread;

/* A library loaded by dlopen() gets its few bytes out of glibc's reserve. */
#ifdef __GLIBC__
#define PRIO_TLS __thread __attribute__ ((tls_model ("initial-exec")))
#else
#define PRIO_TLS __thread
#endif

extern PRIO_TLS PrioThread prio_thread G_GNUC_INTERNAL;
