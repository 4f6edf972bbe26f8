/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-input.c: checks in a dispatch whether another source has input
 *
 * The check only queries and polls: a nested iteration would call the functions of other sources, and make GLib forget
 * the sources that it still has to dispatch in the current iteration. */

#include "config.h"

#include "policy/prio-input-private.h"

/* Up to this many file descriptors are polled without an allocation. */
#define FEW_FDS 64

/* Returns whether one of @fds is ready, other than GLib's wakeup.  The wakeup is among @fds if @priority is 0 or
 * greater, but GLib does not report which one it is.  Until the wakeup is known, this function wakes the context: if
 * exactly one file descriptor is ready then, that is the wakeup. */
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

/* Returns whether a source of @priority or above in @context has input.  The calling thread owns the context.  The
 * query changes the context's timeout, which the next iteration sets again. */
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

/* Attaches a source to @context for a moment, and returns its id.  GLib does not report new sources, but numbers them
 * in order, so the difference of two such ids shows how many were attached in between. */
guint
prio_input_next_source (GMainContext *context)
{
  static GSourceFuncs funcs;
  g_autoptr (GSource) source = g_source_new (&funcs, sizeof *source);
  guint id = g_source_attach (source, context);

  g_source_destroy (source);
  return id;
}
