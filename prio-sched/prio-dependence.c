/* prio-dependence.c: signals come, depend on others, and go
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-dependence-private.h"

#include "prio-edge-private.h"
#include "prio-hub-change-private.h"
#include "prio-pin-private.h"

/* The signal is being finalized.  What it alone kept alive goes with it. */
void
prio_hub_clear (PrioHub *hub)
{
  GSList *let_go = NULL;

  prio_lock_lock (&prio_hub_lock);

  g_assert (!hub->kept);
  if (hub->handle != NULL)
    hub->handle->hub = NULL;

  prio_edges_bridge (hub);
  while (hub->sources != NULL)
    prio_edge_free (hub->sources);

  while (hub->dependents != NULL)
    {
      PrioHub *dependent = hub->dependents->dependent;

      if (dependent->kept)
        let_go = g_slist_prepend (let_go, prio_handle_ref (dependent->handle));
      prio_edge_free (hub->dependents);
    }

  prio_lock_unlock (&prio_hub_lock);

  g_clear_pointer (&hub->handle, prio_handle_unref);
  g_clear_pointer (&hub->reason, prio_reason_unref);

  g_slist_foreach (let_go, (GFunc) (gpointer) prio_handle_reconsider, NULL);
  g_slist_free_full (let_go, (GDestroyNotify) prio_handle_unref);
}

static void
plain_hub_free (gpointer data)
{
  prio_hub_clear (data);
  g_free (data);
}

static void
plain_cancelled (GCancellable *signal G_GNUC_UNUSED, gpointer data)
{
  prio_hub_cancelled (data);
}

/* The hub of @signal, of which a plain cancellable gets one when first asked. */
PrioHub *
prio_hub_for (GCancellable *signal)
{
  PrioHub *hub;

  hub = prio_hub_find (signal);
  if (hub != NULL)
    return hub;

  hub = g_new (PrioHub, 1);
  prio_hub_init (hub, signal, FALSE, PRIO_TASK_PRIORITY_USER_VISIBLE);
  if (!g_object_replace_qdata (G_OBJECT (signal), prio_hub_quark (), NULL, hub, plain_hub_free, NULL))
    {
      g_free (hub);
      return g_object_get_qdata (G_OBJECT (signal), prio_hub_quark ());
    }

  /* One handler, however many tasks share the cancellable. */
  g_signal_connect (signal, "cancelled", G_CALLBACK (plain_cancelled), hub);
  if (g_cancellable_is_cancelled (signal))
    prio_hub_cancelled (hub);

  return hub;
}

/* The reason of the first of @hubs that is aborted, or NULL. */
static GError *
first_reason (PrioHub **hubs, gsize n_hubs)
{
  for (gsize i = 0; i < n_hubs; i++)
    {
      if (prio_hub_is_aborted (hubs[i]))
        return prio_hub_dup_reason (hubs[i]);
    }
  return NULL;
}

/* Makes @hub, which is new, depend on @sources, and its priority follow that of
 * @follow, if given: the draft's "create a dependent task signal" (§4.3).
 *
 * Whatever is aborted before the edges are there is seen afterwards, and whatever
 * is aborted later comes along them. */
void
prio_hub_depend (PrioHub *hub, GCancellable **sources, gsize n_sources, PrioHub *follow)
{
  g_autoptr (GError) reason = NULL;
  g_autofree PrioHub **hubs = g_new (PrioHub *, n_sources);

  prio_hub_reconsider_some ();

  for (gsize i = 0; i < n_sources; i++)
    {
      hubs[i] = prio_hub_for (sources[i]);
      prio_hub_undo_reset (hubs[i]);
    }

  hub->handle = prio_handle_new (hub, hub->signal);

  prio_lock_lock (&prio_hub_lock);
  hub->is_dependent = TRUE;
  prio_edges_add (hub, hubs, n_sources, PRIO_EDGE_ABORT);
  if (follow != NULL)
    {
      hub->priority = follow->priority;
      prio_edges_add (hub, &follow, 1, PRIO_EDGE_PRIORITY);
    }
  prio_lock_unlock (&prio_hub_lock);

  reason = first_reason (hubs, n_sources);
  if (reason != NULL)
    prio_hub_abort (hub, reason);
}
