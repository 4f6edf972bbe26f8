/* prio-interludes.c: what bindings have called between two tasks
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-interludes-private.h"

/* An array's element holds one, and so does the call of its function, which may run a main loop in which it is removed. */
typedef struct
{
  GSourceFunc func;
  gpointer data;
  GDestroyNotify notify;
} Interlude;

static void
clear (gpointer data)
{
  Interlude *self = data;

  prio_release_now (self->notify, self->data);
}

static void
release (gpointer self)
{
  g_rc_box_release_full (self, clear);
}

typedef struct
{
  PrioOp op;
  Interlude interlude;
} AddOp;

static void
op_add (PrioLoop *loop, const PrioOp *op)
{
  Interlude *self = g_rc_box_new (Interlude);

  *self = ((const AddOp *) op)->interlude;
  if (loop->interludes == NULL)
    loop->interludes = g_ptr_array_new_with_free_func (release);
  g_ptr_array_add (loop->interludes, self);
}

/* Any thread, outside: from now on the batches of @loop call @func before their tasks, until it returns FALSE. */
void
prio_interludes_add (PrioLoop *loop, GSourceFunc func, gpointer data, GDestroyNotify notify)
{
  AddOp self = { { .apply = op_add, .size = sizeof self }, { func, data, notify } };

  prio_loop_submit (loop, &self.op);
}

/* Between two tasks. */
void
prio_interludes_call (PrioLoop *loop)
{
  for (guint i = loop->interludes->len; i-- > 0;)
    {
      Interlude *self = g_rc_box_acquire (g_ptr_array_index (loop->interludes, i));

      if (!self->func (self->data))
        g_ptr_array_remove (loop->interludes, self);
      release (self);
      /* The function may run a main loop, and so this one. */
      i = MIN (i, loop->interludes->len);
    }
  prio_thread.runs_jobs = FALSE;
}

/* Outside: no batch will run any more. */
void
prio_interludes_free (PrioLoop *loop)
{
  g_clear_pointer (&loop->interludes, g_ptr_array_unref);
}
