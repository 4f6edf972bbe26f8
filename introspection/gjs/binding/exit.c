/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exit.c: ends a program that was asked to exit within a task
 *
 * `System.exit ()` of GJS stops all running functions.  If GLib has called them as a closure, GJS then exits.  If GLib has
 * called a property's setter, GJS does not exit: the main loop continues, but no promise ever settles again.  So this file
 * asks GJS for the exit status and exits.  The only function that returns the status is gjs_context_eval (), which then
 * evaluates nothing.
 */

#define _GNU_SOURCE

#include "prio-sched-gjs.h"

#include <dlfcn.h>
#include <stdlib.h>

/* The value of GJS_ERROR_SYSTEM_EXIT, a code of GJS's errors. */
#define SYSTEM_EXIT 1

/**
 * prio_sched_gjs_exit:
 *
 * Ends the program, with the status that System.exit () got, if GJS was asked to exit, and otherwise does nothing.
 *
 * Call this function on the thread of the interpreter, after a function has stopped without an exception: asking GJS takes a while.
 */
void
prio_sched_gjs_exit (void)
{
  gpointer (*get_current) (void) = dlsym (RTLD_DEFAULT, "gjs_context_get_current");
  gint (*eval) (gpointer, const char *, gssize, const char *, gint *, GError **) = dlsym (RTLD_DEFAULT, "gjs_context_eval");
  g_autoptr (GError) error = NULL;
  gint status = 0;

  if (get_current == NULL || eval == NULL || get_current () == NULL)
    return;
  eval (get_current (), "0", -1, "PrioSched", &status, &error);
  if (g_error_matches (error, g_quark_from_static_string ("gjs-error-quark"), SYSTEM_EXIT))
    exit (status);
}
