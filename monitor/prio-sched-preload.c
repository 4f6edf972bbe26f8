/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-sched-preload.c: watches the main loop of a program that does not use the library
 *
 * prio-sched-monitor loads this module into the program and its children (LD_PRELOAD).  The module replaces poll (),
 * which GLib calls in each iteration of a main loop.  When the default main loop runs, it loads the library, and
 * creates a scheduler, which reports tasks and sources of more than PRIO_SCHED_LONG_TASKS milliseconds.  In a program
 * without GLib or a main loop, the module only passes the calls on.
 */

/* For RTLD_NEXT and ppoll (). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

/* With _FORTIFY_SOURCE, the C library defines poll () and ppoll () inline, and Clang then ignores EXPORT below. */
#undef _FORTIFY_SOURCE

#include <dlfcn.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__ ((visibility ("default")))

typedef int (*Poll) (struct pollfd *, nfds_t, int);
typedef int (*PPoll) (struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);

static Poll next_poll;
static PPoll next_ppoll;
/* The process that has loaded this module.  A forked child must not load the library before exec (). */
static pid_t pid;
static int is_over = 1;

static void
find_next (void)
{
  next_poll = (Poll) dlsym (RTLD_NEXT, "poll");
  next_ppoll = (PPoll) dlsym (RTLD_NEXT, "ppoll");
}

__attribute__ ((constructor)) static void
begin (void)
{
  const char *threshold = getenv ("PRIO_SCHED_LONG_TASKS");

  find_next ();
  pid = getpid ();
  is_over = threshold == NULL || *threshold == '\0' || strcmp (threshold, "0") == 0;
}

/* Makes the library watch the default main context, if this thread iterates it.  Returns whether this thread does. */
static int
watch (void *glib)
{
  void *(*get_default_context) (void) = (void *(*) (void)) dlsym (glib, "g_main_context_default");
  int (*is_owner) (void *) = (int (*) (void *)) dlsym (glib, "g_main_context_is_owner");
  void *(*get_default) (void), *library;

  if (get_default_context == NULL || is_owner == NULL || !is_owner (get_default_context ()))
    return 0;

  library = dlopen (PRIO_SONAME, RTLD_NOW);
  if (library == NULL)
    library = dlopen (PRIO_LIBDIR "/" PRIO_SONAME, RTLD_NOW);
  get_default = library != NULL ? (void *(*) (void)) dlsym (library, "prio_scheduler_get_default") : NULL;
  /* Set now, because the call below may poll. */
  __atomic_store_n (&is_over, 1, __ATOMIC_RELAXED);
  if (get_default != NULL)
    get_default ();
  return 1;
}

static void
look (void)
{
  void *glib;

  if (getpid () != pid)
    return;
  glib = dlopen ("libglib-2.0.so.0", RTLD_LAZY | RTLD_NOLOAD);
  if (glib == NULL)
    return;
  if (!watch (glib))
    dlclose (glib);
}

EXPORT int
poll (struct pollfd *fds, nfds_t n, int timeout)
{
  if (!__atomic_load_n (&is_over, __ATOMIC_RELAXED))
    look ();
  /* Another library may poll before this module is initialized. */
  if (next_poll == NULL)
    find_next ();
  return next_poll (fds, n, timeout);
}

EXPORT int
ppoll (struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *signals)
{
  if (!__atomic_load_n (&is_over, __ATOMIC_RELAXED))
    look ();
  if (next_ppoll == NULL)
    find_next ();
  return next_ppoll (fds, n, timeout, signals);
}
