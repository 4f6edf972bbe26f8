/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-frame-clock.c: predicts the frames of an object that draws them */

#include "config.h"

#include "above/prio-frame-clock-private.h"

#include "base/prio-clock-private.h"

/* The range of frame intervals, in µs.  A gap longer than the maximum is a pause, in which nothing was animated.  No
 * display is faster than the minimum. */
#define MAX_INTERVAL 50000
#define MIN_INTERVAL 1000
#define USUAL_INTERVAL 16667

#define N_GAPS 3

/* The largest number of views that are tracked separately per clock. */
#define MAX_VIEWS 8

struct _PrioFrameView
{
  PrioFrameView *next;
  PrioFrame *frame;   /* owned */
  gconstpointer view; /* only compared; NULL if the signal has no view */
  gint64 last;        /* when the view's last frame began, µs */
  gint64 interval;    /* the usual time between frames, µs */
  gint64 gaps[N_GAPS];
  guint n_gaps; /* the number of gaps since the last pause */
};

/* Returns the record of the view @key.  @key is the signal's first argument, which need not be a view, and may be a
 * different object each time.  So all keys after the first MAX_VIEWS share one record. */
static PrioFrameView *
find_view (PrioFrameClock *self, gconstpointer key)
{
  PrioFrameView *view = self->views;
  guint n = 0;

  while (view != NULL && view->view != key)
    {
      view = view->next;
      n++;
    }
  if (view != NULL)
    return view;
  if (n == MAX_VIEWS)
    return self->views;

  view = g_new0 (PrioFrameView, 1);
  view->frame = prio_frame_new ();
  view->view = key;
  view->interval = USUAL_INTERVAL;
  view->next = self->views;
  self->views = view;
  return view;
}

/* Learns the interval from @gap.  A late frame makes one gap longer and the next gap shorter, and the first frame after
 * a pause makes one gap longer.  The median of three gaps ignores both.  A shorter median is adopted at once, a longer
 * one slowly. */
static void
learn_interval (PrioFrameView *view, gint64 gap)
{
  const gint64 *gaps = view->gaps;
  gint64 middle;

  if (gap <= 0 || gap >= MAX_INTERVAL)
    {
      view->n_gaps = 0;
      return;
    }

  view->gaps[view->n_gaps++ % N_GAPS] = gap;
  if (view->n_gaps < N_GAPS)
    return;

  middle = MAX (MIN (gaps[0], gaps[1]), MIN (MAX (gaps[0], gaps[1]), gaps[2]));
  if (middle < view->interval)
    view->interval = MAX (middle, MIN_INTERVAL);
  else
    view->interval += (middle - view->interval) / 16;
}

/* Notes that a frame begins, and announces the next frame.  @values are the signal's arguments.  The first argument of
 * ClutterStage's signal is the view. */
void
prio_frame_clock_tick (PrioFrameClock *clock, guint n_values, const GValue *values)
{
  gpointer key = n_values > 1 && G_VALUE_HOLDS_OBJECT (&values[1]) ? g_value_get_object (&values[1]) : NULL;
  PrioFrameView *view = find_view (clock, key);
  gint64 now = prio_clock_now ();

  learn_interval (view, now - view->last);
  view->last = now;
  prio_frame_announce (clock->loop, view->frame, prio_time_after (now, view->interval), view->interval);
}

void
prio_frame_clock_clear (PrioFrameClock *self)
{
  PrioFrameView *view;

  while ((view = self->views) != NULL)
    {
      self->views = view->next;
      prio_frame_free (self->loop, view->frame);
      g_free (view);
    }
  g_clear_pointer (&self->loop, prio_loop_unref);
}
