/* without-membarrier.c: runs a program as in a sandbox that denies membarrier(2)
 *
 *   without-membarrier PROGRAM [ARGUMENT…]
 *
 * The biased lock then has real barriers on both sides.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "deny-membarrier.h"

int
main (int argc, char **argv)
{
  if (argc < 2 || !deny_membarrier (ENOSYS))
    return 2;

  execv (argv[1], argv + 1);
  perror (argv[1]);
  return 2;
}
