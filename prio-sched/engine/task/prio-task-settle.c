/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-task-settle.c: settles tasks, and calls their callbacks */

#include "config.h"

#include "task/prio-task-impl-private.h"

#include "base/prio-list-private.h"
#include "loop/prio-current-private.h"
#include "loop/prio-dispatch-private.h"
#include "loop/prio-lending-private.h"
#include "loop/prio-traits-private.h"
#include "signal/prio-dependence-private.h"
#include "prio-error.h"

#include <glib/gi18n-lib.h>

/* Removes a callback, which the caller frees.  Called only on the owner thread. */
static inline void
remove_reaction (PrioTask *self, PrioReaction *reaction)
{
  if (reaction == self->last_reaction)
    self->last_reaction = reaction->prev;
  PRIO_LIST_REMOVE (self->reactions, reaction, next, prev);
}

/* Appends a copy of @template, whose `next` is NULL.  Called only on the owner thread. */
static inline void
append_reaction (PrioTask *self, const PrioReaction *template)
{
  PrioReaction *reaction = self->first_reaction.callback == NULL ? &self->first_reaction : g_new (PrioReaction, 1);

  *reaction = *template;
  reaction->prev = self->last_reaction;
  if (self->reactions == NULL)
    self->reactions = reaction;
  else
    self->last_reaction->next = reaction;
  self->last_reaction = reaction;

  if (reaction->wait != NULL)
    {
      reaction->wait->awaited = self;
      reaction->wait->entry.job.data = reaction;
    }
}

static void
reaction_free (PrioTask *self, PrioReaction *reaction)
{
  if (reaction->wait != NULL)
    prio_loop_defer_release (self->entry.run_queue->loop, g_object_unref, reaction->wait);
  if (reaction->state.run_queue != NULL)
    prio_state_release (&reaction->state);
  if (reaction != &self->first_reaction)
    g_free (reaction);
}

static inline gpointer
source_of (PrioTask *self, PrioLoop *loop)
{
  PrioRunQueue *run_queue = self->entry.run_queue;

  if (G_UNLIKELY (self->source_object != NULL))
    return self->source_object;
  if (!prio_entry_is_continuation (&self->entry))
    return self;
  return prio_loop_get_source (loop, run_queue);
}

/* Moves the callback of the cancelled wait @self from the awaited task to @self.  Returns the reference to @self that
 * the awaited task had.  Called only on the owner thread. */
static PrioTask *
take_callback (PrioTask *self)
{
  PrioReaction *reaction = g_steal_pointer (&self->entry.job.data);
  PrioTask *task = self->awaited;

  remove_reaction (task, reaction);
  append_reaction (self, &(PrioReaction) { .callback = reaction->callback, .data = reaction->data, .state = reaction->state });
  if (reaction != &task->first_reaction)
    g_free (reaction);
  prio_task_set_source (self, source_of (task, task->entry.run_queue->loop), task->source_tag);
  return self;
}

/* Calls the callbacks that have been registered, and then notifies `state` and `completed`.  Called in a dispatch. */
static void
deliver (gpointer data)
{
  PrioTask *self = data;
  PrioLoop *loop = self->entry.run_queue->loop;
  const PrioState *outer = prio_thread.state;
  PrioReaction *reaction;

  if (G_UNLIKELY (self->awaited != NULL && self->entry.job.data != NULL))
    prio_object_unref (take_callback (self));
  while ((reaction = self->reactions) != NULL)
    {
      remove_reaction (self, reaction);
      if (reaction->state.run_queue != NULL)
        reaction->state.depth = g_main_depth ();
      if (G_UNLIKELY (reaction->wait != NULL))
        {
          /* The callback is called below.  Takes it away from the wait's own task, and ends that task. */
          reaction->wait->entry.job.data = NULL;
          prio_task_cancel_quietly (reaction->wait);
        }
      /* The timeout may have expired after the state was captured.  The continuation's entry is up to date. */
      if (G_UNLIKELY (self->entry.timed != PRIO_TIMED_NOT) && prio_entry_is_continuation (&self->entry))
        reaction->state.timed = self->entry.timed;
      prio_thread.state = reaction->state.run_queue != NULL ? &reaction->state : NULL;
      reaction->callback (source_of (self, loop), (GAsyncResult *) self, reaction->data);
      prio_thread.state = outer;

      if (reaction->notify != NULL)
        reaction->notify (reaction->data);
      reaction_free (self, reaction);
    }

  prio_task_notify (self);
}

/* Releases the user data of callbacks that will not be called, because the context is destroyed.  Called only on the
 * owner thread. */
static void
drop_reactions (PrioTask *self)
{
  PrioReaction *reaction;

  while ((reaction = self->reactions) != NULL)
    {
      remove_reaction (self, reaction);
      prio_loop_defer_release (self->entry.run_queue->loop, reaction->notify, reaction->data);
      reaction_free (self, reaction);
    }
}

/* Queues a microtask that calls the callbacks, or releases them if the context is destroyed.  Takes the caller's
 * reference to the task.  Called only on the owner thread. */
static void
deliver_soon (PrioTask *self)
{
  PrioLoop *loop = self->entry.run_queue->loop;

  if (prio_loop_is_dead (loop))
    {
      drop_reactions (self);
      prio_loop_defer_release (loop, g_object_unref, self);
    }
  else
    {
      PrioMicrotask microtask = { .func = deliver, .data = self, .notify = prio_task_pool_give };

      prio_loop_queue_microtask (loop, &microtask);
    }
}

static void
op_drop (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  deliver_soon (op->target);
}

/* Releases the callbacks of a task whose context was destroyed before they were called.  Takes the caller's
 * reference to the task. */
void
prio_task_drop (PrioTask *self)
{
  prio_loop_submit (self->entry.run_queue->loop, &(PrioOp) { .apply = op_drop, .target = self });
}

/* Drops the next function of @self, which has its result.  If the function's `begin` is on the stack, there is no
 * continuation yet: `begin` checks afterwards whether the task has ended.  Called only on the owner thread. */
static G_GNUC_NO_INLINE void
drop_next (PrioTask *self)
{
  PrioTaskNext *next = g_steal_pointer (&self->next);

  if (!next->has_begun)
    {
      prio_state_release (&next->state);
      prio_loop_defer_release (self->entry.run_queue->loop, next->release, next);
    }
  else if (next->waits != NULL && (prio_entry_get_state (&next->waits->entry) == PRIO_ENTRY_QUEUED ||
                                   prio_entry_get_state (&next->waits->entry) == PRIO_ENTRY_DELAYED))
    {
      prio_run_queue_abort_entry (&next->waits->entry);
    }
}

/* Releases the user data and the entry of a task that has its result.  Called only on the owner thread. */
static inline void
finish (PrioTask *self)
{
  PrioEntry *entry = &self->entry;
  PrioEntryState state = prio_entry_get_state (entry);

  if (G_UNLIKELY (self->next != NULL))
    drop_next (self);

  if (entry->job.notify != NULL)
    prio_loop_defer_release (entry->run_queue->loop, g_steal_pointer (&entry->job.notify), entry->job.data);

  if (state == PRIO_ENTRY_RUNNING && entry->abort == NULL && entry->follows == NULL)
    {
      /* Inlines prio_run_queue_release_entry () for the common case.  The number of users cannot become 0, because the
       * task itself uses the run queue. */
      prio_entry_move (entry, PRIO_ENTRY_DONE);
      entry->run_queue->users--;
    }
  /* A task in the state NEW was aborted before its post, or its function runs in a thread.  In the state DONE, the
   * result was deferred, and the function has returned. */
  else if (state != PRIO_ENTRY_NEW && state != PRIO_ENTRY_DONE)
    {
      prio_run_queue_release_entry (entry);
    }
}

/* Returns (transfer full) (nullable) the reason for which the task or its signal was aborted; NULL if neither was. */
PrioReason *
prio_task_ref_reason (PrioTask *self)
{
  if (__atomic_load_n (&self->state, __ATOMIC_ACQUIRE) == PRIO_TASK_STATE_ABORTED)
    return g_atomic_rc_box_acquire (self->result.value.reason);
  if (__atomic_load_n (&self->cancelled, __ATOMIC_SEQ_CST))
    return prio_reason_new (NULL);
  return self->signal != NULL ? prio_signal_node_ref_reason (prio_signal_node_for (self->signal)) : NULL;
}

static PrioReason *
abort_reason (PrioTask *self)
{
  PrioReason *reason = prio_task_ref_reason (self);

  if (reason == NULL && prio_loop_is_dead (self->entry.run_queue->loop))
    return prio_reason_new (g_error_new_literal (PRIO_ERROR, PRIO_ERROR_CLOSED, _("The main context of the task has been destroyed")));
  return reason != NULL ? reason : prio_reason_new (NULL);
}

/* Takes @reason as the result, and releases a result that was returned before.  Called only on the owner thread. */
static void
set_aborted (PrioTask *self, PrioReason *reason)
{
  PrioLoop *loop = self->entry.run_queue->loop;

  prio_loop_defer_release (loop, self->result.destroy, self->result.value.pointer);
  if (G_UNLIKELY (self->entry.lends))
    prio_lending_end (&self->entry, TRUE);
  self->result = PRIO_RESULT_OF_ABORT (reason);
  __atomic_store_n (&self->state, PRIO_TASK_STATE_ABORTED, __ATOMIC_RELEASE);
}

static void
settle_aborted (PrioTask *self, PrioReason *reason)
{
  set_aborted (self, reason);
  finish (self);
}

static inline PrioTaskState
state_of_result (PrioTask *self)
{
  if (self->result.kind == PRIO_RESULT_ABORT)
    return PRIO_TASK_STATE_ABORTED;
  return self->result.kind == PRIO_RESULT_ERROR ? PRIO_TASK_STATE_FAILED : PRIO_TASK_STATE_FULFILLED;
}

/* Ends a task whose result was returned.  Called only on the owner thread. */
static G_ALWAYS_INLINE inline void
settle_returned (PrioTask *self)
{
  PrioTaskState state = state_of_result (self);

  if (G_UNLIKELY (self->entry.lends))
    prio_lending_end (&self->entry, state == PRIO_TASK_STATE_ABORTED);
  __atomic_store_n (&self->state, state, __ATOMIC_RELEASE);
  finish (self);
}

/* Settles an aborted task whose entry is in no queue.  Takes the caller's reference to the task. */
void
prio_task_abort (PrioTask *self)
{
  settle_aborted (self, abort_reason (self));
  deliver_soon (self);
}

/* Settles a task that was posted after its signal's abort or its context's end.  Takes the caller's reference. */
void
prio_task_refuse (PrioTask *self)
{
  PrioReason *reason = abort_reason (self);

  if (reason->is_default && self->entry.use != PRIO_ENTRY_OF_LIBRARY)
    {
      prio_reason_unref (reason);
      reason = prio_reason_new (g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED,
                                                     "The signal was aborted before this task was posted: make a new controller"));
    }
  settle_aborted (self, reason);
  deliver_soon (self);
}

static void
task_aborted (PrioEntry *entry)
{
  prio_task_abort (prio_task_from_entry (entry));
}

/* Ends a running task at once, as the WICG draft does (step 1 of a task handle's abort steps).  Its callbacks are called
 * in the microtask checkpoint after its function, at the latest.  The loop keeps its reference until task_ran (). */
static void
task_rejected (PrioEntry *entry)
{
  PrioTask *self = prio_task_from_entry (entry);
  PrioMicrotask microtask = { .func = deliver, .data = self };

  set_aborted (self, abort_reason (self));
  prio_loop_queue_microtask (self->entry.run_queue->loop, &microtask);
}

static void
task_run (PrioEntry *entry)
{
  PrioTask *self = prio_task_from_entry (entry);

  __atomic_store_n (&self->state, PRIO_TASK_STATE_RUNNING, __ATOMIC_RELEASE);
  if (G_UNLIKELY (prio_task_is_listened_to (self)))
    prio_task_notify_state (self);
  if (prio_task_get_func (self) != NULL && G_LIKELY (!prio_entry_is_aborted (entry)))
    prio_task_get_func (self) (self, self->entry.job.data);
}

/* Completes the task after its function and its checkpoint (the WICG draft's task complete steps, §2.4 and §2.4.2). */
static void
task_ran (PrioEntry *entry)
{
  PrioTask *self = prio_task_from_entry (entry);
  guint claim = __atomic_load_n (&self->claim, __ATOMIC_RELAXED);
  PrioEntryState state = prio_entry_get_state (entry);

  if (state == PRIO_ENTRY_REJECTED)
    {
      g_assert (self->notified);
      finish (self);
    }
  else if (state == PRIO_ENTRY_ABORTED)
    {
      settle_aborted (self, abort_reason (self));
    }
  else if (state != PRIO_ENTRY_DONE && (self->has_result || (claim & PRIO_TASK_DEFERRED) == 0))
    {
      settle_returned (self);
    }
  else
    {
      /* The result is deferred.  From now on, an abort ends the task only with return-on-abort.  If no other code holds
       * a reference, the task fails when the loop's reference is dropped below. */
      if (state != PRIO_ENTRY_DONE)
        prio_run_queue_release_entry (entry);
      if (self->next != NULL)
        self->next->begin (self->next, self);
      prio_object_unref (self);
      return;
    }

  /* The dispatch calls this function after a microtask checkpoint, so the callbacks need no microtask. */
  deliver (self);
  prio_task_pool_give (self);
}

static char *
task_get_name (PrioEntry *entry)
{
  return prio_task_dup_name (prio_task_from_entry (entry));
}

static gconstpointer
task_get_func (PrioEntry *entry)
{
  return prio_task_get_program_func (prio_task_from_entry (entry));
}

static PrioTaskState
task_get_state (PrioEntry *entry)
{
  PrioTask *self = prio_task_from_entry (entry);

  if (prio_entry_get_state (entry) == PRIO_ENTRY_DONE)
    return __atomic_load_n (&self->state, __ATOMIC_RELAXED);
  if (prio_entry_is_aborted (entry))
    return PRIO_TASK_STATE_ABORTED;
  if (!self->has_result && (__atomic_load_n (&self->claim, __ATOMIC_RELAXED) & PRIO_TASK_DEFERRED) != 0)
    return PRIO_TASK_STATE_RUNNING;
  return state_of_result (self);
}

const PrioEntryFuncs prio_task_entry_funcs = {
  .get_name = task_get_name,
  .get_func = task_get_func,
  .get_state = task_get_state,
  .run = task_run,
  .ran = task_ran,
  .aborted = task_aborted,
  .rejected = task_rejected,
};

/* Sets the result of the task.  If the task has a result already, or was aborted, releases @result.  Returns whether
 * the loop has taken the caller's reference to the task.  Called only on the owner thread. */
static inline gboolean
accept_result (PrioTask *self, PrioResult *result)
{
  PrioLoop *loop = self->entry.run_queue->loop;
  PrioEntryState state = prio_entry_get_state (&self->entry);

  if (self->has_result || prio_task_is_completed (self) || state == PRIO_ENTRY_DROPPED)
    {
      prio_loop_defer_release (loop, result->destroy, result->value.pointer);
      return FALSE;
    }

  self->result = *result;
  self->has_result = TRUE;
  if (prio_entry_is_running (&self->entry))
    return FALSE;

  /* A task of prio_task_submit_hidden () is delayed, and the loop already has a reference to it. */
  if (state == PRIO_ENTRY_DELAYED)
    prio_run_queue_dequeue (&self->entry);
  settle_returned (self);
  deliver_soon (self);
  if (state != PRIO_ENTRY_DELAYED && self->entry.run_queue->outer != NULL)
    prio_loop_answer (loop);
  return state != PRIO_ENTRY_DELAYED;
}

/* Gives the task its result, on the owner thread.  Takes the operation's reference to the task, which may be the last
 * one. */
static void
op_return (PrioLoop *loop, const PrioOp *op)
{
  gboolean taken = accept_result (op->target, op->data);

  g_free (op->data);
  if (!taken)
    prio_loop_defer_release (loop, g_object_unref, op->target);
}

/* Gives the task its result.  The caller has claimed the result, and holds a reference to the task.  Returns whether
 * there are deferred destroy notifies, which the caller has to flush.  Any thread may call this function. */
gboolean
prio_task_return_quietly (PrioTask *self, PrioResult *result)
{
  PrioLoop *loop = self->entry.run_queue->loop;
  gboolean runs = prio_loop_is_owner_thread (loop) && prio_entry_is_running (&self->entry), releases, taken;

  if (G_UNLIKELY (prio_task_is_completed (self)))
    prio_task_tell_late_result (self);
  /* Takes a reference, because another thread may run the context, and drop the task, as soon as this thread leaves the
   * loop.  A running task needs no reference, because it is settled after its function has returned. */
  if (!runs)
    g_object_ref (self);
  if (!prio_loop_enter (loop))
    {
      prio_loop_submit (loop, &(PrioOp) { .apply = op_return, .target = runs ? g_object_ref (self) : self,
                                          .data = g_memdup2 (result, sizeof *result) });
      return FALSE;
    }

  taken = accept_result (self, result);
  releases = prio_loop_has_releases (loop);
  prio_loop_leave (loop);
  if (!taken && !runs)
    prio_object_unref (self);
  return releases;
}

/* Registers a callback, on the owner thread.  Takes the operation's reference to the task. */
static void
op_register (PrioLoop *loop, const PrioOp *op)
{
  PrioTask *self = op->target, *wait = ((PrioReaction *) op->data)->wait;

  append_reaction (self, op->data);
  g_free (op->data);
  /* The cancellable was cancelled before this call.  So the wait counts as cancelled, even if the task has completed. */
  if (wait != NULL && prio_task_is_completed (wait))
    deliver_soon (take_callback (wait));
  if (prio_task_is_completed (self) || prio_loop_is_dead (loop))
    deliver_soon (self);
  else
    prio_loop_defer_release (loop, g_object_unref, self);
}

/* Registers a copy of @template, without its state, for the completion.  The callback runs in the scheduling state
 * @held, whose references the task takes over; if @held has no run queue, without a state; and if @held is NULL, in the
 * current state.  Any thread may call this function. */
void
prio_task_add_reaction (PrioTask *self, const PrioState *held, const PrioReaction *template)
{
  PrioReaction reaction = *template;
  PrioLoop *loop = self->entry.run_queue->loop;
  const PrioState *current;
  gboolean completed;

  if (G_UNLIKELY (reaction.callback == NULL))
    {
      prio_release_now (reaction.notify, reaction.data);
      return;
    }

  reaction.state = held != NULL ? *held : prio_state_none;
  /* Looks up the state before entering the loop, because the lookup may call user code. */
  current = held == NULL ? prio_state_capture (loop) : NULL;
  if (!prio_loop_enter (loop))
    {
      prio_loop_submit (loop, &(PrioOp) { .apply = op_register, .target = g_object_ref (self),
                                          .data = g_memdup2 (&reaction, sizeof reaction) });
      return;
    }

  completed = prio_task_is_completed (self);
  if (current != NULL)
    {
      reaction.state = *current;
      prio_state_hold (current);
    }
  if (reaction.state.run_queue != NULL && G_UNLIKELY (reaction.state.run_queue->lends) && !completed)
    prio_lending_wait (&reaction.state, prio_traits_of (&reaction.state).lend, &self->entry);
  if (!completed)
    append_reaction (self, &reaction);
  prio_loop_leave (loop);
  if (completed)
    prio_loop_submit (loop, &(PrioOp) { .apply = op_register, .target = g_object_ref (self),
                                        .data = g_memdup2 (&reaction, sizeof reaction) });
}
