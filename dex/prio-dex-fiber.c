/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-dex-fiber.c: fibers that take turns by priority
 *
 * libdex's scheduler class and its functions that run a fiber are private.  So libdex's own schedulers run the fibers.
 * Before a fiber continues, it waits for its turn.
 */

#include "prio-dex-private.h"

/* libdex's default size.  libdex reuses stacks of this size. */
#define STACK_SIZE (MAX (4096 * 32, dex_get_min_stack_size ()))

typedef struct
{
  GPtrArray *fibers;     /* of PrioDexFiber: started on this thread and not ended, sorted by stack address */
  PrioDexFiber *running; /* the fiber that was resumed last, unless it has been suspended */
} Thread;

static void
thread_free (gpointer data)
{
  Thread *self = data;

  g_ptr_array_unref (self->fibers);
  g_free (self);
}

static GPrivate thread_key = G_PRIVATE_INIT (thread_free);

static Thread *
thread_get (void)
{
  Thread *self = g_private_get (&thread_key);

  if (self == NULL)
    {
      self = g_new0 (Thread, 1);
      self->fibers = g_ptr_array_new_with_free_func (prio_dex_fiber_unref);
      g_private_set (&thread_key, self);
    }
  return self;
}

PrioDexFiber *
prio_dex_fiber_ref (PrioDexFiber *self)
{
  g_atomic_int_inc (&self->refs);
  return self;
}

static void
release_data (PrioDexFiber *self)
{
  GDestroyNotify notify = g_steal_pointer (&self->notify);

  if (notify != NULL)
    notify (self->data);
}

void
prio_dex_fiber_unref (gpointer data)
{
  PrioDexFiber *self = data;

  if (!g_atomic_int_dec_and_test (&self->refs))
    return;

  release_data (self);
  g_clear_pointer (&self->entrance, dex_unref);
  g_clear_pointer (&self->state, prio_scheduling_state_unref);
  g_free (self);
}

/* Returns the index of the first fiber of @self whose stack ends above @address. */
static guint
find_above (Thread *self, gsize address)
{
  guint from = 0, to = self->fibers->len;

  while (from < to)
    {
      guint middle = from + (to - from) / 2;

      if (((PrioDexFiber *) self->fibers->pdata[middle])->high > address)
        to = middle;
      else
        from = middle + 1;
    }
  return from;
}

static gboolean
has_address (PrioDexFiber *self, gsize address)
{
  return self->low <= address && address < self->high;
}

/* Returns the fiber on whose stack the caller runs, or NULL.  The stack identifies the fiber even if other code, such
 * as dex_await (), has suspended and resumed it. */
static PrioDexFiber *
current_fiber (void)
{
  Thread *self = g_private_get (&thread_key);
  gsize address = (gsize) __builtin_frame_address (0);

  if (self == NULL)
    return NULL;
  if (self->running != NULL && has_address (self->running, address))
    return self->running;

  for (guint i = find_above (self, address); i < self->fibers->len; i++)
    {
      PrioDexFiber *fiber = self->fibers->pdata[i];

      if (!has_address (fiber, address))
        return NULL;
      if (!g_atomic_int_get (&fiber->ended))
        return fiber;
    }
  return NULL;
}

/* Returns the scheduling state of the running fiber, or NULL.  If the fiber runs a nested main loop, the loop's
 * callbacks are on the fiber's stack, but are not part of the fiber. */
static PrioSchedulingState *
find_state (void)
{
  PrioDexFiber *fiber = current_fiber ();

  return fiber != NULL && fiber->depth == g_main_depth () ? fiber->state : NULL;
}

static void
begin_turn (PrioDexFiber *self)
{
  g_autoptr (PrioDexGate) gate = prio_dex_gate_of (self);

  self->depth = g_main_depth ();
  thread_get ()->running = self;
  if (gate != NULL)
    prio_dex_gate_began (gate, self);
}

static void
end_turn (PrioDexFiber *self)
{
  g_autoptr (PrioDexGate) gate = prio_dex_gate_of (self);

  thread_get ()->running = NULL;
  if (gate != NULL)
    prio_dex_gate_release (gate, self);
}

static void
add_to_thread (PrioDexFiber *self, gsize address)
{
  Thread *thread = thread_get ();

  /* Removes fibers whose stack is reused: they have ended on another thread that ran the main context meanwhile. */
  for (guint i = find_above (thread, address); i < thread->fibers->len;)
    {
      PrioDexFiber *old = thread->fibers->pdata[i];

      if (!has_address (old, address))
        break;
      if (thread->running == old)
        thread->running = NULL;
      g_ptr_array_remove_index (thread->fibers, i);
    }

  self->high = address;
  self->low = address - self->stack_size;
  g_ptr_array_insert (thread->fibers, (gint) find_above (thread, address), prio_dex_fiber_ref (self));
}

static void
remove_from_thread (PrioDexFiber *self)
{
  Thread *thread = thread_get ();
  guint index = find_above (thread, self->high - 1);

  g_atomic_int_set (&self->ended, TRUE);
  if (index < thread->fibers->len && thread->fibers->pdata[index] == self)
    g_ptr_array_remove_index (thread->fibers, index);
}

/* Sets the last argument to the reason why the fiber's signal was aborted or, if it was not aborted, to @error.  Takes
 * @error.  Returns FALSE. */
static gboolean
tell (PrioDexFiber *self, GError *error, GError **told)
{
  GCancellable *signal = prio_scheduling_state_get_cancellable (self->state);
  GError *reason = NULL;

  if (signal != NULL && PRIO_IS_TASK_SIGNAL (signal))
    reason = prio_task_signal_dup_reason (PRIO_TASK_SIGNAL (signal));
  if (reason != NULL)
    g_clear_error (&error);
  g_propagate_error (told, reason != NULL ? reason : error);
  return FALSE;
}

static gboolean
is_aborted (PrioDexFiber *self)
{
  return g_cancellable_is_cancelled (prio_scheduling_state_get_cancellable (self->state));
}

/* Ends the fiber's turn, and waits for @future, unless that is NULL, and then for the next turn. */
static gboolean
suspend (PrioDexFiber *self, DexFuture *future, GError **error)
{
  GError *own_error = NULL;
  gboolean resolved, has_turn;

  end_turn (self);
  resolved = future == NULL || dex_await (future, &own_error);
  has_turn = !is_aborted (self) && prio_dex_gate_wait (self, resolved ? &own_error : NULL);
  begin_turn (self);

  if (!has_turn)
    return tell (self, own_error, error);
  if (!resolved)
    g_propagate_error (error, own_error);
  return resolved;
}

/* Waits for the first turn, and calls the fiber's function.  Returns (transfer full) (nullable) its result or error. */
static DexFuture *
call (PrioDexFiber *self)
{
  g_autoptr (PrioDexGate) gate = prio_dex_gate_of (self);
  DexFuture *result;
  GError *error = NULL;
  gboolean is_inside = dex_await (g_steal_pointer (&self->entrance), &error) && !is_aborted (self);

  begin_turn (self);
  if (is_inside)
    {
      result = self->func (self->data);
    }
  else
    {
      GError *told = NULL;

      tell (self, error, &told);
      result = dex_future_new_for_error (told);
    }
  release_data (self);
  end_turn (self);

  if (gate != NULL)
    prio_dex_gate_leave (gate);
  return result;
}

static DexFuture *
run (gpointer data)
{
  PrioDexFiber *self = data;
  DexFuture *result;

  add_to_thread (self, (gsize) __builtin_frame_address (0));
  result = call (self);
  remove_from_thread (self);
  return result;
}

/* Returns (transfer none) (nullable) a DexScheduler that runs the main context of the fiber's scheduler. */
static DexScheduler *
dex_scheduler_of (PrioDexFiber *self)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduling_state_dup_scheduler (self->state);
  DexScheduler *candidates[] = { dex_scheduler_get_thread_default (), dex_scheduler_get_default () };

  for (gsize i = 0; scheduler != NULL && i < G_N_ELEMENTS (candidates); i++)
    if (candidates[i] != NULL &&
        dex_scheduler_get_main_context (candidates[i]) == prio_scheduler_get_context (scheduler))
      return candidates[i];
  return NULL;
}

/* Starts the fiber.  Runs as the fiber's task, whose result is the fiber's result. */
static void
start (PrioTask *task, gpointer data)
{
  PrioDexFiber *self = data;
  g_autoptr (PrioDexGate) gate = NULL;
  DexScheduler *scheduler;

  self->state = prio_scheduling_state_ref_current ();
  scheduler = dex_scheduler_of (self);
  gate = prio_dex_gate_of (self);
  if (scheduler == NULL || gate == NULL)
    {
      prio_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                                  "A fiber runs where a DexScheduler does, and none runs the main context of its scheduler");
      return;
    }

  /* The fiber has its turn now, unless another fiber is inside the gate. */
  self->entrance = prio_dex_gate_enter (gate, self);
  prio_dex_task_return (task, dex_scheduler_spawn (scheduler, self->stack_size, run, prio_dex_fiber_ref (self),
                                                   prio_dex_fiber_unref));
}

/**
 * prio_dex_spawn:
 * @scheduler: a scheduler
 * @options: (nullable): the fiber's priority, signal, delay and name, or %NULL for the defaults
 * @stack_size: size of the fiber's stack in bytes, or 0 for libdex's default
 * @func: (scope notified) (closure user_data) (destroy notify): the fiber
 * @user_data: data for @func
 * @notify: (nullable): releases @user_data, when @func has returned or will not be called
 *
 * Spawns a fiber that takes turns by priority.  The fiber starts as a task of @scheduler.  After each wait in
 * [func@PrioSchedDex.yield] or [func@PrioSchedDex.await], it is queued as a continuation of that task.  One fiber of a
 * scheduler runs at a time; the most urgent fiber or task is next.  The fiber follows changes of its signal's priority.
 *
 * The fiber keeps its scheduling state: its yields have its signal and its priority, and
 * [func@PrioSched.SchedulingState.get_current] returns the same state after each wait of any kind.
 *
 * If the fiber's signal is aborted, or libdex discards the returned future, then the future for which the fiber waits
 * is discarded, and each wait fails at once with the reason of the abort, so that the fiber can clean up and return.
 * If the fiber has not had its first turn, @func is not called.  The returned future is rejected with the reason.
 *
 * ```c
 * static DexFuture *
 * index (gpointer files)
 * {
 *   g_autoptr (GError) error = NULL;
 *
 *   for (guint i = 0; i < n_files; i++)
 *     {
 *       index_file (files, i);
 *       if (prio_scheduler_should_yield (prio_scheduler_get_default ()) && !prio_dex_yield (&error))
 *         return dex_future_new_for_error (g_steal_pointer (&error));
 *     }
 *   return dex_future_new_true ();
 * }
 *
 * dex_future_disown (prio_dex_spawn (prio_scheduler_get_default (),
 *                                    &PRIO_TASK_OPTIONS (.priority = PRIO_TASK_PRIORITY_BACKGROUND),
 *                                    0, index, files, NULL));
 * ```
 *
 * The fiber may also call dex_await(), for example in a function of another library, but then continues without
 * waiting for its turn.
 *
 * The fiber runs on the thread that runs the main context of @scheduler.  That thread must have a DexScheduler, as the
 * main thread and libdex's own threads do; otherwise the future is rejected with %G_IO_ERROR_NOT_SUPPORTED.  Hold
 * @scheduler as long as its fibers run: once it is finalized, their waits fail with %PRIO_ERROR_CLOSED.
 *
 * Any thread may call it, once dex_init() has been called on the main thread.
 *
 * Returns: (transfer full) (nullable): a future for @func's result, or %NULL if an argument is wrong, which logs a critical
 *   message
 *
 * Since: 1.0
 */
DexFuture *
prio_dex_spawn (PrioScheduler *scheduler, const PrioTaskOptions *options, gsize stack_size, DexFiberFunc func,
                gpointer user_data, GDestroyNotify notify)
{
  gsize page = dex_get_page_size ();
  PrioDexFiber *self;
  DexFuture *future;

  g_return_val_if_fail (func != NULL, NULL);

  prio_scheduling_state_set_finder (find_state);

  self = g_new0 (PrioDexFiber, 1);
  self->refs = 2;
  self->func = func;
  self->data = user_data;
  self->notify = notify;
  /* Rounded up to whole pages, as in libdex. */
  self->stack_size = stack_size < dex_get_min_stack_size () ? STACK_SIZE : (stack_size + page - 1) / page * page;

  future = prio_dex_post (scheduler, options, start, self, prio_dex_fiber_unref);
  if (future == NULL)
    {
      /* The post was rejected, and has not taken the reference. */
      self->notify = NULL;
      prio_dex_fiber_unref (self);
    }
  prio_dex_fiber_unref (self);
  return future;
}

/**
 * prio_dex_yield:
 * @error: return location for a `GError`
 *
 * Lets more urgent fibers and tasks run.  Then the calling fiber, which [func@PrioSchedDex.spawn] has started,
 * continues, as a task does after [method@PrioSched.Scheduler.yield_async].
 *
 * ```c
 * while (make_next_thumbnail (self))
 *   if (!prio_dex_yield (&error))
 *     return dex_future_new_for_error (error);
 * ```
 *
 * It fails with the reason of the abort if the fiber's signal is aborted, and with %DEX_ERROR_NO_FIBER outside of such
 * a fiber. Call it on the thread that runs the fiber.
 *
 * Returns: %TRUE if the fiber may continue, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_dex_yield (GError **error)
{
  PrioDexFiber *self = current_fiber ();

  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (self == NULL)
    {
      g_set_error_literal (error, DEX_ERROR, DEX_ERROR_NO_FIBER, "Only a fiber of prio_dex_spawn() can yield here");
      return FALSE;
    }
  return suspend (self, NULL, error);
}

/**
 * prio_dex_await:
 * @future: (transfer full): the future to wait for
 * @error: return location for a `GError`
 *
 * Waits for @future and then, in a fiber of [func@PrioSchedDex.spawn], for the fiber's turn.  In other fibers this
 * function does the same as dex_await().
 *
 * To get the value, keep another reference to the future, and pass it to any dex_await_…(), which returns at once:
 *
 * ```c
 * g_autoptr (DexFuture) bytes = dex_file_load_contents_bytes (file);
 *
 * if (!prio_dex_await (dex_ref (bytes), &error))
 *   return dex_future_new_for_error (error);
 * parse (dex_await_boxed (g_steal_pointer (&bytes), NULL));
 * ```
 *
 * If @future has completed, the call returns at once, as dex_await() does.  If @future is rejected, the call fails.
 * If the fiber's signal is aborted, @future is discarded, and @error is the reason.  Call it on the fiber's thread.
 *
 * Returns: %TRUE if @future has resolved and the fiber may continue, or %FALSE with @error set
 *
 * Since: 1.0
 */
gboolean
prio_dex_await (DexFuture *future, GError **error)
{
  PrioDexFiber *self = current_fiber ();

  g_return_val_if_fail (DEX_IS_FUTURE (future), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (self == NULL || !dex_future_is_pending (future))
    return dex_await (future, error);
  return suspend (self, future, error);
}
