/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-observer.c: the reports to an observer of the loops */

#include "loop/prio-observer-private.h"

#include "prio-sched-bindings.h"
#include "prio-sched-watch.h"
#include "prio-sched.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <semaphore.h>
#include <unistd.h>

static GString *told;

/* Records a letter for the event, then the name, or the priority of a task without a name. */
static void
note (char event, const PrioObserved *task)
{
  if (task->name != NULL)
    g_string_append_printf (told, "%c:%s ", event, task->name);
  else
    g_string_append_printf (told, "%c:%d%s ", event, task->priority, task->continuation ? "+" : "");
}

static void
delayed (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now)
{
  note ('d', task);
}

static void
queued (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now)
{
  note (task->queued != 0 ? 'q' : 'w', task);
}

static void
begins (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now)
{
  note ('b', task);
}

static void
yielded (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now)
{
  note ('y', task);
}

static void
ended (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now)
{
  note ('e', task);
}

static void
aborted (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gboolean runs, gint64 now)
{
  note (runs ? 'A' : 'a', task);
}

static void
priority_changed (PrioObserver *self, PrioLoop *loop, gconstpointer group, PrioTaskPriority from, PrioTaskPriority to,
                  gint64 now)
{
  g_string_append_printf (told, "p:%d→%d ", from, to);
}

static PrioObserver observer = {
  .delayed = delayed,
  .queued = queued,
  .begins = begins,
  .yielded = yielded,
  .ended = ended,
  .aborted = aborted,
  .priority_changed = priority_changed,
};

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

static gboolean
once (gpointer data)
{
  return G_SOURCE_REMOVE;
}

static gboolean
twice (gpointer data)
{
  gint *left = data;

  return --*left > 0;
}

static void
return_at_once (PrioTask *task, gpointer data)
{
}

static gboolean
write_letter (gpointer letter)
{
  g_string_append (told, letter);
  return G_SOURCE_REMOVE;
}

static void
post_letter (gpointer letter)
{
  prio_scheduler_post (prio_scheduler_get_default (), PRIO_TASK_PRIORITY_USER_VISIBLE, write_letter, letter, NULL);
}

/* Runs until a task with a delay of 1 ms is due, and queues a microtask that posts another. */
static gboolean
outlast_a_delay (gpointer left)
{
  gint64 due = g_get_monotonic_time () + 2 * G_TIME_SPAN_MILLISECOND;

  while (g_get_monotonic_time () < due)
    ;
  prio_scheduler_queue_microtask (prio_scheduler_get_default (), post_letter, (gpointer) "m", NULL);
  return left != NULL && twice (left);
}

static PrioObserver silent;

/* A task that becomes due while a task runs comes before tasks that its microtasks post, with an observer and
 * without. */
static void
test_same_order (void)
{
  PrioScheduler *scheduler = prio_scheduler_get_default ();

  for (guint i = 0; i < 8; i++)
    {
      gboolean goes_on = (i & 1) != 0;
      gint left = 2;

      if ((i & 2) != 0)
        prio_observer_add (&silent);
      prio_scheduler_post_full (scheduler, &PRIO_TASK_OPTIONS (.delay = 1), write_letter, (gpointer) "d", NULL);
      if ((i & 4) != 0)
        prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_BLOCKING, outlast_a_delay, goes_on ? &left : NULL, NULL);
      else
        prio_scheduler_post_full (scheduler, &PRIO_TASK_OPTIONS (.priority = PRIO_TASK_PRIORITY_USER_BLOCKING, .timeout = 60000),
                                  outlast_a_delay, goes_on ? &left : NULL, NULL);
      run_all ();
      if ((i & 2) != 0)
        prio_observer_remove (&silent);
      assert_told (goes_on ? "dmm" : "dm");
    }
}

static void
begin_in_task (PrioTask *task, gpointer data)
{
  prio_observer_add (&observer);
}

static gboolean
end_in_task (gpointer data)
{
  prio_observer_remove (&observer);
  return G_SOURCE_REMOVE;
}

static void
test_kinds (void)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
  GCancellable *signal = G_CANCELLABLE (prio_task_controller_get_signal (controller));
  g_autoptr (PrioTask) task = NULL;
  gint left = 2;

  prio_observer_add (&observer);
  prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, twice, &left, NULL);
  run_all ();
  assert_told ("q:2 b:2 y:2 q:2+ b:2+ e:2+ ");

  prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .cancellable = signal, .name = "closure" }, once, NULL,
                            NULL);
  prio_task_controller_set_priority (controller, PRIO_TASK_PRIORITY_USER_BLOCKING, NULL);
  run_all ();
  assert_told ("q:closure p:1→3 b:closure e:closure ");

  task = prio_scheduler_post_task (scheduler, &(PrioTaskOptions) { .cancellable = signal, .delay = 1000000,
                                                                   .name = "task" },
                                   begin_in_task, NULL, NULL);
  prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, once, NULL, NULL);
  prio_task_controller_abort (controller, NULL);
  run_all ();
  assert_told ("d:task q:2 a:task b:2 e:2 ");
  prio_observer_remove (&observer);
}

/* Waiting tasks are reported in the order of their queues, and run in their order; running tasks are not reported. */
static void
test_begin_and_end (void)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);
  g_autoptr (PrioTask) task = NULL;

  task = prio_scheduler_post_task (scheduler, &(PrioTaskOptions) { .priority = PRIO_TASK_PRIORITY_USER_BLOCKING },
                                   begin_in_task, NULL, NULL);
  prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, once, NULL, NULL);
  prio_scheduler_post_full (scheduler, &(PrioTaskOptions) { .name = "before" }, once, NULL, NULL);
  prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, end_in_task, NULL, NULL);
  prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, once, NULL, NULL);
  run_all ();
  assert_told ("w:2 w:2 w:2 w:2 b:2 e:2 b:2 e:2 b:2 ");
}

/* A wait for a group is not a task: it is not reported, whether it ends or is aborted. */
static void
test_wait_for_group (void)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (scheduler, 1, PRIO_TASK_PRIORITY_USER_VISIBLE);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();

  prio_observer_add (&observer);
  g_object_unref (prio_task_group_post_task (group, &(PrioTaskOptions) { .name = "member" }, return_at_once, NULL, NULL));
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_ALL, NULL, NULL, NULL);
  prio_task_group_wait_async (group, PRIO_TASK_GROUP_WAIT_FIRST, cancellable, NULL, NULL);
  g_cancellable_cancel (cancellable);
  run_all ();
  assert_told ("q:member b:member e:member ");

  /* Later tasks use the waits' records again. */
  for (guint i = 0; i < 3; i++)
    g_object_unref (prio_scheduler_post_task (scheduler, NULL, return_at_once, NULL, NULL));
  run_all ();
  assert_told ("q:2 q:2 q:2 b:2 e:2 b:2 e:2 b:2 e:2 ");
  prio_observer_remove (&observer);
}

/* Records 'Q' if a task has posted the new task, and otherwise 'q'. */
static void
posted (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now)
{
  g_string_append_c (told, task->poster != 0 ? 'Q' : 'q');
}

static PrioObserver observer_of_posters = { .queued = posted };

static gboolean
post_another (gpointer scheduler)
{
  prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, once, NULL, NULL);
  return G_SOURCE_REMOVE;
}

/* Once a task has ended, or has yielded and ended, later posts are not its own. */
static void
test_posters (void)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);
  gint left = 2;

  prio_observer_add (&observer_of_posters);
  prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, post_another, scheduler, NULL);
  run_all ();
  assert_told ("qQ");
  post_another (scheduler);
  run_all ();
  assert_told ("q");
  prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, twice, &left, NULL);
  run_all ();
  assert_told ("qq");
  post_another (scheduler);
  run_all ();
  assert_told ("q");
  prio_observer_remove (&observer_of_posters);
}

static PrioObserver observer_of_nothing;

static void
note_microtask (gpointer data)
{
  g_string_append_c (told, 'm');
}

static gboolean
note_function (gpointer scheduler)
{
  prio_scheduler_queue_microtask (scheduler, note_microtask, NULL, NULL);
  g_string_append_c (told, 'f');
  return G_SOURCE_REMOVE;
}

static void
note_destroy (gpointer scheduler)
{
  g_string_append_c (told, 'd');
}

/* The destroy notify is called at the same time with an observer and without. */
static void
test_destroy_notify (void)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);

  for (guint i = 0; i < 2; i++)
    {
      if (i == 1)
        prio_observer_add (&observer_of_nothing);
      prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_VISIBLE, note_function, scheduler, note_destroy);
      run_all ();
      assert_told ("fdm");
    }
  prio_observer_remove (&observer_of_nothing);
}

static void
abort_in_task (PrioTask *task, gpointer controller)
{
  prio_task_controller_abort (controller, NULL);
  g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);
}

/* A task that is aborted while it runs is rejected at once, with an observer and without. */
static void
test_abort_while_it_runs (void)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_USER_VISIBLE);
      GCancellable *signal = G_CANCELLABLE (prio_task_controller_get_signal (controller));
      g_autoptr (PrioTask) task = NULL;

      if (i == 1)
        prio_observer_add (&observer_of_nothing);
      task = prio_scheduler_post_task (scheduler, &(PrioTaskOptions) { .cancellable = signal }, abort_in_task,
                                       controller, NULL);
      run_all ();
      g_assert_cmpint (prio_task_get_state (task), ==, PRIO_TASK_STATE_ABORTED);
    }
  prio_observer_remove (&observer_of_nothing);
}

static void
yield_once (guint id, gpointer runner)
{
  if (id == 1)
    prio_runner_yield (*(PrioRunner **) runner, 2);
}

/* With an observer, too, the continuation of a runner's task runs before tasks that have waited longer. */
static void
test_yield_of_a_runner (void)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);
  PrioRunner *runner = NULL;

  runner = prio_runner_new (scheduler, yield_once, &runner, NULL);
  prio_observer_add (&observer);
  prio_runner_post (runner, 1, PRIO_TASK_PRIORITY_USER_VISIBLE);
  run_all ();
  assert_told ("q:2 b:2 q:2+ e:2 b:2+ e:2+ ");
  prio_observer_remove (&observer);
  prio_runner_unref (runner);
}

static void
ended_at_last (GObject *source, GAsyncResult *result, gpointer task)
{
  prio_task_return_boolean (task, TRUE);
  g_object_unref (task);
}

static void
await_task (PrioTask *task, gpointer awaited)
{
  prio_task_defer (task);
  prio_task_then (awaited, ended_at_last, g_object_ref (task), NULL);
}

/* A task that is due after it was lent a priority is reported with its own priority. */
static void
test_lent (void)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
  /* The other task waits by then.  The slowness of this machine does not matter. */
  PrioTaskOptions late = { .signal = prio_task_controller_get_signal (controller), .delay = 200 };
  g_autoptr (PrioTask) low = NULL, high = NULL;

  prio_scheduler_set_lends_priority (scheduler, TRUE);
  prio_observer_add (&observer);
  low = prio_scheduler_post_task (scheduler, &late, return_at_once, NULL, NULL);
  high = prio_scheduler_post_task (scheduler, &(PrioTaskOptions) { .priority = PRIO_TASK_PRIORITY_USER_BLOCKING }, await_task, low,
                                   NULL);
  while (prio_task_get_state (high) < PRIO_TASK_STATE_FULFILLED)
    g_main_context_iteration (NULL, TRUE);
  run_all ();
  assert_told ("d:1 q:3 b:3 e:3 q:1 b:1 e:1 ");
  prio_observer_remove (&observer);
}

static void
await_and_begin (PrioTask *task, gpointer awaited)
{
  await_task (task, awaited);
  prio_observer_add (&observer);
}

/* A task that was lent a priority before waits like others. */
static void
test_lent_before (void)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);
  g_autoptr (PrioTask) low = NULL, high = NULL;

  prio_scheduler_set_lends_priority (scheduler, TRUE);
  low = prio_scheduler_post_task (scheduler, &(PrioTaskOptions) { .priority = PRIO_TASK_PRIORITY_BACKGROUND }, return_at_once, NULL,
                                  NULL);
  high = prio_scheduler_post_task (scheduler, &(PrioTaskOptions) { .priority = PRIO_TASK_PRIORITY_USER_BLOCKING }, await_and_begin,
                                   low, NULL);
  run_all ();
  assert_told ("w:1 b:1 e:1 ");
  prio_observer_remove (&observer);
}

static gpointer
post_elsewhere (gpointer scheduler)
{
  prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_BACKGROUND, once, NULL, NULL);
  return NULL;
}

/* A task from another thread is queued when the loop gets the new observer, which is notified of it once. */
static void
test_posted_elsewhere_before (void)
{
  static PrioObserver earlier;
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);

  prio_observer_add (&earlier);
  g_thread_join (g_thread_new ("another", post_elsewhere, scheduler));
  prio_observer_add (&observer);
  run_all ();
  assert_told ("q:1 b:1 e:1 ");
  prio_observer_remove (&observer);
  prio_observer_remove (&earlier);
}

/* A thread with its own main context.  If it is asked for a digit, it posts a task of that priority; if it is asked to
 * "iterate", it iterates the context. */
typedef struct
{
  GThread *thread;
  const char *what;
  sem_t asked, done; /* semaphores, which ThreadSanitizer sees */
} Elsewhere;

static gpointer
run_elsewhere (gpointer data)
{
  Elsewhere *self = data;
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);
  const char *name;

  g_assert_true (g_main_context_acquire (context));
  while (sem_wait (&self->asked) == 0 && *(name = self->what) != '\0')
    {
      while (g_str_equal (name, "iterate") && g_main_context_iteration (context, FALSE))
        ;
      if (g_ascii_isdigit (*name))
        prio_scheduler_post (scheduler, (PrioTaskPriority) (*name - '0'), once, NULL, NULL);
      sem_post (&self->done);
    }
  g_main_context_release (context);
  return NULL;
}

static void
elsewhere_ask (Elsewhere *self, const char *what)
{
  self->what = what;
  sem_post (&self->asked);
  if (*what != '\0')
    sem_wait (&self->done);
}

static Elsewhere *
elsewhere_new (void)
{
  Elsewhere *self = g_new (Elsewhere, 1);

  sem_init (&self->asked, 0, 0);
  sem_init (&self->done, 0, 0);
  self->thread = g_thread_new ("elsewhere", run_elsewhere, self);
  elsewhere_ask (self, "iterate");
  return self;
}

static void
elsewhere_free (Elsewhere *self)
{
  elsewhere_ask (self, "");
  g_thread_join (self->thread);
  sem_destroy (&self->asked);
  sem_destroy (&self->done);
  g_free (self);
}

static Elsewhere *to_be_asked;
static gpointer here;

static void
queued_while_it_comes (PrioObserver *self, PrioLoop *loop, const PrioObserved *task, gint64 now)
{
  static gint is_asking;

  if (g_thread_self () != here)
    {
      g_string_append_printf (told, "%d ", task->priority);
    }
  else if (!is_asking)
    {
      is_asking = TRUE;
      elsewhere_ask (to_be_asked, "2");
      is_asking = FALSE;
    }
}

static PrioObserver observer_that_comes = { .queued = queued_while_it_comes };

/* A task that another thread posts while an observer is added to the loops, one of which has the observer already, is
 * reported once. */
static void
test_observed_already (void)
{
  GMainContext *contexts[16];
  PrioScheduler *schedulers[G_N_ELEMENTS (contexts)];

  here = g_thread_self ();
  for (guint i = 0; i < G_N_ELEMENTS (contexts); i++)
    {
      contexts[i] = g_main_context_new ();
      schedulers[i] = prio_scheduler_new (contexts[i]);
      prio_scheduler_post (schedulers[i], PRIO_TASK_PRIORITY_BACKGROUND, once, NULL, NULL);
    }
  prio_observer_add (&observer_of_nothing);
  to_be_asked = elsewhere_new ();
  prio_observer_add (&observer_that_comes);
  elsewhere_ask (to_be_asked, "iterate");
  prio_observer_remove (&observer_that_comes);
  prio_observer_remove (&observer_of_nothing);
  for (const char *c = told->str; *c != '\0'; c += 2)
    g_assert_cmpint (*c, ==, '2');
  g_assert_cmpuint (told->len / 2, ==, G_N_ELEMENTS (contexts));
  g_string_truncate (told, 0);

  elsewhere_free (to_be_asked);
  for (guint i = 0; i < G_N_ELEMENTS (contexts); i++)
    {
      g_object_unref (schedulers[i]);
      g_main_context_unref (contexts[i]);
    }
}

/* It is also reported once if the observer is removed and added again meanwhile. */
static void
test_again (void)
{
  Elsewhere *elsewhere = elsewhere_new ();

  elsewhere_ask (elsewhere, "3");
  prio_observer_add (&observer);
  prio_observer_remove (&observer);
  prio_observer_add (&observer);
  elsewhere_ask (elsewhere, "iterate");
  assert_told ("w:3 b:3 e:3 ");
  prio_observer_remove (&observer);
  elsewhere_free (elsewhere);
}

/* A loop that is created while there are observers has them from the start. */
static void
test_new_loop (void)
{
  Elsewhere *elsewhere;

  prio_observer_add (&observer);
  elsewhere = elsewhere_new ();
  elsewhere_ask (elsewhere, "3");
  elsewhere_ask (elsewhere, "iterate");
  assert_told ("q:3 b:3 e:3 ");
  prio_observer_remove (&observer);
  elsewhere_free (elsewhere);
}

static gpointer
abort_elsewhere (gpointer controller)
{
  prio_task_controller_abort (controller, NULL);
  return NULL;
}

static void
stop_trace (gpointer data)
{
  prio_trace_stop ();
  g_string_append_c (told, 's');
}

/* Tasks that another thread has aborted are released by the call that ends the trace. */
static gboolean
stop_trace_after_abort (gpointer controller)
{
  g_thread_join (g_thread_new ("another", abort_elsewhere, controller));
  prio_trace_stop ();
  g_string_append_c (told, 'S');
  return G_SOURCE_REMOVE;
}

static void
start_trace (const char *path)
{
  int fd = g_open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

  g_assert_true (prio_trace_start (fd, NULL));
  close (fd);
}

static void
test_trace_stopped_in_a_destroy_notify (void)
{
  g_autofree char *folder = g_dir_make_tmp ("observer-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "trace.json", NULL);
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
      PrioTaskOptions options = { .signal = prio_task_controller_get_signal (controller) };
      g_autofree char *trace = NULL;

      start_trace (path);
      g_assert_true (prio_scheduler_post_full (scheduler, &options, once, scheduler, stop_trace));
      prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_USER_BLOCKING, stop_trace_after_abort, controller, NULL);
      run_all ();
      assert_told ("sS");
      g_assert_true (g_file_get_contents (path, &trace, NULL, NULL));
      g_assert_true (g_str_has_suffix (trace, "]\n"));
    }
  g_remove (path);
  g_rmdir (folder);
}

static gint n_warnings; /* atomic */

/* Counts warnings, on the thread of the trace, where GLib's expected messages are not guarded. */
static void
count_warning (const char *domain, GLogLevelFlags level, const char *message, gpointer data)
{
  g_assert_true (g_str_has_prefix (message, "The trace ends early: "));
  g_atomic_int_inc (&n_warnings);
}

/* A trace that cannot be written ends without later cost, and another trace can be started. */
static void
test_trace_ends_by_an_error (void)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL);
  guint handler = g_log_set_handler ("PrioSched", G_LOG_LEVEL_WARNING, count_warning, NULL);
  GLogLevelFlags fatal = g_log_set_always_fatal (G_LOG_FATAL_MASK);

  for (gint i = 0; i < 2; i++)
    {
      start_trace ("/dev/full");
      g_assert_true (prio_observers_exist ());
      while (prio_observers_exist ())
        {
          prio_scheduler_post (scheduler, PRIO_TASK_PRIORITY_BACKGROUND, once, NULL, NULL);
          run_all ();
        }
      g_assert_cmpint (g_atomic_int_get (&n_warnings), ==, i + 1);
    }
  prio_trace_stop ();
  g_log_remove_handler ("PrioSched", handler);
  g_log_set_always_fatal (fatal);
}

#ifdef __linux__
/* Counts the threads of this process that write a trace. */
static guint
count_writers (void)
{
  g_autoptr (GDir) threads = g_dir_open ("/proc/self/task", 0, NULL);
  const char *id;
  guint n = 0;

  g_assert_nonnull (threads);
  while ((id = g_dir_read_name (threads)) != NULL)
    {
      g_autofree char *path = g_build_filename ("/proc/self/task", id, "comm", NULL);
      g_autofree char *name = NULL;

      n += g_file_get_contents (path, &name, NULL, NULL) && g_str_equal (name, "prio-trace\n");
    }
  return n;
}

/* The thread of a trace ends with it.  Threads that have just ended may still be listed. */
static void
test_traces_one_after_another (void)
{
  enum { N_TRACES = 100 };
  g_autofree char *folder = g_dir_make_tmp ("observer-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "trace.json", NULL);
  guint most = 0;

  for (guint i = 0; i < N_TRACES; i++)
    {
      start_trace (path);
      most = MAX (most, count_writers ());
      prio_trace_stop ();
    }
  g_assert_cmpuint (most, <, N_TRACES / 4);
  g_remove (path);
  g_rmdir (folder);
}
#endif

static void
ignore (const char *name, PrioTaskPriority priority, double duration, gpointer data)
{
}

static gpointer
watch_elsewhere (gpointer data)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (context);

  prio_scheduler_add_long_task_func (scheduler, PRIO_LONG_TASK_THRESHOLD, ignore, NULL, NULL);
  return NULL;
}

static void
await_watch (gpointer data)
{
  g_thread_join (g_thread_new ("another", watch_elsewhere, NULL));
  g_string_append_c (told, 'w');
}

/* A release during the start of a watch, in any loop, may wait for a thread that starts a watch, too. */
static void
test_watch_in_a_destroy_notify (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (NULL), other = prio_scheduler_new (context);
  g_autoptr (PrioTaskController) controller = prio_task_controller_new (PRIO_TASK_PRIORITY_BACKGROUND);
  PrioTaskOptions options = { .signal = prio_task_controller_get_signal (controller) };

  /* From now on this thread runs that context, and releases its remaining tasks. */
  g_main_context_acquire (context);
  g_main_context_iteration (context, FALSE);
  prio_scheduler_post_full (other, &options, once, NULL, await_watch);
  g_thread_join (g_thread_new ("another", abort_elsewhere, controller));
  prio_scheduler_add_long_task_func (scheduler, PRIO_LONG_TASK_THRESHOLD, ignore, NULL, NULL);
  assert_told ("w");
  g_main_context_release (context);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  told = g_string_new (NULL);
  g_test_add_func ("/observer/kinds", test_kinds);
  g_test_add_func ("/observer/begin-and-end", test_begin_and_end);
  g_test_add_func ("/observer/wait-for-group", test_wait_for_group);
  g_test_add_func ("/observer/posters", test_posters);
  g_test_add_func ("/observer/same-order", test_same_order);
  g_test_add_func ("/observer/destroy-notify", test_destroy_notify);
  g_test_add_func ("/observer/abort-while-it-runs", test_abort_while_it_runs);
  g_test_add_func ("/observer/yield-of-a-runner", test_yield_of_a_runner);
  g_test_add_func ("/observer/lent", test_lent);
  g_test_add_func ("/observer/observed-already", test_observed_already);
  g_test_add_func ("/observer/again", test_again);
  g_test_add_func ("/observer/new-loop", test_new_loop);
  g_test_add_func ("/observer/lent-before", test_lent_before);
  g_test_add_func ("/observer/posted-elsewhere-before", test_posted_elsewhere_before);
  g_test_add_func ("/observer/trace-stopped-in-a-destroy-notify", test_trace_stopped_in_a_destroy_notify);
#ifdef __linux__
  g_test_add_func ("/observer/traces-one-after-another", test_traces_one_after_another);
#endif
  g_test_add_func ("/observer/trace-ends-by-an-error", test_trace_ends_by_an_error);
  g_test_add_func ("/observer/watch-in-a-destroy-notify", test_watch_in_a_destroy_notify);
  return g_test_run ();
}
