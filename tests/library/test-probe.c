/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-probe.c: how prio_scheduler_should_yield () polls other sources */

#include "helpers.h"

#include <glib-unix.h>

#include <unistd.h>

/* A source that reads from a pipe, and is removed. */
typedef struct
{
  GSource parent;
  gpointer tag;
  int fd;
} InputSource;

static guint n_dispatched, n_finalized;

static gboolean
input_check (GSource *source)
{
  return (g_source_query_unix_fd (source, ((InputSource *) source)->tag) & G_IO_IN) != 0;
}

static gboolean
input_dispatch (GSource *source, GSourceFunc callback, gpointer data)
{
  char c;

  n_dispatched++;
  g_assert_cmpint (read (((InputSource *) source)->fd, &c, 1), ==, 1);
  return G_SOURCE_REMOVE;
}

static void
input_finalize (GSource *source)
{
  n_finalized++;
}

static GSourceFuncs input_funcs = { NULL, input_check, input_dispatch, input_finalize, NULL, NULL };

static void
attach_input (Fixture *f, int fd, gint priority)
{
  GSource *source = g_source_new (&input_funcs, sizeof (InputSource));

  ((InputSource *) source)->fd = fd;
  ((InputSource *) source)->tag = g_source_add_unix_fd (source, fd, G_IO_IN);
  g_source_set_priority (source, priority);
  g_source_attach (source, f->context);
  g_source_unref (source);
}

typedef struct
{
  Fixture *f;
  int pipe[2];
  gint priority; /* priority of the source that becomes ready while the task runs */
  gboolean told;
} Probe;

/* Returns whether should_yield () returns TRUE within @span: enough for many looks at the sources, one every
 * millisecond. */
static gboolean
is_told_within (Probe *probe, gint64 span)
{
  gint64 end = g_get_monotonic_time () + span;

  while (g_get_monotonic_time () < end)
    {
      if (prio_scheduler_should_yield (probe->f->scheduler))
        return TRUE;
    }
  return FALSE;
}

static void
write_then_ask (Step *step)
{
  Probe *probe = step->data;

  g_assert_false (is_told_within (probe, 3000));
  g_assert_cmpint (write (probe->pipe[1], "x", 1), ==, 1);
  probe->told = is_told_within (probe, probe->priority <= G_PRIORITY_DEFAULT ? 10 * G_USEC_PER_SEC : 10000);
}

static void
probe_set_up (Probe *probe, Fixture *f)
{
  *probe = (Probe) { .f = f };
  g_assert_true (g_unix_open_pipe (probe->pipe, 0, NULL));
  prio_scheduler_set_time_slice (f->scheduler, 60000);
}

static void
probe_tear_down (Probe *probe)
{
  close (probe->pipe[0]);
  close (probe->pipe[1]);
}

/* Input is noticed, and its source is dispatched and finalized as without a probe. */
static void
test_input (Fixture *f, gconstpointer data)
{
  Probe probe;

  probe_set_up (&probe, f);
  for (guint i = 1; i <= 20; i++)
    {
      attach_input (f, probe.pipe[0], G_PRIORITY_DEFAULT);
      post_step (f, USER_VISIBLE, 'a', write_then_ask, &probe);
      fixture_run (f);
      g_assert_true (probe.told);
      g_assert_cmpuint (n_dispatched, ==, i);
      g_assert_cmpuint (n_finalized, ==, i);
    }
  probe_tear_down (&probe);
}

/* Sources of lower priority than the task do not count. */
static void
test_input_of_less_priority (Fixture *f, gconstpointer data)
{
  Probe probe;

  n_dispatched = n_finalized = 0;
  probe_set_up (&probe, f);
  probe.priority = G_PRIORITY_DEFAULT_IDLE;
  attach_input (f, probe.pipe[0], G_PRIORITY_DEFAULT_IDLE);
  post_step (f, USER_VISIBLE, 'a', write_then_ask, &probe);
  fixture_run (f);
  g_assert_false (probe.told);
  g_assert_cmpuint (n_dispatched, ==, 1);
  g_assert_cmpuint (n_finalized, ==, 1);
  probe_tear_down (&probe);
}

/* Any of many descriptors is noticed. */
static void
test_many_inputs (Fixture *f, gconstpointer data)
{
  enum { N = 200 };
  Probe probes[N];

  n_finalized = 0;
  for (guint i = 0; i < N; i++)
    {
      probe_set_up (&probes[i], f);
      attach_input (f, probes[i].pipe[0], G_PRIORITY_DEFAULT);
    }
  for (guint i = 0; i < N; i += 66)
    {
      post_step (f, USER_VISIBLE, 'a', write_then_ask, &probes[i]);
      fixture_run (f);
      g_assert_true (probes[i].told);
    }
  g_assert_cmpuint (n_finalized, ==, (N + 65) / 66);
  for (guint i = 0; i < N; i++)
    probe_tear_down (&probes[i]);
}

/* A source whose functions record that they were called. */
static guint n_asked;

static gboolean
count_prepare (GSource *source, gint *timeout)
{
  n_asked++;
  *timeout = -1;
  return FALSE;
}

static gboolean
count_check (GSource *source)
{
  n_asked++;
  return FALSE;
}

static GSourceFuncs counting_funcs = { count_prepare, count_check, NULL, NULL, NULL, NULL };

static void
ask_while_counting (Step *step)
{
  guint n = n_asked;

  g_assert_false (is_told_within (step->data, 5000));
  g_assert_cmpuint (n_asked, ==, n);
}

/* A probe calls no functions of other sources, and sources that GLib has found ready stay so. */
static void
test_glib_is_left_as_it_was (Fixture *f, gconstpointer data)
{
  GSource *counting = g_source_new (&counting_funcs, sizeof (GSource));
  GSource *ready = g_idle_source_new ();
  Probe probe;

  probe_set_up (&probe, f);
  g_source_attach (counting, f->context);
  post_step (f, USER_VISIBLE, 'a', ask_while_counting, &probe);
  g_source_set_priority (ready, G_PRIORITY_DEFAULT);
  g_source_set_callback (ready, step_run, step_new (f, 'b', NULL, NULL), step_free);
  g_source_attach (ready, f->context);
  /* Both sources are dispatched in one iteration. */
  g_main_context_iteration (f->context, FALSE);
  g_assert_cmpint (f->log->len, ==, 2);

  probe_tear_down (&probe);
  g_source_destroy (counting);
  g_source_unref (counting);
  g_source_unref (ready);
}

/* A wakeup of the context is not a reason to yield, before the call or after it. */
static void
wake_then_ask (Step *step)
{
  Probe *probe = step->data;

  g_main_context_wakeup (probe->f->context);
  probe->told = is_told_within (probe, 10000);
  g_main_context_wakeup (probe->f->context);
  probe->told |= is_told_within (probe, 10000);
}

static void
test_wake_ups (Fixture *f, gconstpointer data)
{
  Probe probe;

  probe_set_up (&probe, f);
  for (PrioTaskPriority priority = BACKGROUND; priority <= USER_BLOCKING; priority++)
    {
      post_step (f, priority, 'a', wake_then_ask, &probe);
      fixture_run (f);
      g_assert_false (probe.told);
    }
  probe_tear_down (&probe);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_test ("/should-yield/sources/input", test_input);
  add_test ("/should-yield/sources/input-of-less-priority", test_input_of_less_priority);
  add_test ("/should-yield/sources/many-inputs", test_many_inputs);
  add_test ("/should-yield/sources/are-left-as-they-were", test_glib_is_left_as_it_was);
  add_test ("/should-yield/sources/wake-ups", test_wake_ups);

  return g_test_run ();
}
