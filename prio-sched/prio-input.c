/* prio-input.c: whether a source that has a descriptor is ready, asked in a dispatch
 *
 * GLib is left as it is: to begin another iteration here would call other people's functions, and
 * make it forget what it has still to dispatch in this one.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-input-private.h"

/* So many file descriptors are asked without an allocation. */
#define FEW_FDS 64

/* Which of @fds have something to say but that GLib has been woken, which it is by one of
 * them, to be polled for from the priority of 0 on.  That is not known before it has been
 * seen: once in the life of a context it is woken for that. */
static gboolean
input_waits (GMainContext *context, gint64 *wakeup_fd, gint priority, GPollFD *fds, gint n_fds)
{
  gboolean finding = priority >= G_PRIORITY_DEFAULT && *wakeup_fd == -1;
  gint n_ready = 0;
  gint64 ready = -1;

  if (finding)
    g_main_context_wakeup (context);
  if (g_poll (fds, (guint) n_fds, 0) <= 0)
    return FALSE;

  for (gint i = 0; i < n_fds; i++)
    {
      if (fds[i].revents != 0 && fds[i].fd != *wakeup_fd)
        {
          ready = fds[i].fd;
          n_ready++;
        }
    }

  if (!finding)
    return n_ready > 0;
  if (n_ready == 1)
    *wakeup_fd = ready;
  return n_ready > 1;
}

/* Whether a source of @priority or above of @context, which the calling thread owns, has input.  The query changes nothing that the next
 * iteration does not set again. */
gboolean
prio_input_waits (GMainContext *context, gint64 *wakeup_fd, gint priority)
{
  GPollFD few[FEW_FDS];
  g_autofree GPollFD *many = NULL;
  gint timeout, n_fds;

  n_fds = g_main_context_query (context, priority, &timeout, few, FEW_FDS);
  if (n_fds <= FEW_FDS)
    return input_waits (context, wakeup_fd, priority, few, n_fds);

  many = g_new (GPollFD, n_fds);
  return input_waits (context, wakeup_fd, priority, many,
                      MIN (n_fds, g_main_context_query (context, priority, &timeout, many, n_fds)));
}
