/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-turns.c: turns, idle periods and time, also for code that is not a task
 *
 * The time is frozen, and passes only with work and instead of the main loop's sleep: the speed of the machine does not
 * matter.  Each test waits for events, up to PATIENCE.  test-frames.c counts frames.
 */

#include "passing-fixture.h"

#include <gio/gio.h>

#define PATIENCE (20 * G_USEC_PER_SEC)
static GSource *
attach (Fixture *f, GSource *source, gint priority, GSourceFunc func, gpointer data)
{
  g_source_set_priority (source, priority);
  g_source_set_callback (source, func, data, NULL);
  g_source_attach (source, f->context);
  g_source_unref (source);
  return source;
}

static void
run_until_length (Fixture *f, guint length)
{
  gint64 end = g_get_monotonic_time () + PATIENCE;

  while (f->log->len < length && g_get_monotonic_time () < end)
    g_main_context_iteration (f->context, TRUE);
}

static gboolean
work_for (gint64 span)
{
  frozen_time += span;
  return G_SOURCE_CONTINUE;
}

/* Returns whether should_yield () returns TRUE within a limited time. */
static gboolean
is_told (PrioScheduler *scheduler)
{
  gint64 end = g_get_monotonic_time () + PATIENCE;

  while (g_get_monotonic_time () < end)
    {
      if (prio_scheduler_should_yield (scheduler))
        return TRUE;
      work_for (10);
    }
  return FALSE;
}

static void
log_whether_told (Fixture *f)
{
  g_string_append_c (f->log, is_told (f->scheduler) ? 'y' : 'n');
}

/* The time of any code that holds the loop counts. */
static gboolean
ask_in_a_source (gpointer data)
{
  log_whether_told (data);
  return G_SOURCE_REMOVE;
}

static void
ask_in_a_microtask (gpointer data)
{
  log_whether_told (data);
}

static void
ask_in_a_callback (GObject *source, GAsyncResult *result, gpointer data)
{
  log_whether_told (data);
}

static void
ask_then_yield (GObject *source, GAsyncResult *result, gpointer data)
{
  Fixture *f = data;

  log_whether_told (f);
  prio_scheduler_yield_async (f->scheduler, NULL, ask_in_a_callback, f);
}

/* Calls back as GIO does, but without a thread. */
static gboolean
begin_io (gpointer data)
{
  g_autoptr (GTask) task = g_task_new (NULL, NULL, ask_then_yield, data);

  g_task_return_boolean (task, TRUE);
  return G_SOURCE_REMOVE;
}

static void
test_told_outside_of_tasks (Fixture *f, gconstpointer data)
{
  static const gint priorities[] = { G_PRIORITY_HIGH, G_PRIORITY_DEFAULT, G_PRIORITY_DEFAULT_IDLE, G_PRIORITY_LOW };

  for (guint i = 0; i < G_N_ELEMENTS (priorities); i++)
    attach (f, g_idle_source_new (), priorities[i], ask_in_a_source, f);
  prio_scheduler_queue_microtask (f->scheduler, ask_in_a_microtask, f, NULL);
  prio_scheduler_yield_async (f->scheduler, NULL, ask_in_a_callback, f);
  prio_scheduler_post (f->scheduler, USER_VISIBLE, begin_io, f, NULL);
  run_until_length (f, 8);
  g_assert_cmpstr (f->log->str, ==, "yyyyyyyy");
}

/* should_yield () is not true if no main loop runs, or another thread's does. */
static gpointer
ask_on_a_thread (gpointer data)
{
  return GINT_TO_POINTER (prio_scheduler_should_yield (data));
}

static gboolean
ask_on_another_thread (gpointer data)
{
  Fixture *f = data;

  work_for (20000);
  g_string_append_c (f->log, g_thread_join (g_thread_new ("other", ask_on_a_thread, f->scheduler)) != NULL ? 'y' : 'n');
  return G_SOURCE_REMOVE;
}

static void
test_not_told_elsewhere (Fixture *f, gconstpointer data)
{
  work_for (20000);
  g_assert_false (prio_scheduler_should_yield (f->scheduler));
  attach (f, g_idle_source_new (), G_PRIORITY_DEFAULT, ask_on_another_thread, f);
  run_until_length (f, 1);
  g_assert_cmpstr (f->log->str, ==, "n");
}

/* A frame time that is set during the task counts. */
static void
set_frame_and_ask (Step *step)
{
  prio_scheduler_set_next_frame (step->f->scheduler, g_get_monotonic_time () + 1000);
  log_whether_told (step->f);
}

static void
set_slice_and_ask (Step *step)
{
  g_assert_false (prio_scheduler_should_yield (step->f->scheduler));
  prio_scheduler_set_time_slice (step->f->scheduler, 1);
  log_whether_told (step->f);
}

static void
test_set_meanwhile (Fixture *f, gconstpointer data)
{
  prio_scheduler_set_time_slice (f->scheduler, G_MAXUINT);
  post_step (f, USER_VISIBLE, 'a', set_frame_and_ask, NULL);
  fixture_run (f);
  post_step (f, USER_VISIBLE, 'b', set_slice_and_ask, NULL);
  fixture_run (f);
  g_assert_cmpstr (f->log->str, ==, "ayby");
}

/* The time of the next frame also ends a batch of short tasks. */
static gboolean
work_briefly (gpointer data)
{
  Fixture *f = data;

  if (f->log->len == 0)
    prio_scheduler_set_next_frame (f->scheduler, g_get_monotonic_time () + 1000);
  g_string_append_c (f->log, '.');
  work_for (100);
  return f->log->len < 10000;
}

static gboolean
log_frame (gpointer data)
{
  g_string_append_c (((Fixture *) data)->log, '!');
  return G_SOURCE_REMOVE;
}

static void
test_frame_that_is_announced_in_a_batch (Fixture *f, gconstpointer data)
{
  prio_scheduler_set_time_slice (f->scheduler, G_MAXUINT);
  prio_scheduler_post (f->scheduler, USER_VISIBLE, work_briefly, f, NULL);
  attach (f, g_idle_source_new (), G_PRIORITY_DEFAULT_IDLE, log_frame, f);
  while (strchr (f->log->str, '!') == NULL && f->log->len < 10000)
    g_main_context_iteration (f->context, TRUE);
  /* Ten tasks fit into the time before the frame; more only show that the machine was fast. */
  g_assert_nonnull (strchr (f->log->str, '!'));
}

/* Beside a source that is always ready, every task makes progress; the least urgent tasks make it only now and then. */
static gboolean
count_task (gpointer data)
{
  g_string_append_c (((Fixture *) data)->log, 't');
  return G_SOURCE_REMOVE;
}

static gboolean
be_ready (gpointer data)
{
  return work_for (100);
}

static void
test_beside_what_is_always_ready (Fixture *f, gconstpointer data)
{
  static const gint priorities[] = { G_MININT + 1, G_PRIORITY_HIGH, -10, G_PRIORITY_DEFAULT, 100, 110, 120, 125, 200 };

  for (guint i = 0; i < G_N_ELEMENTS (priorities); i++)
    {
      GSource *source = attach (f, g_idle_source_new (), priorities[i], be_ready, f);

      g_string_truncate (f->log, 0);
      for (PrioTaskPriority priority = BACKGROUND; priority <= USER_BLOCKING; priority++)
        prio_scheduler_post (f->scheduler, priority, count_task, f, NULL);
      run_until_length (f, 3);
      g_assert_cmpstr (f->log->str, ==, "ttt");
      g_source_destroy (source);
    }
}

/* A background task waits for half a second beside an idle source, whatever else runs meanwhile. */
static void
do_nothing (PrioTask *task, gpointer data)
{
}

static void
see_nothing (GObject *source, GAsyncResult *result, gpointer data)
{
}

static void
microtask_of_nothing (gpointer data)
{
}

typedef struct
{
  Fixture *f;
  PrioTaskGroup *group;
  guint what;
} Beside;

#define N_BESIDE 8

static void
do_beside (Beside *beside)
{
  PrioScheduler *scheduler = beside->f->scheduler;
  g_autoptr (PrioTask) task = NULL;

  switch (beside->what)
    {
    case 0: task = prio_task_group_post_task (beside->group, NULL, do_nothing, NULL, NULL); break;
    case 1: task = prio_scheduler_post_task (scheduler, &(PrioTaskOptions) { .priority = USER_BLOCKING }, do_nothing, NULL, NULL); break;
    case 2: task = prio_scheduler_post_task (scheduler, &(PrioTaskOptions) { .priority = USER_VISIBLE }, do_nothing, NULL, NULL); break;
    case 3: prio_scheduler_queue_microtask (scheduler, microtask_of_nothing, NULL, NULL); break;
    case 4: prio_scheduler_yield_async (scheduler, NULL, see_nothing, NULL); break;
    case 5: prio_scheduler_sleep_async (scheduler, 1, NULL, see_nothing, NULL); break;
    case 6: prio_task_group_set_limit (beside->group, 3 - prio_task_group_get_limit (beside->group)); break;
    default:
      task = prio_scheduler_post_task (scheduler, &(PrioTaskOptions) { .priority = BACKGROUND }, do_nothing, NULL, NULL);
      prio_task_cancel (task);
      break;
    }
}

/* Calls do_beside () in @often of a hundred iterations, until the background task runs. */
static void
run_beside (Beside *beside, guint often)
{
  Fixture *f = beside->f;
  GSource *source = attach (f, g_idle_source_new (), G_PRIORITY_DEFAULT_IDLE, be_ready, f);
  gint64 start = frozen_time;

  g_string_truncate (f->log, 0);
  prio_scheduler_post (f->scheduler, BACKGROUND, count_task, f, NULL);
  for (guint i = 0; f->log->len == 0 && frozen_time - start < PATIENCE; i++)
    {
      g_main_context_iteration (f->context, TRUE);
      if (i % 100 < often)
        do_beside (beside);
    }
  g_test_message ("%u, %u: after %d ms", beside->what, often, (gint) ((frozen_time - start) / 1000));
  g_assert_cmpstr (f->log->str, ==, "t");
  g_assert_cmpint (frozen_time - start, >, G_USEC_PER_SEC / 4);
  g_assert_cmpint (frozen_time - start, <, G_USEC_PER_SEC);
  g_source_destroy (source);
  fixture_run (f);
}

static void
test_background_beside_idle_and_more (Fixture *f, gconstpointer data)
{
  static const guint often[] = { 1, 3, 50 };
  g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 1, BACKGROUND);

  for (guint what = 0; what < N_BESIDE; what++)
    {
      for (guint i = 0; i < G_N_ELEMENTS (often); i++)
        run_beside (&(Beside) { f, group, what }, often[i]);
    }
}

/* Each iteration has internal work before the tasks: a change of `pending`, a microtask, a release. */
static void
count_ran (PrioTask *task, gpointer n_ran)
{
  ++*(guint *) n_ran;
}

static void
test_task_beside_microtasks_of_each_iteration (Fixture *f, gconstpointer data)
{
  for (PrioTaskPriority priority = BACKGROUND; priority <= USER_BLOCKING; priority++)
    {
      g_autoptr (PrioTaskGroup) group = prio_task_group_new (f->scheduler, 4, priority);
      guint n_ran = 0, n_in_scheduler = 0;

      for (guint n = 1; n <= 100; n++)
        {
          g_object_unref (prio_task_group_post_task (group, NULL, count_ran, &n_ran, NULL));
          g_main_context_iteration (f->context, FALSE);
          g_assert_cmpuint (n_ran + 2, >=, n);
        }
      fixture_run (f);
      for (guint n = 1; n <= 100; n++)
        {
          prio_scheduler_queue_microtask (f->scheduler, microtask_of_nothing, NULL, NULL);
          g_object_unref (prio_scheduler_post_task (f->scheduler, &(PrioTaskOptions) { .priority = priority }, count_ran,
                                                    &n_in_scheduler, NULL));
          while (g_main_context_pending (f->context) && n_in_scheduler < n / 2)
            g_main_context_iteration (f->context, FALSE);
          g_main_context_iteration (f->context, FALSE);
          g_assert_cmpuint (n_in_scheduler + 2, >=, n);
        }
      fixture_run (f);
      g_assert_cmpuint (n_ran + n_in_scheduler, ==, 200);
    }
}

/* Tasks still run before other sources. */
static void
log_microtask (gpointer data)
{
  g_string_append_c (((Fixture *) data)->log, 'm');
}

static gboolean
queue_microtask (gpointer data)
{
  Fixture *f = data;

  g_string_append_c (f->log, '.');
  prio_scheduler_queue_microtask (f->scheduler, log_microtask, f, NULL);
  return G_SOURCE_CONTINUE;
}

static void
test_microtasks_beside_a_flood (Fixture *f, gconstpointer data)
{
  GSource *source = attach (f, g_idle_source_new (), G_PRIORITY_DEFAULT, queue_microtask, f);

  prio_scheduler_post (f->scheduler, BACKGROUND, count_task, f, NULL);
  for (guint i = 0; i < 100; i++)
    g_main_context_iteration (f->context, FALSE);
  g_assert_null (strstr (f->log->str, "...."));
  g_source_destroy (source);
}

/* One task runs per iteration, whatever another scheduler has run before it in that iteration. */
static void
test_one_task_per_iteration_after_others (Fixture *f, gconstpointer data)
{
  g_autoptr (PrioScheduler) other = prio_scheduler_new (f->context);

  prio_scheduler_set_time_slice (other, 0);
  for (guint i = 0; i < 200; i++)
    prio_scheduler_post (f->scheduler, USER_VISIBLE, log_frame, f, NULL);
  for (guint i = 0; i < 3; i++)
    prio_scheduler_post (other, USER_VISIBLE, count_task, f, NULL);
  while (strchr (f->log->str, 't') == NULL)
    g_main_context_iteration (f->context, FALSE);
  g_assert_true (g_str_has_suffix (f->log->str, "!t"));
}

/* An idle period ends at the next timer of the context, of any code. */
static double remaining;

static void
note_remaining (PrioIdleDeadline *deadline, gpointer data)
{
  remaining = prio_idle_deadline_get_time_remaining (deadline);
  g_string_append_c (((Fixture *) data)->log, 'i');
}

static void
test_idle_until_the_next_timer (Fixture *f, gconstpointer data)
{
  attach (f, g_timeout_source_new (20), G_PRIORITY_LOW + 1000, log_frame, f);
  prio_scheduler_request_idle_callback (f->scheduler, 0, note_remaining, f, NULL);
  run_until_length (f, 2);
  if (f->log->str[0] == 'i')
    {
      g_assert_cmpfloat (remaining, >, 0);
      g_assert_cmpfloat (remaining, <=, 20);
    }
  g_assert_cmpuint (f->log->len, ==, 2);
}

/* A loop that runs while events are pending, as in GTK programs, ends. */
static void
test_idle_in_a_loop_that_asks_what_is_pending (Fixture *f, gconstpointer data)
{
  gint64 end = g_get_monotonic_time () + PATIENCE;

  prio_scheduler_request_idle_callback (f->scheduler, 0, note_remaining, f, NULL);
  while (g_main_context_pending (f->context) && g_get_monotonic_time () < end)
    g_main_context_iteration (f->context, FALSE);
  g_assert_cmpstr (f->log->str, ==, "i");
  g_assert_false (g_main_context_pending (f->context));
}

/* A loop that has a timer every millisecond still has idle time. */
static gboolean
count_tick (gpointer data)
{
  return ++*(guint *) data < 1000;
}

static void
test_idle_beside_a_fast_timer (Fixture *f, gconstpointer data)
{
  guint n_ticks = 0;
  GSource *timer = attach (f, g_timeout_source_new (1), G_PRIORITY_DEFAULT, count_tick, &n_ticks);

  prio_scheduler_request_idle_callback (f->scheduler, 0, note_remaining, f, NULL);
  while (f->log->len == 0 && n_ticks < 1000)
    g_main_context_iteration (f->context, TRUE);
  g_assert_cmpstr (f->log->str, ==, "i");
  g_source_destroy (timer);
}

/* GLib may take long to check its sources. */
static gboolean
take_long_to_check (GSource *source)
{
  work_for (3000);
  return FALSE;
}

static gboolean
prepare_never (GSource *source, gint *timeout)
{
  *timeout = -1;
  return FALSE;
}

static void
test_idle_in_a_slow_context (Fixture *f, gconstpointer data)
{
  static GSourceFuncs funcs = { prepare_never, take_long_to_check, NULL, NULL, NULL, NULL };
  GSource *slow = attach (f, g_source_new (&funcs, sizeof (GSource)), G_PRIORITY_DEFAULT, NULL, NULL);

  prio_scheduler_request_idle_callback (f->scheduler, 0, note_remaining, f, NULL);
  for (guint i = 0; i < 20 && f->log->len == 0; i++)
    g_main_context_iteration (f->context, TRUE);
  g_assert_cmpstr (f->log->str, ==, "i");
  g_source_destroy (slow);
}

/* An idle callback is called at its timeout in any case. */
static gboolean flood_on;

static gboolean
flood (gpointer data)
{
  work_for (100);
  return flood_on;
}

static void
test_idle_timeout_beside_a_flood (Fixture *f, gconstpointer data)
{
  for (PrioTaskPriority priority = BACKGROUND; priority <= USER_BLOCKING; priority++)
    {
      g_string_truncate (f->log, 0);
      flood_on = TRUE;
      for (guint i = 0; i < 10; i++)
        prio_scheduler_post (f->scheduler, priority, flood, f, NULL);
      prio_scheduler_request_idle_callback (f->scheduler, 10, note_remaining, f, NULL);
      run_until_length (f, 1);
      g_assert_cmpstr (f->log->str, ==, "i");
      flood_on = FALSE;
      fixture_run (f);
    }
}

/* In an idle callback, should_yield () becomes true when its time is over. */
static void
ask_in_an_idle_callback (PrioIdleDeadline *deadline, gpointer data)
{
  Fixture *f = data;

  log_whether_told (f);
  g_assert_cmpfloat (prio_idle_deadline_get_time_remaining (deadline), <=, 0);
}

static void
test_told_in_an_idle_callback (Fixture *f, gconstpointer data)
{
  prio_scheduler_request_idle_callback (f->scheduler, 0, ask_in_an_idle_callback, f, NULL);
  run_until_length (f, 1);
  g_assert_cmpstr (f->log->str, ==, "y");
}

/* Keys, as GDK has them: a source at priority 0 that dispatches one event each time.  They come while slow code runs. */
#define N_EVENTS 40
#define EVENT 60        /* duration of each, µs */
#define N_SLOW_EVENTS 9 /* on a busy machine: the events of four keys, and one more */
#define SLOW_EVENT 12000 /* duration of each on a busy machine, µs */
#define SLOW 700000     /* a step, µs */

/* The origin of the next task. */
typedef enum
{
  STEPS,            /* steps, which are slow themselves */
  POSTED_MEANWHILE, /* slow code posts the task */
  POSTED_BEFORE,
} From;

typedef struct
{
  Fixture *f;
  PrioTaskPriority priority;
  gint64 length;   /* duration of the slow code beside the steps, µs */
  From from;
  gint64 event;    /* duration of each event, µs */
  guint n_more;    /* events that come each time */
  gboolean ready;  /* whether the slow code is ready to run */
  gboolean is_frame_due; /* whether a frame is due, when no event is left */
  guint n_events;  /* not dispatched yet */
  guint n_before;  /* steps that started before all events of the same time were dispatched */
  guint n_steps;
} Input;

typedef struct
{
  GSource parent;
  Input *input;
  gboolean (*is_ready) (Input *input);
} InputSource;

static gboolean
input_prepare (GSource *source, gint *timeout)
{
  InputSource *self = (InputSource *) source;

  *timeout = -1;
  return self->is_ready (self->input);
}

static gboolean
input_dispatch (GSource *source, GSourceFunc func, gpointer data)
{
  return func (data);
}

static GSourceFuncs input_funcs = { input_prepare, NULL, input_dispatch, NULL, NULL, NULL };

static void
attach_input (Input *input, gint priority, gboolean (*is_ready) (Input *input), GSourceFunc func)
{
  GSource *source = g_source_new (&input_funcs, sizeof (InputSource));

  ((InputSource *) source)->input = input;
  ((InputSource *) source)->is_ready = is_ready;
  attach (input->f, source, priority, func, input);
}

static gboolean
has_events (Input *input)
{
  return input->n_events > 0;
}

static gboolean
take_event (gpointer data)
{
  Input *input = data;

  input->n_events--;
  return work_for (input->event);
}

static gboolean
is_to_run (Input *input)
{
  return input->ready;
}

static gboolean
note_early (gpointer data)
{
  Input *input = data;

  input->n_before += input->n_events > 0;
  g_string_append_c (input->f->log, 'T');
  return G_SOURCE_REMOVE;
}

/* Runs the slow code, while keys come, some times. */
static gboolean
be_slow (gpointer data)
{
  Input *input = data;

  g_string_append_c (input->f->log, 'S');
  input->ready = FALSE;
  input->n_events += input->n_more;
  work_for (input->length);
  if (input->from == POSTED_MEANWHILE)
    prio_scheduler_post (input->f->scheduler, input->priority, note_early, input, NULL);
  return G_SOURCE_CONTINUE;
}

/* Makes a step, which makes the slow code ready. */
static gboolean
slow_step (gpointer data)
{
  Input *input = data;

  note_early (input);
  input->ready = TRUE;
  input->n_events += input->n_more;
  work_for (SLOW);
  return ++input->n_steps < 3;
}

/* Checks that keys that came during a slow handler or frame, at GDK's priority @at, are dispatched before the next
 * task. */
static void
check_input_first (Fixture *f, gint at, PrioTaskPriority priority, gint64 length, From from, gboolean is_busy)
{
  Input input = { .f = f, .priority = priority, .length = length, .from = from, .ready = from != STEPS,
                  .event = is_busy ? SLOW_EVENT : EVENT, .n_more = is_busy ? N_SLOW_EVENTS : N_EVENTS };

  g_string_truncate (f->log, 0);
  attach_input (&input, G_PRIORITY_DEFAULT, has_events, take_event);
  attach_input (&input, at, is_to_run, be_slow);
  if (from != POSTED_MEANWHILE)
    prio_scheduler_post (f->scheduler, priority, from == STEPS ? slow_step : note_early, &input, NULL);
  run_until_length (f, from == STEPS ? 6 : 2);
  if (input.n_before > 0)
    g_test_message ("%s of priority %d, something slow at %d for %" G_GINT64_FORMAT " ms, %s", from == STEPS ? "steps" : "a task",
                    priority, at, length / 1000, is_busy ? "slow events" : "fast events");
  if (from != POSTED_BEFORE)
    g_assert_cmpstr (f->log->str, ==, from == STEPS ? "TSTSTS" : "ST");
  g_assert_cmpuint (input.n_before, ==, 0);
}

static void
test_input_first (gconstpointer data)
{
  static const gint at[] = { G_PRIORITY_HIGH, G_PRIORITY_DEFAULT, G_PRIORITY_DEFAULT + 1, 110, 120, 200 };
  static const gint64 lengths[] = { 50000, 300000, 1200000 };

  const guint n = G_N_ELEMENTS (at) * G_N_ELEMENTS (lengths) * 3;
  From from = (From) GPOINTER_TO_INT (data);

  /* Steps are slow themselves, and do not wait for a frame after several slow events. */
  for (guint i = 0; i < (from == STEPS ? n : 2 * n); i++)
    {
      Fixture f;

      passing_set_up (&f, NULL);
      check_input_first (&f, at[i % n / 9], (PrioTaskPriority) (BACKGROUND + i % 3), lengths[i / 3 % 3], from, i >= n);
      fixture_tear_down (&f, NULL);
    }
}

static gboolean
has_none (Input *input)
{
  return input->is_frame_due && input->n_events == 0;
}

/* Draws, while keys come again. */
static gboolean
draw_slowly (gpointer data)
{
  Input *input = data;

  g_string_append_c (input->f->log, 'F');
  input->is_frame_due = FALSE;
  input->n_events += input->n_more;
  return work_for (input->length);
}

/* GTK 4 draws at priority 1, at which a task that waits for input runs. */
static void
test_input_first_of_frame (Fixture *f, gconstpointer data)
{
  Input input = { .f = f, .priority = USER_BLOCKING, .length = 300000, .from = POSTED_MEANWHILE, .ready = TRUE,
                  .is_frame_due = TRUE, .event = EVENT, .n_more = N_EVENTS };

  attach_input (&input, G_PRIORITY_DEFAULT, has_events, take_event);
  attach_input (&input, G_PRIORITY_DEFAULT, is_to_run, be_slow);
  attach_input (&input, G_PRIORITY_DEFAULT + 1, has_none, draw_slowly);
  run_until_length (f, 3);
  g_assert_cmpstr (f->log->str, ==, "SFT");
  g_assert_cmpuint (input.n_before, ==, 0);
}

/* The task that has let input go first is aborted, and no longer waits: the next task lets input go first too. */
static void
test_input_first_again (Fixture *f, gconstpointer data)
{
  Input input = { .f = f, .length = 300000, .from = POSTED_BEFORE, .event = EVENT, .n_more = N_EVENTS };

  attach_input (&input, G_PRIORITY_DEFAULT, has_events, take_event);
  attach_input (&input, G_PRIORITY_DEFAULT, is_to_run, be_slow);
  for (guint i = 0; i < 4; i++)
    {
      g_autoptr (PrioTaskController) controller = prio_task_controller_new (USER_VISIBLE);

      input.ready = TRUE;
      prio_scheduler_post_full (f->scheduler, &(PrioTaskOptions) { .signal = signal_of (controller) }, note_early, &input, NULL);
      run_until_length (f, i + 1);
      g_assert_cmpuint (input.n_events, ==, N_EVENTS);
      prio_task_controller_abort (controller, NULL);
      fixture_run (f);
      g_assert_cmpuint (input.n_events, ==, 0);
    }
  g_assert_cmpstr (f->log->str, ==, "SSSS");
}

static gboolean
note_key (gpointer data)
{
  Input *input = data;

  g_string_append_c (input->f->log, 'k');
  input->n_events--;
  return G_SOURCE_CONTINUE;
}

/* Runs slowly, while a key comes. */
static void
slow_microtask (gpointer data)
{
  Input *input = data;

  g_string_append_c (input->f->log, 'M');
  input->n_events++;
  work_for (50000);
}

static void
queue_slow_microtask (Step *step)
{
  prio_scheduler_queue_microtask (step->f->scheduler, slow_microtask, step->data, NULL);
}

/* Keys that came during a slow microtask are dispatched before the next task, even before the first one. */
static void
test_input_first_of_microtask (Fixture *f, gconstpointer data)
{
  Input input = { .f = f };

  attach_input (&input, G_PRIORITY_DEFAULT, has_events, note_key);
  for (gint priority = BACKGROUND; priority <= USER_BLOCKING; priority++)
    {
      g_string_truncate (f->log, 0);
      post_step (f, (PrioTaskPriority) priority, 'T', queue_slow_microtask, &input);
      post_letter (f, (PrioTaskPriority) priority, 'T');
      run_until_length (f, 4);
      g_assert_cmpstr (f->log->str, ==, "TMkT");

      g_string_truncate (f->log, 0);
      prio_scheduler_queue_microtask (f->scheduler, slow_microtask, &input, NULL);
      post_letter (f, (PrioTaskPriority) priority, 'T');
      run_until_length (f, 3);
      g_assert_cmpstr (f->log->str, ==, "MkT");
    }
}

/* Half of the time is for tasks, although GTK 4 draws at priority 1 after each key. */
#define N_FRAMES 90
#define FRAME 100000 /* duration, µs */

static gboolean
is_always_due (Input *input G_GNUC_UNUSED)
{
  return TRUE;
}

static gboolean
draw_until_key (gpointer data)
{
  Input *input = data;

  input->is_frame_due = FALSE;
  if (++input->n_steps % 3 == 0)
    input->n_events++;
  return work_for (FRAME);
}

static gboolean
take_key (gpointer data)
{
  Input *input = data;

  input->n_events--;
  input->is_frame_due = TRUE;
  return G_SOURCE_CONTINUE;
}

static gboolean
count_work (gpointer data)
{
  Input *input = data;

  input->n_before++;
  return work_for (100) && input->n_steps < N_FRAMES;
}

static void
test_task_share_beside_keys (Fixture *f, gconstpointer data)
{
  Input input = { .f = f };
  gint64 start = frozen_time;

  attach_input (&input, G_PRIORITY_DEFAULT, has_events, take_key);
  attach_input (&input, G_PRIORITY_DEFAULT + 1, has_none, draw_until_key);
  attach_input (&input, G_PRIORITY_HIGH_IDLE + 20, is_always_due, draw_until_key);
  prio_scheduler_set_task_share (f->scheduler, 0.5);
  prio_scheduler_post (f->scheduler, USER_VISIBLE, count_work, &input, NULL);
  while (input.n_steps < N_FRAMES)
    g_main_context_iteration (f->context, TRUE);
  g_test_message ("%d %% of the time", (gint) (input.n_before * 100 * 100 / (frozen_time - start)));
  g_assert_cmpint (input.n_before * 100, >=, (frozen_time - start) * 45 / 100);
}

/* A share of the time is for tasks, whatever the sources below them cost.  Without a share, tasks have half of it.  Input
 * and frames wait at most for one layout and one slice. */
#define N_OF_WORK 3000 /* steps of 1 ms */
#define SLICE 5000
#define KEY 10  /* how often keys come, ms */
#define DRAW 16 /* how often frames are drawn, ms */

typedef struct
{
  gint64 last, longest; /* µs */
} Gap;

typedef struct
{
  Fixture *f;
  gint64 cost; /* of a layout, µs */
  gboolean announces, has_new_rows;
  guint n_steps, n_layouts;
  Gap keys, frames;
} Below;

static void
note_gap (Gap *gap)
{
  gap->longest = MAX (gap->longest, frozen_time - gap->last);
  gap->last = frozen_time;
}

static gboolean
lay_out (gpointer data)
{
  Below *below = data;

  below->n_layouts++;
  return work_for (below->cost);
}

static gboolean
count_step (gpointer data)
{
  return work_for (1000) && ++((Below *) data)->n_steps < N_OF_WORK;
}

static gboolean
note_key_of_timer (gpointer data)
{
  note_gap (&((Below *) data)->keys);
  return G_SOURCE_CONTINUE;
}

static gboolean
draw_in_time (gpointer data)
{
  Below *below = data;

  note_gap (&below->frames);
  if (below->announces)
    prio_scheduler_set_next_frame (below->f->scheduler, frozen_time + DRAW * 1000);
  return work_for (500);
}

/* Returns which part of the time layouts of @cost have beside tasks with @share. */
static double
part_of_layouts (double share, gint64 cost, gboolean draws, gboolean announces)
{
  Fixture f;
  Below below = { .f = &f, .cost = cost, .announces = announces };
  gint64 start;
  double part;

  passing_set_up (&f, NULL);
  start = below.keys.last = below.frames.last = frozen_time;
  attach (&f, g_timeout_source_new (KEY), G_PRIORITY_DEFAULT, note_key_of_timer, &below);
  attach (&f, g_idle_source_new (), G_PRIORITY_DEFAULT_IDLE, lay_out, &below);
  if (draws)
    attach (&f, g_timeout_source_new (DRAW), G_PRIORITY_HIGH_IDLE + 20, draw_in_time, &below);
  prio_scheduler_set_task_share (f.scheduler, share);
  prio_scheduler_post (f.scheduler, USER_VISIBLE, count_step, &below, NULL);
  while (below.n_steps < N_OF_WORK)
    g_main_context_iteration (f.context, TRUE);

  part = (double) (below.n_layouts * cost) / (double) (frozen_time - start);
  g_test_message ("share %.1f, layouts of %d ms%s: %u, which have %.3f of the time; waits of keys %d ms, of frames %d ms", share,
                  (gint) (cost / 1000), announces ? ", announced frames" : draws ? ", frames" : "", below.n_layouts, part,
                  (gint) (below.keys.longest / 1000), (gint) (below.frames.longest / 1000));
  g_assert_cmpint (below.keys.longest, <=, KEY * 1000 + cost + SLICE);
  if (draws)
    g_assert_cmpint (below.frames.longest, <=, DRAW * 1000 + cost + SLICE);
  prio_scheduler_set_next_frame (f.scheduler, 0);
  fixture_tear_down (&f, NULL);
  return part;
}

static void
test_task_share_beside_layouts (void)
{
  static const gint64 costs[] = { 1000, 10000, 30000, 200000 };
  static const double shares[] = { 0.6, 0.8, 0.9 };

  for (guint i = 0; i < G_N_ELEMENTS (costs); i++)
    {
      for (guint draws = 0; draws < 3; draws++)
        {
          for (guint j = 0; j < G_N_ELEMENTS (shares); j++)
            {
              double part = part_of_layouts (shares[j], costs[i], draws > 0, draws == 2);

              /* The first layout comes after a slice, before tasks have had their share. */
              g_assert_cmpfloat (part, <=, 1 - shares[j] + (double) costs[i] / (N_OF_WORK * 1000));
              g_assert_cmpfloat (part, >=, (1 - shares[j]) * 0.8);
            }
        }
    }

  /* A small share is for frames: tasks have half of the time anyway.  Without a share, they have at most 50 ms in a row. */
  for (guint i = 1; i < G_N_ELEMENTS (costs); i++)
    {
      for (guint j = i == 3 ? 1 : 0; j < 2; j++)
        {
          double part = part_of_layouts (j * 0.25, costs[i], FALSE, FALSE);

          g_assert_cmpfloat (part, >=, 0.45);
          g_assert_cmpfloat (part, <=, 0.55);
        }
    }
}

/* A task inserts a row in 20 µs, and a view lays out new rows in a source above the tasks, in 200 µs.  Then batches are long
 * enough that the layouts take at most a sixth of the time, and keys wait at most 3 ms. */
static gboolean
lay_out_rows (gpointer data)
{
  Below *below = data;

  below->n_layouts++;
  below->has_new_rows = FALSE;
  work_for (below->cost);
  return G_SOURCE_REMOVE;
}

static gboolean
insert_row (gpointer data)
{
  Below *below = data;

  if (!below->has_new_rows)
    attach (below->f, g_idle_source_new (), G_PRIORITY_HIGH_IDLE + 25, lay_out_rows, below);
  below->has_new_rows = TRUE;
  return work_for (20) && ++below->n_steps < N_OF_WORK;
}

static void
test_batches_beside_layouts_of_new_rows (Fixture *f, gconstpointer data)
{
  Below below = { .f = f, .cost = 200, .keys.last = frozen_time };

  attach (f, g_timeout_source_new (KEY), G_PRIORITY_DEFAULT, note_key_of_timer, &below);
  prio_scheduler_post (f->scheduler, USER_VISIBLE, insert_row, &below, NULL);
  while (below.n_steps < N_OF_WORK)
    g_main_context_iteration (f->context, TRUE);
  g_test_message ("%u layouts; keys wait %d µs", below.n_layouts, (gint) below.keys.longest - KEY * 1000);
  g_assert_cmpint (below.n_layouts * below.cost, <=, N_OF_WORK * 20 / 5);
  g_assert_cmpint (below.keys.longest, <=, KEY * 1000 + 3000);
}

/* Beside frames that take as long as the time between them, tasks have their share, also while another scheduler's share
 * changes.  Sources below have a turn sometimes. */
#define SLOW_DRAW 20 /* duration of a frame, and a little less than the time between two, ms */

static gboolean
draw_for_long (gpointer data)
{
  note_gap (&((Below *) data)->frames);
  return work_for (SLOW_DRAW * 1000);
}

static gboolean
change_share (gpointer scheduler)
{
  prio_scheduler_set_task_share (scheduler, prio_scheduler_get_task_share (scheduler) < 0.2 ? 0.2 : 0.1);
  return G_SOURCE_CONTINUE;
}

static void
test_task_share_beside_slow_frames (Fixture *f, gconstpointer data)
{
  Below below = { .f = f, .cost = 1000 };
  g_autoptr (PrioScheduler) other = prio_scheduler_new (f->context);
  gint64 start = frozen_time;

  attach (f, g_timeout_source_new (SLOW_DRAW + 3), G_PRIORITY_HIGH_IDLE + 20, draw_for_long, &below);
  attach (f, g_idle_source_new (), G_PRIORITY_DEFAULT_IDLE, lay_out, &below);
  if (data != NULL)
    attach (f, g_timeout_source_new (7), G_PRIORITY_DEFAULT, change_share, other);
  prio_scheduler_set_task_share (f->scheduler, 0.5);
  prio_scheduler_post (f->scheduler, USER_VISIBLE, count_step, &below, NULL);
  while (below.n_steps < N_OF_WORK)
    g_main_context_iteration (f->context, TRUE);
  g_test_message ("tasks have %.3f of the time, and layouts %u turns", (double) N_OF_WORK * 1000 / (double) (frozen_time - start),
                  below.n_layouts);
  g_assert_cmpint (frozen_time - start, <=, N_OF_WORK * 1000 * 100 / 45);
  g_assert_cmpuint (below.n_layouts, >=, 40);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_data_func ("/turns/input-first/steps", GINT_TO_POINTER (STEPS), test_input_first);
  g_test_add_data_func ("/turns/input-first/posted-meanwhile", GINT_TO_POINTER (POSTED_MEANWHILE), test_input_first);
  g_test_add ("/turns/input-first/of-a-frame", Fixture, NULL, passing_set_up, test_input_first_of_frame, fixture_tear_down);
  g_test_add ("/turns/input-first/again", Fixture, NULL, passing_set_up, test_input_first_again, fixture_tear_down);
  g_test_add ("/turns/input-first/of-a-microtask", Fixture, NULL, passing_set_up, test_input_first_of_microtask, fixture_tear_down);
  g_test_add_data_func ("/turns/input-first/posted-before", GINT_TO_POINTER (POSTED_BEFORE), test_input_first);
  g_test_add ("/turns/task-share-beside-keys", Fixture, NULL, passing_set_up, test_task_share_beside_keys, fixture_tear_down);
  g_test_add ("/turns/batches-beside-layouts-of-new-rows", Fixture, NULL, passing_set_up, test_batches_beside_layouts_of_new_rows,
              fixture_tear_down);
  g_test_add_func ("/turns/task-share-beside-layouts", test_task_share_beside_layouts);
  g_test_add ("/turns/task-share-beside-slow-frames", Fixture, NULL, passing_set_up, test_task_share_beside_slow_frames, fixture_tear_down);
  g_test_add ("/turns/task-share-that-changes", Fixture, "changes", passing_set_up, test_task_share_beside_slow_frames, fixture_tear_down);
  g_test_add ("/turns/should-yield/outside-of-tasks", Fixture, NULL, passing_set_up, test_told_outside_of_tasks, fixture_tear_down);
  g_test_add ("/turns/should-yield/not-elsewhere", Fixture, NULL, passing_set_up, test_not_told_elsewhere, fixture_tear_down);
  g_test_add ("/turns/should-yield/set-meanwhile", Fixture, NULL, passing_set_up, test_set_meanwhile, fixture_tear_down);
  g_test_add ("/turns/should-yield/in-an-idle-callback", Fixture, NULL, passing_set_up, test_told_in_an_idle_callback, fixture_tear_down);
  g_test_add ("/turns/frame-announced-in-a-batch", Fixture, NULL, passing_set_up, test_frame_that_is_announced_in_a_batch, fixture_tear_down);
  g_test_add ("/turns/beside-what-is-always-ready", Fixture, NULL, passing_set_up, test_beside_what_is_always_ready, fixture_tear_down);
  g_test_add ("/turns/background-beside-idle-and-more", Fixture, NULL, passing_set_up, test_background_beside_idle_and_more, fixture_tear_down);
  g_test_add ("/turns/task-beside-microtasks-of-each-iteration", Fixture, NULL, passing_set_up, test_task_beside_microtasks_of_each_iteration, fixture_tear_down);
  g_test_add ("/turns/microtasks-beside-a-flood", Fixture, NULL, passing_set_up, test_microtasks_beside_a_flood, fixture_tear_down);
  g_test_add ("/turns/one-task-per-iteration/after-others", Fixture, NULL, passing_set_up, test_one_task_per_iteration_after_others, fixture_tear_down);
  g_test_add ("/turns/idle-until-the-next-timer", Fixture, NULL, passing_set_up, test_idle_until_the_next_timer, fixture_tear_down);
  g_test_add ("/turns/idle-where-pending-is-asked", Fixture, NULL, passing_set_up, test_idle_in_a_loop_that_asks_what_is_pending, fixture_tear_down);
  g_test_add ("/turns/idle-beside-a-fast-timer", Fixture, NULL, passing_set_up, test_idle_beside_a_fast_timer, fixture_tear_down);
  g_test_add ("/turns/idle-in-a-slow-context", Fixture, NULL, passing_set_up, test_idle_in_a_slow_context, fixture_tear_down);
  g_test_add ("/turns/idle-timeout-beside-a-flood", Fixture, NULL, passing_set_up, test_idle_timeout_beside_a_flood, fixture_tear_down);

  return g_test_run ();
}
