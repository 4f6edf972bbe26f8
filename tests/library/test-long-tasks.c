/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-long-tasks.c: reports of tasks and sources that hold a main loop for long */

#include "prio-sched-bindings.h"
#include "prio-sched-watch.h"
#include "prio-sched.h"

#include "frozen-time.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define MS 1000

static GString *told;
static GPtrArray *took;

/* Advances the clock, which is frozen otherwise. */
static void
work (gint64 ms)
{
  frozen_time += ms * MS;
}

static void
long_task (const char *name, PrioTaskPriority priority, double duration, gpointer data)
{
  g_string_append_printf (told, "%s%s:%d:%g ", data != NULL ? (const char *) data : "", name != NULL ? name : "?", priority, duration);
}

static void
run_all (void)
{
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

static void
assert_told (const char *expected)
{
  g_assert_cmpstr (told->str, ==, expected);
  g_string_truncate (told, 0);
}

static guint
add_func (PrioScheduler *scheduler, guint threshold, PrioLongTaskFunc func, gpointer data)
{
  return prio_scheduler_add_long_task_func (scheduler, threshold, func, data, NULL);
}

static PrioScheduler *
watching (guint threshold, const char *prefix)
{
  PrioScheduler *scheduler = prio_scheduler_new (NULL);
  guint id = add_func (scheduler, threshold, long_task, (gpointer) prefix);

  g_object_set_data (G_OBJECT (scheduler), "watch", GUINT_TO_POINTER (id));
  return scheduler;
}

static void
watch_no_longer (PrioScheduler *scheduler)
{
  prio_scheduler_remove_long_task_func (scheduler, GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (scheduler), "watch")));
}

static gboolean
take (gpointer data)
{
  work (GPOINTER_TO_INT (data));
  return G_SOURCE_REMOVE;
}

static void
take_in_task (PrioTask *task, gpointer data)
{
  work (GPOINTER_TO_INT (data));
}

static void
post (PrioScheduler *scheduler, const char *name, PrioTaskPriority priority, gint ms)
{
  prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .name = name, .priority = priority }, take,
                            GINT_TO_POINTER (ms), NULL);
}

/* A task that takes as long as the threshold is reported, with its name and priority; a shorter task is not. */
static void
test_tasks (void)
{
  g_autoptr (PrioScheduler) scheduler = watching (PRIO_LONG_TASK_THRESHOLD, NULL);
  g_autoptr (PrioTask) task = NULL;

  post (scheduler, "short", PRIO_TASK_PRIORITY_USER_VISIBLE, 49);
  post (scheduler, "long", PRIO_TASK_PRIORITY_BACKGROUND, 50);
  prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_BLOCKING, take, GINT_TO_POINTER (70), NULL);
  task = prio_scheduler_post_task (scheduler, &(PrioTaskOptions) { .name = "task" }, take_in_task, GINT_TO_POINTER (60), NULL);
  run_all ();
  assert_told ("take:3:70 task:2:60 long:1:50 ");
}

static gboolean
step (gpointer data)
{
  gint *left = data;

  work (*left == 1 ? 80 : 10);
  return --*left > 0;
}

/* Each step of a task counts for itself. */
static void
test_steps (void)
{
  g_autoptr (PrioScheduler) scheduler = watching (50, NULL);
  gint left = 9;

  prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, step, &left, NULL);
  run_all ();
  assert_told ("step:2:80 ");
}

/* Each function has a threshold, and gets reports about all schedulers of the main context. */
static void
test_schedulers (void)
{
  g_autoptr (PrioScheduler) one = watching (20, "one ");
  g_autoptr (PrioScheduler) two G_GNUC_UNUSED = watching (100, "two ");
  g_autoptr (PrioScheduler) other = prio_scheduler_new (NULL);
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) elsewhere = prio_scheduler_new (context);

  post (other, "of another", PRIO_TASK_PRIORITY_USER_VISIBLE, 30);
  run_all ();
  assert_told ("one of another:2:30 ");

  watch_no_longer (one);
  post (one, "not told of", PRIO_TASK_PRIORITY_USER_VISIBLE, 30);
  run_all ();
  assert_told ("");

  post (elsewhere, "elsewhere", PRIO_TASK_PRIORITY_USER_VISIBLE, 300);
  while (g_main_context_iteration (context, FALSE))
    ;
  assert_told ("");
  /* This main context was not iterated meanwhile. */
  g_main_context_iteration (NULL, FALSE);
  g_main_context_iteration (NULL, FALSE);
  assert_told ("two ?:0:300 ");
  post (one, "long", PRIO_TASK_PRIORITY_USER_VISIBLE, 100);
  run_all ();
  assert_told ("two long:2:100 ");
}

static void
idle_callback (PrioIdleDeadline *deadline, gpointer data)
{
  work (90);
}

static void
slow_notify (gpointer data)
{
  work (55);
}

/* Callbacks other than a task's function are reported: idle callbacks, which have no priority, and destroy notifies,
 * without a name. */
static void
test_others (void)
{
  g_autoptr (PrioScheduler) scheduler = watching (50, NULL);

  prio_scheduler_request_idle_callback (scheduler, 0, idle_callback, NULL, NULL);
  run_all ();
  assert_told ("idle_callback:0:90 ");

  prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .name = "notify", .delay = 1 }, take, NULL, slow_notify);
  work (1);
  run_all ();
  assert_told ("?:0:55 ");
}

static gboolean
quit (gpointer loop)
{
  g_main_loop_quit (loop);
  return G_SOURCE_REMOVE;
}

static gboolean
run_nested (gpointer data)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);

  work (60);
  prio_scheduler_post_full (data, &(PrioTaskOptions) { .name = "inner" }, take, GINT_TO_POINTER (70), NULL);
  prio_scheduler_post_full (data, &(PrioTaskOptions) { .name = "end" }, quit, loop, NULL);
  g_main_loop_run (loop);
  work (80);
  return G_SOURCE_REMOVE;
}

/* While a task runs a main loop, it does not hold the outer one; before and afterwards it does. */
static void
test_nested (void)
{
  g_autoptr (PrioScheduler) scheduler = watching (50, NULL);

  prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .name = "outer" }, run_nested, scheduler, NULL);
  run_all ();
  assert_told ("outer:2:60 inner:2:70 outer:2:80 ");
}

static void
run_the_loop (const char *name, PrioTaskPriority priority, double duration, gpointer data)
{
  long_task (name, priority, duration, NULL);
  work (70);
  run_all ();
  work (70);
}

/* A slow function that runs a main loop is not itself reported. */
static void
test_slow_function (void)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);

  add_func (scheduler, 50, run_the_loop, NULL);
  run_all ();
  work (60);
  run_all ();
  run_all ();
  assert_told ("?:0:60 ");
}

static guint
add (const char *name, GSourceFunc func, gpointer data)
{
  g_autoptr (GSource) source = g_idle_source_new ();

  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, func, data, NULL);
  if (name != NULL)
    g_source_set_name (source, name);
  return g_source_attach (source, NULL);
}

static gboolean
take_and_end (gpointer data)
{
  work (60);
  g_source_destroy (g_main_current_source ());
  return G_SOURCE_CONTINUE;
}

static gboolean
run_nested_in_source (gpointer data)
{
  work (60);
  prio_scheduler_post_full (data, &(PrioTaskOptions) { .name = "task" }, take, GINT_TO_POINTER (70), NULL);
  add ("source in a source", take, GINT_TO_POINTER (80));
  run_all ();
  work (90);
  return G_SOURCE_REMOVE;
}

static gboolean
sleep_in_dispatch (GSource *source, GSourceFunc callback, gpointer data)
{
  g_assert_null (callback);
  g_assert_null (data);
  work (50);
  return G_SOURCE_REMOVE;
}

/* Each of the other sources is reported separately, by GLib's name: new ones, earlier ones, a source that ends itself,
 * a source that runs the main loop, and a source without a callback.  The short ones of an iteration are reported
 * together. */
static void
test_sources (void)
{
  static GSourceFuncs funcs = { .dispatch = sleep_in_dispatch };
  guint before = add ("before", take, GINT_TO_POINTER (51));
  g_autoptr (PrioScheduler) scheduler = watching (50, NULL);
  g_autoptr (GSource) bare = g_source_new (&funcs, sizeof *bare);

  g_assert_cmpuint (before, !=, 0);
  add ("short", take, GINT_TO_POINTER (30));
  add ("short, too", take, GINT_TO_POINTER (30));
  add ("new", take, GINT_TO_POINTER (52));
  add ("ends itself", take_and_end, NULL);
  run_all ();
  assert_told ("before:0:51 new:0:52 ends itself:0:60 1 callback of short, 1 of short, too:0:60 ");

  add ("nested", run_nested_in_source, scheduler);
  run_all ();
  assert_told ("nested:0:60 source in a source:0:80 task:2:70 nested:0:90 ");

  g_source_set_name (bare, "bare");
  g_source_set_ready_time (bare, 0);
  g_source_attach (bare, NULL);
  run_all ();
  assert_told ("bare:0:50 ");
}

static gboolean
load_row (gpointer data)
{
  frozen_time += 50;
  return G_SOURCE_REMOVE;
}

static gboolean
load_icon (gpointer data)
{
  frozen_time += 100;
  return G_SOURCE_REMOVE;
}

static void
add_idles (guint n, GSourceFunc func)
{
  for (guint i = 0; i < n; i++)
    g_idle_add (func, NULL);
}

/* Many short callbacks of one iteration: their number, and the functions, the longest first. */
static void
test_flood (void)
{
  g_autoptr (PrioScheduler) scheduler = NULL;

  /* Some of the sources wait before the watch begins. */
  add_idles (20000, load_row);
  scheduler = watching (50, NULL);
  run_all ();
  assert_told ("20000 callbacks of load_row:0:1000 ");

  add_idles (100000, load_row);
  run_all ();
  assert_told ("100000 callbacks of load_row:0:5000 ");

  add_idles (400, load_row);
  add_idles (600, load_icon);
  g_idle_add (take, GINT_TO_POINTER (5));
  g_source_set_name_by_id (g_idle_add (take, GINT_TO_POINTER (4)), "another");
  g_source_set_name_by_id (g_idle_add (take, GINT_TO_POINTER (70)), "long");
  run_all ();
  assert_told ("long:0:70 600 callbacks of load_icon, 400 of load_row, 1 of take, 1 of other functions:0:89 ");

  /* Each in a separate iteration. */
  for (guint i = 0; i < 100; i++)
    {
      add_idles (900, load_row);
      run_all ();
    }
  assert_told ("");
}

/* However many names there are, the longest ones are reported. */
static void
test_flood_of_names (void)
{
  g_autoptr (PrioScheduler) scheduler G_GNUC_UNUSED = watching (50, NULL);

  for (guint i = 0; i < 1000; i++)
    {
      g_autofree char *name = g_strdup_printf ("row %u", i);

      add (name, load_row, NULL);
      add ("many", load_row, NULL);
    }
  run_all ();
  g_assert_true (g_str_has_prefix (told->str, "1000 callbacks of many, 1 of row "));
  g_assert_true (g_str_has_suffix (told->str, ", 998 of other functions:0:100 "));
  g_string_truncate (told, 0);
}

static gboolean
run_nested_in_flood (gpointer data)
{
  run_all ();
  return G_SOURCE_REMOVE;
}

/* A callback that runs the main loop divides the flood. */
static void
test_flood_around_loop (void)
{
  g_autoptr (PrioScheduler) scheduler G_GNUC_UNUSED = watching (50, NULL);

  add_idles (1000, load_row);
  g_idle_add (run_nested_in_flood, NULL);
  add_idles (1001, load_row);
  run_all ();
  assert_told ("1000 callbacks of load_row:0:50 1001 callbacks of load_row:0:50.05 ");
}

/* Returns when the slice @name begins in @trace, µs; @end is when it ends. */
static gint64
begin_of_slice (const char *trace, const char *name, gint64 *end)
{
  g_autofree char *pattern = g_strdup_printf ("\"ts\":([0-9]+),[^\n]*\"dur\":([0-9]+),[^\n]*\"name\":\"%s\"", name);
  g_autoptr (GRegex) regex = g_regex_new (pattern, 0, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  g_autofree char *begin = NULL, *duration = NULL;

  g_assert_true (g_regex_match (regex, trace, 0, &match));
  begin = g_match_info_fetch (match, 1);
  duration = g_match_info_fetch (match, 2);
  *end = g_ascii_strtoll (begin, NULL, 10) + g_ascii_strtoll (duration, NULL, 10);
  return *end - g_ascii_strtoll (duration, NULL, 10);
}

/* In a trace, a destroy notify that holds the loop before a source ends where the source begins. */
static void
test_trace (void)
{
  g_autoptr (PrioScheduler) scheduler G_GNUC_UNUSED = watching (50, NULL);
  g_autofree char *path = NULL, *trace = NULL;
  gint64 end, source_end;
  int fd = g_file_open_tmp ("long-tasks-XXXXXX", &path, NULL);

  g_assert_true (prio_trace_start (fd, NULL));
  close (fd);
  g_timeout_add_full (G_PRIORITY_DEFAULT, 0, take, NULL, slow_notify);
  add ("source", take, GINT_TO_POINTER (80));
  run_all ();
  prio_trace_stop ();
  assert_told ("?:0:55 source:0:80 ");
  g_assert_true (g_file_get_contents (path, &trace, NULL, NULL));
  begin_of_slice (trace, "something else", &end);
  g_assert_cmpint (end, ==, begin_of_slice (trace, "source", &source_end));
  g_unlink (path);
}

/* A source without a name is reported by the name of its callback. */
static void
test_callbacks (void)
{
  g_autoptr (PrioScheduler) scheduler G_GNUC_UNUSED = watching (50, NULL);
  g_autoptr (GSource) with_closure = g_idle_source_new ();

  g_idle_add (take, GINT_TO_POINTER (50));
  g_timeout_add (0, take_and_end, NULL);
  g_source_set_closure (with_closure, g_cclosure_new (G_CALLBACK (take_and_end), NULL, NULL));
  g_source_attach (with_closure, NULL);
  while (told->len < strlen ("take:0:50 take_and_end:0:60 GIdleSource:0:60 "))
    g_main_context_iteration (NULL, FALSE);
#ifdef __linux__
  g_assert_nonnull (strstr (told->str, "take:0:50 "));
  g_assert_nonnull (strstr (told->str, "take_and_end:0:60 "));
#endif
  g_assert_nonnull (strstr (told->str, "GIdleSource:0:60 "));
  g_string_truncate (told, 0);
}

static gboolean
take_and_note (gpointer data)
{
  g_autofree char *duration = g_strdup_printf (":%d ", GPOINTER_TO_INT (data));

  g_ptr_array_add (took, g_steal_pointer (&duration));
  return take (data);
}

/* Reports come in the order of time, each as soon as the long task or source is over. */
static void
test_order (void)
{
  g_autoptr (PrioScheduler) scheduler = watching (50, NULL);
  const char *last = told->str;

  took = g_ptr_array_new_with_free_func (g_free);
  add ("one", take_and_note, GINT_TO_POINTER (60));
  g_idle_add_full (400, take_and_note, GINT_TO_POINTER (55), NULL);
  add ("two", take_and_note, GINT_TO_POINTER (70));
  for (gint i = 1; i <= 3; i++)
    prio_scheduler_post_full (scheduler, &PRIO_TASK_OPTIONS (.priority = (PrioTaskPriority) i), take_and_note,
                              GINT_TO_POINTER (80 + i), NULL);
  while (took->len < 6)
    {
      guint n = took->len;

      g_main_context_iteration (NULL, FALSE);
      if (took->len > n)
        g_assert_nonnull (strstr (told->str, took->pdata[took->len - 1]));
    }
  for (guint i = 0; i < took->len; i++)
    {
      const char *next = strstr (told->str, took->pdata[i]);

      g_assert_true (next > last);
      last = next;
    }
  g_ptr_array_unref (took);
  g_string_truncate (told, 0);

  /* A slow callback without a name is reported in time too, even if another long one follows it. */
  work (90);
  add ("after it", take, GINT_TO_POINTER (60));
  run_all ();
  assert_told ("?:0:90 after it:0:60 ");
}

static gboolean
never (gpointer data)
{
  g_assert_not_reached ();
}

/* A watch does not affect code that searches for its sources, or changes them. */
static void
test_sources_stay (void)
{
  g_autoptr (PrioScheduler) scheduler = watching (50, NULL);
  gint data = 0;
  GSource *source;
  guint id;

  id = g_timeout_add (100000, never, &data);
  run_all ();
  source = g_main_context_find_source_by_user_data (NULL, &data);
  g_assert_nonnull (source);
  g_assert_cmpuint (g_source_get_id (source), ==, id);
  g_assert_true (source == g_main_context_find_source_by_funcs_user_data (NULL, &g_timeout_funcs, &data));
  g_source_set_callback (source, take, GINT_TO_POINTER (50), NULL);
  g_source_set_ready_time (source, 0);
  run_all ();
  /* This source has another callback, which is not watched. */
  assert_told ("?:0:50 ");

  g_idle_add (never, &data);
  g_timeout_add (100000, never, &data);
  watch_no_longer (scheduler);
  g_assert_true (g_idle_remove_by_data (&data));
  g_assert_true (g_source_remove_by_user_data (&data));
}

static void
drop (const char *name, PrioTaskPriority priority, double duration, gpointer data)
{
  g_clear_object ((PrioScheduler **) data);
}

static void
iterate (const char *name, PrioTaskPriority priority, double duration, gpointer data)
{
  run_all ();
}

/* A function that removes itself, and the function that would be called next. */
typedef struct
{
  PrioScheduler *scheduler;
  guint id, next, n_calls;
} Remover;

static void
remove_itself (const char *name, PrioTaskPriority priority, double duration, gpointer data)
{
  Remover *self = data;

  self->n_calls++;
  prio_scheduler_remove_long_task_func (self->scheduler, self->id);
  prio_scheduler_remove_long_task_func (self->scheduler, self->next);
}

static void
count_call (const char *name, PrioTaskPriority priority, double duration, gpointer n_calls)
{
  ++*(guint *) n_calls;
}

/* A function may end the scheduler, remove itself and others, or run a main loop. */
static void
test_within (void)
{
  PrioScheduler *scheduler = watching (50, NULL), *held = g_object_ref (scheduler);
  Remover remover;
  guint n_removed_calls = 0;

  add_func (scheduler, 50, drop, &held);
  post (scheduler, "last", PRIO_TASK_PRIORITY_USER_VISIBLE, 50);
  g_object_unref (scheduler);
  run_all ();
  g_assert_null (held);
  assert_told ("last:2:50 ");

  scheduler = watching (50, NULL);
  add_func (scheduler, 50, iterate, NULL);
  remover = (Remover) { .scheduler = scheduler };
  remover.id = add_func (scheduler, 50, remove_itself, &remover);
  remover.next = add_func (scheduler, 50, count_call, &n_removed_calls);
  post (scheduler, "one", PRIO_TASK_PRIORITY_USER_VISIBLE, 50);
  run_all ();
  assert_told ("one:2:50 ");
  post (scheduler, "two", PRIO_TASK_PRIORITY_USER_VISIBLE, 50);
  run_all ();
  assert_told ("two:2:50 ");
  g_assert_cmpuint (remover.n_calls, ==, 1);
  g_assert_cmpuint (n_removed_calls, ==, 0);
  g_object_unref (scheduler);
}

static void
run_ids (guint id, gpointer data)
{
  for (; id != 0; id = prio_runner_next ())
    work (id);
}

static char *
name_of_id (guint id, gpointer data)
{
  ++*(gint *) data;
  return id != 60 ? g_strdup_printf ("task %u", id) : NULL;
}

static void
count (gpointer data)
{
  ++*(gint *) data;
}

/* A runner is asked for the names of its tasks, right before they start, and only during a watch. */
static void
test_runner (void)
{
  PrioScheduler *scheduler = watching (50, NULL);
  PrioRunner *runner = prio_runner_new (scheduler, run_ids, NULL, NULL);
  gint asked = 0, notified = 0;

  prio_runner_set_name_func (runner, name_of_id, &asked, NULL);
  for (guint id = 50; id <= 70; id += 10)
    prio_runner_post (runner, id, PRIO_TASK_PRIORITY_USER_VISIBLE);
  g_assert_cmpint (asked, ==, 0);
  run_all ();
  assert_told ("task 50:2:50 ?:2:60 task 70:2:70 ");
  g_assert_cmpint (asked, ==, 3);

  watch_no_longer (scheduler);
  prio_runner_post (runner, 80, PRIO_TASK_PRIORITY_USER_VISIBLE);
  run_all ();
  g_assert_cmpint (asked, ==, 3);
  prio_runner_unref (runner);

  runner = prio_runner_new (scheduler, run_ids, NULL, NULL);
  prio_runner_set_name_func (runner, name_of_id, &notified, count);
  prio_runner_unref (runner);
  g_object_unref (scheduler);
  run_all ();
  g_assert_cmpint (notified, ==, 1);
}

static void
ignore (const char *name, PrioTaskPriority priority, double duration, gpointer data)
{
}

static void
note_freed (gpointer n_freed)
{
  g_atomic_int_inc ((gint *) n_freed);
}

/* The data of a function is released once: when it is removed, or with its scheduler. */
static void
test_removal (void)
{
  PrioScheduler *scheduler = prio_scheduler_new (NULL), *other = prio_scheduler_new (NULL);
  gint n_freed = 0;
  guint one = prio_scheduler_add_long_task_func (scheduler, 50, ignore, &n_freed, note_freed);
  guint two = prio_scheduler_add_long_task_func (scheduler, 50, ignore, &n_freed, note_freed);

  g_assert_cmpuint (one, !=, two);
  prio_scheduler_remove_long_task_func (scheduler, one);
  g_assert_cmpint (n_freed, ==, 1);
  for (guint i = 0; i < 2; i++)
    {
      g_test_expect_message ("PrioSched", G_LOG_LEVEL_CRITICAL, "*has no function for long tasks with the id*");
      prio_scheduler_remove_long_task_func (i == 0 ? scheduler : other, i == 0 ? one : two);
      g_test_assert_expected_messages ();
    }
  g_object_unref (scheduler);
  g_assert_cmpint (n_freed, ==, 2);
  g_object_unref (other);
}

typedef struct
{
  PrioScheduler *scheduler;
  gint n_freed;
} Watched;

static gpointer
watch_often (gpointer data)
{
  Watched *self = data;

  for (guint i = 0; i < 100; i++)
    {
      guint id = prio_scheduler_add_long_task_func (self->scheduler, 1 + i % 3, ignore, &self->n_freed, note_freed);

      prio_scheduler_remove_long_task_func (self->scheduler, id);
    }
  return NULL;
}

/* Any thread may add and remove functions while tasks run. */
static void
test_threads (void)
{
  Watched watched = { .scheduler = prio_scheduler_new (NULL) };
  GThread *threads[2];

  frozen_time = 0;
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("watcher", watch_often, &watched);
  for (guint i = 0; i < 1000; i++)
    {
      post (watched.scheduler, "task", PRIO_TASK_PRIORITY_USER_VISIBLE, 0);
      g_main_context_iteration (NULL, FALSE);
    }
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  run_all ();
  g_assert_cmpint (g_atomic_int_get (&watched.n_freed), ==, 200);
  g_object_unref (watched.scheduler);
}

static gpointer
replace_elsewhere (gpointer scheduler)
{
  watch_no_longer (scheduler);
  add_func (scheduler, 50, long_task, (gpointer) "after ");
  return NULL;
}

static gboolean
work_while_replaced (gpointer scheduler)
{
  work (60);
  g_thread_join (g_thread_new ("watcher", replace_elsewhere, scheduler));
  return G_SOURCE_REMOVE;
}

/* Another thread removes the only function and adds a new one while a source is dispatched, or a task runs: it ends for the new
 * function too, and later time is not attributed to it. */
static void
test_replaced (void)
{
  PrioScheduler *scheduler = watching (50, NULL);

  add ("source", work_while_replaced, scheduler);
  add ("later", take, GINT_TO_POINTER (70));
  run_all ();
  assert_told ("after source:0:60 after later:0:70 ");
  g_object_unref (scheduler);

  scheduler = watching (50, NULL);
  prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .name = "task" }, work_while_replaced, scheduler, NULL);
  add ("later", take, GINT_TO_POINTER (70));
  run_all ();
  assert_told ("after task:2:60 after later:0:70 ");
  g_object_unref (scheduler);
}

typedef struct
{
  PrioTaskController *controller;
  guint n_runs, n_freed;
} Aborted;

static gpointer
abort_elsewhere (gpointer controller)
{
  prio_task_controller_abort (controller, NULL);
  return NULL;
}

static gboolean
work_while_aborted (gpointer data)
{
  Aborted *self = data;

  self->n_runs++;
  work (60);
  g_thread_join (g_thread_new ("aborter", abort_elsewhere, self->controller));
  return G_SOURCE_CONTINUE;
}

static void
count_freed (gpointer data)
{
  ((Aborted *) data)->n_freed++;
}

/* Another thread aborts a task during a long step: the report ends with the step. */
static void
test_aborted_elsewhere (void)
{
  g_autoptr (PrioScheduler) scheduler = watching (50, NULL);
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_USER_VISIBLE);
  PrioTaskOptions options = { .name = "task", .signal = prio_task_controller_get_signal (controller) };
  Aborted aborted = { controller, 0, 0 };

  prio_scheduler_post_full (scheduler, &options, work_while_aborted, &aborted, count_freed);
  run_all ();
  assert_told ("task:2:60 ");
  g_assert_cmpuint (aborted.n_runs, ==, 1);
  g_assert_cmpuint (aborted.n_freed, ==, 1);
}

/* A context ends before a long task is reported. */
static void
test_end (void)
{
  GMainContext *context = g_main_context_new ();
  PrioScheduler *scheduler = prio_scheduler_new (context);

  add_func (scheduler, 50, ignore, NULL);
  post (scheduler, "queued", PRIO_TASK_PRIORITY_USER_VISIBLE, 60);
  g_object_unref (scheduler);
  g_main_context_unref (context);
}

static gboolean
count_run (gpointer data)
{
  return ++*(guint *) data > 0;
}

/* If a program iterates its main context between other work, a watch does not change how its sources are dispatched. */
static void
test_reports_take_no_iteration (void)
{
  g_autoptr (PrioScheduler) scheduler G_GNUC_UNUSED = watching (5, NULL);
  guint n_runs = 0, id = g_idle_add (count_run, &n_runs);

  for (guint i = 0; i < 20; i++, work (8))
    g_main_context_iteration (NULL, FALSE);
  g_assert_cmpuint (n_runs, ==, 20);
  g_source_remove (id);
  run_all ();
  g_assert_cmpuint (told->len, >=, 19 * strlen ("?:0:8 "));
  g_string_truncate (told, 0);
}

static void
work_long (const char *name, PrioTaskPriority priority, double duration, gpointer data)
{
  ++*(guint *) data;
  work (60);
}

/* The time of a function for long tasks is not reported: it would report itself for ever. */
static void
test_slow_func (void)
{
  g_autoptr (PrioScheduler) scheduler = watching (50, NULL);
  guint n_handled = 0;

  add_func (scheduler, 50, work_long, &n_handled);
  post (scheduler, "task", PRIO_TASK_PRIORITY_USER_VISIBLE, 70);
  run_all ();
  assert_told ("task:2:70 ");
  add ("source", take, GINT_TO_POINTER (80));
  run_all ();
  assert_told ("source:0:80 ");
  g_assert_cmpuint (n_handled, ==, 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  told = g_string_new (NULL);
  frozen_time = 1000 * MS;
  g_test_add_func ("/long-tasks/removal", test_removal);
  g_test_add_func ("/long-tasks/tasks", test_tasks);
  g_test_add_func ("/long-tasks/steps", test_steps);
  g_test_add_func ("/long-tasks/schedulers", test_schedulers);
  g_test_add_func ("/long-tasks/others", test_others);
  g_test_add_func ("/long-tasks/trace", test_trace);
  g_test_add_func ("/long-tasks/nested", test_nested);
  g_test_add_func ("/long-tasks/slow-function", test_slow_function);
  g_test_add_func ("/long-tasks/sources", test_sources);
  g_test_add_func ("/long-tasks/flood", test_flood);
  g_test_add_func ("/long-tasks/flood-of-names", test_flood_of_names);
  g_test_add_func ("/long-tasks/flood-around-loop", test_flood_around_loop);
  g_test_add_func ("/long-tasks/callbacks", test_callbacks);
  g_test_add_func ("/long-tasks/order", test_order);
  g_test_add_func ("/long-tasks/sources-stay", test_sources_stay);
  g_test_add_func ("/long-tasks/runner", test_runner);
  g_test_add_func ("/long-tasks/within", test_within);
  g_test_add_func ("/long-tasks/aborted-elsewhere", test_aborted_elsewhere);
  g_test_add_func ("/long-tasks/end", test_end);
  g_test_add_func ("/long-tasks/replaced", test_replaced);
  g_test_add_func ("/long-tasks/threads", test_threads);
  g_test_add_func ("/long-tasks/reports-take-no-iteration", test_reports_take_no_iteration);
  g_test_add_func ("/long-tasks/slow-func", test_slow_func);
  return g_test_run ();
}
