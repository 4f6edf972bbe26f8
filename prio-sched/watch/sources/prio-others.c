/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-others.c: finds out which other source blocks the loop */

#include "config.h"

#include "watch/sources/prio-others-private.h"

#include "base/prio-thread-private.h"
#include "watch/sources/prio-symbol-private.h"

/* The most ids of older sources that the first call looks up (MAX_FIRST), and each later call (MAX_OLD). */
#define MAX_FIRST 131072
#define MAX_OLD 256

const char prio_others_ignored[] = "prio-sched long task";

/* The callback data of another source whose callback functions were replaced. */
struct _PrioOther
{
  gint refs;       /* atomic */
  GSource *source; /* owns this record until the source's callback changes; valid during its dispatch */
  PrioLoop *loop;  /* owned, so that @seen is valid */
  const PrioOthersSeen *seen; /* the functions to call */
  const GSourceCallbackFuncs *funcs; /* the original callback functions, or NULL */
  gpointer data;                     /* the data of these functions */
  PrioOther *outer; /* during the dispatch: the source in whose dispatch this source is dispatched, or NULL */
  gint depth;       /* during the dispatch: g_main_depth () outside of it */
};

/* The innermost source that is being dispatched on this thread. */
static PRIO_TLS PrioOther *dispatched;

static gboolean
is_dispatched (PrioOther *other)
{
  PrioOther *o = dispatched;

  while (o != NULL && o != other)
    o = o->outer;
  return o != NULL;
}

/* Notes that GLib is about to dispatch the source.  Called with the context locked. */
static void
other_ref (gpointer data)
{
  PrioOther *other = data;

  g_atomic_int_inc (&other->refs);
  if (other->funcs != NULL)
    other->funcs->ref (other->data);
  /* A recursive source is measured once, around its outermost dispatch. */
  if (is_dispatched (other))
    return;
  other->outer = dispatched;
  other->depth = g_main_depth ();
  dispatched = other;
  other->seen->begins (other->loop, other);
}

/* Drops a reference, and notes the end of a dispatch.  Called when the source has been dispatched or destroyed, or its
 * callback was replaced, possibly in its own dispatch or on another thread. */
static void
other_unref (gpointer data)
{
  PrioOther *other = data;

  if (dispatched == other && g_main_depth () == other->depth)
    {
      dispatched = other->outer;
      other->seen->ended (other->loop, other);
    }
  if (other->funcs != NULL)
    other->funcs->unref (other->data);
  if (!g_atomic_int_dec_and_test (&other->refs))
    return;
  prio_loop_unref (other->loop);
  g_free (other);
}

/* Returns the callback for a dispatch, or for a search of a source by its user data.  The context is locked. */
static void
other_get (gpointer data, GSource *source, GSourceFunc *func, gpointer *user_data)
{
  PrioOther *other = data;

  if (other->funcs != NULL)
    {
      other->funcs->get (other->data, source, func, user_data);
      return;
    }
  /* A search by user data, even for NULL, must not find a source without a callback. */
  *func = NULL;
  *user_data = dispatched == other ? NULL : other;
}

static GSourceCallbackFuncs other_funcs = {
  other_ref, other_unref, other_get
};

/* Returns the functions that g_source_set_callback () sets in a source. */
static const GSourceCallbackFuncs *
plain_funcs (void)
{
  static gsize plain = 0;

  if (g_once_init_enter (&plain))
    {
      g_autoptr (GSource) source = g_idle_source_new ();

      g_source_set_callback (source, NULL, NULL, NULL);
      g_once_init_leave (&plain, (gsize) source->callback_funcs);
    }
  return (gconstpointer) plain;
}

/* Returns the callback that gdk_threads_add_timeout () and gdk_threads_add_idle () set in a source; NULL if the library
 * that contains @func does not define these functions. */
static GSourceFunc
find_gdk_wrapper (GSourceFunc func)
{
  guint (*add) (gint, guint, GSourceFunc, gpointer, GDestroyNotify);
  GSourceFunc wrapper = NULL;
  GSource *source;
  gpointer data;

  *(gpointer *) &add = prio_symbol_find_beside ((gconstpointer) func, "gdk_threads_add_timeout_full");
  if (add == NULL)
    return NULL;

  source = g_main_context_find_source_by_id (NULL, add (G_PRIORITY_LOW, G_MAXINT, func, NULL, NULL));
  source->callback_funcs->get (source->callback_data, source, &wrapper, &data);
  g_source_destroy (source);
  return wrapper;
}

/* Returns the name of a callback.  If the callback is GDK's wrapper, returns the name of the wrapped function, which is
 * the first field of @data. */
static const char *
name_function (GSourceFunc func, gpointer data)
{
  static GSourceFunc gdk_wrapper = NULL; /* atomic */
  const char *name = prio_symbol_get_name ((gconstpointer) func);

  if (name == NULL || (!g_str_has_prefix (name, "libgdk-") && !g_str_equal (name, "gdk_threads_dispatch")))
    return name;
  if (g_atomic_pointer_get (&gdk_wrapper) == NULL)
    g_atomic_pointer_set (&gdk_wrapper, find_gdk_wrapper (func));
  return func == g_atomic_pointer_get (&gdk_wrapper) ? prio_symbol_get_name (*(gconstpointer *) data) : name;
}

/* Returns the name of a source in its dispatch, or its callback's name if the source has a default name or none. */
const char *
prio_other_get_name (PrioOther *other)
{
  const char *name = g_source_get_name (other->source), *symbol = NULL;
  GSourceFunc func = NULL;
  gpointer data;

  if ((name == NULL || (g_str_has_prefix (name, "G") && g_str_has_suffix (name, "Source"))) && other->funcs == plain_funcs ())
    {
      other->funcs->get (other->data, other->source, &func, &data);
      symbol = name_function (func, data);
    }
  return symbol != NULL ? symbol : name;
}

static void
look_at (PrioLoop *loop, const PrioOthersSeen *seen, guint id)
{
  GSource *source = id != 0 ? g_main_context_find_source_by_id (prio_observed_context (loop), id) : NULL;
  PrioOther *other;

  if (source == NULL)
    return;
  g_source_ref (source);
  if (source->callback_funcs != &other_funcs && g_source_get_name (source) != prio_others_ignored && !prio_loop_has_source (loop, source))
    {
      other = g_new (PrioOther, 1);
      *other = (PrioOther) { .refs = 1, .source = source, .loop = prio_loop_ref (loop), .seen = seen,
                             .funcs = source->callback_funcs, .data = source->callback_data };
      if (other->funcs != NULL)
        other->funcs->ref (other->data);
      g_source_set_callback_indirect (source, other, &other_funcs);
    }
  g_source_unref (source);
}

/* Looks at the sources that were added since the last call with @seen, and at some older sources. */
void
prio_others_look (PrioLoop *loop, PrioOthersSeen *seen)
{
  guint next = prio_idle_next_source (loop), n_older = seen->last == 0 ? MAX_FIRST : MAX_OLD;

  if (seen->last == 0)
    seen->older = seen->last = next - 1;
  for (guint id = seen->last + 1; id != next; id++)
    look_at (loop, seen, id);
  seen->last = next;

  for (guint n = 0; n < n_older && seen->older > 0; n++)
    look_at (loop, seen, seen->older--);
}
