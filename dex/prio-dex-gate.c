/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-dex-gate.c: decides which fiber of a scheduler may run */

#include "prio-dex-private.h"

/* All fields except @refs are used on the thread that runs the main context. */
struct _PrioDexGate
{
  gint refs; /* atomic */

  /* Another scheduler of the same context, for fibers whose turn came while another fiber was inside.  It is paused
   * until that fiber is suspended. */
  PrioScheduler *turns;
  gboolean paused;
  guint n_waiting;

  PrioDexFiber *inside; /* or NULL */
  gboolean began;       /* whether @inside has been resumed since it was let in */

  guint n_fibers;
  GSource *watch; /* owned; NULL while there are no fibers */
};

static PrioDexGate *
gate_ref (PrioDexGate *self)
{
  g_atomic_int_inc (&self->refs);
  return self;
}

void
prio_dex_gate_unref (PrioDexGate *self)
{
  if (!g_atomic_int_dec_and_test (&self->refs))
    return;

  g_object_unref (self->turns);
  g_free (self);
}

static PrioDexGate *
gate_new (PrioScheduler *scheduler)
{
  PrioDexGate *self = g_new0 (PrioDexGate, 1);

  self->refs = 1;
  self->turns = prio_scheduler_new (prio_scheduler_get_context (scheduler));
  return self;
}

static void
drop_watch (PrioDexGate *self)
{
  if (self->watch == NULL)
    return;

  g_source_destroy (self->watch);
  g_clear_pointer (&self->watch, g_source_unref);
}

/* Closes the gate of a scheduler that is finalized.  The waits of its fibers then fail. */
static void
gate_close (gpointer data)
{
  PrioDexGate *self = data;

  drop_watch (self);
  prio_dex_gate_unref (self);
}

PrioDexGate *
prio_dex_gate_of (PrioDexFiber *fiber)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduling_state_dup_scheduler (fiber->state);
  PrioDexGate *self;

  if (scheduler == NULL)
    return NULL;

  self = g_object_get_data (G_OBJECT (scheduler), "prio-dex-gate");
  if (self == NULL)
    {
      self = gate_new (scheduler);
      g_object_set_data_full (G_OBJECT (scheduler), "prio-dex-gate", self, gate_close);
    }
  return gate_ref (self);
}

static void
let_in (PrioDexGate *self, PrioDexFiber *fiber)
{
  self->inside = fiber;
  self->began = FALSE;
  if (self->n_waiting > 0 && !self->paused)
    {
      self->paused = TRUE;
      prio_scheduler_pause (self->turns);
    }
}

static void
let_out (PrioDexGate *self)
{
  self->inside = NULL;
  if (self->paused)
    {
      self->paused = FALSE;
      prio_scheduler_resume (self->turns);
    }
}

void
prio_dex_gate_began (PrioDexGate *self, PrioDexFiber *fiber)
{
  if (self->inside == fiber)
    self->began = TRUE;
}

void
prio_dex_gate_release (PrioDexGate *self, PrioDexFiber *fiber)
{
  if (self->inside == fiber)
    let_out (self);
}

/* A source that checks whether other code, such as dex_await () or dex_fiber_yield (), has suspended the fiber inside.
 * The main loop then continues at a lower depth, although the gate still has the fiber inside. */
typedef struct
{
  GSource source;
  PrioDexGate *gate; /* owned */
} Watch;

static gboolean
is_suspended (PrioDexGate *gate, gint depth)
{
  return gate->inside != NULL && gate->began && depth < gate->inside->depth;
}

static gboolean
watch_prepare (GSource *source, gint *timeout)
{
  *timeout = -1;
  return is_suspended (((Watch *) source)->gate, g_main_depth ());
}

static gboolean
watch_dispatch (GSource *source, GSourceFunc callback G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  PrioDexGate *gate = ((Watch *) source)->gate;

  if (is_suspended (gate, g_main_depth () - 1))
    let_out (gate);
  return G_SOURCE_CONTINUE;
}

static void
watch_finalize (GSource *source)
{
  prio_dex_gate_unref (((Watch *) source)->gate);
}

static GSourceFuncs watch_funcs = { .prepare = watch_prepare, .dispatch = watch_dispatch, .finalize = watch_finalize };

static void
add_fiber (PrioDexGate *self)
{
  if (self->n_fibers++ > 0)
    return;

  self->watch = g_source_new (&watch_funcs, sizeof (Watch));
  ((Watch *) self->watch)->gate = gate_ref (self);
  g_source_set_static_name (self->watch, "prio-sched fibers");
  g_source_attach (self->watch, prio_scheduler_get_context (self->turns));
}

void
prio_dex_gate_leave (PrioDexGate *self)
{
  if (--self->n_fibers == 0)
    drop_watch (self);
}

/* A fiber that waits for its turn. */
typedef struct
{
  PrioDexFiber *fiber; /* owned */
  DexPromise *promise; /* owned; resolved when the fiber is let in; cancelled when the fiber is discarded */
} Waiter;

static void
waiter_free (Waiter *self)
{
  prio_dex_fiber_unref (self->fiber);
  dex_unref (self->promise);
  g_free (self);
}

static void
waiter_fail (Waiter *self, GError *error)
{
  dex_promise_reject (self->promise, error);
  waiter_free (self);
}

static gboolean
waiter_has_left (Waiter *self)
{
  return g_cancellable_is_cancelled (dex_promise_get_cancellable (self->promise));
}

static void
waiter_let_in (Waiter *self, PrioDexGate *gate)
{
  let_in (gate, self->fiber);
  dex_promise_resolve_boolean (self->promise, TRUE);
  waiter_free (self);
}

static GError *
no_scheduler (void)
{
  return g_error_new_literal (PRIO_ERROR, PRIO_ERROR_CLOSED, "The scheduler of the fiber has gone");
}

static void on_turn (GObject *source_object, GAsyncResult *result, gpointer data);

/* Lets in a fiber that waited for another fiber, or makes it wait again.  Called in its turn among such fibers. */
static void
on_next (GObject *source_object G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
  Waiter *self = data;
  g_autoptr (PrioDexGate) gate = prio_dex_gate_of (self->fiber);
  g_autoptr (PrioScheduler) scheduler = prio_scheduling_state_dup_scheduler (self->fiber->state);
  GError *error = NULL;
  gboolean ok = prio_scheduler_yield_finish (NULL, result, &error);

  if (gate != NULL)
    gate->n_waiting--;

  if (!ok)
    waiter_fail (self, error);
  else if (gate == NULL || scheduler == NULL)
    waiter_fail (self, no_scheduler ());
  else if (waiter_has_left (self))
    waiter_free (self);
  else if (gate->inside != NULL || prio_scheduler_get_paused (scheduler))
    prio_scheduling_state_resume_async (self->fiber->state, on_turn, self);
  else
    waiter_let_in (self, gate);
}

static void
wait_behind (Waiter *self, PrioDexGate *gate)
{
  gate->n_waiting++;
  if (gate->inside != NULL && !gate->paused)
    {
      gate->paused = TRUE;
      prio_scheduler_pause (gate->turns);
    }
  prio_scheduler_yield_async (gate->turns, &PRIO_YIELD_OPTIONS (.state = self->fiber->state), on_next, self);
}

/* Lets the fiber in, or makes it wait for another fiber.  Called in the fiber's turn among all tasks. */
static void
on_turn (GObject *source_object G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
  Waiter *self = data;
  g_autoptr (PrioDexGate) gate = prio_dex_gate_of (self->fiber);
  GError *error = NULL;

  if (!prio_scheduling_state_resume_finish (self->fiber->state, result, &error))
    waiter_fail (self, error);
  else if (gate == NULL)
    waiter_fail (self, no_scheduler ());
  else if (waiter_has_left (self))
    waiter_free (self);
  else if (gate->inside != NULL || gate->n_waiting > 0)
    wait_behind (self, gate);
  else
    waiter_let_in (self, gate);
}

static Waiter *
waiter_new (PrioDexFiber *fiber, DexPromise *promise)
{
  Waiter *self = g_new (Waiter, 1);

  *self = (Waiter) { prio_dex_fiber_ref (fiber), dex_ref (promise) };
  return self;
}

DexFuture *
prio_dex_gate_enter (PrioDexGate *self, PrioDexFiber *fiber)
{
  DexPromise *promise = dex_promise_new_cancellable ();
  Waiter *waiter = waiter_new (fiber, promise);

  add_fiber (self);
  if (self->inside != NULL || self->n_waiting > 0)
    wait_behind (waiter, self);
  else
    waiter_let_in (waiter, self);
  return DEX_FUTURE (promise);
}

gboolean
prio_dex_gate_wait (PrioDexFiber *fiber, GError **error)
{
  DexPromise *promise = dex_promise_new_cancellable ();

  prio_scheduling_state_resume_async (fiber->state, on_turn, waiter_new (fiber, promise));
  return dex_await (DEX_FUTURE (promise), error);
}
