/* prio-others.c: which of the other sources holds the loop
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "watch/sources/prio-others-private.h"

#include "base/prio-thread-private.h"
#include "watch/sources/prio-symbol-private.h"

/* How many ids of sources are looked up at a time. */
#define MAX_NEW 4096
#define MAX_OLD 256

/* What one of the other sources has instead of its callback's data. */
struct _PrioOther
{
  gint refs;       /* atomic */
  GSource *source; /* which keeps this, or did: valid in its dispatch */
  PrioLoop *loop;  /* a reference */
  const GSourceCallbackFuncs *funcs; /* its own, or NULL, */
  gpointer data;                     /* and their data */
  const char *symbol;                /* its function's name, once it has been looked up */
  gboolean is_looked_up;
  PrioOther *outer; /* while it is dispatched: what was dispatched before, */
  gint depth;       /* and g_main_depth () around its dispatch */
};

/* What this thread dispatches, innermost. */
static PRIO_TLS PrioOther *dispatched;

static gboolean
is_dispatched (PrioOther *other)
{
  PrioOther *o = dispatched;

  while (o != NULL && o != other)
    o = o->outer;
  return o != NULL;
}

/* GLib is about to dispatch the source, and has locked its context. */
static void
other_ref (gpointer data)
{
  PrioOther *other = data;

  g_atomic_int_inc (&other->refs);
  if (other->funcs != NULL)
    other->funcs->ref (other->data);
  /* A source that may recurse is measured once. */
  if (is_dispatched (other))
    return;
  other->outer = dispatched;
  other->depth = g_main_depth ();
  dispatched = other;
  prio_observed_source_begins (other->loop, other);
}

/* The source has been dispatched, or it is destroyed, or has another callback, perhaps in its own dispatch, or by another thread. */
static void
other_unref (gpointer data)
{
  PrioOther *other = data;

  if (dispatched == other && g_main_depth () == other->depth)
    {
      dispatched = other->outer;
      prio_observed_source_ended (other->loop, other);
    }
  if (other->funcs != NULL)
    other->funcs->unref (other->data);
  if (!g_atomic_int_dec_and_test (&other->refs))
    return;
  prio_loop_unref (other->loop);
  g_free (other);
}

/* GLib dispatches the source, or some code searches for one by its user data, and the context is locked. */
static void
other_get (gpointer data, GSource *source, GSourceFunc *func, gpointer *user_data)
{
  PrioOther *other = data;

  if (other->funcs != NULL)
    {
      other->funcs->get (other->data, source, func, user_data);
      return;
    }
  /* Without a callback it is not found by any user data, not even by NULL. */
  *func = NULL;
  *user_data = dispatched == other ? NULL : other;
}

static GSourceCallbackFuncs other_funcs = {
  other_ref, other_unref, other_get
};

static gboolean
never (gpointer data G_GNUC_UNUSED)
{
  return G_SOURCE_REMOVE;
}

/* As g_source_set_callback () gives to a source. */
static const GSourceCallbackFuncs *
plain_funcs (void)
{
  static GSourceFuncs source_funcs;
  static const GSourceCallbackFuncs *plain;
  const GSourceCallbackFuncs *funcs = __atomic_load_n (&plain, __ATOMIC_RELAXED);

  if (funcs == NULL)
    {
      GSource *source = g_source_new (&source_funcs, sizeof (GSource));

      g_source_set_callback (source, never, NULL, NULL);
      funcs = source->callback_funcs;
      __atomic_store_n (&plain, funcs, __ATOMIC_RELAXED);
      g_source_unref (source);
    }
  return funcs;
}

/* Whether GLib calls each source of a kind so. */
static gboolean
is_of_kind (const char *name)
{
  return g_str_has_prefix (name, "G") && g_str_has_suffix (name, "Source");
}

/* In the dispatch of its source. */
const char *
prio_other_get_name (PrioOther *other)
{
  const char *name = g_source_get_name (other->source);
  GSourceFunc func = NULL;
  gpointer data;

  if ((name != NULL && !is_of_kind (name)) || other->funcs != plain_funcs ())
    return name;
  if (!other->is_looked_up)
    {
      other->funcs->get (other->data, other->source, &func, &data);
      other->symbol = prio_symbol_get_name ((gconstpointer) func);
      other->is_looked_up = TRUE;
    }
  return other->symbol != NULL ? other->symbol : name;
}

static void
look_at (PrioLoop *loop, const PrioOthersSeen *seen, guint id)
{
  GSource *source = id != 0 ? g_main_context_find_source_by_id (prio_observed_context (loop), id) : NULL;
  PrioOther *other;

  if (source == NULL)
    return;
  g_source_ref (source);
  if (source->callback_funcs != &other_funcs && source != seen->ignored && !prio_loop_has_source (loop, source))
    {
      other = g_new0 (PrioOther, 1);
      other->refs = 1;
      other->source = source;
      other->loop = prio_loop_ref (loop);
      other->funcs = source->callback_funcs;
      other->data = source->callback_data;
      if (other->funcs != NULL)
        other->funcs->ref (other->data);
      g_source_set_callback_indirect (source, other, &other_funcs);
    }
  g_source_unref (source);
}

/* Finds the sources that have come since the last call with @seen, and some of those that were there before the first. */
void
prio_others_look (PrioLoop *loop, PrioOthersSeen *seen)
{
  guint next = prio_idle_next_source (loop);

  if (seen->last == 0)
    seen->older = seen->last = next - 1;
  for (guint id = next - MIN (next - seen->last - 1, MAX_NEW); id != next; id++)
    look_at (loop, seen, id);
  seen->last = next;

  for (guint n = 0; n < MAX_OLD && seen->older > 0; n++)
    look_at (loop, seen, seen->older--);
}
