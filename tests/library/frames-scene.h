/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* frames-scene.h: a window that draws, in simulated time
 *
 * Time is a number here, and passes only during tasks, handlers, drawing, and the loop's own work. The results
 * therefore depend only on the order of these, not on the speed of the machine.
 *
 * A window is drawn as GDK does it: the display requests another frame through a file descriptor, a handler at
 * priority 0 takes the request, and a source at 120 draws.
 */

#pragma once

#include "frozen-time.h"
#include "helpers.h"

#define N_TASKS 10 /* in a flood */
#define DURATION (2 * G_USEC_PER_SEC)

/* Durations, µs. */
#define ITERATION 2
#define DRAWING 1000
#define DRAWING_MUCH 1500
#define DRAWING_SLOWLY 7000
#define HANDLER 6000
#define CHANGE 300
#define ALWAYS 100
#define OTHER 20
#define VALIDATION 1000 /* the validation of a change, µs */
#define VALIDATED 250   /* the part of it that is done at a time, µs */

#define HANDLER_PERIOD 8 /* ms */
#define CHANGE_PERIOD 4
#define OTHER_PERIOD 250

/* For steps that change from short to long: the length of the short steps, and how long they last. */
#define SHORT_STEP 1
#define SHORT_FOR 15000
#define N_LONG 16
#define RESULT 300 /* duration of a long step, at user-visible, µs */
#define TICK 4000  /* resolution of the coarse clock, µs */

#define REDRAW_PRIORITY 120 /* GDK_PRIORITY_REDRAW */
#define VALIDATE_PRIORITY 125

/* Time */

static gint64 wanted = G_MAXINT64; /* when the display requests another frame */
static gint64 due;                 /* when it requested the last frame */
static int display[2];

static void
pass (gint64 span)
{
  frozen_time += span;
  if (frozen_time >= wanted)
    {
      due = wanted;
      wanted = G_MAXINT64;
      g_assert_cmpint (write (display[1], "", 1), ==, 1);
    }
}

/* Advances the time to the next wakeup, instead of sleeping. */
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
  g_assert_cmpint (until, <, G_MAXINT64); /* otherwise it would sleep for ever */
  pass (MAX (until - frozen_time, 0));
  return g_poll (fds, n_fds, 0);
}

/* A stand-in for GdkFrameClock. */
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
  gint64 long_step; /* length of the first step, µs, if it differs */
  gint always;      /* the priority of a source that is always ready, or 0 */
  guint post_every; /* how often a short task of another priority is posted, ms, or 0 */
  gint64 duration;  /* µs, if not DURATION */
  gint64 drawing;   /* how long drawing takes, µs, if @beside does not set it */
  gdouble share;    /* share of tasks beside frames, or 0 */
  guint n_long;     /* number of long steps in a row, after short ones for SHORT_FOR; 0 if all are long */
  gint64 longest;   /* if not 0, each step is longer than the previous one, up to this length, µs */
  gboolean results; /* whether each step posts its result */
  gboolean asks;    /* whether a task makes steps until should_yield () is true */
  gboolean timed;   /* whether the frame clock has a timer, instead of a display that requests frames */
} Scene;

/* The counts of a run. */
typedef struct
{
  guint n_frames, n_steps; /* without short steps */
  guint n_others; /* runs of another library's idle sources, at priority 200 */
  guint n_before; /* the most steps that a frame waited for */
  gint64 wait;    /* the longest time between two steps, µs */
  gint64 late;    /* the longest time that a due frame waited, µs */
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

/* Dispatches the source for requests of the display. */
static gboolean
display_dispatch (GSource *source G_GNUC_UNUSED, GSourceFunc func, gpointer data)
{
  return func (data);
}

static GSourceFuncs display_funcs = {
  NULL, NULL, display_dispatch, NULL, NULL, NULL
};

static gboolean paint (gpointer data);

/* Schedules the next frame for the next refresh: the display requests it then, or a timer of the frame clock ends. */
static void
want_next (Window *window)
{
  gint64 next = (frozen_time / window->interval + 1) * window->interval;

  if (window->scene.timed)
    {
      g_source_set_ready_time (attach (window, g_source_new (&display_funcs, sizeof (GSource)), REDRAW_PRIORITY, paint), next);
      due = next;
    }
  else
    {
      wanted = next;
    }
}

static gboolean
paint (gpointer data)
{
  Window *window = data;

  window->counts.n_before = MAX (window->counts.n_before, window->n_before);
  window->n_before = 0;
  window->counts.late = MAX (window->counts.late, frozen_time - due);
  g_signal_emit_by_name (window->clock, "before-paint");
  pass (drawing_time (window) + window->to_validate);
  window->to_validate = 0;
  window->counts.n_frames++;
  want_next (window);
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

/* Returns whether the next step is long, if long steps alternate with short ones. */
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

/* Returns how long the next step takes, µs. */
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

/* Makes the same steps as posted tasks, in one task that asks whether to yield. */
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
  prio_scheduler_set_task_share (window->f.scheduler, scene->share);
  prio_scheduler_set_starvation_limit (window->f.scheduler, 0);
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

/* Draws the scene beside a flood: a priority, or FLOOD_IDLE. */
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
