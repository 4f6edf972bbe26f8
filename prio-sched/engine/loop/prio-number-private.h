/* prio-number-private.h: tasks that are only numbers
 *
 * Promises: a number is a job like any other or, with a signal, a delay or a timeout, an entry: its function is prio_number_func (), and its
 * data are the PrioNumbers that run it.  The dispatch does not call prio_number_func (): it calls PrioNumberFuncs.run () once for several
 * numbers, which asks for the next one.  That ends one number and begins another exactly as the batch does for other tasks (prio-dispatch).
 *
 * The layers above decide what the numbers mean, and run them: they embed this record, and supply its functions.  It is closed when it has no
 * users any more; its users are its scheduler, idle callbacks and numbers, and the last of them goes with the context at the latest.
 *
 * A number that waits and is an entry is found at once; one that is a job only by looking for it.
 *
 * Everything here belongs to the owner thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-run-queue-private.h"

typedef struct _PrioNumbers PrioNumbers;

/* Only `run` and `get_name` call user code. */
typedef struct
{
  void (*run) (PrioNumbers *self, guint id);       /* in a dispatch: begins with the task @id */
  void (*rejected) (PrioNumbers *self, guint id);  /* the task will not run */
  char *(*get_name) (PrioNumbers *self, guint id); /* in a dispatch, while somebody observes: its name, or NULL */
  void (*closed) (PrioNumbers *self);              /* nothing will run any more, and nothing can be posted */
  void (*ref) (PrioNumbers *self);                 /* any thread: something on its way refers to it */
  GDestroyNotify unref;
} PrioNumberFuncs;

struct _PrioNumbers
{
  const PrioNumberFuncs *funcs;
  PrioRunQueue *run_queue; /* held; NULL once it is closed */
  GHashTable *waiting;     /* number → PrioEntry, of those that have one, until it begins or is aborted; NULL until needed */
  gsize users; /* the scheduler, idle callbacks, numbers that are queued or running, and who is yet to report rejected ones */
};

gboolean prio_number_func (gpointer numbers) G_GNUC_INTERNAL;

void prio_numbers_close (PrioNumbers *self);
void prio_numbers_append (PrioNumbers *self, guint id, PrioEffective effective);
PrioEntry *prio_numbers_new_entry (PrioNumbers *self, guint id);
PrioEntry *prio_numbers_find (PrioNumbers *self, guint id);
gboolean prio_numbers_cancel (PrioNumbers *self, guint id);

static inline void
prio_numbers_hold (PrioNumbers *self)
{
  self->users++;
}

/* Removes a user; after the last one it is closed. */
static inline void
prio_numbers_release (PrioNumbers *self)
{
  if (G_UNLIKELY (--self->users == 0))
    prio_numbers_close (self);
}

/* The PrioNumbers that run @job, or NULL if it is another job. */
static inline PrioNumbers *
prio_numbers_of (const PrioJob *job)
{
  return job->func == prio_number_func ? job->data : NULL;
}
