/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-feeding.c: asks for the tasks of a group when it has a free place */

#include "config.h"

#include "above/prio-feeding-private.h"

#include "prio-engine.h"
#include "prio-hooks.h"
#include "prio-task-controller.h"

/* The feeds of a group, which keeps this. */
struct _PrioFeeds
{
  PrioTaskGroup *group;
  GQueue queues[2]; /* PrioFeeding: feeds that wait for a place, and feeds that have changed, which go first */
  guint n_open;  /* tasks that have been asked for, and have not ended */
  gboolean is_asking, will_ask;
  gboolean is_fed; /* whether waits for the group know that there is more */
};

/* A task that has been asked for. */
typedef struct
{
  PrioFeeding *feeding;           /* held */
  PrioRun *row;                   /* in the rows, or NULL */
  PrioTaskController *controller; /* of a row's task, or NULL */
  GWeakRef task;                  /* not set while it is asked for */
  gboolean is_demoted;
} PrioAsked;

/* Rows of the list: in view from @first to before @last, and in the window from @begin to before @end. */
typedef struct
{
  guint first, last, begin, end;
} PrioWindow;

static G_DEFINE_QUARK (prio-sched-feeds, feeds)

static void ask (PrioFeeds *self);

static void
feeding_clear (gpointer data)
{
  PrioFeeding *self = data;

  g_clear_object (&self->task);
  g_clear_object (&self->group);
  g_clear_object (&self->model);
  g_clear_pointer (&self->gone, g_ptr_array_unref);
  prio_rows_clear (&self->rows);
}

void
prio_feeding_unref (PrioFeeding *self)
{
  g_atomic_rc_box_release_full (self, feeding_clear);
}

static void
end_row (PrioAsked *asked, gboolean is_new)
{
  PrioRun *row = g_steal_pointer (&asked->row);

  if (row != NULL)
    prio_run_end (row, is_new);
}

static void
asked_clear (gpointer data)
{
  PrioAsked *asked = data;

  end_row (asked, TRUE); /* if the context has gone */
  g_weak_ref_clear (&asked->task);
  g_clear_object (&asked->controller);
  prio_feeding_unref (asked->feeding);
}

static void
asked_unref (gpointer asked)
{
  g_atomic_rc_box_release_full (asked, asked_clear);
}

/* Whose turn it is */

/* Function of a hidden task. */
static void
ask_later (PrioTask *task G_GNUC_UNUSED, gpointer group)
{
  PrioFeeds *self = g_object_get_qdata (group, feeds_quark ());

  self->will_ask = FALSE;
  ask (self);
}

/* Asks when other tasks have had their turn. */
static void
wake (PrioFeeds *self)
{
  PrioTaskOptions options = PRIO_TASK_OPTIONS (.priority = prio_task_group_get_priority (self->group));
  g_autoptr (PrioScheduler) scheduler = prio_task_group_dup_scheduler (self->group);

  if (self->will_ask || self->is_asking || scheduler == NULL)
    return;

  self->will_ask = TRUE;
  g_object_unref (prio_scheduler_post_hidden (scheduler, &options, 0, ask_later, g_object_ref (self->group), g_object_unref));
}

/* Tells waits for the group whether there is more. */
static void
update_waits (PrioFeeds *self)
{
  gboolean is_fed = self->queues[FALSE].length + self->queues[TRUE].length > 0;

  if (is_fed == self->is_fed)
    return;

  self->is_fed = is_fed;
  prio_task_group_set_fed (self->group, is_fed);
}

static void
dequeue (PrioFeeding *self)
{
  if (self->link.data != NULL)
    g_queue_unlink (&self->feeds->queues[self->has_changed], &self->link);
  self->link.data = NULL;
}

static void
enqueue (PrioFeeding *self, gboolean has_changed)
{
  dequeue (self);
  self->has_changed = has_changed;
  if (g_atomic_int_get (&self->is_over))
    return;
  self->link.data = self;
  g_queue_push_tail_link (&self->feeds->queues[has_changed], &self->link);
}

/* Makes the loop look at the list and the view. */
void
prio_feeding_change (PrioFeeding *self)
{
  enqueue (self, TRUE);
  update_waits (self->feeds);
  wake (self->feeds);
}

static gboolean
has_room (PrioFeeds *self)
{
  return MAX (prio_task_group_get_n_pending (self->group), self->n_open) < prio_task_group_get_room (self->group);
}

static void
places_changed (PrioFeeds *self)
{
  if (self->queues[FALSE].length > 0 && has_room (self))
    wake (self);
}

static PrioFeeds *
feeds_of (PrioTaskGroup *group)
{
  PrioFeeds *self = g_object_get_qdata (G_OBJECT (group), feeds_quark ());

  if (self != NULL)
    return self;

  self = g_new0 (PrioFeeds, 1);
  self->group = group;
  g_object_set_qdata_full (G_OBJECT (group), feeds_quark (), self, g_free);
  g_signal_connect_swapped (group, "notify::n-pending", G_CALLBACK (places_changed), self);
  g_signal_connect_swapped (group, "notify::limit", G_CALLBACK (places_changed), self);
  return self;
}

/* Returns whether the function may not be called any more. */
static gboolean
is_over (PrioFeeding *self)
{
  /* In an abort, destroy notifies may be called before it has ended the task. */
  return g_atomic_int_get (&self->is_over) || prio_task_signal_is_aborted (PRIO_TASK_SIGNAL (prio_task_get_cancellable (self->task))) ||
         prio_task_get_state (self->task) != PRIO_TASK_STATE_PENDING;
}

/* The list and the view */

/* Replaces rows by new ones.  Tasks that are under way lose their rows, and are added to @gone.  Returns FALSE if the
 * list is shorter. */
static gboolean
splice (PrioFeeding *self, guint position, guint n_removed, guint n_added)
{
  guint n_gone = self->gone->len;
  gboolean is_right = prio_rows_splice (&self->rows, position, n_removed, n_added, self->gone);

  for (guint i = n_gone; i < self->gone->len; i++)
    ((PrioAsked *) g_atomic_rc_box_acquire (self->gone->pdata[i]))->row = NULL;
  return is_right;
}

static void
items_changed (GListModel *model G_GNUC_UNUSED, guint position, guint n_removed, guint n_added, PrioFeeding *self)
{
  if (!splice (self, position, n_removed, n_added))
    self->is_lost = TRUE;
  prio_feeding_change (self);
}

static PrioWindow
window_of (const PrioFeeding *self)
{
  guint n = prio_rows_get_n (&self->rows);
  double wanted = MIN (self->look_ahead * self->n_rows, n);
  guint ahead = (guint) wanted;
  PrioWindow window;

  ahead += ahead < wanted;
  window.first = self->first < n ? self->first : n - MIN (self->n_rows, n);
  window.last = window.first + MIN (self->n_rows, n - window.first);
  window.begin = window.first - MIN (ahead, window.first);
  window.end = window.last + MIN (ahead, n - window.last);
  return window;
}

/* Returns whether the task of a row that leaves the window continues. */
static gboolean
goes_on (PrioAsked *asked)
{
  g_autoptr (PrioTask) task = g_weak_ref_get (&asked->task);

  return task != NULL && prio_task_get_state (task) == PRIO_TASK_STATE_RUNNING;
}

/* Notes that the rows from @begin to before @end are in the window, or not.  Then they are new, unless their tasks continue.
 * Adds tasks whose priority changes to @moved. */
static void
place_rows (PrioFeeding *self, guint begin, guint end, gboolean is_inside, GPtrArray *moved)
{
  g_autoptr (GPtrArray) under_way = g_ptr_array_new ();

  if (self->demotes)
    prio_rows_list (&self->rows, begin, end, under_way);
  for (guint i = 0; i < under_way->len; i++)
    {
      PrioAsked *asked = under_way->pdata[i];
      guint position = prio_run_get_position (asked->row);

      if (!is_inside && !goes_on (asked))
        continue;
      if (asked->is_demoted == is_inside)
        g_ptr_array_add (moved, g_atomic_rc_box_acquire (asked));
      asked->is_demoted = !is_inside;
      if (!is_inside)
        splice (self, begin, position - begin, position - begin);
      begin = position + 1;
    }
  if (!is_inside)
    splice (self, begin, end - begin, end - begin);
}

/* Gives each task its priority, in the window or out of it.  Handlers may do anything. */
static void
set_priorities (GPtrArray *tasks)
{
  for (guint i = 0; i < tasks->len; i++)
    {
      PrioAsked *asked = tasks->pdata[i];
      PrioTaskPriority priority = prio_task_group_get_priority (asked->feeding->group);

      prio_task_controller_set_priority (asked->controller, asked->is_demoted ? PRIO_TASK_PRIORITY_BACKGROUND : priority, NULL);
    }
}

static void
priority_changed (PrioFeeding *self)
{
  g_autoptr (GPtrArray) under_way = g_ptr_array_new ();

  prio_rows_list (&self->rows, 0, prio_rows_get_n (&self->rows), under_way);
  g_ptr_array_foreach (under_way, (GFunc) (GCallback) g_atomic_rc_box_acquire, NULL);
  g_ptr_array_set_free_func (under_way, asked_unref);
  set_priorities (under_way);
}

/* Aborts the tasks that have lost their rows.  Handlers and destroy notifies may do anything. */
static void
abort_gone (PrioFeeding *self)
{
  g_autoptr (GPtrArray) gone = self->gone;

  self->gone = g_ptr_array_new_with_free_func (asked_unref);
  for (guint i = 0; i < gone->len; i++)
    prio_task_controller_abort (((PrioAsked *) gone->pdata[i])->controller, NULL);
}

/* Returns the new row to ask for next: in view, the row that has been there for longest, or else the nearest in the
 * window; or PRIO_NO_ROW. */
static guint
next_row (PrioFeeding *self)
{
  PrioWindow window = window_of (self);
  guint n_first = prio_rows_count_new (&self->rows, window.first), n_last = prio_rows_count_new (&self->rows, window.last), above, below;

  if (n_first < n_last)
    return prio_rows_find_new (&self->rows, self->is_upwards ? n_last - 1 : n_first);
  below = prio_rows_find_new (&self->rows, n_last);
  above = n_first > 0 ? prio_rows_find_new (&self->rows, n_first - 1) : PRIO_NO_ROW;
  if (above == PRIO_NO_ROW || above < window.begin)
    return below < window.end ? below : PRIO_NO_ROW;
  return below < window.end && below - window.last < window.first - above ? below : above;
}

/* Looks at the list as it is now, and at the view. */
static void
look (PrioFeeding *self)
{
  g_autoptr (GPtrArray) moved = g_ptr_array_new_with_free_func (asked_unref);
  guint n = g_list_model_get_n_items (self->model);
  PrioWindow window;

  if (self->is_lost || prio_rows_get_n (&self->rows) != n)
    splice (self, 0, prio_rows_get_n (&self->rows), n);
  self->is_lost = FALSE;
  window = window_of (self);
  place_rows (self, 0, window.begin, FALSE, moved);
  place_rows (self, window.begin, window.end, TRUE, moved);
  place_rows (self, window.end, n, FALSE, moved);
  set_priorities (moved);
  abort_gone (self);
}

/* Asking */

static void
release_data (PrioFeeding *self)
{
  GDestroyNotify notify = self->notify;

  if (self->is_called || !g_atomic_int_get (&self->is_over))
    return;

  self->notify = NULL;
  if (notify != NULL)
    notify (self->data);
}

static void
end_if_exhausted (PrioFeeding *self)
{
  if (self->is_exhausted && self->n_open == 0 && !is_over (self))
    prio_task_fulfil (self->task);
}

/* Follows the end of a task that was asked for. */
static void
has_ended (GObject *source G_GNUC_UNUSED, GAsyncResult *result G_GNUC_UNUSED, gpointer data)
{
  PrioAsked *asked = data;
  PrioFeeding *self = asked->feeding;

  end_row (asked, asked->is_demoted);
  self->n_open--;
  self->feeds->n_open--;
  end_if_exhausted (self);
  ask (self->feeds);
}

/* Calls the function without a state, and follows its task. */
static void
call (gpointer data)
{
  PrioAsked *asked = data;
  PrioFeeding *self = asked->feeding;
  guint position = asked->row != NULL ? prio_run_get_position (asked->row) : 0;
  g_autoptr (GObject) item = self->model != NULL ? g_list_model_get_item (self->model, position) : NULL;
  g_autoptr (PrioTask) task = NULL;

  self->is_called = TRUE;
  if (self->model == NULL)
    task = self->func (self->group, self->data);
  else if (item != NULL)
    task = self->row_func (self->group, item, position, prio_task_controller_get_signal (asked->controller), self->data);
  self->is_called = FALSE;
  release_data (self);

  if (task == self->task)
    {
      g_critical ("The function of a feed has returned the task of the feed, which waits for it: return the task that it has posted");
      g_clear_object (&task);
    }
  if (task == NULL)
    {
      self->is_exhausted = self->model == NULL;
      end_row (asked, FALSE);
      return;
    }
  g_weak_ref_set (&asked->task, task);
  self->n_open++;
  self->feeds->n_open++;
  prio_task_then (task, has_ended, g_atomic_rc_box_acquire (asked), asked_unref);
}

/* Asks for the next task of @self.  Returns FALSE if there is none. */
static gboolean
ask_once (PrioFeeding *self)
{
  guint row = self->model != NULL ? next_row (self) : 0;
  PrioAsked *asked;

  if (row == PRIO_NO_ROW)
    return FALSE;

  asked = g_atomic_rc_box_new0 (PrioAsked);
  asked->feeding = g_atomic_rc_box_acquire (self);
  g_weak_ref_init (&asked->task, NULL);
  if (self->model != NULL)
    {
      asked->controller = prio_task_controller_new (prio_task_group_get_priority (self->group));
      asked->row = prio_rows_begin (&self->rows, row, asked);
    }
  prio_scheduling_state_run (NULL, call, asked);
  asked_unref (asked);
  end_if_exhausted (self);
  return !self->is_exhausted;
}

/* Does the next thing for the feed whose turn it is.  Returns FALSE if there is nothing to do. */
static gboolean
go_on (PrioFeeds *self)
{
  gboolean has_changed = self->queues[TRUE].length > 0, has_more = TRUE;
  PrioFeeding *feeding = g_queue_peek_head (&self->queues[has_changed]);

  if (feeding == NULL || (!has_changed && !has_room (self)))
    return FALSE;

  g_atomic_rc_box_acquire (feeding);
  dequeue (feeding);
  if (is_over (feeding))
    has_more = FALSE;
  else if (!has_changed)
    has_more = ask_once (feeding);
  else if (feeding->model != NULL)
    look (feeding);
  if (has_more && feeding->link.data == NULL)
    enqueue (feeding, FALSE);
  prio_feeding_unref (feeding);
  return TRUE;
}

/* Asks for tasks while there are places, for one slice at most. */
static void
ask (PrioFeeds *self)
{
  g_autoptr (PrioTaskGroup) group = g_object_ref (self->group);
  g_autoptr (PrioScheduler) scheduler = prio_task_group_dup_scheduler (group);
  gboolean has_more;

  if (self->is_asking || scheduler == NULL)
    return;

  self->is_asking = TRUE;
  do
    has_more = go_on (self);
  while (has_more && !prio_scheduler_should_yield (scheduler));
  self->is_asking = FALSE;
  if (has_more)
    wake (self);
  update_waits (self);
}

/* Destroy notify of the feed's task, which has its result, or whose context is gone. */
static void
end (gpointer data)
{
  PrioFeeding *self = data;

  g_atomic_int_set (&self->is_over, TRUE);
  dequeue (self);
  if (self->model != NULL)
    {
      g_autoptr (GPtrArray) moved = g_ptr_array_new_with_free_func (asked_unref);

      g_signal_handler_disconnect (self->model, self->items_changed);
      g_signal_handler_disconnect (self->group, self->priority_changed);
      place_rows (self, 0, prio_rows_get_n (&self->rows), FALSE, moved);
      set_priorities (moved);
      abort_gone (self);
    }
  release_data (self);
  if (!self->feeds->is_asking && !prio_loop_has_gone (prio_task_group_get_loop (self->group)))
    update_waits (self->feeds);
  prio_feeding_unref (self);
}

/* Begins a feed with the function and the list of @from. */
PrioFeeding *
prio_feeding_new (PrioTaskGroup *group, PrioScheduler *scheduler, const PrioFeeding *from)
{
  PrioTaskOptions options = PRIO_TASK_OPTIONS (.signal = prio_task_group_get_signal (group), .name = "feed");
  PrioFeeding *self = g_atomic_rc_box_new (PrioFeeding);

  *self = *from;
  self->group = g_object_ref (group);
  self->feeds = feeds_of (group);
  self->look_ahead = 1;
  if (self->model != NULL)
    {
      g_object_ref (self->model);
      self->gone = g_ptr_array_new_with_free_func (asked_unref);
      self->items_changed = g_signal_connect (self->model, "items-changed", G_CALLBACK (items_changed), self);
      self->priority_changed = g_signal_connect_swapped (group, "notify::priority", G_CALLBACK (priority_changed), self);
    }
  self->task = prio_scheduler_post_hidden (scheduler, &options, PRIO_NEVER, NULL, g_atomic_rc_box_acquire (self), end);
  prio_feeding_change (self);
  return self;
}
