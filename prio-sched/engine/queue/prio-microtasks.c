/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-microtasks.c: microtasks, which run before the next task */

#include "config.h"

#include "queue/prio-microtasks-private.h"

#define MIN_ALLOCATED 16
/* A ring of more elements than this is freed after a burst. */
#define MAX_KEPT 4096

void
prio_microtasks_clear (PrioMicrotasks *microtasks)
{
  g_clear_pointer (&microtasks->ring, g_free);
  *microtasks = (PrioMicrotasks) { NULL };
}

static void
grow (PrioMicrotasks *microtasks)
{
  gsize allocated = MAX (microtasks->allocated * 2, MIN_ALLOCATED);
  PrioMicrotask *ring = g_new (PrioMicrotask, allocated);

  for (gsize i = 0; i < microtasks->length; i++)
    ring[i] = microtasks->ring[(microtasks->head + i) & (microtasks->allocated - 1)];

  g_free (microtasks->ring);
  microtasks->ring = ring;
  microtasks->allocated = allocated;
  microtasks->head = 0;
}

void
prio_microtasks_push (PrioMicrotasks *microtasks, const PrioMicrotask *microtask)
{
  gsize end;

  if (microtasks->length == microtasks->allocated)
    grow (microtasks);

  end = (microtasks->head + microtasks->length++) & (microtasks->allocated - 1);
  microtasks->ring[end] = *microtask;
}

gboolean
prio_microtasks_pop (PrioMicrotasks *microtasks, PrioMicrotask *microtask)
{
  if (microtasks->length == 0)
    {
      if (microtasks->allocated > MAX_KEPT)
        prio_microtasks_clear (microtasks);
      return FALSE;
    }

  *microtask = microtasks->ring[microtasks->head];
  microtasks->head = (microtasks->head + 1) & (microtasks->allocated - 1);
  microtasks->length--;
  return TRUE;
}
