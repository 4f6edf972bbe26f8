/* test-frames.c: frames beside floods, in a time of the test's own
 *
 * Time is a number here, and passes only while something works: tasks, handlers, what draws, and the loop itself.  So
 * what follows from the order in which things run is counted, and nothing else: no machine is too slow for it.
 *
 * A window is drawn as GDK does it: the display tells through a file descriptor when it wants another frame, a handler at
 * the priority of 0 hears of that, and a source at 120 draws.  What a flood of tasks leaves of the frames is held
 * against what the peer leaves, one idle source that goes on for ever (tests/frames.c does the same with GTK).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "helpers.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define N_TASKS 10 /* in a flood */
#define DURATION (2 * G_USEC_PER_SEC)

/* How long things take, µs. */
#define ITERATION 2
#define DRAWING 1000
#define DRAWING_MUCH 1500
#define DRAWING_SLOWLY 7000
#define HANDLER 6000
#define CHANGE 300
#define VALIDATION 1000 /* of a change, */
#define VALIDATED 250   /* by parts */

#define HANDLER_PERIOD 8 /* ms */
#define CHANGE_PERIOD 4

#define REDRAW_PRIORITY 120 /* GDK_PRIORITY_REDRAW */
#define VALIDATE_PRIORITY 125

/* Time */

static gint64 now; /* µs */
static gint64 wanted = G_MAXINT64; /* when the display wants another frame */
static int display[2];

static void
pass (gint64 span)
{
  now += span;
  if (now >= wanted)
    {
      wanted = G_MAXINT64;
      g_assert_cmpint (write (display[1], "", 1), ==, 1);
    }
}

/* This stands before the C library's, for GLib as for us. */
int
clock_gettime (clockid_t clock, struct timespec *time)
{
  if (clock != CLOCK_MONOTONIC
#ifdef CLOCK_MONOTONIC_COARSE
      && clock != CLOCK_MONOTONIC_COARSE
#endif
  )
    return (int) syscall (SYS_clock_gettime, clock, time);

  time->tv_sec = (time_t) (now / G_USEC_PER_SEC);
  time->tv_nsec = (long) (now % G_USEC_PER_SEC) * 1000;
  return 0;
}

/* What would sleep goes on to when it wakes up. */
static gint
poll_in_time (GPollFD *fds, guint n_fds, gint timeout)
{
  gint n_ready;
  gint64 until = timeout < 0 ? G_MAXINT64 : now + (gint64) timeout * 1000;

  pass (ITERATION);
  n_ready = g_poll (fds, n_fds, 0);
  if (n_ready != 0 || timeout == 0)
    return n_ready;

  until = MIN (until, wanted);
  g_assert_cmpint (until, <, G_MAXINT64); /* or it would sleep for ever */
  pass (MAX (until - now, 0));
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
static const char *const beside_names[N_BESIDES] = { "alone", "beside-a-handler", "beside-changes", "beside-slow-drawing" };

typedef struct
{
  guint rate;  /* Hz */
  gint64 step; /* µs */
  Beside beside;
  gboolean follow;
} Scene;

typedef struct
{
  Fixture f;
  Scene scene;
  gint64 interval, end;
  GObject *clock;
  gint64 to_validate; /* µs */
  gboolean validating;

  guint n_frames, n_steps;
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

  g_signal_emit_by_name (window->clock, "before-paint");
  pass (drawing_time (window) + window->to_validate);
  window->to_validate = 0;
  window->n_frames++;
  wanted = (now / window->interval + 1) * window->interval;
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
work (gpointer data)
{
  Window *window = data;

  pass (window->scene.step);
  window->n_steps++;
  return G_SOURCE_CONTINUE;
}

static void
window_init (Window *window, const Scene *scene)
{
  now = 1000 * G_USEC_PER_SEC;
  *window = (Window) { .scene = *scene, .interval = G_USEC_PER_SEC / scene->rate, .end = now + DURATION };
  fixture_set_up (&window->f, NULL);
  g_main_context_set_poll_func (window->f.context, poll_in_time);
  g_assert_cmpint (pipe (display), ==, 0);

  window->clock = g_object_new (frame_clock_get_type (), NULL);
  if (scene->follow)
    prio_scheduler_follow_frame_clock (window->f.scheduler, window->clock);
  watch_display (window);
  if (scene->beside == BESIDE_HANDLER)
    attach (window, g_timeout_source_new (HANDLER_PERIOD), G_PRIORITY_DEFAULT, handle);
  if (scene->beside == BESIDE_CHANGES)
    attach (window, g_timeout_source_new (CHANGE_PERIOD), G_PRIORITY_DEFAULT, change);
  wanted = now + window->interval;
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
    prio_scheduler_post (window->f.scheduler, (PrioTaskPriority) flood, work, window, NULL);
}

/* Draws the scene with a flood: a priority, or FLOOD_IDLE. */
static void
run (const Scene *scene, gint flood, guint *n_frames, guint *n_steps)
{
  Window window;

  window_init (&window, scene);
  start_flood (&window, flood);
  while (now < window.end)
    g_main_context_iteration (window.f.context, TRUE);
  *n_frames = window.n_frames;
  *n_steps = window.n_steps;
  window_clear (&window);
}

/* No frame less than nine tenths of the peer's, and where they are the same, no less work than that. */
static void
check_against_peer (const Scene *scene)
{
  guint peer_frames, peer_steps;

  run (scene, FLOOD_IDLE, &peer_frames, &peer_steps);
  for (gint flood = BACKGROUND; flood <= USER_BLOCKING; flood++)
    {
      guint n_frames, n_steps;
      const char *fault = "";

      run (scene, flood, &n_frames, &n_steps);
      if (n_frames * 10 < peer_frames * 9)
        fault = "FEWER FRAMES";
      else if (n_frames * 100 <= peer_frames * 103 && n_steps * 10 < peer_steps * 9 && peer_steps > n_steps + 1)
        fault = "LESS WORK";
      g_test_message ("%3u Hz, %s, steps of %5d us, %sfollowed, priority %d: %3u frames (peer %3u), %5u steps (peer %5u) %s",
                      scene->rate, beside_names[scene->beside], (gint) scene->step, scene->follow ? "" : "not ", flood,
                      n_frames, peer_frames, n_steps, peer_steps, fault);
      if (*fault != '\0')
        g_test_fail ();
    }
}

/* F1, F2 */
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
          check_against_peer (&(Scene) { rates[i], steps[j], beside, FALSE });
          check_against_peer (&(Scene) { rates[i], steps[j], beside, TRUE });
        }
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

  return g_test_run ();
}
