/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-headers.c: the public headers and their macros compile alone, and as strict C99, for a program that sets its range of versions */

#define PRIO_VERSION_MIN_REQUIRED PRIO_VERSION_1_0
#define PRIO_VERSION_MAX_ALLOWED PRIO_VERSION_1_0

#include <prio-sched-bindings.h>
#ifdef WITH_REACT
#include <prio-sched-react.h>
#endif
#include <prio-sched-feed.h>
#include <prio-sched-testing.h>
#include <prio-sched-threads.h>
#include <prio-sched-watch.h>
#include <prio-sched.h>

#if PRIO_VERSION_MIN_REQUIRED > PRIO_VERSION_MAX_ALLOWED
#error "The versions are the same"
#endif

int
main (void)
{
  const PrioTaskOptions *none = &PRIO_TASK_OPTIONS (), *options = &PRIO_TASK_OPTIONS (.delay = 500, .name = "save");
  const PrioYieldOptions *yield_options = &PRIO_YIELD_OPTIONS (.flags = PRIO_YIELD_DROP_SIGNAL);

  if (none->size != sizeof *none || none->delay != 0 || options->size != sizeof *options || options->delay != 500 ||
      yield_options->size != sizeof *yield_options || yield_options->flags != PRIO_YIELD_DROP_SIGNAL)
    return 1;
  return PRIO_CHECK_VERSION (1, 0, 0) && !PRIO_CHECK_VERSION (99, 0, 0) ? 0 : 1;
}
