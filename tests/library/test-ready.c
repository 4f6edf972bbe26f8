/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-ready.c: the order of tasks of several schedulers
 *
 * Links the library's own objects.  Makes random changes to the ready set, and compares it after
 * each of them with a search of all queues.
 */

#include "config.h"

#include <glib.h>

#include "queue/prio-ready-private.h"

enum { N_GROUPS = 4, N_QUEUES = 6, N_JOBS = 60, N_STEPS = 200000 };

typedef struct
{
  PrioReady ready;
  PrioReadyGroup groups[N_GROUPS];
  PrioQueue queues[N_GROUPS][N_QUEUES];
  PrioJob jobs[N_JOBS];
  GQueue spare; /* of PrioJob */
  guint64 next_order;
} World;

static void
world_init (World *world)
{
  for (guint g = 0; g < N_GROUPS; g++)
    {
      prio_ready_group_init (&world->groups[g]);
      for (guint q = 0; q < N_QUEUES; q++)
        prio_queue_init (&world->queues[g][q], NULL, (PrioEffective) (q % 2 + q % 3),
                         q % 2 == 0 ? PRIO_QUEUE_JOBS : PRIO_QUEUE_ENTRIES);
    }
  for (guint i = 0; i < N_JOBS; i++)
    g_queue_push_tail (&world->spare, &world->jobs[i]);
}

/* Finds the queue that has the next task, by searching all of them; @n is the number of candidates. */
static PrioQueue *
look_through (World *world, guint *n)
{
  PrioQueue *next = NULL;

  *n = 0;
  for (guint g = 0; g < N_GROUPS; g++)
    {
      for (guint q = 0; q < N_QUEUES; q++)
        {
          PrioQueue *queue = &world->queues[g][q];

          if (queue->head == NULL || world->groups[g].paused)
            continue;
          if (next == NULL || queue->effective > next->effective)
            *n = 0;
          if (next == NULL || queue->effective >= next->effective)
            (*n)++;
          if (next == NULL || queue->effective > next->effective ||
              (queue->effective == next->effective && queue->head->order < next->head->order))
            next = queue;
        }
    }
  return next;
}

static void
check (World *world)
{
  guint n;
  PrioQueue *next = look_through (world, &n);

  g_assert_true (prio_ready_first (&world->ready) == next);
  g_assert_cmpint (prio_ready_top (&world->ready), ==, next != NULL ? next->effective : -1);
  if (next != NULL)
    g_assert_true (prio_ready_is_alone (&world->ready, next, next->effective) == (n == 1));

  for (guint g = 0; g < N_GROUPS; g++)
    {
      for (guint q = 0; q < N_QUEUES; q++)
        {
          PrioQueue *queue = &world->queues[g][q];

          g_assert_true (prio_ready_contains (queue) == (queue->head != NULL));
          if (queue != next || n > 1)
            g_assert_false (prio_ready_is_alone (&world->ready, queue, queue->effective));
        }
    }
}

static void
append (World *world, PrioReadyGroup *group, PrioQueue *queue)
{
  PrioJob *job = g_queue_pop_head (&world->spare);

  if (job == NULL)
    return;

  job->order = world->next_order++;
  if (prio_queue_append (queue, job))
    prio_ready_add (&world->ready, group, queue);
}

static void
pop (World *world, PrioReadyGroup *group, PrioQueue *queue)
{
  if (queue->head == NULL)
    return;

  g_queue_push_tail (&world->spare, prio_queue_pop_job (queue));
  prio_ready_head_gone (&world->ready, group, queue);
}

static void
pop_first (World *world)
{
  PrioQueue *queue = prio_ready_first (&world->ready);

  if (queue != NULL)
    pop (world, &world->groups[(queue - world->queues[0]) / N_QUEUES], queue);
}

static void
reprioritize (World *world, PrioReadyGroup *group, PrioQueue *queue)
{
  /* Queues of jobs do not change. */
  if (queue->kind == PRIO_QUEUE_JOBS)
    return;

  if (prio_ready_contains (queue))
    prio_ready_remove (&world->ready, group, queue);
  queue->effective = (PrioEffective) g_test_rand_int_range (0, PRIO_N_EFFECTIVE);
  if (queue->head != NULL)
    prio_ready_add (&world->ready, group, queue);
}

static void
step (World *world)
{
  guint g = (guint) g_test_rand_int_range (0, N_GROUPS);
  PrioReadyGroup *group = &world->groups[g];
  PrioQueue *queue = &world->queues[g][g_test_rand_int_range (0, N_QUEUES)];

  switch (g_test_rand_int_range (0, 16))
    {
    case 0:
      prio_ready_set_paused (&world->ready, group, !group->paused);
      break;

    case 1:
    case 2:
      reprioritize (world, group, queue);
      break;

    case 3:
      pop (world, group, queue);
      if (g_test_rand_int_range (0, 8) == 0)
        prio_ready_evict (&world->ready);
      break;

    case 4:
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
      pop_first (world);
      break;

    default:
      append (world, group, queue);
    }
}

/* The next task is chosen by priority, then by age, over all schedulers that are not paused, after any addition,
 * removal, pause and change of priority. */
static void
test_next_of_all (void)
{
  World world = { 0 };

  world_init (&world);
  for (guint i = 0; i < N_STEPS; i++)
    {
      step (&world);
      check (&world);
    }

  for (guint g = 0; g < N_GROUPS; g++)
    prio_ready_set_paused (&world.ready, &world.groups[g], FALSE);
  while (prio_ready_first (&world.ready) != NULL)
    pop_first (&world);
  check (&world);
  g_assert_cmpuint (world.spare.length, ==, N_JOBS);

  for (guint g = 0; g < N_GROUPS; g++)
    prio_ready_group_clear (&world.groups[g]);
  prio_ready_clear (&world.ready);
  g_queue_clear (&world.spare);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/ready/next-of-all", test_next_of_all);

  return g_test_run ();
}
