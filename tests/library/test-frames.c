/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-frames.c: frames beside floods, in simulated time
 *
 * The frames drawn beside a flood of tasks are compared with the frames beside the peer, an idle source that never ends
 * (tests/programs/frames.c does the same with GTK).
 */

#include "frames-scene.h"

static const char *
find_fault (const Scene *scene, gint flood, const Counts *counts, const Counts *peer)
{
  if (counts->n_frames * 10 < peer->n_frames * 9)
    return "FEWER FRAMES";
  if (scene->always == 0 && counts->n_frames * 100 <= peer->n_frames * 103 &&
      counts->n_steps * 10 < peer->n_steps * 9 && peer->n_steps > counts->n_steps + 1)
    return "LESS WORK";
  if (scene->always != 0 && flood > BACKGROUND && counts->n_steps * scene->step < DURATION / 5)
    return "NO SHARE";
  if (scene->always == 0 && scene->beside != BESIDE_DRAWING && counts->n_others < DURATION / G_USEC_PER_SEC)
    return "OTHERS STARVED";
  return NULL;
}

/* Checks that there are at least nine tenths of the peer's frames and, if the frames are equal, no less work.  Beside a
 * source that is always ready, tasks get a fifth of the time, except background tasks; other sources at priority 200
 * run once a second. */
static void
check_against_peer (const Scene *scene)
{
  Counts peer = run (scene, FLOOD_IDLE);

  for (gint flood = BACKGROUND; flood <= USER_BLOCKING; flood++)
    {
      Counts counts = run (scene, flood);
      const char *fault = find_fault (scene, flood, &counts, &peer);

      g_test_message ("%3u Hz, %s, %d always ready, steps of %5d us, %sfollowed, priority %d: "
                      "%3u frames (peer %3u), %5u steps (peer %5u), %u others %s",
                      scene->rate, beside_names[scene->beside], scene->always, (gint) scene->step,
                      scene->follow ? "" : "not ", flood, counts.n_frames, peer.n_frames, counts.n_steps,
                      peer.n_steps, counts.n_others, fault != NULL ? fault : "");
      if (fault != NULL)
        g_test_fail ();
    }
}

/* As many frames are drawn beside a flood as beside the same flood of idle sources. */
static void
test_floods (gconstpointer data)
{
  static const gint64 steps[] = { 100, 1000, 20000 };
  static const guint rates[] = { 60, 144, 240 };
  Beside beside = GPOINTER_TO_UINT (data);

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    {
      for (guint j = 0; j < G_N_ELEMENTS (steps); j++)
        {
          for (guint follow = 0; follow < 2; follow++)
            check_against_peer (&(Scene) { .rate = rates[i], .step = steps[j], .beside = beside, .follow = follow });
        }
    }
}

/* Tasks run beside a source that is always ready, at any priority. */
static void
test_always_ready (void)
{
  static const gint priorities[] = { -100, -10, 10, 115, 122, 130, 200, 300 };

  for (guint i = 0; i < G_N_ELEMENTS (priorities); i++)
    {
      for (guint follow = 0; follow < 2; follow++)
        check_against_peer (&(Scene) { .rate = 60, .step = 1000, .follow = follow, .always = priorities[i] });
    }
}

/* Background tasks wait half a second beside a source that is always ready, and no longer. */
static void
test_background_beside_always_ready (void)
{
  Counts counts = run (&(Scene) { .rate = 60, .step = 1000, .always = 10, .duration = 10 * G_USEC_PER_SEC }, BACKGROUND);

  g_test_message ("%u steps, %d ms between two of them at the most", counts.n_steps, (gint) (counts.wait / 1000));
  g_assert_cmpuint (counts.n_steps, >, N_TASKS);
  g_assert_cmpint (counts.wait, >, 0);
  g_assert_cmpint (counts.wait, <, G_USEC_PER_SEC);
}

/* A long step delays a frame once, and does not affect later frames. */
static void
test_long_step (void)
{
  for (guint follow = 0; follow < 2; follow++)
    check_against_peer (&(Scene) { .rate = 60, .step = 1000, .follow = follow, .long_step = DURATION / 2 });
}

/* Short tasks of other priorities among long ones: a due frame waits for at most one of these. */
static void
test_short_tasks_among_long_ones (void)
{
  for (gint flood = BACKGROUND; flood <= USER_BLOCKING; flood++)
    {
      for (guint post_every = 8; post_every <= 64; post_every *= 2)
        {
          Counts counts = run (&(Scene) { .rate = 60, .step = 1000, .post_every = post_every }, flood);

          g_assert_cmpuint (counts.n_before, <=, 1);
          g_assert_cmpuint (counts.n_frames, >=, DURATION / G_USEC_PER_SEC * 60 - 1);
        }
    }
}

/* When steps change from short to long, a due frame waits for at most two of 3.5 ms. */
/* A task that asks whether to yield, and steps that the library makes, hold a due frame no longer than posted tasks: for a
 * millisecond. */
static void
test_late_frames (void)
{
  static const guint rates[] = { 60, 144, 240 };

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    {
      for (guint asks = 0; asks < 2; asks++)
        {
          Scene scene = { .rate = rates[i], .step = 10, .asks = asks, .follow = TRUE, .timed = TRUE };
          Counts counts = run (&scene, USER_VISIBLE);

          g_test_message ("%u Hz, %s: a frame waited for %d us, %u steps", scene.rate, asks ? "asking" : "continuing",
                          (gint) counts.late, counts.n_steps);
          if (counts.late > 1100)
            g_test_fail ();
        }
    }
}

static void
test_from_short_to_long (void)
{
  for (gint flood = BACKGROUND; flood <= USER_BLOCKING; flood++)
    {
      for (guint i = 0; i < 4; i++)
        {
          Scene scene = { .rate = 60, .step = 3500, .n_long = N_LONG, .asks = i & 1, .follow = i & 2 };
          Counts counts = run (&scene, flood);

          if (counts.n_before > 2)
            g_test_fail_printf ("priority %d, %s, %sfollowed: a frame waited for %u steps", flood,
                                scene.asks ? "asking" : "continuing", scene.follow ? "" : "not ", counts.n_before);
        }
    }
}

/* Changing steps are compared with the peer's; and steps of 10 to 35 ms, whose results are user-visible, with idle
 * sources. */
static void
test_turning_against_peer (void)
{
  static const guint rates[] = { 60, 144, 240 };

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    {
      for (guint j = 0; j < 16; j++)
        {
          Scene scene = { .rate = rates[i], .step = 3500, .n_long = N_LONG, .follow = j & 1, .asks = j & 2, .results = j & 4 };

          if (j & 8)
            {
              scene.step = 10000;
              scene.longest = 35000;
            }
          check_against_peer (&scene);
          scene.always = G_PRIORITY_DEFAULT_IDLE;
          check_against_peer (&scene);
        }
    }
}

/* Waits do not grow with the age of the program. */
static void
test_for_long (void)
{
  static const gint priorities[] = { -10, 122, 200, 300 };

  for (guint i = 0; i < G_N_ELEMENTS (priorities); i++)
    {
      Scene scene = { .rate = 60, .step = 1000, .always = priorities[i], .post_every = 53, .duration = times (60) * G_USEC_PER_SEC };
      Counts counts = run (&scene, USER_VISIBLE);

      g_assert_cmpint (counts.wait, <, 40000);
    }
}

/* Checks which share of the time tasks have beside frames of @drawing µs at @rate, if the program sets @share. */
static void
check_share (guint rate, gint64 drawing, gdouble share, gint64 step, gdouble least, gdouble most)
{
  for (gint flood = USER_VISIBLE; flood <= USER_BLOCKING; flood++)
    {
      for (guint follow = 0; follow < 2; follow++)
        {
          Scene scene = { .rate = rate, .step = step, .follow = follow, .drawing = drawing, .share = share };
          Counts counts = run (&scene, flood);
          gdouble part = (gdouble) (counts.n_steps * step) / DURATION;

          g_test_message ("%4u Hz, drawing %5d us, share %.2f, steps of %5d us, %sfollowed, priority %d: %3u frames, "
                          "tasks %.3f of the time, at most %d us between two %s",
                          rate, (gint) drawing, share, (gint) step, follow ? "" : "not ", flood, counts.n_frames, part,
                          (gint) counts.wait, part < least ? "TOO LITTLE" : part > most ? "TOO MUCH" : "");
          if (part < least || part > most)
            g_test_fail ();
        }
    }
}

static void
test_share_beside_slow_frames (void)
{
  /* Frames follow each other without a pause. */
  check_share (1000, 20000, 0, 1000, 0.05, 0.14);
  check_share (1000, 20000, 0.1, 1000, 0.09, 0.14);
  check_share (1000, 20000, 0.25, 1000, 0.23, 0.28);
  check_share (1000, 20000, 0.5, 1000, 0.48, 0.53);
  check_share (1000, 20000, 0.9, 1000, 0.88, 0.93);
  check_share (1000, 20000, 0.1, 100, 0.09, 0.14);
  check_share (1000, 20000, 0.5, 20000, 0.45, 0.55);

  /* Time between frames counts towards the share; if it is more than the share, nothing changes. */
  check_share (60, 12000, 0, 100, 0.25, 0.30);
  check_share (60, 12000, 0.5, 100, 0.48, 0.55);
  check_share (60, 1000, 0.5, 100, 0.93, 0.94);
  check_share (60, 1000, 0, 100, 0.93, 0.94);
}

static void
run_until (Window *window, gint64 end)
{
  while (frozen_time < end)
    g_main_context_iteration (window->f.context, TRUE);
}

static gpointer
set_share_in_thread (gpointer scheduler)
{
  prio_scheduler_set_task_share (scheduler, 0.5);
  return NULL;
}

/* The largest share of all schedulers counts, as long as its scheduler exists. */
static void
test_largest_share_counts (void)
{
  Scene scene = { .rate = 1000, .step = 1000, .drawing = 20000, .share = 0.1 };
  PrioScheduler *other;
  Window window;
  guint n_before;

  window_init (&window, &scene);
  other = prio_scheduler_new (window.f.context);
  start_flood (&window, USER_VISIBLE);
  g_thread_join (g_thread_new (NULL, set_share_in_thread, other));
  run_until (&window, window.end - DURATION / 2);
  n_before = window.counts.n_steps;
  g_assert_cmpuint (n_before, >=, DURATION / 2 / 1000 * 48 / 100);
  g_assert_cmpuint (n_before, <=, DURATION / 2 / 1000 * 53 / 100);

  g_object_unref (other);
  run_until (&window, window.end);
  g_assert_cmpuint (window.counts.n_steps - n_before, <=, DURATION / 2 / 1000 * 14 / 100);
  window_clear (&window);
}

static void
test_wrong_share (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  static const gdouble wrong[] = { -0.1, 0.91, 1, 1e300 };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_test_expect_message ("PrioSched", G_LOG_LEVEL_CRITICAL, "*set_task_share: the share is *has to be from 0 to 0.9*");
      prio_scheduler_set_task_share (f->scheduler, wrong[i]);
    }
  g_test_expect_message ("PrioSched", G_LOG_LEVEL_CRITICAL, "*set_task_share: the share is *nan*");
  prio_scheduler_set_task_share (f->scheduler, g_ascii_strtod ("nan", NULL));
  g_test_assert_expected_messages ();
  g_assert_cmpfloat (prio_scheduler_get_task_share (f->scheduler), ==, 0);
}

static void
count_notified (PrioScheduler *scheduler, GParamSpec *pspec, gpointer n)
{
  ++*(guint *) n;
}

/* The property and its functions have the same value, and a change is notified once. */
static void
test_share_is_a_property (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  guint n_notified = 0;
  double share;

  g_signal_connect (f->scheduler, "notify::task-share", G_CALLBACK (count_notified), &n_notified);
  g_object_set (f->scheduler, "task-share", 0.75, NULL);
  g_assert_cmpfloat (prio_scheduler_get_task_share (f->scheduler), ==, 0.75);
  g_assert_cmpuint (n_notified, ==, 1);
  prio_scheduler_set_task_share (f->scheduler, 0.25);
  prio_scheduler_set_task_share (f->scheduler, 0.25);
  g_object_get (f->scheduler, "task-share", &share, NULL);
  g_assert_cmpfloat (share, ==, 0.25);
  g_assert_cmpuint (n_notified, ==, 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  for (guint beside = 0; beside < N_BESIDES; beside++)
    {
      g_autofree char *path = g_strdup_printf ("/frames/%s", beside_names[beside]);

      g_test_add_data_func (path, GUINT_TO_POINTER (beside), test_floods);
    }

  g_test_add_func ("/frames/always-ready", test_always_ready);
  g_test_add_func ("/frames/background-beside-always-ready", test_background_beside_always_ready);
  g_test_add_func ("/frames/long-step", test_long_step);
  g_test_add_func ("/frames/short-tasks-among-long-ones", test_short_tasks_among_long_ones);
  g_test_add_func ("/frames/late", test_late_frames);
  g_test_add_func ("/frames/from-short-to-long", test_from_short_to_long);
  g_test_add_func ("/frames/turning-against-peer", test_turning_against_peer);
  g_test_add_func ("/frames/for-long", test_for_long);
  g_test_add_func ("/frames/share-beside-slow-frames", test_share_beside_slow_frames);
  g_test_add_func ("/frames/largest-share-counts", test_largest_share_counts);
  g_test_add ("/frames/share-is-a-property", Fixture, NULL, fixture_set_up, test_share_is_a_property, fixture_tear_down);
  if (HAS_CHECKS)
    g_test_add ("/frames/wrong-share", Fixture, NULL, fixture_set_up, test_wrong_share, fixture_tear_down);

  return g_test_run ();
}
