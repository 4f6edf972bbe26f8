/* test-headers-cxx.cpp: the public header, in C++
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <prio-sched.h>

int
main (void)
{
  return PRIO_CHECK_VERSION (1, 0, 0) && !PRIO_CHECK_VERSION (99, 0, 0) ? 0 : 1;
}
