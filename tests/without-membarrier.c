/* without-membarrier.c: runs a program as in a sandbox that knows no membarrier(2)
 *
 *   without-membarrier PROGRAM [ARGUMENT…]
 *
 * The home lock then has real barriers on both sides.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int
main (int argc, char **argv)
{
  struct sock_filter filter[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = { sizeof filter / sizeof *filter, filter };

  if (argc < 2)
    return 2;
  if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    {
      perror ("seccomp");
      return 2;
    }
  if (syscall (SYS_membarrier, 0, 0, 0) != -1 || errno != ENOSYS)
    {
      fputs ("membarrier() is there still\n", stderr);
      return 2;
    }

  execv (argv[1], argv + 1);
  perror (argv[1]);
  return 2;
}
