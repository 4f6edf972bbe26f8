/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-keys.c: keys that came during slow code go before the next task, however it has become ready
 *
 * Keys come as GDK has them: from a source at priority 0 that dispatches one event each time.  The time is frozen, and
 * passes only with work and instead of the main loop's sleep.
 */

#include "passing-fixture.h"

#define N_KEYS 9
#define KEY 400 /* how long the handler of each key takes, µs */
#define SLOW 300000 /* µs */
#define SOON 301 /* ms: when some keys are dispatched, and some are not */
#define PATIENCE 2000 /* iterations */

typedef struct _Scene Scene;

/* How a task becomes ready. */
typedef struct
{
  const char *name;
  void (*before) (Scene *scene); /* before something is slow, or NULL */
  void (*by_key) (Scene *scene); /* in the handler of the first key, or NULL */
  enum { HANDLER, TASK, MICROTASK } slow; /* the place of the slow code; of a microtask: a handler in its main loop */
} Way;

struct _Scene
{
  Fixture f;
  const Way *way;
  PrioTaskPriority priority;
  gboolean is_beside_others; /* background tasks wait all the time, and the slow code asks whether to yield */
  guint n_keys; /* not dispatched yet */
  gpointer held[3];
  guint n_held;
};

static gboolean
log_task (gpointer data)
{
  g_string_append_c (((Scene *) data)->f.log, 'T');
  return G_SOURCE_REMOVE;
}

static void
run_task (PrioTask *task, gpointer scene)
{
  log_task (scene);
}

static void
call_back (GObject *source, GAsyncResult *result, gpointer scene)
{
  log_task (scene);
}

static void
hold (Scene *scene, gpointer object)
{
  scene->held[scene->n_held++] = object;
}

static void
post (Scene *scene)
{
  prio_scheduler_post (scene->f.scheduler, scene->priority, log_task, scene, NULL);
}

static void
post_in_new_scheduler (Scene *scene)
{
  g_autoptr (PrioScheduler) scheduler = prio_scheduler_new (scene->f.context);

  prio_scheduler_post (scheduler, scene->priority, log_task, scene, NULL);
}

static void
yield (Scene *scene)
{
  prio_scheduler_yield_async (scene->f.scheduler, NULL, call_back, scene);
}

static void
post_to_thread_of_loop (Scene *scene)
{
  g_autoptr (GThread) thread = g_thread_new (NULL, (GThreadFunc) (void (*) (void)) post, scene);

  g_thread_join (g_steal_pointer (&thread));
}

static void
post_and_pause (Scene *scene)
{
  prio_scheduler_pause (scene->f.scheduler);
  post (scene);
}

static void
resume (Scene *scene)
{
  prio_scheduler_resume (scene->f.scheduler);
}

static void
post_with_controller (Scene *scene)
{
  PrioTaskController *controller = prio_task_controller_new (BACKGROUND);

  hold (scene, controller);
  prio_scheduler_post_full (scene->f.scheduler, &PRIO_TASK_OPTIONS (.signal = prio_task_controller_get_signal (controller)),
                            log_task, scene, NULL);
}

static void
raise_priority (Scene *scene)
{
  prio_task_controller_set_priority (scene->held[0], scene->priority, NULL);
}

static void
post_delayed (Scene *scene)
{
  prio_scheduler_post_full (scene->f.scheduler, &PRIO_TASK_OPTIONS (.priority = scene->priority, .delay = SOON), log_task, scene, NULL);
}

static void
post_with_timeout (Scene *scene)
{
  prio_scheduler_post_full (scene->f.scheduler, &PRIO_TASK_OPTIONS (.priority = BACKGROUND, .timeout = SOON), log_task, scene, NULL);
}

static void
sleep_until_soon (Scene *scene)
{
  prio_scheduler_sleep_async (scene->f.scheduler, SOON, NULL, call_back, scene);
}

static void
defer_task (PrioTask *task, gpointer data)
{
  prio_task_defer (task);
}

static void
take_place (Scene *scene)
{
  PrioTaskGroup *group = prio_task_group_new (scene->f.scheduler, 1, scene->priority);

  hold (scene, prio_task_group_post_task (group, NULL, defer_task, NULL, NULL));
  hold (scene, group);
  fixture_run (&scene->f);
  g_object_unref (prio_task_group_post_task (group, NULL, run_task, scene, NULL));
}

static void
leave_place (Scene *scene)
{
  prio_task_return_boolean (scene->held[0], TRUE);
}

/* Frees the place in a time slice: then the next task of the group may continue while other sources have their turn. */
static void
work_and_leave_place (Scene *scene)
{
  leave_place (scene);
  frozen_time += KEY;
}

/* Uses the default context: only there the library's sources leave the context after a while without work. */
static void
let_sources_leave (Scene *scene)
{
  Fixture *f = &scene->f;

  fixture_drop_context (f);
  f->context = g_main_context_ref (g_main_context_default ());
  g_main_context_push_thread_default (f->context);
  g_main_context_set_poll_func (f->context, poll_in_time);
  f->scheduler = prio_scheduler_new (f->context);
  for (guint i = 0; i < 300; i++)
    g_main_context_iteration (f->context, FALSE);
}

static void
drop_scheduler (Scene *scene)
{
  g_clear_object (&scene->f.scheduler);
  fixture_run (&scene->f);
}

static const Way ways[] = {
  { "posted", NULL, post, HANDLER },
  { "posted after a slow task", NULL, post, TASK },
  { "posted in a thread", NULL, post_to_thread_of_loop, HANDLER },
  { "posted in a new scheduler", NULL, post_in_new_scheduler, HANDLER },
  { "posted after a pause of work", let_sources_leave, post, HANDLER },
  { "posted where there was no scheduler", drop_scheduler, post_in_new_scheduler, HANDLER },
  { "yields", NULL, yield, HANDLER },
  { "resumed", post_and_pause, resume, HANDLER },
  { "raised", post_with_controller, raise_priority, HANDLER },
  { "posted after a main loop in a microtask", NULL, NULL, MICROTASK },
  { "delayed", post_delayed, NULL, HANDLER },
  { "delayed, after a slow task", post_delayed, NULL, TASK },
  { "expired", post_with_timeout, NULL, HANDLER },
  { "asleep", sleep_until_soon, NULL, HANDLER },
  { "next in a group", take_place, leave_place, HANDLER },
  { "next in a group, after a slow task", take_place, work_and_leave_place, TASK },
};

static gboolean
keys_prepare (GSource *source, gint *timeout)
{
  Scene *scene = *(Scene **) (source + 1);

  *timeout = -1;
  return scene->n_keys > 0;
}

static gboolean
keys_dispatch (GSource *source, GSourceFunc func, gpointer data)
{
  Scene *scene = *(Scene **) (source + 1);

  g_string_append_c (scene->f.log, 'k');
  if (scene->n_keys-- == N_KEYS && scene->way->by_key != NULL)
    scene->way->by_key (scene);
  frozen_time += KEY;
  return G_SOURCE_CONTINUE;
}

static gboolean
wait_again (gpointer data)
{
  Scene *scene = data;

  frozen_time += KEY;
  if (strchr (scene->f.log->str, 'T') == NULL)
    prio_scheduler_post (scene->f.scheduler, BACKGROUND, wait_again, scene, NULL);
  return G_SOURCE_REMOVE;
}

static GSource *
attach_keys (Scene *scene)
{
  static GSourceFuncs funcs = { keys_prepare, NULL, keys_dispatch, NULL, NULL, NULL };
  GSource *source = g_source_new (&funcs, sizeof (GSource) + sizeof scene);

  *(Scene **) (source + 1) = scene;
  g_source_attach (source, scene->f.context);
  return source;
}

/* Takes long, in a handler, a frame or a task. */
static gboolean
be_slow (gpointer data)
{
  Scene *scene = data;

  scene->n_keys = N_KEYS;
  frozen_time += SLOW;
  if (scene->is_beside_others && scene->f.scheduler != NULL)
    prio_scheduler_should_yield (scene->f.scheduler);
  return G_SOURCE_REMOVE;
}

static gboolean
do_nothing (gpointer data)
{
  return G_SOURCE_REMOVE;
}

/* Takes long in a main loop, right before GLib dispatches the source of user-visible tasks, and posts an urgent task
 * afterwards. */
static void
be_slow_in_main_loop (gpointer data)
{
  Scene *scene = data;

  attach_source (scene->f.context, G_PRIORITY_DEFAULT, be_slow, scene);
  prio_scheduler_post (scene->f.scheduler, USER_VISIBLE, do_nothing, NULL, NULL);
  g_main_context_iteration (scene->f.context, FALSE);
  prio_scheduler_post (scene->f.scheduler, USER_BLOCKING, log_task, scene, NULL);
}

static void
run_scene (Scene *scene, gint at)
{
  Fixture *f = &scene->f;
  g_autoptr (GSource) keys = NULL;

  if (scene->way->before != NULL)
    scene->way->before (scene);
  if (scene->is_beside_others && f->scheduler != NULL)
    prio_scheduler_post (f->scheduler, BACKGROUND, wait_again, scene, NULL);
  keys = attach_keys (scene);
  if (scene->way->slow == MICROTASK)
    prio_scheduler_queue_microtask (f->scheduler, be_slow_in_main_loop, scene, NULL);
  else if (scene->way->slow == TASK)
    prio_scheduler_post (f->scheduler, USER_BLOCKING, be_slow, scene, NULL);
  else
    attach_source (f->context, at, be_slow, scene);
  for (guint i = 0; i < PATIENCE && strchr (f->log->str, 'T') == NULL; i++)
    g_main_context_iteration (f->context, TRUE);
  if (!g_str_equal (f->log->str, "kkkkkkkkkT"))
    g_test_message ("%s, of priority %d, slow at %d", scene->way->name, scene->priority, at);
  g_assert_cmpstr (f->log->str, ==, "kkkkkkkkkT");

  g_source_destroy (keys);
  for (guint i = 0; i < scene->n_held; i++)
    g_object_unref (scene->held[i]);
}

static void
test_keys_first (gconstpointer way)
{
  static const gint at[] = { G_PRIORITY_HIGH, G_PRIORITY_DEFAULT, G_PRIORITY_DEFAULT + 1, 110, 120, 200 };

  for (guint i = 0; i < G_N_ELEMENTS (at) * 6; i++)
    {
      Scene scene = { .way = way, .priority = (PrioTaskPriority) (BACKGROUND + i % 3), .is_beside_others = i % 6 >= 3 };

      passing_set_up (&scene.f, NULL);
      run_scene (&scene, at[i / 6]);
      fixture_tear_down (&scene.f, NULL);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      g_autofree char *path = g_strdelimit (g_strdup_printf ("/keys/first/%s", ways[i].name), " ", '-');

      g_test_add_data_func (path, &ways[i], test_keys_first);
    }
  return g_test_run ();
}
