/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-idle.c: idle callbacks */

#include "config.h"

#include "loop/prio-idle-private.h"

#include "policy/prio-input-private.h"
#include "loop/prio-observer-private.h"

/* The longest idle period, µs.  A user does not notice a delay of this length. */
#define MAX_PERIOD 50000

/* No idle period begins if the next event is due sooner than this, µs. */
#define MIN_PERIOD 100

static void
idle_enlist (PrioIdle *idle, GQueue *list)
{
  idle->list = list;
  idle->link.data = idle;
  g_queue_push_tail_link (list, &idle->link);
}

/* Removes @idle from its list and from the table, and cancels its timeout. */
static void
idle_delist (PrioLoop *loop, PrioIdle *idle)
{
  PrioEntry *timeout = g_steal_pointer (&idle->timeout);

  g_queue_unlink (idle->list, &idle->link);
  g_hash_table_remove (loop->idles.by_id, GUINT_TO_POINTER (idle->id));

  if (timeout != NULL && !prio_entry_is_running (timeout))
    {
      prio_run_queue_dequeue (timeout);
      prio_run_queue_release_entry (timeout);
    }
}

static void
idle_free (PrioIdle *idle)
{
  prio_run_queue_release (idle->run_queue);
  g_free (idle);
}

/* Calls @idle in a dispatch, with the state of a background task without a signal (§4.2.1 of the WICG draft). */
static void
idle_call (PrioLoop *loop, PrioIdle *idle, gint64 time, gboolean did_timeout)
{
  PrioIdleDeadline deadline = { time, did_timeout, idle->id, loop };
  PrioState state = { .run_queue = idle->run_queue, .priority = PRIO_TASK_PRIORITY_BACKGROUND,
                      .depth = g_main_depth () };
  const PrioState *outer = prio_thread.state;
  const PrioIdleDeadline *outer_deadline = prio_thread.deadline;

  idle_delist (loop, idle);
  if (G_UNLIKELY (idle->observed != NULL))
    prio_observed_idle_begins (idle->observed, idle->told);
  prio_thread.state = &state;
  prio_thread.runs_jobs = FALSE;
  prio_thread.deadline = &deadline;
  idle->func (&deadline, idle->data);
  prio_thread.state = outer;
  prio_thread.deadline = outer_deadline;

  if (idle->notify != NULL)
    idle->notify (idle->data);
  if (G_UNLIKELY (idle->observed != NULL))
    prio_observed_ended (idle->observed);
  idle_free (idle);
}

static gboolean
idle_timed_out (gpointer data)
{
  PrioIdle *idle = data;

  idle_call (idle->run_queue->loop, idle, 0, TRUE);
  return G_SOURCE_REMOVE;
}

static gint last_id;

/* Adds an idle callback, and holds its run queue.  The caller has entered the loop. */
void
prio_idle_op_request (PrioLoop *loop, const PrioOp *op)
{
  PrioIdle *idle = op->target;

  prio_run_queue_hold (idle->run_queue);
  if (loop->idles.by_id == NULL)
    loop->idles.by_id = g_hash_table_new (NULL, NULL);
  g_hash_table_insert (loop->idles.by_id, GUINT_TO_POINTER (idle->id), idle);
  idle_enlist (idle, &loop->idles.pending);
  if (G_UNLIKELY (prio_loop_is_observed (loop)))
    idle->observed = prio_observed_new_idle (idle->run_queue, prio_clock_now ());

  if (idle->due != 0)
    {
      idle->timeout = prio_run_queue_new_entry (idle->run_queue, idle_timed_out, idle, NULL);
      /* Makes the callback a continuation of the highest priority, so that it runs before all new tasks. */
      idle->timeout->priority = PRIO_TASK_PRIORITY_USER_BLOCKING;
      idle->timeout->turn = PRIO_ENTRY_GOES_ON;
      idle->timeout->use = PRIO_ENTRY_OF_LIBRARY;
      prio_run_queue_add (idle->timeout, idle->due);
    }
}

/* Requests an idle callback by sending @op_request with a copy of @template.  @timeout is in ms, or 0 for none.
 * Returns the callback's id.  Any thread may call this function. */
guint
prio_idle_submit (PrioLoop *loop, void (*op_request) (PrioLoop *loop, const PrioOp *op), const PrioIdle *template, guint timeout)
{
  PrioIdle *idle = g_memdup2 (template, sizeof *template);
  guint id;

  do
    id = (guint) g_atomic_int_add (&last_id, 1) + 1;
  while (id == 0);

  idle->id = id;
  if (timeout > 0)
    idle->due = prio_time_after (prio_clock_now (), timeout * G_TIME_SPAN_MILLISECOND);
  prio_loop_submit (loop, &(PrioOp) { .apply = op_request, .target = idle });

  return id;
}

static void
idle_drop (PrioLoop *loop, PrioIdle *idle)
{
  idle_delist (loop, idle);
  if (G_UNLIKELY (idle->observed != NULL))
    prio_observed_idle_aborted (idle->observed);
  prio_loop_defer_release (loop, idle->notify, idle->data);
  idle_free (idle);
}

void
prio_idle_cancel (PrioLoop *loop, guint id)
{
  PrioIdle *idle = NULL;

  if (loop->idles.by_id != NULL)
    idle = g_hash_table_lookup (loop->idles.by_id, GUINT_TO_POINTER (id));
  if (idle != NULL)
    idle_drop (loop, idle);
}

/* Drops one idle callback after the end of the context.  Returns FALSE if there is none. */
gboolean
prio_idle_release_one (PrioLoop *loop)
{
  GList *first = loop->idles.running.head != NULL ? loop->idles.running.head : loop->idles.pending.head;

  if (first == NULL)
    return FALSE;

  idle_drop (loop, first->data);
  return TRUE;
}

/* Returns the time of the next event, µs: a frame, the end of a delay, or a timer of another source; at most MAX_PERIOD
 * after @now.  @timer is the time until that timer in ms, rounded up, or negative if there is no timer. */
static gint64
next_event (PrioLoop *loop, gint timer, gint64 now)
{
  gint64 next = prio_time_after (now, MAX_PERIOD);
  gint64 frame = prio_loop_next_frame (loop, now);

  if (frame != 0)
    next = MIN (next, frame);
  next = MIN (next, prio_due_next (&loop->due));
  if (timer >= 0)
    next = MIN (next, prio_time_after (now, MAX (timer * G_TIME_SPAN_MILLISECOND - G_TIME_SPAN_MILLISECOND / 2, 0)));
  return next;
}

/* Returns the id that a new source gets now.  To find out, prio_input_next_source () attaches a source.  Its id counts
 * in `last_source`, so that it does not look like a new source of the program. */
guint
prio_idle_next_source (PrioLoop *loop)
{
  loop->idles.last_source++;
  return prio_input_next_source (loop->context);
}

/* Returns whether an idle callback may run, in an iteration in which no other source is ready.  If none may run, sets
 * @timeout to how long GLib may sleep, ms. */
gboolean
prio_idle_prepare (PrioLoop *loop, gint timer, gint *timeout)
{
  PrioIdles *idles = &loop->idles;
  gint64 now = prio_clock_now ();

  idles->asked = prio_loop_get_iteration (loop);
  idles->last_source = prio_idle_next_source (loop);
  idles->next = next_event (loop, timer, now);
  if (now < idles->deadline ? idles->running.length > 0 : idles->next - now >= MIN_PERIOD)
    return TRUE;

  *timeout = MAX (prio_timeout_until (now < idles->deadline ? idles->deadline : idles->next, now), 1);
  *timeout = MIN (*timeout, prio_timeout_until (prio_due_next (&loop->due), now));
  return FALSE;
}

static void
begin_period (PrioIdles *idles)
{
  GList *link;

  idles->deadline = idles->next;
  while ((link = g_queue_pop_head_link (&idles->pending)) != NULL)
    idle_enlist (link->data, &idles->running);
}

/* Calls the next idle callback in a dispatch, in a new period if the last one is over.  Does nothing if the last call
 * of prio_idle_prepare () was more than one iteration ago, because its result may be out of date. */
void
prio_idle_run (PrioLoop *loop, gint64 now)
{
  PrioIdles *idles = &loop->idles;

  if (prio_loop_get_iteration (loop) - idles->asked > 1)
    return;

  if (now >= idles->deadline)
    {
      if (idles->next <= now)
        return;
      begin_period (idles);
    }
  if (idles->running.length > 0)
    idle_call (loop, idles->running.head->data, idles->deadline, FALSE);
}
