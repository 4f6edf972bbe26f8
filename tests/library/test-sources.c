/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-sources.c: the library's sources in a main context, which a program can count and remove */

#include "helpers.h"

static const char *const names[] = {
  "prio-sched governor", "prio-sched user-blocking", "prio-sched user-visible", "prio-sched background",
  "prio-sched idle callbacks", "prio-sched after input", "prio-sched before the frame", "prio-sched before layout",
  "prio-sched after the frame", "prio-sched at the bottom"
};

/* Returns the next source id: GLib numbers sources in turn. */
static guint
next_id (GMainContext *context)
{
  static GSourceFuncs funcs;
  g_autoptr (GSource) source = g_source_new (&funcs, sizeof *source);
  guint id = g_source_attach (source, context);

  g_source_destroy (source);
  return id;
}

/* Calls @func for each of the library's sources whose name begins with @name.  Returns their number.  Skips sources
 * that are attached meanwhile. */
static guint
for_each_source (GMainContext *context, const char *name, void (*func) (GSource *source))
{
  g_autoptr (GPtrArray) found = g_ptr_array_new ();
  guint end = next_id (context);

  for (guint id = 1; id < end; id++)
    {
      GSource *source = g_main_context_find_source_by_id (context, id);

      if (source != NULL && g_str_has_prefix (g_source_get_name (source), name))
        g_ptr_array_add (found, source);
    }
  for (guint i = 0; func != NULL && i < found->len; i++)
    func (found->pdata[i]);
  return found->len;
}

static void
remove_sources (GMainContext *context, const char *name)
{
  for_each_source (context, name, g_source_destroy);
}

static gboolean
keep_on (gpointer data)
{
  return G_SOURCE_CONTINUE;
}

/* During a flood of other sources the source of a turn is never dispatched, and turns end by time. */
static void
test_turns_that_end_by_time (Fixture *f, gconstpointer data)
{
  prio_scheduler_set_time_slice (f->scheduler, 0.001);
  attach_source (f->context, G_PRIORITY_DEFAULT, keep_on, NULL);
  prio_scheduler_post (f->scheduler, USER_VISIBLE, keep_on, NULL, NULL);

  for (guint i = 0; i < 1000; i++)
    g_main_context_iteration (f->context, FALSE);
  g_assert_cmpuint (for_each_source (f->context, "prio-sched at the bottom", NULL), <=, 1);
}

/* The source of turns leaves the context after a while without turns. */
static void
test_the_source_of_turns_leaves (Fixture *f, gconstpointer data)
{
  prio_scheduler_set_time_slice (f->scheduler, 0.001);
  for (guint i = 0; i < 10; i++)
    post_letter (f, USER_VISIBLE, 'a');
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "aaaaaaaaaa");
  for (guint i = 0; i < 300; i++)
    g_main_context_iteration (f->context, FALSE);
  g_assert_cmpuint (for_each_source (f->context, "prio-sched", NULL), ==, 1);
}

static gboolean
count_task (gpointer n)
{
  g_atomic_int_inc ((gint *) n);
  return G_SOURCE_REMOVE;
}

static void
iterate_until_none_is_left (void)
{
  for (guint i = 0; i < 1000; i++)
    g_main_context_iteration (NULL, FALSE);
  g_assert_cmpuint (for_each_source (NULL, "prio-sched", NULL), ==, 0);
}

static gpointer
post_to_default (gpointer n)
{
  prio_scheduler_post (prio_scheduler_get_default (), USER_VISIBLE, count_task, n, NULL);
  return NULL;
}

static void
wait_for (gint *n, gint wanted)
{
  while (g_atomic_int_get (n) < wanted)
    g_main_context_iteration (NULL, TRUE);
}

/* The default scheduler is never freed.  After a while without work it has no source, and gets a source at the next
 * post. */
static void
test_all_sources_leave (Fixture *f, gconstpointer data)
{
  PrioScheduler *scheduler = prio_scheduler_get_default ();
  gint n = 0;

  iterate_until_none_is_left ();
  for (gint i = 1; i <= 50; i++)
    {
      post_to_default (&n);
      wait_for (&n, i);
      iterate_until_none_is_left ();
    }
  prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .delay = 20 }, count_task, &n, NULL);
  for (guint i = 0; i < 300; i++)
    g_main_context_iteration (NULL, FALSE);
  wait_for (&n, 51);
  iterate_until_none_is_left ();
}

static gboolean
be_slow (gpointer data)
{
  g_usleep (15000);
  return G_SOURCE_REMOVE;
}

/* Beside a source that is always ready, GLib never reaches the source that notices that input has gone. */
static void
test_all_sources_leave_after_a_slow_handler (Fixture *f, gconstpointer data)
{
  g_autoptr (GSource) busy = g_idle_source_new ();
  gint n = 0;

  g_source_set_priority (busy, G_PRIORITY_DEFAULT);
  g_source_set_callback (busy, keep_on, NULL, NULL);
  g_source_attach (busy, NULL);
  post_to_default (&n);
  wait_for (&n, 1);
  g_idle_add_full (G_PRIORITY_HIGH, be_slow, NULL, NULL);
  iterate_until_none_is_left ();
  g_source_destroy (busy);
}

/* A post from another thread brings the sources back, too, while the loop sleeps. */
static void
test_another_thread_brings_them_back (Fixture *f, gconstpointer data)
{
  gint n = 0;

  prio_scheduler_get_default ();
  for (gint i = 1; i <= 50; i++)
    {
      GThread *thread;

      iterate_until_none_is_left ();
      thread = g_thread_new (NULL, post_to_default, &n);
      wait_for (&n, i);
      g_thread_join (thread);
    }
}

/* Posts while the sources leave. */
static gpointer
post_time_and_again (gpointer n)
{
  for (guint i = 0; i < times (3000); i++)
    {
      gint before = g_atomic_int_get ((gint *) n);

      post_to_default (n);
      while (g_atomic_int_get ((gint *) n) == before)
        g_thread_yield ();
    }
  return NULL;
}

static void
test_another_thread_posts_while_they_leave (Fixture *f, gconstpointer data)
{
  gint n = 0;
  GThread *thread;

  iterate_until_none_is_left ();
  thread = g_thread_new (NULL, post_time_and_again, &n);
  while (g_atomic_int_get (&n) < (gint) times (3000))
    {
      /* The sources leave in one of these iterations, or the loop sleeps. */
      for (gint i = g_random_int_range (90, 110); i > 0; i--)
        g_main_context_iteration (NULL, FALSE);
      if (g_atomic_int_get (&n) < (gint) times (3000))
        g_main_context_iteration (NULL, TRUE);
    }
  g_thread_join (thread);
}

/* A post in the prepare of another source brings the sources back, after GLib has called the earlier sources. */
typedef struct
{
  GSource parent;
  gint *n;
} Poster;

static gboolean
poster_prepare (GSource *source, gint *timeout)
{
  Poster *self = (Poster *) source;

  *timeout = -1;
  if (self->n != NULL)
    post_to_default (self->n);
  self->n = NULL;
  return FALSE;
}

static void
test_a_prepare_brings_them_back (Fixture *f, gconstpointer data)
{
  static GSourceFuncs funcs = { .prepare = poster_prepare };
  GSource *source = g_source_new (&funcs, sizeof (Poster));
  gint n = 0;

  g_source_set_static_name (source, "poster");
  g_source_attach (source, NULL);
  for (gint i = 1; i <= 50; i++)
    {
      iterate_until_none_is_left ();
      ((Poster *) source)->n = &n;
      wait_for (&n, i);
    }
  g_source_destroy (source);
  g_source_unref (source);
}

/* A handler that runs after the sources have left has its slice: should_yield () is not TRUE at once. */
static void
test_a_handler_has_its_slice_without_sources (Fixture *f, gconstpointer data)
{
  iterate_until_none_is_left ();
  g_assert_false (prio_scheduler_should_yield (prio_scheduler_get_default ()));
}

static void
post_one_of_each (Fixture *f)
{
  for (PrioTaskPriority priority = BACKGROUND; priority <= USER_BLOCKING; priority++)
    post_letter (f, priority, (char) ('0' + priority - BACKGROUND));
}

/* Runs a task of each lane, so that each has its source in the context. */
static void
run_one_of_each (Fixture *f)
{
  post_one_of_each (f);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "210");
  g_string_truncate (f->log, 0);
}

/* Tasks that are posted after the removal run. */
static void
test_removed_before_a_post (Fixture *f, gconstpointer data)
{
  run_one_of_each (f);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      remove_sources (f->context, names[i]);
      run_one_of_each (f);
    }
  remove_sources (f->context, "prio-sched");
  run_one_of_each (f);
}

/* Tasks that are pending at the removal run. */
static void
test_removed_with_tasks_pending (Fixture *f, gconstpointer data)
{
  run_one_of_each (f);
  for (guint i = 0; i <= G_N_ELEMENTS (names); i++)
    {
      post_one_of_each (f);
      remove_sources (f->context, i < G_N_ELEMENTS (names) ? names[i] : "prio-sched");
      fixture_run (f);
      g_assert_cmpstr (f->log->str, ==, "210");
      g_string_truncate (f->log, 0);
    }
}

/* Pending tasks run even if no reference to a scheduler is left. */
static void
test_removed_without_a_scheduler (Fixture *f, gconstpointer data)
{
  post_one_of_each (f);
  g_clear_object (&f->scheduler);
  remove_sources (f->context, "prio-sched");
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "210");
  g_assert_cmpuint (for_each_source (f->context, "prio-sched", NULL), ==, 0);
}

/* Pending tasks run in a nested loop of a task of the removed source. */
static void
step_remove_and_run (Step *step)
{
  remove_sources (step->f->context, "prio-sched");
  post_one_of_each (step->f);
  fixture_run (step->f);
  g_string_append_c (step->f->log, '.');
}

static void
test_removed_in_a_task (Fixture *f, gconstpointer data)
{
  for (PrioTaskPriority priority = BACKGROUND; priority <= USER_BLOCKING; priority++)
    {
      post_step (f, priority, '!', step_remove_and_run, NULL);
      fixture_run (f);
      g_assert_cmpstr (f->log->str, ==, "!210.");
      g_string_truncate (f->log, 0);
    }
}

/* A reference to a removed source does not keep it from being attached again, or from ending with the context. */
static GPtrArray *kept;

static void
keep_source (GSource *source)
{
  g_ptr_array_add (kept, g_source_ref (source));
}

static void
test_removed_and_kept (Fixture *f, gconstpointer data)
{
  step_n_freed = 0;
  kept = g_ptr_array_new_with_free_func ((GDestroyNotify) g_source_unref);
  run_one_of_each (f);
  for_each_source (f->context, "prio-sched", keep_source);
  g_assert_cmpuint (kept->len, >=, 3);
  remove_sources (f->context, "prio-sched");
  run_one_of_each (f);

  post_one_of_each (f);
  fixture_drop_context (f);
  g_assert_cmpuint (step_n_freed, ==, 9);
  g_clear_pointer (&kept, g_ptr_array_unref);
  g_assert_cmpuint (step_n_freed, ==, 9);
}

/* Another thread removes the one source that is always attached, while the loop sleeps or runs. */
enum { ROUNDS = 300 };

static void
test_removed_by_another_thread (Fixture *f, gconstpointer data)
{
  Worker worker;
  gint n = 0;

  worker_start (&worker);
  prio_scheduler_set_time_slice (worker.scheduler, G_MAXUINT);
  /* There will be another source of the library, which is not freed while this thread looks at it. */
  prio_scheduler_post (worker.scheduler, USER_BLOCKING, count_task, &n, NULL);
  while (g_atomic_int_get (&n) == 0)
    g_thread_yield ();
  for (gint i = 1; i < ROUNDS; i++)
    {
      g_assert_cmpuint (for_each_source (worker.context, "prio-sched governor", g_source_destroy), ==, 1);
      g_assert_cmpuint (for_each_source (worker.context, "prio-sched governor", NULL), ==, 1);
      prio_scheduler_post (worker.scheduler, USER_BLOCKING, count_task, &n, NULL);
      while (i % 2 == 0 && g_atomic_int_get (&n) <= i)
        g_thread_yield ();
    }
  worker_stop (&worker);
  g_assert_cmpint (n, ==, ROUNDS);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/sources/turns/end-by-time", test_turns_that_end_by_time);
  add_test ("/sources/turns/leave-when-there-are-none", test_the_source_of_turns_leaves);
  add_test ("/sources/leave/all", test_all_sources_leave);
  add_test ("/sources/leave/after-a-slow-handler", test_all_sources_leave_after_a_slow_handler);
  add_test ("/sources/leave/and-come-back-by-another-thread", test_another_thread_brings_them_back);
  add_test ("/sources/leave/while-another-thread-posts", test_another_thread_posts_while_they_leave);
  add_test ("/sources/leave/and-come-back-in-a-prepare", test_a_prepare_brings_them_back);
  add_test ("/sources/leave/a-handler-has-its-slice", test_a_handler_has_its_slice_without_sources);
  add_test ("/sources/removed/before-a-post", test_removed_before_a_post);
  add_test ("/sources/removed/with-tasks-pending", test_removed_with_tasks_pending);
  add_test ("/sources/removed/without-a-scheduler", test_removed_without_a_scheduler);
  add_test ("/sources/removed/in-a-task", test_removed_in_a_task);
  add_test ("/sources/removed/and-kept", test_removed_and_kept);
  add_test ("/sources/removed/by-another-thread", test_removed_by_another_thread);

  return g_test_run ();
}
