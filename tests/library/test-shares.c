/* test-shares.c: least shares, in simulated time
 *
 * Time is a number here, and passes only while something works, as in test-frames.c.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "passing-fixture.h"

/* What works without an end, for so long at a time, until it is over. */
typedef struct
{
  gint64 step;  /* µs */
  gint64 total; /* µs */
} Work;

static gboolean over;

static gboolean
work (gpointer data)
{
  Work *self = data;

  if (over)
    return G_SOURCE_REMOVE;
  frozen_time += self->step;
  self->total += self->step;
  return G_SOURCE_CONTINUE;
}

static void
run_for (Fixture *f, gint64 span)
{
  gint64 end = frozen_time + span;

  while (frozen_time < end)
    g_main_context_iteration (f->context, TRUE);
}

/* All work ends. */
static void
finish (Fixture *f)
{
  over = TRUE;
  while (prio_scheduler_get_n_pending (f->scheduler) > 0)
    g_main_context_iteration (f->context, TRUE);
  over = FALSE;
}

static void
assert_part (gint64 part, gint64 whole, gdouble share)
{
  g_test_message ("%.4f of the time, share %.2f", (gdouble) part / (gdouble) whole, share);
  g_assert_cmpfloat ((gdouble) part, >=, (gdouble) whole * (share - 0.01));
  g_assert_cmpfloat ((gdouble) part, <=, (gdouble) whole * (share + 0.02));
}

/* Floods of each priority. */
typedef struct
{
  Work of[USER_BLOCKING + 1];
  GCancellable *signal; /* tasks are entries; or NULL */
} Floods;

static void
start_flood (Fixture *f, Floods *floods, PrioTaskPriority priority, gint64 step)
{
  PrioTaskOptions options = { .signal = floods->signal, .priority = priority };

  floods->of[priority].step = step;
  for (guint i = 0; i < 3; i++)
    {
      if (floods->signal != NULL)
        prio_scheduler_post_full (f->scheduler, &options, work, &floods->of[priority], NULL);
      else
        prio_scheduler_post (f->scheduler, priority, work, &floods->of[priority], NULL);
    }
}

static gint64
sum (Floods *floods)
{
  return floods->of[BACKGROUND].total + floods->of[USER_VISIBLE].total + floods->of[USER_BLOCKING].total;
}

static void
test_strict_without (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  Floods floods = { 0 };

  g_assert_cmpfloat (prio_scheduler_get_least_share (f->scheduler, BACKGROUND), ==, 0);
  prio_scheduler_set_least_share (f->scheduler, BACKGROUND, 0.2);
  prio_scheduler_set_least_share (f->scheduler, BACKGROUND, 0);
  start_flood (f, &floods, BACKGROUND, 100);
  start_flood (f, &floods, USER_VISIBLE, 100);
  run_for (f, 2 * G_USEC_PER_SEC);
  g_assert_cmpint (floods.of[BACKGROUND].total, ==, 0);
  finish (f);
}

static void
check_among_tasks (PrioTaskPriority above, gdouble share, gint64 step, GCancellable *signal)
{
  Fixture f;
  Floods floods = { .signal = signal };

  passing_set_up (&f, NULL);
  prio_scheduler_set_least_share (f.scheduler, BACKGROUND, share);
  g_assert_cmpfloat (prio_scheduler_get_least_share (f.scheduler, BACKGROUND), ==, share);
  start_flood (&f, &floods, BACKGROUND, step);
  start_flood (&f, &floods, above, 100);
  run_for (&f, G_USEC_PER_SEC);
  assert_part (floods.of[BACKGROUND].total, sum (&floods), share);
  finish (&f);
  fixture_tear_down (&f, NULL);
}

static void
test_among_tasks (void)
{
  static const gdouble shares[] = { 0.02, 0.2, 0.5 };
  static const gint64 steps[] = { 5, 100, 2000 };
  g_autoptr (GCancellable) signal = g_cancellable_new ();

  for (guint i = 0; i < G_N_ELEMENTS (shares); i++)
    {
      for (guint j = 0; j < G_N_ELEMENTS (steps); j++)
        {
          check_among_tasks (USER_VISIBLE, shares[i], steps[j], NULL);
          check_among_tasks (USER_BLOCKING, shares[i], steps[j], NULL);
          check_among_tasks (USER_VISIBLE, shares[i], steps[j], signal);
          check_among_tasks (USER_BLOCKING, shares[i], steps[j], signal);
        }
    }
}

/* `background` has its share of all, `user-visible` that of the rest. */
static void
test_both (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  Floods floods = { 0 };

  prio_scheduler_set_least_share (f->scheduler, BACKGROUND, 0.2);
  prio_scheduler_set_least_share (f->scheduler, USER_VISIBLE, 0.5);
  for (PrioTaskPriority priority = BACKGROUND; priority <= USER_BLOCKING; priority++)
    start_flood (f, &floods, priority, 100);
  run_for (f, G_USEC_PER_SEC);
  assert_part (floods.of[BACKGROUND].total, sum (&floods), 0.2);
  assert_part (floods.of[USER_VISIBLE].total, sum (&floods), 0.4);
  finish (f);
}

/* While no task waits, nothing becomes due. */
static void
test_saves_nothing_up (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  Floods floods = { 0 };
  gint64 before;

  prio_scheduler_set_least_share (f->scheduler, BACKGROUND, 0.2);
  start_flood (f, &floods, USER_VISIBLE, 100);
  run_for (f, 2 * G_USEC_PER_SEC);
  before = sum (&floods);
  start_flood (f, &floods, BACKGROUND, 100);
  run_for (f, 50000);
  assert_part (floods.of[BACKGROUND].total, sum (&floods) - before, 0.2);
  finish (f);
}

/* A long task has more urgent ones go on for as much longer; what ran while none waited does not count. */
static void
test_long_task (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  Floods floods = { 0 };
  gint64 before;

  prio_scheduler_set_least_share (f->scheduler, BACKGROUND, 0.2);
  start_flood (f, &floods, BACKGROUND, 60000);
  run_for (f, 2 * G_USEC_PER_SEC);
  before = floods.of[BACKGROUND].total;

  start_flood (f, &floods, USER_VISIBLE, 100);
  run_for (f, 2 * G_USEC_PER_SEC);
  assert_part (floods.of[BACKGROUND].total - before, 2 * G_USEC_PER_SEC, 0.2);
  finish (f);
}

/* What is always ready. */
static void
check_beside_source (gint priority, gdouble share, gint64 step)
{
  Fixture f;
  Floods floods = { 0 };
  Work busy = { .step = 100 };
  GSource *source = g_idle_source_new ();

  passing_set_up (&f, NULL);
  prio_scheduler_set_least_share (f.scheduler, BACKGROUND, share);
  g_source_set_priority (source, priority);
  g_source_set_callback (source, work, &busy, NULL);
  g_source_attach (source, f.context);
  start_flood (&f, &floods, BACKGROUND, step);
  run_for (&f, 2 * G_USEC_PER_SEC);

  g_test_message ("beside %d, steps of %d us: background %.4f, the source %.4f", priority, (gint) step,
                  (gdouble) sum (&floods) / (2 * G_USEC_PER_SEC), (gdouble) busy.total / (2 * G_USEC_PER_SEC));
  g_assert_cmpfloat ((gdouble) sum (&floods), <=, (share + 0.03) * 2 * G_USEC_PER_SEC);
  if (share != 0)
    g_assert_cmpfloat ((gdouble) sum (&floods), >=, (share * 0.9) * 2 * G_USEC_PER_SEC);
  g_source_destroy (source);
  g_source_unref (source);
  finish (&f);
  fixture_tear_down (&f, NULL);
}

/* Beside a busy source of any priority. */
static void
test_beside_sources (void)
{
  static const gint priorities[] = { -100, 10, 115, 120, 122, 130, 200 };

  for (guint i = 0; i < G_N_ELEMENTS (priorities); i++)
    {
      check_beside_source (priorities[i], 0, 100);
      for (gint64 step = 20; step <= 20000; step *= 10)
        {
          check_beside_source (priorities[i], 0.1, step);
          check_beside_source (priorities[i], 0.5, step);
        }
    }
}

/* Nothing is due to what is paused, and it has its share again when it goes on. */
static void
test_paused (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  Fixture other = { f->context, prio_scheduler_new (f->context), NULL };
  Floods floods = { 0 };
  gint64 before;

  prio_scheduler_set_least_share (other.scheduler, BACKGROUND, 0.2);
  start_flood (f, &floods, USER_VISIBLE, 100);
  prio_scheduler_pause (other.scheduler);
  start_flood (&other, &floods, BACKGROUND, 100);
  run_for (f, G_USEC_PER_SEC);
  g_assert_cmpint (floods.of[BACKGROUND].total, ==, 0);

  before = sum (&floods);
  prio_scheduler_resume (other.scheduler);
  run_for (f, 50000);
  assert_part (floods.of[BACKGROUND].total, sum (&floods) - before, 0.2);
  finish (&other);
  finish (f);
  g_object_unref (other.scheduler);
}

/* The largest counts, as long as its scheduler or a task of that is there. */
static void
test_schedulers (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  Fixture other = { f->context, prio_scheduler_new (f->context), NULL };
  Floods floods = { 0 };
  gint64 before, background;

  prio_scheduler_set_least_share (f->scheduler, BACKGROUND, 0.1);
  prio_scheduler_set_least_share (other.scheduler, BACKGROUND, 0.4);
  prio_scheduler_set_frame_share (other.scheduler, 0.3);
  start_flood (f, &floods, USER_VISIBLE, 100);
  start_flood (f, &floods, BACKGROUND, 100);
  run_for (f, G_USEC_PER_SEC);
  assert_part (floods.of[BACKGROUND].total, sum (&floods), 0.4);

  g_object_unref (other.scheduler);
  run_for (f, 100000);
  before = sum (&floods);
  background = floods.of[BACKGROUND].total;
  run_for (f, G_USEC_PER_SEC);
  assert_part (floods.of[BACKGROUND].total - background, sum (&floods) - before, 0.1);
  finish (f);
}

/* A task may say it, and in a main loop that it runs. */
static gboolean
say_share (gpointer data)
{
  Fixture *f = data;

  prio_scheduler_set_least_share (f->scheduler, BACKGROUND, 0.3);
  run_for (f, 500000);
  return G_SOURCE_REMOVE;
}

static void
test_said_inside (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  Floods floods = { 0 };

  prio_scheduler_post (f->scheduler, USER_BLOCKING, say_share, f, NULL);
  start_flood (f, &floods, BACKGROUND, 100);
  start_flood (f, &floods, USER_BLOCKING, 100);
  run_for (f, G_USEC_PER_SEC);
  assert_part (floods.of[BACKGROUND].total, sum (&floods), 0.3);
  prio_scheduler_set_least_share (f->scheduler, BACKGROUND, 0);
  finish (f);
}

static gpointer
say_from_thread (gpointer scheduler)
{
  prio_scheduler_set_least_share (scheduler, USER_VISIBLE, 0.25);
  prio_scheduler_set_frame_share (scheduler, 0.75);
  return NULL;
}

static void
test_from_thread (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  Floods floods = { 0 };

  g_thread_join (g_thread_new (NULL, say_from_thread, f->scheduler));
  g_assert_cmpfloat (prio_scheduler_get_least_share (f->scheduler, USER_VISIBLE), ==, 0.25);
  g_assert_cmpfloat (prio_scheduler_get_frame_share (f->scheduler), ==, 0.75);
  start_flood (f, &floods, USER_VISIBLE, 100);
  start_flood (f, &floods, USER_BLOCKING, 100);
  run_for (f, G_USEC_PER_SEC);
  assert_part (floods.of[USER_VISIBLE].total, sum (&floods), 0.25);
  finish (f);
}

/* A task that works in short steps as long as it may. */
typedef struct
{
  Work work;
  PrioScheduler *scheduler;
  guint n_slices, n_steps;
} Stepped;

static gboolean
work_in_steps (gpointer data)
{
  Stepped *self = data;

  self->n_slices++;
  while (!over)
    {
      work (&self->work);
      self->n_steps++;
      if (prio_scheduler_should_yield (self->scheduler))
        return G_SOURCE_CONTINUE;
    }
  return G_SOURCE_REMOVE;
}

/* As long as time is due to it, a task goes on beside the more urgent ones that wait, since it would be the next again. */
static void
test_should_yield (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  Floods floods = { 0 };
  Stepped stepped = { .work = { .step = 1 }, .scheduler = f->scheduler };

  prio_scheduler_set_least_share (f->scheduler, BACKGROUND, 0.2);
  start_flood (f, &floods, USER_BLOCKING, 1000);
  prio_scheduler_post (f->scheduler, BACKGROUND, work_in_steps, &stepped, NULL);
  run_for (f, G_USEC_PER_SEC);
  assert_part (stepped.work.total, stepped.work.total + sum (&floods), 0.2);
  g_assert_cmpuint (stepped.n_steps, >, 50 * stepped.n_slices);
  g_assert_cmpuint (stepped.n_steps, <, 500 * stepped.n_slices);

  /* Without a share it hears of them at once. */
  prio_scheduler_set_least_share (f->scheduler, BACKGROUND, 0);
  run_for (f, G_USEC_PER_SEC / 10);
  stepped.n_slices = stepped.n_steps = 0;
  run_for (f, G_USEC_PER_SEC);
  g_assert_cmpuint (stepped.n_steps, <=, stepped.n_slices);
  finish (f);
}

static void
test_wrong (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  static const gdouble wrong[] = { -0.1, 0.51, 1, 1e300 };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_test_expect_message ("PrioSched", G_LOG_LEVEL_CRITICAL, "*set_least_share: the share is *has to be from 0 to 0.5*");
      prio_scheduler_set_least_share (f->scheduler, BACKGROUND, wrong[i]);
    }
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_CRITICAL, "*set_frame_share: the share is 0.95, and has to be from 0 to 0.9*");
  prio_scheduler_set_frame_share (f->scheduler, 0.95);
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_CRITICAL, "*set_frame_share: the share is *nan*");
  prio_scheduler_set_frame_share (f->scheduler, g_ascii_strtod ("nan", NULL));
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_CRITICAL, "*set_least_share: the priority is 3: only*");
  prio_scheduler_set_least_share (f->scheduler, USER_BLOCKING, 0.1);
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_CRITICAL, "*get_least_share: the priority is 200: only*");
  g_assert_cmpfloat (prio_scheduler_get_least_share (f->scheduler, (PrioTaskPriority) 200), ==, 0);
  g_test_assert_expected_messages ();
  g_assert_cmpfloat (prio_scheduler_get_least_share (f->scheduler, BACKGROUND), ==, 0);
  g_assert_cmpfloat (prio_scheduler_get_frame_share (f->scheduler), ==, 0);
}

static void
count_notified (PrioScheduler *scheduler, GParamSpec *pspec, gpointer n)
{
  ++*(guint *) n;
}

/* A property and its functions are the same value, and a change is notified once. */
static void
test_properties (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  const char *names[] = { "frame-share", "least-share-background", "least-share-user-visible" };
  double shares[G_N_ELEMENTS (names)];
  guint n_notified[G_N_ELEMENTS (names)] = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *detailed = g_strconcat ("notify::", names[i], NULL);

      g_signal_connect (f->scheduler, detailed, G_CALLBACK (count_notified), &n_notified[i]);
    }

  g_object_set (f->scheduler, names[0], 0.75, names[1], 0.25, names[2], 0.5, NULL);
  g_assert_cmpfloat (prio_scheduler_get_frame_share (f->scheduler), ==, 0.75);
  g_assert_cmpfloat (prio_scheduler_get_least_share (f->scheduler, BACKGROUND), ==, 0.25);
  g_assert_cmpfloat (prio_scheduler_get_least_share (f->scheduler, USER_VISIBLE), ==, 0.5);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_cmpuint (n_notified[i], ==, 1);

  prio_scheduler_set_least_share (f->scheduler, USER_VISIBLE, 0.125);
  prio_scheduler_set_least_share (f->scheduler, USER_VISIBLE, 0.125);
  prio_scheduler_set_frame_share (f->scheduler, 0.75);
  g_object_get (f->scheduler, names[0], &shares[0], names[1], &shares[1], names[2], &shares[2], NULL);
  g_assert_cmpfloat (shares[0], ==, 0.75);
  g_assert_cmpfloat (shares[1], ==, 0.25);
  g_assert_cmpfloat (shares[2], ==, 0.125);
  g_assert_cmpuint (n_notified[0], ==, 1);
  g_assert_cmpuint (n_notified[1], ==, 1);
  g_assert_cmpuint (n_notified[2], ==, 2);
}

static void
add (const char *path, void (*test) (Fixture *, gconstpointer))
{
  g_test_add (path, Fixture, NULL, passing_set_up, test, fixture_tear_down);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add ("/shares/strict-without", test_strict_without);
  g_test_add_func ("/shares/among-tasks", test_among_tasks);
  add ("/shares/both", test_both);
  add ("/shares/saves-nothing-up", test_saves_nothing_up);
  add ("/shares/long-task", test_long_task);
  g_test_add_func ("/shares/beside-sources", test_beside_sources);
  add ("/shares/paused", test_paused);
  add ("/shares/schedulers", test_schedulers);
  add ("/shares/said-inside", test_said_inside);
  add ("/shares/from-thread", test_from_thread);
  add ("/shares/should-yield", test_should_yield);
  add ("/shares/properties", test_properties);
  if (HAS_CHECKS)
    add ("/shares/wrong", test_wrong);

  return g_test_run ();
}
