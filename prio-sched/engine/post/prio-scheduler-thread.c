/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduler-thread.c: tasks whose functions run in a thread of a pool, or of a worker
 *
 * The threads belong to a GThreadPool.  A PrioWork, a function with its task, waits for a thread here, in a heap by
 * priority and age: each item in the queue of the GThreadPool only stands for "the most urgent PrioWork".  A PrioWork
 * that needs a place waits in the heap of its PrioPlaces (prio-scheduler-thread-private.h).
 *
 * A function for a worker waits as a task of the worker's scheduler.  `all_waiting` has each PrioWork that waits. */

#include "config.h"

#include "post/prio-scheduler-thread-private.h"

#include <glib/gi18n-lib.h>

#include "base/prio-heap-private.h"
#include "open/prio-engine.h"
#include "prio-error.h"
#include "prio-task-signal.h"
#include "signal/prio-signal-node-private.h"
#include "task/prio-task-impl-private.h"

/* Threads may wait for disks and networks, so there are at least as many threads as GTask has. */
#define MIN_THREADS 10
/* A function in a thread may wait for functions that it runs in threads.  So the limit grows up to this number, as in
 * GTask. */
#define MAX_THREADS 330

typedef struct
{
  gint refs; /* one for the heap or the thread, and one for each signal handler; atomic */
  PrioTask *task; /* owned */
  PrioTaskFunc func;
  gpointer data;
  GDestroyNotify notify;
  gulong cancelled, priority_changed; /* handlers of the task's signal */
  gboolean is_nested; /* whether a function in the pool has started this PrioWork; the pool then grows by a thread */
  PrioPlaces *places; /* owned, or NULL */
  guint64 order;      /* the age of the task in the group that owns the places */

  /* Guarded by work_lock: */
  PrioHeapNode node;
  guint64 age;
  gboolean waits; /* for a thread, a place or a worker; if so, `task->entry.job.data` is this record */
  PrioHeap *heap; /* the heap that contains @node, or NULL */
  GList link;     /* in @all_waiting */
  gboolean has_place;
} PrioWork;

struct _PrioPlaces
{
  gint refs; /* atomic */
  PrioLoop *loop; /* owned */
  const PrioPlacesFuncs *funcs;

  /* Guarded by work_lock: */
  PrioHeap waiting; /* each PrioWork that waits for a place, by priority and age */
  gboolean passes;  /* whether a PrioWork that ends passes its place to the next one */
};

static PrioLock work_lock = PRIO_LOCK_INIT;
static PrioHeap waiting; /* each PrioWork that waits for a thread, by priority and age; under the lock */
static GQueue all_waiting = G_QUEUE_INIT; /* each PrioWork that waits for a thread, a place or a worker; under the lock */
static guint64 next_age; /* under the lock */
static guint n_nested; /* how many threads nested functions have added to the pool; under the lock */
static PRIO_TLS gboolean is_in_pool;
static gint n_works; /* the number of PrioWork records whose function has not returned; atomic */

static PrioWork *
work_ref (PrioWork *work)
{
  g_atomic_int_inc (&work->refs);
  return work;
}

static void
work_unref (gpointer data)
{
  PrioWork *work = data;

  if (!g_atomic_int_dec_and_test (&work->refs))
    return;

  g_clear_pointer (&work->places, prio_places_unref);
  g_free (work);
}

static void
closure_unref (gpointer data, GClosure *closure G_GNUC_UNUSED)
{
  prio_in_finalize (data);
  work_unref (data);
}

/* Notifies the property `state` of a task, unless the task has completed already, or its context is destroyed. */
static void
tell_running (gpointer data)
{
  PrioTask *task = data;

  if (!prio_task_is_completed (task) && !prio_loop_has_gone (task->entry.run_queue->loop))
    prio_task_notify_state (task);
}

static void
work_end (PrioWork *work)
{
  PrioTask *task = work->task;
  PrioLoop *loop = prio_loop_ref (task->entry.run_queue->loop);

  /* Lowers the count first, because the calls below may wake a loop that checks prio_threads_count (). */
  g_atomic_int_add (&n_works, -1);
  if (work->cancelled != 0)
    g_signal_handler_disconnect (task->signal, work->cancelled);
  if (work->priority_changed != 0)
    g_signal_handler_disconnect (task->signal, work->priority_changed);
  if (work->notify != NULL)
    prio_loop_call (loop, work->notify, work->data, FALSE);
  /* The task may hold the last reference to the loop besides @loop, which is valid until the end of this function. */
  prio_loop_call (loop, prio_object_unref, task, FALSE);
  prio_loop_unref (loop);
  work_unref (work);
}

static guint64
key_of (PrioWork *work)
{
  return PRIO_TASK_PRIORITY_USER_BLOCKING - prio_task_get_priority (work->task);
}

static PrioWork *
work_of_item (PrioHeapItem *item)
{
  return (gpointer) ((gchar *) item->node - G_STRUCT_OFFSET (PrioWork, node));
}

/* Makes @work wait, in @heap if that is not NULL.  The caller holds the lock. */
static void
put_in (PrioHeap *heap, PrioWork *work)
{
  work->waits = TRUE;
  work->heap = heap;
  work->task->entry.job.data = work;
  g_queue_push_tail_link (&all_waiting, &work->link);
  if (heap != NULL)
    prio_heap_insert (heap, &work->node, key_of (work), work->age);
}

/* Removes @work from the lists in which it waits.  The caller holds the lock. */
static void
take_out (PrioWork *work)
{
  if (work->heap != NULL)
    prio_heap_remove (work->heap, &work->node);
  g_queue_unlink (&all_waiting, &work->link);
  work->heap = NULL;
  work->waits = FALSE;
  work->task->entry.job.data = NULL;
}

/* Gives a place to the most urgent PrioWork, which then waits for a thread.  Returns FALSE if none waits.  The caller
 * holds the lock. */
static gboolean
let_in (PrioPlaces *places)
{
  PrioWork *work;

  if (places->waiting.n_items == 0)
    return FALSE;

  work = work_of_item (prio_heap_first (&places->waiting));
  take_out (work);
  work->has_place = TRUE;
  put_in (&waiting, work);
  return TRUE;
}

/* Frees the place of @work, whose function has returned, unless the task has deferred its result.  Returns whether
 * another PrioWork got the place, and now waits for a thread. */
static gboolean
leave_place (PrioWork *work)
{
  PrioPlaces *places = work->places;
  gboolean keeps = prio_task_is_deferred (work->task), passed;

  prio_lock_lock (&work_lock);
  work->has_place = FALSE;
  passed = !keeps && places->passes && let_in (places);
  prio_lock_unlock (&work_lock);

  if (!passed)
    prio_loop_call (places->loop, keeps ? places->funcs->place_kept : places->funcs->place_free, work->data, FALSE);
  return passed;
}

static GThreadPool *get_pool (void);
static void set_nested (gboolean more);

static void
call (PrioWork *work)
{
  PrioTask *task = work->task;
  PrioResult none = { .kind = PRIO_RESULT_NONE };

  __atomic_store_n (&task->state, PRIO_TASK_STATE_RUNNING, __ATOMIC_RELEASE);
  if (prio_task_is_listened_to (task))
    prio_loop_call (task->entry.run_queue->loop, tell_running, task, FALSE);
  /* Processes an abort that came after @work left its queue. */
  prio_task_process_abort (task);
  work->func (task, work->data);

  /* Fulfils the task if the function has neither returned a result nor deferred it. */
  if (__atomic_load_n (&task->claim, __ATOMIC_ACQUIRE) == 0 &&
      __atomic_fetch_or (&task->claim, PRIO_TASK_RETURNED, __ATOMIC_ACQ_REL) == 0)
    prio_task_return (task, &none);
}

/* Runs @work.  Returns TRUE if the caller has to run the next PrioWork, because @work has passed on its place. */
static gboolean
run (PrioWork *work)
{
  gboolean is_nested = work->is_nested, passed;

  is_in_pool = TRUE;
  if (work->places != NULL)
    prio_loop_call (work->places->loop, work->places->funcs->begun, work->data, FALSE);
  call (work);
  is_in_pool = FALSE;
  passed = work->places != NULL && leave_place (work);
  work_end (work);
  if (!is_nested)
    return passed;

  /* Without the nested PrioWork, this thread may be one too many, so the pool chooses a thread for the next one. */
  if (passed)
    g_thread_pool_push (get_pool (), GUINT_TO_POINTER (1), NULL);
  set_nested (FALSE);
  return FALSE;
}

static PrioWork *
take_next (void)
{
  PrioWork *work = NULL;

  prio_lock_lock (&work_lock);
  if (waiting.n_items > 0)
    {
      work = work_of_item (prio_heap_first (&waiting));
      take_out (work);
    }
  prio_lock_unlock (&work_lock);
  return work;
}

/* Runs the most urgent PrioWork, and one more whenever a PrioWork passes on its place (PrioPlaces).  Called by the pool. */
static void
run_next (gpointer item G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  PrioWork *work;

  do
    work = take_next ();
  while (work != NULL && run (work));
}

static GThreadPool *
get_pool (void)
{
  static gsize pool;

  if (g_once_init_enter (&pool))
    {
      guint n = MAX (g_get_num_processors (), MIN_THREADS);

      prio_loop_add_leaf_lock (&work_lock);
      g_once_init_leave (&pool, (gsize) g_thread_pool_new (run_next, NULL, (gint) n, FALSE, NULL));
    }
  return (GThreadPool *) pool;
}

/* Raises the pool's limit by one thread for a nested PrioWork, up to MAX_THREADS, or lowers the limit after it. */
static void
set_nested (gboolean more)
{
  guint n = MAX (g_get_num_processors (), MIN_THREADS);

  prio_lock_lock (&work_lock);
  n_nested += more ? 1 : G_MAXUINT;
  g_thread_pool_set_max_threads (get_pool (), (gint) MIN (n + n_nested, MAX (n, MAX_THREADS)), NULL);
  prio_lock_unlock (&work_lock);
}

/* Removes @work from its queue.  Returns FALSE if @work has begun or was removed; otherwise the caller ends @work. */
static gboolean
take_back (PrioWork *work)
{
  gboolean was_waiting;

  prio_lock_lock (&work_lock);
  was_waiting = work->waits;
  if (was_waiting)
    take_out (work);
  prio_lock_unlock (&work_lock);

  return was_waiting;
}

/* Ends a PrioWork that was removed from its queue, on the owner thread, or on any thread after the context's end. */
static void
end_taken (gpointer data)
{
  PrioWork *work = data;

  if (work->is_nested)
    set_nested (FALSE);
  if (work->has_place)
    work->places->funcs->place_free (work->data);
  work_end (work);
}

/* Removes the PrioWork of @task, which has been cancelled, from its queue.  Returns FALSE if the PrioWork has begun or
 * was removed before; otherwise the caller aborts the task.  The caller has entered the loop. */
static gboolean
take_back_cancelled (PrioTask *task)
{
  PrioWork *work;

  prio_lock_lock (&work_lock);
  work = task->entry.job.data;
  if (work != NULL)
    take_out (work);
  prio_lock_unlock (&work_lock);

  if (work != NULL)
    prio_loop_defer_release (task->entry.run_queue->loop, end_taken, work);
  return work != NULL;
}

static void
op_abort (PrioLoop *loop G_GNUC_UNUSED, const PrioOp *op)
{
  prio_task_abort (op->target);
}

/* Aborts the task of a PrioWork that was removed from its queue.  The signal's handlers are disconnected later, because
 * one of them may be the caller, and GLib may hold the lock of the cancellable. */
static void
abort_taken (PrioWork *work)
{
  PrioTask *task = work->task;
  PrioLoop *loop = task->entry.run_queue->loop;

  if (work->is_nested)
    set_nested (FALSE);
  work->is_nested = FALSE;
  prio_loop_submit_quietly (loop, &(PrioOp) { .apply = op_abort, .target = g_object_ref (task) });
  prio_loop_call (loop, end_taken, work, TRUE);
}

static void
abort_work (PrioWork *work)
{
  if (take_back (work))
    abort_taken (work);
}

/* Aborts each PrioWork of @loop that still waits, because the context is destroyed. */
static void
end_waiting (gpointer loop, gpointer record G_GNUC_UNUSED)
{
  g_autoptr (GPtrArray) works = g_ptr_array_new ();

  prio_lock_lock (&work_lock);
  for (GList *link = all_waiting.head; link != NULL; link = link->next)
    {
      if (((PrioWork *) link->data)->task->entry.run_queue->loop == loop)
        g_ptr_array_add (works, link->data);
    }
  for (guint i = 0; i < works->len; i++)
    take_out (works->pdata[i]);
  prio_lock_unlock (&work_lock);

  for (guint i = 0; i < works->len; i++)
    abort_taken (works->pdata[i]);
}

/* The slot's record is unused: the slot only makes the loop call end_waiting () at the end of the loop. */
static const PrioSlotFuncs slot_funcs = { .size = 1, .ends = end_waiting };

static void
cancelled (GCancellable *signal G_GNUC_UNUSED, PrioWork *work)
{
  abort_work (work);
  prio_before_unref (work); /* another thread may soon drop the closure's reference to @work */
}

static void
priority_changed (PrioTaskSignal *signal G_GNUC_UNUSED, PrioTaskPriority previous G_GNUC_UNUSED, PrioWork *work)
{
  prio_lock_lock (&work_lock);
  if (work->heap != NULL)
    prio_heap_rekey (work->heap, &work->node, key_of (work));
  prio_lock_unlock (&work_lock);
  prio_before_unref (work);
}

static void
follow (PrioWork *work)
{
  GCancellable *signal = work->task->signal;

  work->cancelled = g_signal_connect_data (signal, "cancelled", G_CALLBACK (cancelled), work_ref (work), closure_unref, 0);
  if (PRIO_IS_TASK_SIGNAL (signal) && work->task->priority == PRIO_TASK_PRIORITY_UNSET)
    work->priority_changed = g_signal_connect_data (signal, "priority-change", G_CALLBACK (priority_changed),
                                                    work_ref (work), closure_unref, 0);
}

static void
run_posted (PrioTask *posted_task G_GNUC_UNUSED, gpointer data)
{
  PrioWork *work = data;

  if (take_back (work))
    {
      call (work);
      work_end (work);
    }
}

/* Ends a PrioWork for a worker when the worker's task is released.  If @work still waits, either the worker has stopped, or
 * the signal is aborted and abort_work () has not been called yet. */
static void
posted_gone (gpointer data)
{
  PrioWork *work = data;
  PrioTask *task = work->task;

  if (take_back (work))
    {
      if (task->signal != NULL && g_cancellable_is_cancelled (task->signal))
        {
          abort_taken (work);
        }
      else
        {
          GError *error = g_error_new_literal (PRIO_ERROR, PRIO_ERROR_CLOSED, _("The worker of the task has stopped"));

          prio_task_return (task, &PRIO_RESULT_OF_ABORT (prio_reason_new (error)));
          work_end (work);
        }
    }
  work_unref (work);
}

static void
post_to (PrioScheduler *scheduler, PrioWork *work)
{
  PrioTask *task = work->task;
  g_autofree char *name = prio_task_dup_name (task);
  PrioTaskOptions options = { .priority = (PrioTaskPriority) task->priority, .cancellable = task->signal,
                              .name = name };

  /* Posts a task that has a result: between two such tasks, the worker carries out operations of other threads, such as
   * its stop. */
  g_object_unref (prio_scheduler_post_task (scheduler, &options, run_posted, work_ref (work), posted_gone));
}

/* Makes @work wait: in @worker if that is not NULL, for a place if @work has places, and otherwise for a thread. */
static void
begin_to_wait (PrioWork *work, PrioScheduler *worker)
{
  GThreadPool *pool = get_pool ();
  PrioLoop *loop = work->task->entry.run_queue->loop;
  gboolean for_thread = work->places == NULL && worker == NULL;

  work_ref (work);
  prio_loop_ensure_slot (loop, PRIO_SLOT_POST, &slot_funcs);
  __atomic_store_n (&prio_task_take_back, take_back_cancelled, __ATOMIC_RELEASE);
  if (work->is_nested)
    set_nested (TRUE);
  prio_lock_lock (&work_lock);
  work->age = next_age++;
  put_in (for_thread ? &waiting : worker == NULL ? &work->places->waiting : NULL, work);
  prio_lock_unlock (&work_lock);

  /* Applies a change of priority, and an abort, that came before @work was in the heap. */
  if (work->task->signal != NULL)
    priority_changed (NULL, PRIO_TASK_PRIORITY_UNSET, work);
  if (prio_loop_has_gone (loop) || (work->task->signal != NULL && g_cancellable_is_cancelled (work->task->signal)))
    abort_work (work);
  if (prio_loop_has_gone (loop))
    prio_loop_flush_releases (loop);
  if (for_thread)
    g_thread_pool_push (pool, GUINT_TO_POINTER (1), NULL);
  if (worker != NULL)
    post_to (worker, work);
  work_unref (work);
}

guint
prio_threads_count (void)
{
  return (guint) g_atomic_int_get (&n_works);
}

static PrioTask *
begin (PrioWork *template, PrioScheduler *worker)
{
  PrioWork *work = g_memdup2 (template, sizeof *template);
  PrioTask *task = g_object_ref (work->task);

  g_atomic_int_inc (&n_works);
  work->refs = 1;
  work->link.data = work;
  if (prio_task_get_program_func (task) == NULL)
    prio_task_set_program_func (task, (gpointer) work->func);
  task->entry.use = PRIO_ENTRY_IN_THREAD;
  task->entry.job.data = NULL;
  if (task->signal != NULL)
    follow (work);
  begin_to_wait (work, worker);
  return task;
}

/* Runs @func in a thread as the new task @task, when one of @places is free.  @order is the task's age for the group
 * that owns the places.  @func, @notify and the group's functions get @data.  Returns @task. */
PrioTask *
prio_task_run_in_thread (PrioTask *task, PrioPlaces *places, guint64 order, PrioTaskFunc func, gpointer data,
                         GDestroyNotify notify)
{
  g_atomic_int_inc (&places->refs);
  return begin (&(PrioWork) { .task = task, .func = func, .data = data, .notify = notify, .is_nested = is_in_pool,
                              .places = places, .order = order }, NULL);
}

PrioPlaces *
prio_places_new (PrioLoop *loop, const PrioPlacesFuncs *funcs)
{
  PrioPlaces *places = g_new0 (PrioPlaces, 1);

  get_pool ();
  *places = (PrioPlaces) { .refs = 1, .loop = prio_loop_ref (loop), .funcs = funcs };
  return places;
}

void
prio_places_unref (PrioPlaces *places)
{
  if (!g_atomic_int_dec_and_test (&places->refs))
    return;

  prio_heap_clear (&places->waiting);
  prio_loop_unref (places->loop);
  g_free (places);
}

/* Gets the priority and the age of the most urgent PrioWork that waits for a place.  Returns FALSE if none waits. */
gboolean
prio_places_peek (PrioPlaces *places, PrioTaskPriority *priority, guint64 *order)
{
  gboolean any;

  prio_lock_lock (&work_lock);
  any = places->waiting.n_items > 0;
  if (any)
    {
      PrioWork *work = work_of_item (prio_heap_first (&places->waiting));

      *priority = prio_task_get_priority (work->task);
      *order = work->order;
    }
  prio_lock_unlock (&work_lock);
  return any;
}

/* Gives a place to the most urgent PrioWork that waits for one.  Returns FALSE if none waits. */
gboolean
prio_places_let_in (PrioPlaces *places)
{
  gboolean any;

  prio_lock_lock (&work_lock);
  any = let_in (places);
  prio_lock_unlock (&work_lock);

  if (any)
    g_thread_pool_push (get_pool (), GUINT_TO_POINTER (1), NULL);
  return any;
}

/* Sets whether a PrioWork that ends passes its place to the next PrioWork without asking the group. */
void
prio_places_set_passes (PrioPlaces *places, gboolean passes)
{
  prio_lock_lock (&work_lock);
  places->passes = passes;
  prio_lock_unlock (&work_lock);
}

PrioTask *
prio_scheduler_run_in (PrioScheduler *self, const char *function, const PrioTaskOptions *options, PrioScheduler *other,
                       PrioTaskFunc func, gpointer data, GDestroyNotify notify)
{
  prio_return_val_if_wrong (prio_check_scheduler (function, self), NULL);
  prio_return_val_if_wrong (prio_check_task_options (function, options, func != NULL), NULL);
  prio_return_val_if_wrong (prio_check_no_delay (function, options), NULL);

  if (options == NULL)
    options = &prio_no_task_options;
  return begin (&(PrioWork) { .task = prio_run_queue_make_task (self->run_queue, options), .func = func, .data = data,
                              .notify = notify, .is_nested = other == NULL && is_in_pool }, other);
}

/**
 * prio_scheduler_run_in_thread:
 * @self: a scheduler
 * @options: (nullable): the options, or %NULL for the defaults; a delay or a timeout is refused
 * @func: (scope notified) (closure user_data) (destroy notify): the work
 * @user_data: data for @func
 * @notify: (nullable): called when @user_data is no longer needed
 *
 * Runs a function in a thread of a pool: like [method@Gio.Task.run_in_thread], with a priority and a signal.
 *
 * Tasks get threads by priority, and then by age, and follow a change of priority until they begin.  An abort before a
 * task begins ends it at once.  A later abort does so only with [property@PrioSched.Task:return-on-abort]; otherwise
 * @func decides, and may call [method@PrioSched.Task.return_error_if_aborted].
 *
 * ```c
 * static void
 * decode (PrioTask *task, gpointer file)
 * {
 *   GError *error = NULL;
 *   GdkTexture *texture = gdk_texture_new_from_file (file, &error);
 *
 *   if (texture != NULL)
 *     prio_task_return_pointer (task, texture, g_object_unref);
 *   else
 *     prio_task_return_error (task, error);
 * }
 *
 * task = prio_scheduler_run_in_thread (scheduler, &PRIO_TASK_OPTIONS (.signal = row->signal),
 *                                      decode, g_object_ref (file), g_object_unref);
 * prio_task_wait_async (task, NULL, decoded, row);
 * ```
 *
 * @func runs in another thread, with no scheduling state, and gives the result there.  If it returns without a result,
 * the task is fulfilled with none, unless @func has called [method@PrioSched.Task.defer].
 *
 * There are as many threads as processors, at least 10.  A function that waits keeps its thread.  A function that
 * itself runs functions in threads gets more threads for these, up to 330 in all, so that it may wait for them.  Do not
 * let all functions wait for functions that other threads have started: the latter would never get a thread.
 *
 * If the main context is destroyed, tasks that still wait for a thread are aborted with %PRIO_ERROR_CLOSED, and
 * released on the thread that destroys the context.  A running function continues, and its thread then calls @notify.
 * With a wrong argument, the call logs a critical message, runs nothing, does not call @notify, and returns %NULL.  Any
 * thread may call this function; @notify is called on the thread that runs the scheduler's main context.
 *
 * Returns: (transfer full): the task
 *
 * Since: 1.0
 */
PrioTask *
prio_scheduler_run_in_thread (PrioScheduler *self, const PrioTaskOptions *options, PrioTaskFunc func, gpointer user_data,
                              GDestroyNotify notify)
{
  return prio_scheduler_run_in (self, G_STRFUNC, options, NULL, func, user_data, notify);
}
