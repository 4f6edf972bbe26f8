/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hands.h: tasks of a group that run until the test ends them, and waits for them */

#pragma once

#include "helpers.h"

/* A task that runs until the test ends it. */
typedef struct
{
  GString *log;
  PrioTask *begun[26]; /* by letter, held */
  guint n_running, max_running;
} Hands;

typedef struct
{
  Hands *hands;
  char letter;
} Hand;

static inline void
hand_begin (PrioTask *task, gpointer data)
{
  Hand *hand = data;
  Hands *hands = hand->hands;

  g_string_append_c (hands->log, hand->letter);
  prio_task_defer (task);
  hands->begun[hand->letter - 'a'] = g_object_ref (task);
  hands->n_running++;
  hands->max_running = MAX (hands->max_running, hands->n_running);
}

static inline PrioTask *
post_hand (PrioTaskGroup *group, Hands *hands, char letter, PrioTaskPriority priority, gpointer signal)
{
  Hand *hand = g_new (Hand, 1);

  *hand = (Hand) { hands, letter };
  return prio_task_group_post_task (group, &(PrioTaskOptions) { .priority = priority, .cancellable = signal },
                                    hand_begin, hand, g_free);
}

static inline void
post_hands (PrioTaskGroup *group, Hands *hands, const char *letters, PrioTaskPriority priority)
{
  for (const char *letter = letters; *letter != '\0'; letter++)
    g_object_unref (post_hand (group, hands, *letter, priority, NULL));
}

static inline void
end_hand (Hands *hands, char letter)
{
  PrioTask *task = g_steal_pointer (&hands->begun[letter - 'a']);

  hands->n_running--;
  prio_task_return_boolean (task, TRUE);
  g_object_unref (task);
}

static inline void
fail_hand (Hands *hands, char letter)
{
  PrioTask *task = g_steal_pointer (&hands->begun[letter - 'a']);

  hands->n_running--;
  prio_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_BUSY, "%c", letter);
  g_object_unref (task);
}

/* Ends all running tasks, until none is left. */
static inline void
end_hands (Fixture *f, Hands *hands)
{
  gboolean any;

  do
    {
      fixture_run (f);
      any = FALSE;
      for (char letter = 'a'; letter <= 'z'; letter++)
        {
          if (hands->begun[letter - 'a'] != NULL)
            {
              any = TRUE;
              end_hand (hands, letter);
            }
        }
    }
  while (any);
}

typedef struct
{
  guint n_done;
  gboolean ok;
  PrioTask *task;
  GError *error;
} Waited;

static inline void
waited (GObject *group, GAsyncResult *result, gpointer data)
{
  Waited *wait = data;

  wait->n_done++;
  wait->ok = prio_task_group_wait_finish (PRIO_TASK_GROUP (group), result, &wait->task, &wait->error);
}

static inline void
waited_clear (Waited *wait)
{
  g_clear_object (&wait->task);
  g_clear_error (&wait->error);
}

