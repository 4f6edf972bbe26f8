/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-feeding.c: asks a function for the next task of a group whenever the group has a free place */

#include "config.h"

#include "above/prio-feeding-private.h"

#include "prio-engine.h"
#include "prio-hooks.h"
#include "prio-task-controller.h"

/* The feeds of a group; stored as the group's qdata. */
struct _PrioFeeds
{
  PrioTaskGroup *group;
  GQueue queue;  /* PrioFeeding: feeds that have changed, and then feeds that wait for a place */
  guint n_open;  /* tasks that functions have returned, and that have not ended */
  gboolean is_asking, will_ask;
  gboolean is_fed; /* whether prio_task_group_set_fed () has announced more tasks */
};

/* A task of a feed or, if the feed has a list, a row that is new or has a task. */
typedef struct
{
  PrioFeeding *feeding;           /* owned once the function is called */
  GSequenceIter *at;              /* in @feeding->rows, or NULL */
  GSequenceIter *new_at;          /* in @feeding->new_rows, which owns this record, or NULL */
  gpointer item;                  /* of a row, owned, once the function is called */
  PrioTaskController *controller; /* of a row's task, or NULL */
  GWeakRef task;                  /* zeroed until the function has returned the task */
  gboolean is_removed;            /* whether the row was removed from the list, and perhaps added again */
  gboolean is_demoted;
} PrioAsked;

/* The most rows that are added to @rows at once.  After a larger change of the list, the rows behind it leave @rows. */
enum { MOST_NEW = 1000 };

#define NO_ROW G_MAXUINT

/* The rows in view, from @first to @last - 1, and the rows to load with the look-ahead, from @begin to @end - 1. */
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
  g_clear_pointer (&self->left, g_ptr_array_unref);
  g_clear_pointer (&self->rows, g_sequence_free);
  g_clear_pointer (&self->new_rows, g_sequence_free);
}

void
prio_feeding_unref (PrioFeeding *self)
{
  g_atomic_rc_box_release_full (self, feeding_clear);
}

/* Marks the row of @asked, whose task has ended, as done, or forgets the row if it has left @rows. */
static void
end_row (PrioAsked *asked)
{
  if (asked->at != NULL)
    g_sequence_set (g_steal_pointer (&asked->at), NULL);
  else if (asked->feeding->left != NULL)
    g_ptr_array_remove_fast (asked->feeding->left, asked);
}

static void
asked_clear (gpointer data)
{
  PrioAsked *asked = data;

  g_weak_ref_clear (&asked->task);
  g_clear_object (&asked->controller);
  g_clear_object (&asked->item);
  if (asked->feeding == NULL)
    return;
  end_row (asked); /* needed only if the context was destroyed before the task has ended */
  prio_feeding_unref (asked->feeding);
}

static void
asked_unref (gpointer asked)
{
  g_atomic_rc_box_release_full (asked, asked_clear);
}

/* Asks for tasks.  This is the function of a task that observers do not see. */
static void
ask_later (PrioTask *task G_GNUC_UNUSED, gpointer group)
{
  PrioFeeds *self = g_object_get_qdata (group, feeds_quark ());

  self->will_ask = FALSE;
  ask (self);
}

/* Asks for tasks in a later task, so that other tasks may run first. */
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

/* Makes waits for the group last while a feed is going to ask for tasks. */
static void
update_waits (PrioFeeds *self)
{
  gboolean was_fed = self->is_fed;

  self->is_fed = self->queue.length > 0;
  if (self->is_fed != was_fed)
    prio_task_group_set_fed (self->group, self->is_fed);
}

static void
dequeue (PrioFeeding *self)
{
  if (self->link.data != NULL)
    g_queue_unlink (&self->feeds->queue, &self->link);
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
  (has_changed ? g_queue_push_head_link : g_queue_push_tail_link) (&self->feeds->queue, &self->link);
}

/* Queues the feed @self: the loop will call its function and, if it has a list, first read the list and the view. */
void
prio_feeding_change (PrioFeeding *self)
{
  enqueue (self, self->model != NULL);
  update_waits (self->feeds);
  wake (self->feeds);
}

static gboolean
has_room (PrioFeeds *self)
{
  return MAX (prio_task_group_get_n_tasks (self->group), self->n_open) < prio_task_group_get_room (self->group);
}

static void
places_changed (PrioFeeds *self)
{
  if (self->queue.length > 0 && has_room (self))
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
  g_signal_connect_swapped (group, "notify::n-tasks", G_CALLBACK (places_changed), self);
  g_signal_connect_swapped (group, "notify::limit", G_CALLBACK (places_changed), self);
  return self;
}

static gboolean
is_over (PrioFeeding *self)
{
  /* Checks the signal too, because an abort may call destroy notifies before it ends the task. */
  return g_atomic_int_get (&self->is_over) || prio_task_signal_is_aborted (PRIO_TASK_SIGNAL (prio_task_get_cancellable (self->task))) ||
         prio_task_get_state (self->task) != PRIO_TASK_STATE_PENDING;
}

static guint
end_of_rows (const PrioFeeding *self)
{
  return self->begin + (guint) g_sequence_get_length (self->rows);
}

static GSequenceIter *
iter_at (const PrioFeeding *self, guint position)
{
  return g_sequence_get_iter_at_pos (self->rows, (gint) (position - self->begin));
}

/* Returns the position of the new row at @iter, or NO_ROW if @iter is the end. */
static guint
position_at (const PrioFeeding *self, GSequenceIter *iter)
{
  return g_sequence_iter_is_end (iter) ? NO_ROW
                                       : self->begin + (guint) g_sequence_iter_get_position (((PrioAsked *) g_sequence_get (iter))->at);
}

/* Compares the positions of two rows.  @key comes before a row at the same position. */
static gint
compare (gconstpointer a, gconstpointer b, gpointer key)
{
  gint order = g_sequence_iter_compare (((const PrioAsked *) a)->at, ((const PrioAsked *) b)->at);

  return order != 0 || a == b ? order : a == key ? -1 : 1;
}

/* Returns the first new row at or after @position.  @position must not be before @rows. */
static GSequenceIter *
find_new (const PrioFeeding *self, guint position)
{
  PrioAsked key = { .at = iter_at (self, position) };

  return g_sequence_search (self->new_rows, &key, compare, &key);
}

static void
insert_new (PrioFeeding *self, guint index, guint n)
{
  GSequenceIter *before = g_sequence_get_iter_at_pos (self->rows, (gint) index);

  for (; n > 0; n--)
    {
      PrioAsked *asked = g_atomic_rc_box_new0 (PrioAsked);

      asked->at = g_sequence_insert_before (before, asked);
      asked->new_at = g_sequence_insert_sorted (self->new_rows, asked, compare, NULL);
    }
}

/* Extends @rows to @position.  Returns FALSE if that would add more than MOST_NEW rows. */
static gboolean
reach (PrioFeeding *self, guint position)
{
  guint end = end_of_rows (self), n = position < self->begin ? self->begin - position : position < end ? 0 : position - end + 1;

  if (n > MOST_NEW)
    return FALSE;
  insert_new (self, position < self->begin ? 0 : end - self->begin, n);
  self->begin = MIN (self->begin, position);
  return TRUE;
}

/* Removes the rows from @begin to @end - 1 from @rows.  Rows that have a task are moved to @left. */
static void
take_out (PrioFeeding *self, guint begin, guint end, gboolean is_removed)
{
  GSequenceIter *iter = iter_at (self, begin);

  for (; begin < end; begin++)
    {
      GSequenceIter *next = g_sequence_iter_next (iter);
      PrioAsked *asked = g_sequence_get (iter);

      g_sequence_remove (iter);
      iter = next;
      if (asked == NULL)
        continue;
      asked->at = NULL;
      asked->is_removed = is_removed;
      if (asked->new_at != NULL)
        g_sequence_remove (asked->new_at);
      else
        g_ptr_array_add (self->left, asked);
    }
}

/* Keeps only the rows from @begin to @end - 1 in @rows. */
static void
keep (PrioFeeding *self, guint begin, guint end, gboolean is_removed)
{
  guint last = end_of_rows (self);

  end = CLAMP (end, self->begin, last);
  begin = CLAMP (begin, self->begin, end);
  take_out (self, end, last, is_removed);
  take_out (self, self->begin, begin, is_removed);
  self->begin = begin;
}

/* Forgets all rows, because the list did not report its changes in order. */
static void
start_anew (PrioFeeding *self)
{
  keep (self, 0, 0, TRUE);
  self->n = g_list_model_get_n_items (self->model);
}

static void
items_changed (GListModel *model G_GNUC_UNUSED, guint position, guint n_removed, guint n_added, PrioFeeding *self)
{
  guint end = end_of_rows (self);

  if (position > self->n || n_removed > self->n - position || n_added > G_MAXUINT - (self->n - n_removed))
    {
      start_anew (self);
    }
  else
    {
      guint removed = CLAMP (position + n_removed, self->begin, end);

      if (position >= self->begin && n_added > MOST_NEW)
        take_out (self, removed, end, FALSE);
      take_out (self, CLAMP (position, self->begin, end), removed, TRUE);
      if (position < self->begin)
        self->begin = MAX (self->begin, position + n_removed) + n_added - n_removed;
      else if (position < end && n_added <= MOST_NEW)
        insert_new (self, position - self->begin, n_added);
      self->n += n_added - n_removed;
      self->has_moved |= n_removed > 0 && n_added > 0;
    }
  prio_feeding_change (self);
}

static PrioWindow
window_of (const PrioFeeding *self)
{
  double wanted = MIN (self->look_ahead * self->n_rows, self->n);
  guint ahead = (guint) wanted;
  PrioWindow window;

  ahead += ahead < wanted;
  window.first = self->first < self->n ? self->first : self->n - MIN (self->n_rows, self->n);
  window.last = window.first + MIN (self->n_rows, self->n - window.first);
  window.begin = window.first - MIN (ahead, window.first);
  window.end = window.last + MIN (ahead, self->n - window.last);
  return window;
}

/* Sets the priority of a row's task, which depends on whether the row is demoted.  May run any signal handlers. */
static void
set_priority (gpointer data, gpointer group)
{
  PrioAsked *asked = data;

  prio_task_controller_set_priority (asked->controller, asked->is_demoted ? PRIO_TASK_PRIORITY_BACKGROUND : prio_task_group_get_priority (group),
                                     NULL);
}

static void
add_asked (gpointer asked, gpointer under_way)
{
  if (asked != NULL && ((PrioAsked *) asked)->new_at == NULL)
    g_ptr_array_add (under_way, g_atomic_rc_box_acquire (asked));
}

static void
priority_changed (PrioFeeding *self)
{
  g_autoptr (GPtrArray) under_way = g_ptr_array_new_with_free_func (asked_unref);

  g_sequence_foreach (self->rows, add_asked, under_way);
  g_ptr_array_foreach (under_way, set_priority, self->group);
}

/* Puts @asked, whose row has come back to @position, into @rows in place of the new row there.  Returns FALSE if that
 * row is not new, because the function was called for it meanwhile, or if @rows cannot be extended to @position. */
static gboolean
come_back (PrioFeeding *self, PrioAsked *asked, guint position)
{
  GSequenceIter *iter = reach (self, position) ? iter_at (self, position) : NULL;
  PrioAsked *new_row = iter != NULL ? g_sequence_get (iter) : NULL;

  if (new_row == NULL || new_row->new_at == NULL)
    return FALSE;
  g_sequence_remove (new_row->new_at);
  g_sequence_set (iter, asked);
  asked->at = iter;
  return TRUE;
}

/* Finds rows of @left in @window by their items, and puts them back into @rows.  Stops after MOST_NEW rows. */
static void
find_again (PrioFeeding *self, GPtrArray *left, PrioWindow window)
{
  g_autoptr (GHashTable) items = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < left->len; i++)
    {
      PrioAsked *asked = left->pdata[i];

      if (self->has_moved || asked->is_demoted)
        g_hash_table_insert (items, asked->item, asked);
    }
  for (guint i = window.begin; i < window.end && i - window.begin < MOST_NEW && g_hash_table_size (items) > 0; i++)
    {
      g_autoptr (GObject) item = g_list_model_get_item (self->model, i);
      PrioAsked *asked = g_hash_table_lookup (items, item);

      if (asked != NULL && come_back (self, asked, i))
        g_hash_table_remove (items, item);
    }
  self->has_moved = FALSE;
}

/* Aborts or demotes the tasks of rows that have left, unless the rows are in @window again.  May run any signal
 * handlers and destroy notifies. */
static void
handle_left (PrioFeeding *self, PrioWindow window)
{
  gboolean demotes = self->demotes && window.end - window.begin <= MOST_NEW;
  g_autoptr (GPtrArray) left = g_ptr_array_new_with_free_func (asked_unref);

  for (guint i = 0; i < self->left->len; i++)
    g_ptr_array_add (left, g_atomic_rc_box_acquire (self->left->pdata[i]));
  g_ptr_array_set_size (self->left, 0);
  find_again (self, left, window);
  for (guint i = 0; i < left->len; i++)
    {
      PrioAsked *asked = left->pdata[i];
      g_autoptr (PrioTask) task = g_weak_ref_get (&asked->task);

      asked->is_demoted = asked->at == NULL;
      if (asked->is_demoted && (!demotes || asked->is_removed || task == NULL || prio_task_get_state (task) != PRIO_TASK_STATE_RUNNING))
        {
          prio_task_controller_abort (asked->controller, NULL);
          continue;
        }
      if (asked->is_demoted)
        g_ptr_array_add (self->left, asked);
      set_priority (asked, self->group);
    }
}

/* Returns the next row to ask for: the first new row in view, or the nearest in the window, or NO_ROW. */
static guint
next_row (PrioFeeding *self)
{
  PrioWindow window = window_of (self);
  GSequenceIter *iter = find_new (self, MAX (window.first, self->begin));
  guint below = MIN (position_at (self, iter), end_of_rows (self)), above;

  if (below < window.last)
    return below;
  if (self->begin > window.first)
    return self->begin - 1;
  above = g_sequence_iter_is_begin (iter) ? self->begin - 1 : position_at (self, g_sequence_iter_prev (iter));
  if (above == NO_ROW || above < window.begin)
    return below < window.end ? below : NO_ROW;
  return below < window.end && below - window.last < window.first - above ? below : above;
}

/* Updates @rows after changes of the list and the view, and aborts or demotes tasks outside of the window. */
static void
look (PrioFeeding *self)
{
  PrioWindow window;
  guint end;

  if (self->n != g_list_model_get_n_items (self->model))
    start_anew (self);
  window = window_of (self);
  keep (self, window.begin, window.end, FALSE);
  end = end_of_rows (self);
  /* Fills the gap between @rows and the view or, if the gap is too large, begins again at the view. */
  if (end == self->begin || (end < window.first && !reach (self, window.first - 1)) || (self->begin > window.last && !reach (self, window.last)))
    {
      keep (self, 0, 0, FALSE);
      self->begin = window.first;
    }
  handle_left (self, window);
}

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

static void
has_ended (GObject *source G_GNUC_UNUSED, GAsyncResult *result G_GNUC_UNUSED, gpointer data)
{
  PrioAsked *asked = data;
  PrioFeeding *self = asked->feeding;

  end_row (asked);
  self->n_open--;
  self->feeds->n_open--;
  end_if_exhausted (self);
  ask (self->feeds);
}

/* Calls the function, and makes the returned task call has_ended ().  Called without a scheduling state. */
static void
call (gpointer data)
{
  PrioAsked *asked = data;
  PrioFeeding *self = asked->feeding;
  guint position = asked->at != NULL ? self->begin + (guint) g_sequence_iter_get_position (asked->at) : 0;
  g_autoptr (PrioTask) task = NULL;

  asked->item = self->model != NULL ? g_list_model_get_item (self->model, position) : NULL;
  self->is_called = TRUE;
  if (self->model == NULL)
    task = self->func (self->group, self->data);
  else if (asked->item != NULL)
    task = self->row_func (self->group, asked->item, position, prio_task_controller_get_signal (asked->controller), self->data);
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
      end_row (asked);
      return;
    }
  g_weak_ref_set (&asked->task, task);
  self->n_open++;
  self->feeds->n_open++;
  prio_task_then (task, has_ended, g_atomic_rc_box_acquire (asked), asked_unref);
}

/* Asks for the next task of @self.  Returns FALSE if there is no next row, or if the function has no further task. */
static gboolean
ask_once (PrioFeeding *self)
{
  guint row = self->model != NULL ? next_row (self) : 0;
  PrioAsked *asked;

  if (row == NO_ROW)
    return FALSE;

  if (self->model == NULL)
    {
      asked = g_atomic_rc_box_new0 (PrioAsked);
    }
  else
    {
      reach (self, row);
      asked = g_atomic_rc_box_acquire (g_sequence_get (iter_at (self, row)));
      g_sequence_remove (g_steal_pointer (&asked->new_at));
      asked->controller = prio_task_controller_new (prio_task_group_get_priority (self->group));
    }
  asked->feeding = g_atomic_rc_box_acquire (self);
  prio_scheduling_state_run (NULL, call, asked);
  asked_unref (asked);
  end_if_exhausted (self);
  return !self->is_exhausted;
}

/* Updates the rows of the next feed, or asks the feed for a task.  Returns FALSE if there is nothing to do. */
static gboolean
go_on (PrioFeeds *self)
{
  PrioFeeding *feeding = g_queue_peek_head (&self->queue);
  gboolean has_more = TRUE;

  if (feeding == NULL || (!feeding->has_changed && !has_room (self)))
    return FALSE;

  g_atomic_rc_box_acquire (feeding);
  dequeue (feeding);
  if (is_over (feeding))
    has_more = FALSE;
  else if (feeding->has_changed)
    look (feeding);
  else
    has_more = ask_once (feeding);
  if (has_more && feeding->link.data == NULL)
    enqueue (feeding, FALSE);
  prio_feeding_unref (feeding);
  return TRUE;
}

/* Asks for tasks while there are free places, for one time slice at most. */
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

/* Ends a feed.  Destroy notify of the feed's task, called at the end of the task or of its main context. */
static void
end (gpointer data)
{
  PrioFeeding *self = data;

  g_atomic_int_set (&self->is_over, TRUE);
  dequeue (self);
  if (self->model != NULL)
    {
      g_signal_handler_disconnect (self->model, self->items_changed);
      g_signal_handler_disconnect (self->group, self->priority_changed);
      keep (self, 0, 0, FALSE);
      handle_left (self, (PrioWindow) { 0 });
    }
  release_data (self);
  if (!self->feeds->is_asking && !prio_loop_has_gone (prio_task_group_get_loop (self->group)))
    update_waits (self->feeds);
  prio_feeding_unref (self);
}

/* Begins a feed.  @from has its function, the data for the function and, if there is one, its list. */
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
      self->left = g_ptr_array_new ();
      self->rows = g_sequence_new (NULL);
      self->new_rows = g_sequence_new (asked_unref);
      self->items_changed = g_signal_connect (self->model, "items-changed", G_CALLBACK (items_changed), self);
      self->priority_changed = g_signal_connect_swapped (group, "notify::priority", G_CALLBACK (priority_changed), self);
    }
  self->task = prio_scheduler_post_hidden (scheduler, &options, PRIO_NEVER, NULL, g_atomic_rc_box_acquire (self), end);
  prio_feeding_change (self);
  return self;
}
