/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-group-ends.c: the ends of a group's tasks, and of the group with its context */

#include "frozen-time.h"
#include "hands.h"

/* The data of a destroy notify of a task, or of a callback. */
typedef struct
{
  PrioTaskGroup *group;
  GThread *thread;
  guint n_called, pending;
} Noted;

static void
note (gpointer data)
{
  Noted *noted = data;

  noted->n_called++;
  noted->thread = g_thread_self ();
  noted->pending = MAX (noted->pending, prio_task_group_get_n_tasks (noted->group));
}

G_GNUC_NORETURN static void
never_run (PrioTask *task, gpointer data)
{
  g_assert_not_reached ();
}

G_GNUC_NORETURN static void
not_called (GObject *source, GAsyncResult *result, gpointer data)
{
  g_assert_not_reached ();
}

static void
note_cancelled (GCancellable *signal, Noted *noted)
{
  note (noted);
}

/* Callbacks during an abort see the group's tasks as ended, and a wait is over before the loop continues. */
static void
test_abort_counts_at_once (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  g_autoptr (GError) reason = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "another search");
  Noted noted = { .group = group }, of_signal = { .group = group };
  Hands hands = { .log = f->log };
  Waited drained = { 0 }, all = { 0 };

  post_hands (group, &hands, "a", PRIO_TASK_PRIORITY_UNSET);
  fixture_run (f);
  for (guint i = 0; i < 200; i++)
    g_object_unref (prio_task_group_post_task (group, NULL, never_run, &noted, note));
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_DRAINED, NULL, waited, &drained);
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_ALL, NULL, waited, &all);
  g_signal_connect (prio_task_group_get_signal (group), "cancelled", G_CALLBACK (note_cancelled), &of_signal);
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 201);
  prio_task_group_abort (group, reason);
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 1);
  g_assert_cmpuint (noted.n_called, ==, 200);
  g_assert_cmpuint (noted.pending, ==, 1);
  g_assert_cmpuint (of_signal.n_called, ==, 1);
  g_assert_cmpuint (of_signal.pending, ==, 1);
  g_assert_cmpuint (all.n_done, ==, 0);
  fixture_run (f);
  g_assert_error (all.error, G_IO_ERROR, G_IO_ERROR_BUSY);
  g_assert_cmpuint (drained.n_done, ==, 0);
  end_hands (f, &hands);
  g_assert_true (drained.ok);
  waited_clear (&all);
}

static void
test_cancel_counts_at_once (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  Noted noted = { .group = group };
  Waited drained = { 0 };

  for (guint i = 0; i < 200; i++)
    g_object_unref (prio_task_group_post_task (group, NULL, never_run, &noted, note));
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_DRAINED, NULL, waited, &drained);
  prio_task_group_cancel_pending (group);
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 0);
  g_assert_cmpuint (noted.n_called, ==, 200);
  g_assert_cmpuint (noted.pending, ==, 0);
  g_assert_cmpuint (drained.n_done, ==, 0);
  fixture_run (f);
  g_assert_true (drained.ok);
}

static void
abort_group (PrioTask *task, gpointer group)
{
  prio_task_group_abort (group, NULL);
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 0);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);
}

/* A task that aborts its own group gets its result at once, although it continues. */
static void
test_abort_by_a_task (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  g_autoptr (PrioTask) task = prio_task_group_post_task (group, NULL, abort_group, group, NULL);
  Noted noted = { .group = group };
  Hands hands = { .log = f->log };

  g_object_unref (prio_task_group_post_task (group, NULL, never_run, &noted, note));
  fixture_run (f);
  g_assert_cmpuint (noted.n_called, ==, 1);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);

  post_hands (group, &hands, "ab", PRIO_TASK_PRIORITY_UNSET);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "a");
  end_hands (f, &hands);
  g_assert_cmpstr (f->log->str, ==, "ab");
}

typedef struct
{
  PrioTaskGroup *group;
  Hands *hands;
  PrioTask *other;
} Replaced;

static void
replace (gpointer data)
{
  Replaced *replaced = data;

  prio_task_cancel (replaced->other);
  post_hands (replaced->group, replaced->hands, "n", PRIO_TASK_PRIORITY_UNSET);
}

/* Only tasks that were queued at the call are cancelled, and not tasks that a destroy notify posts meanwhile. */
static void
test_cancel_pending_leaves_new_tasks (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  Hands hands = { .log = f->log };
  Replaced replaced = { group, &hands, NULL };
  Noted noted = { .group = group };

  g_object_unref (prio_task_group_post_task (group, NULL, never_run, &replaced, replace));
  for (guint i = 0; i < 2; i++)
    {
      g_clear_object (&replaced.other);
      replaced.other = prio_task_group_post_task (group, NULL, never_run, &noted, note);
    }
  prio_task_group_cancel_pending (group);
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 1);
  end_hands (f, &hands);
  g_assert_cmpstr (f->log->str, ==, "n");
  g_object_unref (replaced.other);
}

/* Counts in step_n_freed the end of the context. */
static void
watch_context (Fixture *f)
{
  GSource *source = g_timeout_source_new_seconds (10000);

  g_source_set_callback (source, G_SOURCE_FUNC (step_run), g_new (Step, 1), step_free);
  g_source_attach (source, f->context);
  g_source_unref (source);
}

/* Tasks that are queued for a place end with the context, and are released by the thread that destroys it. */
static void
test_context_goes_while_places_are_taken (Fixture *f, gconstpointer data)
{
  PrioTaskGroup *group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  Hands hands = { .log = f->log };
  Noted of_tasks = { .group = group }, of_callbacks = { .group = group };
  PrioTask *tasks[100];
  Waited never = { 0 };

  post_hands (group, &hands, "a", PRIO_TASK_PRIORITY_UNSET);
  fixture_run (f);
  for (guint i = 0; i < G_N_ELEMENTS (tasks); i++)
    {
      tasks[i] = prio_task_group_post_task (group, NULL, never_run, &of_tasks, note);
      prio_task_then (tasks[i], not_called, &of_callbacks, note);
    }
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_DRAINED, NULL, waited, &never);
  fixture_drop_context (f);

  g_assert_cmpuint (of_tasks.n_called, ==, G_N_ELEMENTS (tasks));
  g_assert_cmpuint (of_callbacks.n_called, ==, G_N_ELEMENTS (tasks));
  g_assert_true (of_tasks.thread == g_thread_self () && of_callbacks.thread == g_thread_self ());
  for (guint i = 0; i < G_N_ELEMENTS (tasks); i++)
    {
      g_assert_cmpint (prio_task_get_state (tasks[i]), ==, PRIO_TASK_STATE_ABORTED);
      g_assert_error (prio_task_get_error (tasks[i]), PRIO_ERROR, PRIO_ERROR_CLOSED);
      g_object_unref (tasks[i]);
    }
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 1);
  g_object_add_weak_pointer (G_OBJECT (group), (gpointer *) &group);
  g_object_unref (group);
  end_hand (&hands, 'a');
  g_assert_null (group);
  g_assert_cmpuint (never.n_done, ==, 0);
}

static gpointer
end_elsewhere (gpointer data)
{
  prio_task_return_boolean (data, TRUE);
  g_object_unref (data);
  return NULL;
}

/* Results may be returned after the context has gone, in any thread. */
static void
test_results_after_the_context (Fixture *f, gconstpointer data)
{
  PrioTaskGroup *group = prio_task_group_new (f->scheduler, G_MAXUINT, USER_VISIBLE);
  Hands hands = { .log = f->log };
  GThread *threads[26];

  post_hands (group, &hands, "abcdefghijklmnopqrstuvwxyz", PRIO_TASK_PRIORITY_UNSET);
  fixture_run (f);
  fixture_drop_context (f);
  g_object_add_weak_pointer (G_OBJECT (group), (gpointer *) &group);
  g_object_unref (group);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("result", end_elsewhere, g_steal_pointer (&hands.begun[i]));
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  g_assert_null (group);
}

/* A wait does not keep the context, the tasks or the group, but a waiting callback keeps the group. */
static void
test_wait_does_not_keep_the_context (Fixture *f, gconstpointer data)
{
  PrioTaskGroup *group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);
  Hands hands = { .log = f->log };
  Waited never = { 0 };

  step_n_freed = 0;
  watch_context (f);
  post_hands (group, &hands, "ab", PRIO_TASK_PRIORITY_UNSET);
  fixture_run (f);
  for (guint until = PRIO_TASK_GROUP_WAIT_DRAINED; until <= PRIO_TASK_GROUP_WAIT_FIRST; until++)
    {
      prio_task_group_wait_async (group, until, NULL, waited, &never);
      prio_task_group_wait_async (group, until, G_CANCELLABLE (prio_task_controller_get_signal (controller)), waited,
                                  &never);
    }
  fixture_drop_context (f);
  g_assert_cmpuint (step_n_freed, ==, 1);
  prio_task_controller_abort (controller, NULL);
  g_object_add_weak_pointer (G_OBJECT (group), (gpointer *) &group);
  g_object_unref (group);
  end_hand (&hands, 'a');
  g_assert_null (group);
  g_assert_cmpuint (never.n_done, ==, 0);
}

static void
check_place (gpointer data)
{
  Step *step = data;

  g_string_append_c (step->f->log, 'n');
  prio_scheduler_pause (step->f->scheduler);
  prio_scheduler_resume (step->f->scheduler);
  step_free (step);
}

/* Data is released only after the function has started: no code of the program runs while places are counted. */
static void
test_releases_wait_for_the_function (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_BLOCKING);
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_BLOCKING);

  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .signal = signal_of (controller) }, step_run,
                            step_new (f, 'c', NULL, NULL), check_place);
  for (char letter = 'x'; letter <= 'z'; letter++)
    g_object_unref (prio_task_group_post_task (group, NULL, step_run_task, step_new (f, letter, NULL, NULL), step_free));
  /* All tasks run in one batch: the slowness of this machine does not matter. */
  frozen_time = g_get_monotonic_time ();
  fixture_run (f);
  frozen_time = 0;
  g_assert_cmpstr (f->log->str, ==, "cxyzn");
}

static gpointer
pause_and_resume (gpointer data)
{
  Fixture *f = data;

  for (guint i = 0; i < 20000; i++)
    {
      prio_scheduler_pause (f->scheduler);
      prio_scheduler_set_time_slice (f->scheduler, i % 2 == 0 ? 5 : 4);
      prio_scheduler_resume (f->scheduler);
    }
  return NULL;
}

/* Another thread pauses the scheduler while places are taken and freed. */
static void
test_paused_by_another_thread (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 2, USER_VISIBLE);
  Hands hands = { .log = f->log };
  GThread *thread;

  g_assert_true (g_main_context_acquire (f->context));
  thread = g_thread_new ("pauses", pause_and_resume, f);
  for (guint round = 0; round < 200; round++)
    {
      post_hands (group, &hands, "abcde", PRIO_TASK_PRIORITY_UNSET);
      end_hands (f, &hands);
      while (prio_task_group_get_n_tasks (group) > 0)
        end_hands (f, &hands);
    }
  g_thread_join (thread);
  g_main_context_release (f->context);
  g_assert_cmpuint (hands.max_running, ==, 2);
  g_assert_cmpuint (f->log->len, ==, 1000);
}

typedef struct
{
  Fixture *f;
  PrioTaskController *controller;
  guint n_continued;
} Yielding;

static void
continued (GObject *source, GAsyncResult *result, gpointer data)
{
  Yielding *yielding = data;
  g_autoptr (GError) error = NULL;

  g_string_append_c (yielding->f->log, prio_scheduler_yield_finish (PRIO_SCHEDULER (source), result, &error) ? 'y' : 'e');
  if (error != NULL)
    g_assert_error (error, G_IO_ERROR, G_IO_ERROR_BUSY);
  else if (yielding->n_continued++ == 0)
    prio_scheduler_yield_async (PRIO_SCHEDULER (source), NULL, continued, data);
}

static void
yield_in_task (PrioTask *task, gpointer data)
{
  Yielding *yielding = data;

  prio_scheduler_yield_async (yielding->f->scheduler, NULL, continued, data);
}

static void
abort_now (Step *step)
{
  g_autoptr (GError) reason = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "no more");

  prio_task_group_abort (step->data, reason);
}

/* A yield in a task of a group inherits its priority, which may change, and its signal. */
static void
test_yields_inherit (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, BACKGROUND);
  Yielding yielding = { f };

  g_object_unref (prio_task_group_post_task (group, NULL, yield_in_task, &yielding, NULL));
  post_letter (f, USER_VISIBLE, 'V');
  post_letter (f, BACKGROUND, 'B');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "VyyB");

  g_string_truncate (f->log, 0);
  yielding.n_continued = 0;
  g_object_unref (prio_task_group_post_task (group, NULL, yield_in_task, &yielding, NULL));
  post_step (f, BACKGROUND, 'A', NULL, group);
  g_assert_true (prio_task_group_set_priority (group, USER_BLOCKING, NULL));
  post_letter (f, USER_VISIBLE, 'V');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "yyVA");

  g_string_truncate (f->log, 0);
  yielding.n_continued = 0;
  g_object_unref (prio_task_group_post_task (group, &(PrioTaskOptions) { .priority = BACKGROUND }, yield_in_task,
                                             &yielding, NULL));
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "yy");
  g_string_truncate (f->log, 0);
  yielding.n_continued = 0;
  prio_scheduler_set_time_slice (f->scheduler, 0);
  g_object_unref (prio_task_group_post_task (group, NULL, yield_in_task, &yielding, NULL));
  g_main_context_iteration (f->context, FALSE);
  post_step (f, USER_BLOCKING, 'A', abort_now, group);
  g_assert_true (prio_task_group_set_priority (group, BACKGROUND, NULL));
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "Ae");
}

static gpointer
abort_elsewhere (gpointer controller)
{
  prio_task_controller_abort (controller, NULL);
  return NULL;
}

static gboolean
never_called (gpointer data)
{
  g_assert_not_reached ();
  return G_SOURCE_REMOVE;
}

static void
run_nested (gpointer fixture)
{
  fixture_run (fixture);
}

static void
defer_and_abort_group (PrioTask *task, gpointer group)
{
  prio_task_defer (g_object_ref (task));
  prio_task_group_abort (group, NULL);
}

static void
defer_only (PrioTask *task, gpointer group G_GNUC_UNUSED)
{
  prio_task_defer (g_object_ref (task));
}

/* Posts a task, whose post calls a destroy notify that runs @func in a nested main loop. */
static PrioTask *
post_and_run (Fixture *f, PrioTaskGroup *group, PrioTaskFunc func)
{
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);

  prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .signal = signal_of (controller) }, never_called, f, run_nested);
  g_thread_join (g_thread_new ("another", abort_elsewhere, controller));
  return prio_task_group_post_task (group, NULL, func, group, NULL);
}

/* A task that runs before its post has returned counts as running. */
static void
test_run_within_its_post (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  g_autoptr (PrioTask) aborted = post_and_run (f, group, defer_and_abort_group);
  g_autoptr (PrioTask) runs = NULL;

  g_assert_cmpint (prio_task_get_state (aborted), ==, PRIO_TASK_STATE_ABORTED);
  g_object_unref (aborted);
  runs = post_and_run (f, group, defer_only);
  g_assert_cmpint (prio_task_get_state (runs), ==, PRIO_TASK_STATE_RUNNING);
  prio_task_group_cancel_pending (group);
  prio_task_return_int (runs, 1);
  fixture_run (f);
  g_assert_cmpint (prio_task_get_state (runs), ==, PRIO_TASK_STATE_FULFILLED);
  g_assert_cmpint (prio_task_propagate_int (runs, NULL), ==, 1);
  g_object_unref (runs);
  g_assert_cmpuint (prio_task_group_get_n_tasks (group), ==, 0);
}

static void
nothing_at_all (PrioTask *task, gpointer data)
{
}

static gpointer
post_as_owner (gpointer group)
{
  g_autoptr (PrioScheduler) scheduler = prio_task_group_dup_scheduler (group);
  g_autoptr (PrioTask) task = NULL;

  g_main_context_push_thread_default (prio_scheduler_get_context (scheduler));
  task = prio_task_group_post_task (group, NULL, nothing_at_all, NULL, NULL);
  g_main_context_pop_thread_default (prio_scheduler_get_context (scheduler));
  return GINT_TO_POINTER (task != NULL);
}

/* A thread that has acquired the context may use the group before the thread runs the context. */
static void
test_of_a_new_owner (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);

  g_main_context_pop_thread_default (f->context);
  g_assert_nonnull (g_thread_join (g_thread_new ("owner", post_as_owner, group)));
  g_main_context_push_thread_default (f->context);
  fixture_run (f);
}

static gpointer
cancel_elsewhere (gpointer task)
{
  prio_task_cancel (task);
  return NULL;
}

static void
cancel_when_it_begins (PrioTask *task, GParamSpec *property, gpointer data)
{
  if (prio_task_get_state (task) == PRIO_TASK_STATE_RUNNING)
    g_thread_join (g_thread_new ("canceller", cancel_elsewhere, task));
}

static void
check_runs (PrioTask *task, gpointer data)
{
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_RUNNING);
}

/* Another thread cancels a task when the task is about to run: its function is not called after the abort. */
static void
test_cancelled_elsewhere_at_its_turn (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, USER_VISIBLE);
  g_autoptr (PrioTask) task = prio_task_group_post_task (group, NULL, check_runs, NULL, NULL);

  g_signal_connect (task, "notify::state", G_CALLBACK (cancel_when_it_begins), NULL);
  fixture_run (f);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/group/abort-counts-at-once", test_abort_counts_at_once);
  add_test ("/group/cancel-counts-at-once", test_cancel_counts_at_once);
  add_test ("/group/abort-by-a-task", test_abort_by_a_task);
  add_test ("/group/cancel-pending-leaves-new-tasks", test_cancel_pending_leaves_new_tasks);
  add_test ("/group/run-within-its-post", test_run_within_its_post);
  add_test ("/group/context-goes-while-places-are-taken", test_context_goes_while_places_are_taken);
  add_test ("/group/results-after-the-context", test_results_after_the_context);
  add_test ("/group/wait-does-not-keep-the-context", test_wait_does_not_keep_the_context);
  add_test ("/group/releases-wait-for-the-function", test_releases_wait_for_the_function);
  add_test ("/group/cancelled-elsewhere-at-its-turn", test_cancelled_elsewhere_at_its_turn);
  add_test ("/group/of-a-new-owner", test_of_a_new_owner);
  add_test ("/group/paused-by-another-thread", test_paused_by_another_thread);
  add_test ("/group/yields-inherit", test_yields_inherit);

  return g_test_run ();
}
