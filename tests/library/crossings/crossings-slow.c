/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* crossings-slow.c: handlers and frames that take long, and the keys that come meanwhile */

#include "crossings.h"

/* Iterations after which the library may forget a slow callback. */
#define SOON 16

/* Keys, as GDK has them: a source at G_PRIORITY_DEFAULT that dispatches one event each time, also in a nested main loop. */
typedef struct
{
  GSource parent;
  World *world;
} Keys;

static gboolean
keys_prepare (GSource *source, gint *timeout)
{
  *timeout = -1;
  return ((Keys *) source)->world->n_keys > 0;
}

static gboolean
keys_dispatch (GSource *source, GSourceFunc func G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  World *world = ((Keys *) source)->world;
  Mechanism outer = enter_place (world, HANDLER);

  world->n_keys--;
  leave_place (world, outer);
  return G_SOURCE_CONTINUE;
}

/* Adds the source of keys, which the context owns. */
void
attach_keys (World *world)
{
  static GSourceFuncs funcs = { keys_prepare, NULL, keys_dispatch, NULL, NULL, NULL };
  GSource *source = g_source_new (&funcs, sizeof (Keys));

  ((Keys *) source)->world = world;
  g_source_set_can_recurse (source, TRUE);
  g_source_attach (source, world->context);
  g_source_unref (source);
}

static gboolean
take_long (gpointer data)
{
  World *world = data;
  Mechanism outer = enter_place (world, HANDLER);

  pass_time (20000 + 300000 * dice (4));
  world->n_keys += 1 + dice (3);
  world->n_slow = world->n_iterations - world->last_slow <= SOON ? world->n_slow + 1 : 1;
  world->last_slow = world->n_iterations;
  act_some (world, 2);
  leave_place (world, outer);
  return G_SOURCE_REMOVE;
}

/* Returns whether @payload, whose function is called, may run before keys that came during a slow callback, in whatever
 * way it has become ready.  If the slow callback is the payload's notify::state, which may run a main loop, the
 * payload's turn was before the keys.  If callbacks are slow again and again, tasks run between them. */
gboolean
goes_before_keys (Payload *payload)
{
  World *world = payload->world;

  return world->n_keys > 0 && world->n_slow <= 1 && !payload->begins && !world->is_free;
}

static void
slow_ended (gpointer data)
{
  World *world = data;

  end (world, SLOW);
  g_atomic_int_add (&world->n_open, -1);
}

/* Takes long, in a handler or a frame: GTK 3 draws at priority 120, GTK 4 at 1. */
void
be_slow (World *world)
{
  static const gint at[] = { G_PRIORITY_HIGH, G_PRIORITY_DEFAULT, G_PRIORITY_DEFAULT + 1, G_PRIORITY_HIGH_IDLE + 20, G_PRIORITY_DEFAULT_IDLE };
  GSource *source;

  if (!is_owner (world))
    return;
  source = g_idle_source_new ();
  g_source_set_priority (source, at[dice (G_N_ELEMENTS (at))]);
  g_source_set_callback (source, take_long, world, slow_ended);
  begin (world, SLOW);
  g_atomic_int_inc (&world->n_open);
  g_source_attach (source, world->context);
  g_source_unref (source);
}
