/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-frame-hook.c: follows the frames of GTK and GNOME Shell, without linking to them
 *
 * When a type with a known name has been registered, an emission hook is called for each frame that the program
 * draws. */

#include "config.h"

#include "above/prio-frame-hook-private.h"

#include "above/prio-frame-clock-private.h"
#include "base/prio-clock-private.h"

/* The least time between two searches for a toolkit, in µs. */
#define LOOK_INTERVAL 100000

/* The types that emit `before-paint`: the frame clock of GTK 3 and 4, and GNOME Shell's stage. */
static const char *const names[] = { "GdkFrameClock", "ClutterStage" };

static G_DEFINE_QUARK (prio-sched-frame-clock, clock)

/* Stands for the record of each clock that must not be followed automatically. */
static PrioFrameClock left_alone;

/* When to search again, in µs; atomic.  G_MAXINT64 while a thread searches, or if the environment forbids it. */
static gint64 next_look;

static void
clock_free (gpointer data)
{
  PrioFrameClock *clock = data;

  prio_frame_clock_clear (clock);
  g_free (clock);
}

/* Returns the record of @object, which begins a frame, for @loop, or NULL if @object must not be followed. */
static PrioFrameClock *
follow (PrioLoop *loop, GObject *object)
{
  PrioFrameClock *clock = g_object_get_qdata (object, clock_quark ());

  if (clock != NULL && (clock == &left_alone || clock->loop == loop))
    return clock != &left_alone ? clock : NULL;

  clock = g_new0 (PrioFrameClock, 1);
  clock->loop = prio_loop_ref (loop);
  g_object_set_qdata_full (object, clock_quark (), clock, clock_free);
  return clock;
}

static gboolean
frame_begins (GSignalInvocationHint *hint G_GNUC_UNUSED, guint n_values, const GValue *values, gpointer data G_GNUC_UNUSED)
{
  GMainContext *context = g_main_context_get_thread_default ();
  PrioLoop *loop = prio_loop_find (context != NULL ? context : g_main_context_default ());
  PrioFrameClock *clock;

  if (loop == NULL)
    return TRUE;
  clock = follow (loop, g_value_get_object (&values[0]));
  if (clock != NULL)
    prio_frame_clock_tick (clock, n_values, values);
  prio_loop_unref (loop);
  return TRUE;
}

static gboolean
hook (const char *name)
{
  GType type = g_type_from_name (name);
  guint id = type != 0 && g_type_class_peek (type) != NULL ? g_signal_lookup ("before-paint", type) : 0;

  return id != 0 && g_signal_add_emission_hook (id, 0, frame_begins, NULL, NULL) != 0;
}

/* Checks whether a toolkit has been loaded, at most once per LOOK_INTERVAL.  Any thread may call this function. */
static void
look (gint64 now)
{
  static gboolean hooked[G_N_ELEMENTS (names)]; /* used only by the thread that searches */
  gint64 next = __atomic_load_n (&next_look, __ATOMIC_RELAXED);

  if (G_LIKELY (now < next) ||
      !__atomic_compare_exchange_n (&next_look, &next, G_MAXINT64, FALSE, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return;
  if (g_strcmp0 (g_getenv ("PRIO_SCHED_FOLLOW_FRAMES"), "0") == 0)
    return;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    hooked[i] = hooked[i] || hook (names[i]);
  __atomic_store_n (&next_look, prio_time_after (now, LOOK_INTERVAL), __ATOMIC_RELEASE);
}

/* Runs when the library is loaded, because the engine, which calls look (), may not name functions of this folder. */
__attribute__ ((constructor)) static void
load (void)
{
  prio_frames_look = look;
}

/* Stops following @clock automatically.  The program can still make a scheduler follow @clock. */
void
prio_frame_hook_leave_alone (GObject *clock)
{
  g_object_set_qdata (clock, clock_quark (), &left_alone);
}
