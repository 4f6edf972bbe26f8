/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* frame-meter.c: shows how long each frame of its window took
 *
 * Each bar shows the milliseconds between a frame and the previous frame; the latest is on the right.  The line is the
 * time for a frame at the display's refresh rate: a bar well above it is a visible stutter.  The widget asks for frames
 * as long as it is shown.  People who cannot tell red from green can distinguish the colours.
 */

#include "config.h"

#include "frame-meter.h"

#include <glib/gi18n.h>

#define N_FRAMES 240
#define MAX_SHOWN 100.0 /* ms */
#define MISSED 1.5      /* frames; if a frame took longer, a refresh was missed */
#define HEIGHT 140
#define MIN_HEIGHT 80
#define LEFT 60         /* for the axis */
#define TOP 30          /* for the text */
#define TELL_AFTER 1.0  /* seconds between two texts */

struct _FrameMeter
{
  GtkWidget parent_instance;
  double times[N_FRAMES]; /* ms; a ring */
  guint next, n_told;     /* the next index in @times; the frames since the last text */
  gint64 last, told;      /* µs */
  double longest;         /* longest frame since the last text, ms */
  double interval;        /* refresh interval of the display, ms */
  char *text;             /* or NULL */
};

G_DEFINE_FINAL_TYPE (FrameMeter, frame_meter, GTK_TYPE_WIDGET)

/* Updates the text that describes the meter, at intervals. */
static void
tell (FrameMeter *self, gint64 now)
{
  double seconds = (double) (now - self->told) / G_USEC_PER_SEC;

  if (self->told != 0 && seconds < TELL_AFTER)
    return;
  if (self->told != 0)
    {
      g_free (self->text);
      self->text = g_strdup_printf (_("%.0f frames a second; the longest took %.0f ms"), self->n_told / seconds, self->longest);
      gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, self->text, -1);
    }
  self->told = now;
  self->n_told = 0;
  self->longest = 0;
}

static gboolean
tick (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  FrameMeter *self = FRAME_METER (widget);
  gint64 now = g_get_monotonic_time (), interval = 0;

  gdk_frame_clock_get_refresh_info (clock, gdk_frame_clock_get_frame_time (clock), &interval, NULL);
  self->interval = interval > 0 ? (double) interval / 1000 : 1000.0 / 60;
  if (self->last != 0)
    {
      double time = (double) (now - self->last) / 1000;

      self->times[self->next] = time;
      self->next = (self->next + 1) % N_FRAMES;
      self->longest = MAX (self->longest, time);
      self->n_told++;
    }
  self->last = now;
  tell (self, now);
  gtk_widget_queue_draw (widget);
  return G_SOURCE_CONTINUE;
}

/* Returns where @time is drawn, from the top, in a meter of @height. */
static float
y_of (double time, float height)
{
  return height - 1 - (float) (MIN (time, MAX_SHOWN) / MAX_SHOWN) * (height - 1 - TOP);
}

/* Draws @text at @y, but moves it if it would not be wholly inside the meter. */
static void
draw_text (GtkWidget *widget, GtkSnapshot *snapshot, const char *text, float x, float y, const GdkRGBA *colour)
{
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (widget, text);
  int height;

  pango_layout_set_width (layout, (int) ((float) gtk_widget_get_width (widget) - x) * PANGO_SCALE);
  pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
  pango_layout_get_pixel_size (layout, NULL, &height);
  y = CLAMP (y - (float) height / 2, 0, (float) (gtk_widget_get_height (widget) - height));
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (x, y));
  gtk_snapshot_append_layout (snapshot, layout, colour);
  gtk_snapshot_restore (snapshot);
}

static void
draw_line (GtkSnapshot *snapshot, float y, float width, const GdkRGBA *colour)
{
  gtk_snapshot_append_color (snapshot, colour, &GRAPHENE_RECT_INIT (LEFT, y, width - LEFT, 1));
}

static void
draw_axis (FrameMeter *self, GtkSnapshot *snapshot, float width, float height, const GdkRGBA *colour)
{
  const double marks[] = { 0, 50, 100 };
  GdkRGBA faint = *colour;

  faint.alpha *= 0.3f;
  for (guint i = 0; i < G_N_ELEMENTS (marks); i++)
    {
      g_autofree char *text = g_strdup_printf (_("%.0f ms"), marks[i]);

      draw_line (snapshot, y_of (marks[i], height), width, &faint);
      draw_text (GTK_WIDGET (self), snapshot, text, 0, y_of (marks[i], height), colour);
    }
  draw_line (snapshot, y_of (self->interval, height), width, colour);
}

static void
frame_meter_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  FrameMeter *self = FRAME_METER (widget);
  float width = (float) gtk_widget_get_width (widget), height = (float) gtk_widget_get_height (widget);
  float bar = (width - LEFT) / N_FRAMES;
  const GdkRGBA good = { 0.21f, 0.52f, 0.89f, 1 }, bad = { 0.9f, 0.38f, 0, 1 };
  GdkRGBA colour;

  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &colour);
  if (width <= LEFT || height <= TOP + 1)
    return;
  for (guint i = 0; i < N_FRAMES; i++)
    {
      double time = self->times[(self->next + i) % N_FRAMES];
      float y = y_of (time, height);

      gtk_snapshot_append_color (snapshot, time > self->interval * MISSED ? &bad : &good,
                                 &GRAPHENE_RECT_INIT (LEFT + (float) i * bar, y, bar, height - 1 - y));
    }
  draw_axis (self, snapshot, width, height, &colour);
  if (self->text != NULL)
    draw_text (widget, snapshot, self->text, 0, 0, &colour);
}

static void
frame_meter_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural,
                       int *minimum_baseline, int *natural_baseline)
{
  *minimum = orientation == GTK_ORIENTATION_VERTICAL ? MIN_HEIGHT : LEFT + N_FRAMES;
  *natural = orientation == GTK_ORIENTATION_VERTICAL ? HEIGHT : LEFT + N_FRAMES;
}

static void
frame_meter_finalize (GObject *object)
{
  g_free (FRAME_METER (object)->text);
  G_OBJECT_CLASS (frame_meter_parent_class)->finalize (object);
}

static void
frame_meter_class_init (FrameMeterClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->finalize = frame_meter_finalize;
  widget_class->snapshot = frame_meter_snapshot;
  widget_class->measure = frame_meter_measure;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
frame_meter_init (FrameMeter *self)
{
  self->interval = 1000.0 / 60;
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Time of each frame"), -1);
  gtk_widget_add_tick_callback (GTK_WIDGET (self), tick, NULL, NULL);
}

GtkWidget *
frame_meter_new (void)
{
  return g_object_new (FRAME_TYPE_METER, NULL);
}
