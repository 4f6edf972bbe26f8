/* test-frames.c: frames beside floods, in simulated time
 *
 * Time is a number here, and passes only while something works: tasks, handlers, drawing, and the loop itself.
 * The results therefore depend only on the order in which things run, not on the speed of the machine.
 *
 * A window is drawn as GDK does it: the display requests another frame through a file descriptor, a handler at
 * priority 0 takes the request, and a source at 120 draws.  The frames that are drawn beside a flood of tasks are
 * compared with those beside the peer, one idle source that never ends (tests/programs/frames.c does the same with GTK).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "frozen-time.h"
#include "helpers.h"

#define N_TASKS 10 /* in a flood */
#define DURATION (2 * G_USEC_PER_SEC)

/* How long things take, µs. */
#define ITERATION 2
#define DRAWING 1000
#define DRAWING_MUCH 1500
#define DRAWING_SLOWLY 7000
#define HANDLER 6000
#define CHANGE 300
#define ALWAYS 100
#define OTHER 20
#define VALIDATION 1000 /* of a change, */
#define VALIDATED 250   /* by parts */

#define HANDLER_PERIOD 8 /* ms */
#define CHANGE_PERIOD 4
#define OTHER_PERIOD 250

/* Steps that turn from short to long: so long short ones, and so many long ones, in turns. */
#define SHORT_STEP 1
#define SHORT_FOR 15000
#define N_LONG 16
#define RESULT 300 /* of a long step, at user-visible, µs */
#define TICK 4000  /* of the coarse clock, µs */

#define REDRAW_PRIORITY 120 /* GDK_PRIORITY_REDRAW */
#define VALIDATE_PRIORITY 125

/* Time */

static gint64 wanted = G_MAXINT64; /* when the display wants another frame */
static int display[2];

static void
pass (gint64 span)
{
  frozen_time += span;
  if (frozen_time >= wanted)
    {
      wanted = G_MAXINT64;
      g_assert_cmpint (write (display[1], "", 1), ==, 1);
    }
}

/* What would sleep goes on to when it wakes up. */
static gint
poll_in_time (GPollFD *fds, guint n_fds, gint timeout)
{
  gint n_ready;
  gint64 until = timeout < 0 ? G_MAXINT64 : frozen_time + (gint64) timeout * 1000;

  pass (ITERATION);
  n_ready = g_poll (fds, n_fds, 0);
  if (n_ready != 0 || timeout == 0)
    return n_ready;

  until = MIN (until, wanted);
  g_assert_cmpint (until, <, G_MAXINT64); /* or it would sleep for ever */
  pass (MAX (until - frozen_time, 0));
  return g_poll (fds, n_fds, 0);
}

/* What GdkFrameClock is to the library. */
typedef GObject FrameClock;
typedef GObjectClass FrameClockClass;

GType frame_clock_get_type (void);
G_DEFINE_TYPE (FrameClock, frame_clock, G_TYPE_OBJECT)

static void
frame_clock_class_init (FrameClockClass *class)
{
  g_signal_new ("before-paint", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
frame_clock_init (FrameClock *self)
{
}

/* A scene */

#define FLOOD_IDLE -1 /* or a priority */

typedef enum { ALONE, BESIDE_HANDLER, BESIDE_CHANGES, BESIDE_DRAWING, N_BESIDES } Beside;
static const char *const beside_names[N_BESIDES] = {
  "alone", "beside-a-handler", "beside-changes", "beside-slow-drawing"
};

typedef struct
{
  guint rate;  /* Hz */
  gint64 step; /* µs */
  Beside beside;
  gboolean follow;
  gint64 long_step; /* the first, µs, if it is another */
  gint always;      /* the priority of a source that is always ready, or 0 */
  guint post_every; /* ms: a short task of another priority is posted, or 0 */
  gint64 duration;  /* µs, if it is not DURATION */
  gint64 drawing;   /* how long it takes, µs, if @beside does not say */
  gdouble share;    /* of tasks beside frames, or 0 */
  gdouble least;    /* share of background tasks, or 0 */
  guint n_long;     /* the steps are that long for so many, after short ones for SHORT_FOR; 0 if all are */
  gint64 longest;   /* and each is longer than the one before, up to this, µs, if it is not 0 */
  gboolean results; /* each of these posts its result */
  gboolean asks;    /* a task makes steps until should_yield () says yes */
} Scene;

/* What is counted in one. */
typedef struct
{
  guint n_frames, n_steps; /* without short ones */
  guint n_others; /* idle sources of somebody else's, at 200 */
  guint n_before; /* the most steps that a frame had to wait for */
  gint64 wait;    /* the longest between two steps, µs */
} Counts;

typedef struct
{
  Fixture f;
  Scene scene;
  gint64 interval, end;
  GObject *clock;
  gint64 to_validate; /* µs */
  gboolean validating;
  guint n_before;
  gint64 worked; /* when the last step ended, µs */
  guint n_left;  /* long steps */
  gint64 short_until;

  Counts counts;
} Window;

static GSource *
attach (Window *window, GSource *source, gint priority, GSourceFunc func)
{
  g_source_set_priority (source, priority);
  g_source_set_callback (source, func, window, NULL);
  g_source_attach (source, window->f.context);
  g_source_unref (source);
  return source;
}

static gint64
drawing_time (Window *window)
{
  if (window->scene.drawing != 0)
    return window->scene.drawing;

  switch (window->scene.beside)
    {
    case BESIDE_DRAWING:
      return DRAWING_SLOWLY;
    case BESIDE_CHANGES:
      return DRAWING_MUCH;
    default:
      return DRAWING;
    }
}

/* The display wants the next frame at its next refresh. */
static gboolean
paint (gpointer data)
{
  Window *window = data;

  window->counts.n_before = MAX (window->counts.n_before, window->n_before);
  window->n_before = 0;
  g_signal_emit_by_name (window->clock, "before-paint");
  pass (drawing_time (window) + window->to_validate);
  window->to_validate = 0;
  window->counts.n_frames++;
  wanted = (frozen_time / window->interval + 1) * window->interval;
  return G_SOURCE_REMOVE;
}

static gboolean
frame_wanted (gpointer data)
{
  Window *window = data;
  char byte;

  g_assert_cmpint (read (display[0], &byte, 1), ==, 1);
  attach (window, g_idle_source_new (), REDRAW_PRIORITY, paint);
  return G_SOURCE_CONTINUE;
}

/* A source for what the display says. */
static gboolean
display_dispatch (GSource *source G_GNUC_UNUSED, GSourceFunc func, gpointer data)
{
  return func (data);
}

static GSourceFuncs display_funcs = {
  NULL, NULL, display_dispatch, NULL, NULL, NULL
};

static void
watch_display (Window *window)
{
  GSource *source = g_source_new (&display_funcs, sizeof (GSource));

  g_source_add_unix_fd (source, display[0], G_IO_IN);
  attach (window, source, G_PRIORITY_DEFAULT, frame_wanted);
}

static gboolean
handle (gpointer data G_GNUC_UNUSED)
{
  pass (HANDLER);
  return G_SOURCE_CONTINUE;
}

static gboolean
validate (gpointer data)
{
  Window *window = data;
  gint64 part = MIN (window->to_validate, VALIDATED);

  pass (part);
  window->to_validate -= part;
  window->validating = window->to_validate > 0;
  return window->validating;
}

static gboolean
change (gpointer data)
{
  Window *window = data;

  pass (CHANGE);
  window->to_validate += VALIDATION;
  if (!window->validating)
    attach (window, g_idle_source_new (), VALIDATE_PRIORITY, validate);
  window->validating = TRUE;
  return G_SOURCE_CONTINUE;
}

static gboolean
always_ready (gpointer data G_GNUC_UNUSED)
{
  pass (ALWAYS);
  return G_SOURCE_CONTINUE;
}

static gboolean
other_idle (gpointer data)
{
  pass (OTHER);
  ((Window *) data)->counts.n_others++;
  return G_SOURCE_REMOVE;
}

static gboolean
add_other (gpointer data)
{
  attach (data, g_idle_source_new (), G_PRIORITY_DEFAULT_IDLE, other_idle);
  return G_SOURCE_CONTINUE;
}

static gboolean
result (gpointer data G_GNUC_UNUSED)
{
  pass (RESULT);
  return G_SOURCE_REMOVE;
}

/* Whether the next step is a long one, of those that take turns with short ones. */
static gboolean
is_long (Window *window)
{
  if (window->n_left == 0 && frozen_time >= window->short_until)
    window->n_left = window->scene.n_long;
  if (window->n_left == 0)
    return FALSE;

  if (--window->n_left == 0)
    window->short_until = frozen_time + SHORT_FOR;
  if (window->scene.results)
    prio_scheduler_post (window->f.scheduler, USER_VISIBLE, result, window, NULL);
  return TRUE;
}

/* How long the next step takes, µs. */
static gint64
step_length (Window *window)
{
  const Scene *scene = &window->scene;

  if (scene->longest != 0)
    return scene->step + (scene->longest - scene->step) * (window->counts.n_steps % 6) / 5;
  return window->counts.n_steps == 0 && scene->long_step != 0 ? scene->long_step : scene->step;
}

static gboolean
work (gpointer data)
{
  Window *window = data;

  if (window->worked != 0)
    window->counts.wait = MAX (window->counts.wait, frozen_time - window->worked);
  if (window->scene.n_long != 0 && !is_long (window))
    {
      pass (SHORT_STEP);
      return G_SOURCE_CONTINUE;
    }
  if (wanted == G_MAXINT64)
    window->n_before++;
  pass (step_length (window));
  window->counts.n_steps++;
  window->worked = frozen_time;
  return G_SOURCE_CONTINUE;
}

/* The same as one task that asks whether to yield. */
static gboolean
work_until_told (gpointer data)
{
  Window *window = data;

  do
    work (window);
  while (!prio_scheduler_should_yield (window->f.scheduler));
  return G_SOURCE_CONTINUE;
}

static gboolean
do_nothing (gpointer data G_GNUC_UNUSED)
{
  return G_SOURCE_REMOVE;
}

static gboolean
post_short (gpointer data)
{
  for (PrioTaskPriority priority = BACKGROUND; priority <= USER_BLOCKING; priority++)
    prio_scheduler_post (((Window *) data)->f.scheduler, priority, do_nothing, NULL, NULL);
  return G_SOURCE_CONTINUE;
}

static void
window_init (Window *window, const Scene *scene)
{
  frozen_time = 1000 * G_USEC_PER_SEC;
  frozen_tick = TICK;
  *window = (Window) { .scene = *scene, .interval = G_USEC_PER_SEC / scene->rate, 
                       .end = frozen_time + (scene->duration != 0 ? scene->duration : DURATION) };
  fixture_set_up (&window->f, NULL);
  g_main_context_set_poll_func (window->f.context, poll_in_time);
  g_assert_cmpint (pipe (display), ==, 0);

  window->clock = g_object_new (frame_clock_get_type (), NULL);
  if (scene->follow)
    prio_scheduler_follow_frame_clock (window->f.scheduler, window->clock);
  prio_scheduler_set_frame_share (window->f.scheduler, scene->share);
  prio_scheduler_set_least_share (window->f.scheduler, BACKGROUND, scene->least);
  watch_display (window);
  if (scene->beside == BESIDE_HANDLER)
    attach (window, g_timeout_source_new (HANDLER_PERIOD), G_PRIORITY_DEFAULT, handle);
  if (scene->beside == BESIDE_CHANGES)
    attach (window, g_timeout_source_new (CHANGE_PERIOD), G_PRIORITY_DEFAULT, change);
  attach (window, g_timeout_source_new (OTHER_PERIOD), G_PRIORITY_DEFAULT, add_other);
  if (scene->always != 0)
    attach (window, g_idle_source_new (), scene->always, always_ready);
  if (scene->post_every != 0)
    attach (window, g_timeout_source_new (scene->post_every), G_PRIORITY_DEFAULT, post_short);
  wanted = frozen_time + window->interval;
}

static void
window_clear (Window *window)
{
  wanted = G_MAXINT64;
  g_object_unref (window->clock);
  fixture_tear_down (&window->f, NULL);
  close (display[0]);
  close (display[1]);
}

static void
start_flood (Window *window, gint flood)
{
  if (flood == FLOOD_IDLE)
    {
      attach (window, g_idle_source_new (), G_PRIORITY_DEFAULT_IDLE, work);
      return;
    }
  for (guint i = 0; i < N_TASKS; i++)
    prio_scheduler_post (window->f.scheduler, (PrioTaskPriority) flood, window->scene.asks ? work_until_told : work, window, NULL);
}

/* Draws the scene with a flood: a priority, or FLOOD_IDLE. */
static Counts
run (const Scene *scene, gint flood)
{
  Window window;
  Counts counts;

  window_init (&window, scene);
  start_flood (&window, flood);
  while (frozen_time < window.end)
    g_main_context_iteration (window.f.context, TRUE);
  counts = window.counts;
  window_clear (&window);
  return counts;
}

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

/* Frames: at least nine tenths of the peer's; where they are the same, no less work than that.  Beside what is always
 * ready tasks have a fifth of the time, but for those of background; what others have at 200 comes once a second. */
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

/* Beside a flood as many frames are drawn as beside the same one of idle sources. */
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

/* A source that is always ready, at any priority. */
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

/* Background tasks have half a second to wait beside it, and no more. */
static void
test_background_beside_always_ready (void)
{
  Counts counts = run (&(Scene) { .rate = 60, .step = 1000, .always = 10, .duration = 10 * G_USEC_PER_SEC }, BACKGROUND);

  g_test_message ("%u steps, %d ms between two of them at the most", counts.n_steps, (gint) (counts.wait / 1000));
  g_assert_cmpuint (counts.n_steps, >, N_TASKS);
  g_assert_cmpint (counts.wait, >, 0);
  g_assert_cmpint (counts.wait, <, G_USEC_PER_SEC);
}

/* It costs what it costs, and nothing after it is worse. */
static void
test_long_step (void)
{
  for (guint follow = 0; follow < 2; follow++)
    check_against_peer (&(Scene) { .rate = 60, .step = 1000, .follow = follow, .long_step = DURATION / 2 });
}

/* Short tasks of other priorities among long ones: a frame that is due waits for one at the most. */
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

/* Steps turn from short to long: a frame that is due waits for no more than two of 3.5 ms. */
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

/* The same beside the peer's; and steps of 10 to 35 ms, whose results are user-visible, beside idle sources. */
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

/* Nobody waits for longer the older the program gets. */
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

/* Which part of the time tasks have beside frames of @drawing µs at @rate, if the program says @share. */
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
  /* One frame after the other. */
  check_share (1000, 20000, 0, 1000, 0.05, 0.14);
  check_share (1000, 20000, 0.1, 1000, 0.09, 0.14);
  check_share (1000, 20000, 0.25, 1000, 0.23, 0.28);
  check_share (1000, 20000, 0.5, 1000, 0.48, 0.53);
  check_share (1000, 20000, 0.9, 1000, 0.88, 0.93);
  check_share (1000, 20000, 0.1, 100, 0.09, 0.14);
  check_share (1000, 20000, 0.5, 20000, 0.45, 0.55);

  /* Drawing leaves some time, which counts; where it leaves more than the share, nothing changes. */
  check_share (60, 12000, 0, 100, 0.25, 0.30);
  check_share (60, 12000, 0.5, 100, 0.48, 0.55);
  check_share (60, 1000, 0.5, 100, 0.93, 0.94);
  check_share (60, 1000, 0, 100, 0.93, 0.94);
}

/* Background tasks have their share beside a busy idle source, and frames are drawn as without; beside drawing without an
 * end they have it, too. */
static void
test_least_share_beside_frames (void)
{
  for (guint follow = 0; follow < 2; follow++)
    {
      Scene scene = { .rate = 60, .step = 1000, .follow = follow, .always = 200, .least = 0.3 };
      Counts counts = run (&scene, BACKGROUND);

      g_test_message ("%u frames, %u steps, a frame waited for %u", counts.n_frames, counts.n_steps, counts.n_before);
      g_assert_cmpuint (counts.n_frames, >=, 119);
      g_assert_cmpuint (counts.n_before, <=, 1);
      g_assert_cmpuint (counts.n_steps, >=, DURATION / 1000 * 27 / 100);
      g_assert_cmpuint (counts.n_steps, <=, DURATION / 1000 * 35 / 100);

      scene = (Scene) { .rate = 1000, .step = 1000, .follow = follow, .drawing = 20000, .least = 0.3 };
      counts = run (&scene, BACKGROUND);
      g_test_message ("%u slow frames, %u steps", counts.n_frames, counts.n_steps);
      g_assert_cmpuint (counts.n_steps, >=, DURATION / 1000 * 27 / 100);
      g_assert_cmpuint (counts.n_steps, <=, DURATION / 1000 * 38 / 100);
    }
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
  g_test_add_func ("/frames/from-short-to-long", test_from_short_to_long);
  g_test_add_func ("/frames/turning-against-peer", test_turning_against_peer);
  g_test_add_func ("/frames/for-long", test_for_long);
  g_test_add_func ("/frames/share-beside-slow-frames", test_share_beside_slow_frames);
  g_test_add_func ("/frames/least-share-beside-frames", test_least_share_beside_frames);

  return g_test_run ();
}
