/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* channels.c: many values from ten threads to a function on a main loop, and their costs
 *
 *     channels [VALUES [WAY]]
 *
 * For each way to give: nanoseconds for a value, as the thread sees it; how often the function was called; the longest gap
 * between two frames, in ms, where a source at the priority of GTK's frames is due every 16 ms; and the most memory, in MiB, beyond the
 * memory at the beginning.  The first row has the gap beside threads that are busy, and give nothing.  VALUES is the number of all values, by default a million;
 * WAY is a part of the names of ways.
 */

#include <prio-sched-threads.h>

#include <stdio.h>

#define N_THREADS 10

typedef struct
{
  const char *name;
  void (*give) (gsize value);
} Way;

static PrioChannel *channel;
static GAsyncQueue *queue;
static gsize n_each, n_called; /* the latter on the main loop */
static gint n_over;            /* atomic */
static gint64 spent;           /* atomic: ns of all threads */
static gint64 last_frame, gap; /* µs; on the main loop */

static gboolean
frame (gpointer data G_GNUC_UNUSED)
{
  gint64 now = g_get_monotonic_time ();

  gap = MAX (gap, now - last_frame);
  last_frame = now;
  return G_SOURCE_CONTINUE;
}

static gboolean
call (gpointer value G_GNUC_UNUSED)
{
  n_called++;
  return G_SOURCE_REMOVE;
}

static void
use (PrioChannel *self G_GNUC_UNUSED, gpointer value, gpointer data G_GNUC_UNUSED)
{
  call (value);
}

static gboolean
drain (gpointer data G_GNUC_UNUSED)
{
  while (g_async_queue_try_pop (queue) != NULL)
    n_called++;
  return G_SOURCE_CONTINUE;
}

static void
give_nothing (gsize value G_GNUC_UNUSED)
{
  g_get_monotonic_time ();
}

static void
give_to_channel (gsize value)
{
  prio_channel_replace (channel, GSIZE_TO_POINTER (value), NULL);
}

static void
give_to_queue (gsize value)
{
  g_async_queue_push (queue, GSIZE_TO_POINTER (value));
}

static void
give_by_idle (gsize value)
{
  g_idle_add (call, GSIZE_TO_POINTER (value));
}

static void
give_by_invoke (gsize value)
{
  g_main_context_invoke (NULL, call, GSIZE_TO_POINTER (value));
}

static void
give_by_post (gsize value)
{
  prio_scheduler_post (prio_scheduler_get_default (), PRIO_TASK_PRIORITY_USER_VISIBLE, call, GSIZE_TO_POINTER (value), NULL);
}

static gpointer
give_all (gpointer data)
{
  const Way *way = data;
  gint64 begin = g_get_monotonic_time ();

  for (gsize i = 1; i <= n_each; i++)
    way->give (i);
  __atomic_add_fetch (&spent, (g_get_monotonic_time () - begin) * 1000, __ATOMIC_RELAXED);
  g_atomic_int_inc (&n_over);
  g_main_context_wakeup (NULL);
  return NULL;
}

/* Returns the memory in use, MiB. */
static double
memory (void)
{
  g_autofree char *text = NULL;
  guint64 total = 0, resident = 0;

  if (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL))
    sscanf (text, "%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, &total, &resident);
  return (double) resident * 4 / 1024;
}

static void
run (const Way *way)
{
  GThread *threads[N_THREADS];
  double before = memory (), most = before;
  gint64 next = 0;
  guint frames = g_timeout_add_full (G_PRIORITY_HIGH_IDLE + 20, 16, frame, NULL, NULL);

  last_frame = g_get_monotonic_time ();
  gap = 0;
  n_called = 0;
  n_over = 0;
  spent = 0;
  for (guint i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new ("giver", give_all, (gpointer) way);
  while (g_atomic_int_get (&n_over) < N_THREADS || g_main_context_pending (NULL))
    {
      g_main_context_iteration (NULL, TRUE);
      if (g_atomic_int_get (&n_over) == N_THREADS && way->give == give_to_queue && g_async_queue_length (queue) <= 0)
        break;
      if (g_get_monotonic_time () > next)
        {
          most = MAX (most, memory ());
          next = g_get_monotonic_time () + 1000;
        }
    }
  for (guint i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  frame (NULL);
  g_source_remove (frames);
  g_print ("%-32s %8.0f %12" G_GSIZE_FORMAT " %8.1f %10.1f\n", way->name,
           (double) spent / (double) (n_each * N_THREADS), n_called, (double) gap / 1000, most - before);
}

int
main (int argc, char **argv)
{
  const Way ways[] = {
    { "nothing, but busy threads", give_nothing },
    { "channel, newest wins, a frame", give_to_channel },
    { "GAsyncQueue, an idle source", give_to_queue },
    { "prio_scheduler_post ()", give_by_post },
    { "g_idle_add ()", give_by_idle },
    { "g_main_context_invoke ()", give_by_invoke },
  };

  n_each = (argc > 1 ? (gsize) g_ascii_strtoull (argv[1], NULL, 10) : 1000000) / N_THREADS;
  channel = prio_channel_new (prio_scheduler_get_default (), NULL, 1, PRIO_CHANNEL_PACE_FRAME, use, NULL, NULL);
  queue = g_async_queue_new ();
  g_print ("%-32s %8s %12s %8s %10s\n", "", "ns", "called", "gap, ms", "MiB");
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      guint id = ways[i].give == give_to_queue ? g_idle_add (drain, NULL) : 0;

      if (argc <= 2 || strstr (ways[i].name, argv[2]) != NULL)
        run (&ways[i]);
      if (id != 0)
        g_source_remove (id);
    }
  g_async_queue_unref (queue);
  g_object_unref (channel);
  return 0;
}
