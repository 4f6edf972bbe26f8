/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-headers-cxx.cpp: the public header and its macros, in C++ */

#include <prio-sched.h>

#if __cplusplus >= 202002L
/* Takes options, which live until the call returns. */
static bool
takes_options (const PrioTaskOptions *none, const PrioTaskOptions *options, const PrioYieldOptions *yield_options)
{
  return none->size == sizeof *none && none->name == nullptr &&
         options->size == sizeof *options && options->delay == 500 && g_str_equal (options->name, "save") &&
         yield_options->size == sizeof *yield_options && yield_options->flags == PRIO_YIELD_DROP_SIGNAL;
}
#endif

int
main (void)
{
#if __cplusplus >= 202002L
  if (!takes_options (&PRIO_TASK_OPTIONS (), &PRIO_TASK_OPTIONS (.delay = 500, .name = "save"),
                      &PRIO_YIELD_OPTIONS (.flags = PRIO_YIELD_DROP_SIGNAL)))
    return 1;
#endif
  return PRIO_CHECK_VERSION (1, 0, 0) && !PRIO_CHECK_VERSION (99, 0, 0) ? 0 : 1;
}
