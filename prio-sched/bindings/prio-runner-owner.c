/* prio-runner-owner.c: which thread a runner's tasks belong to
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bindings/prio-runner-private.h"

/**
 * prio_runner_is_owner:
 * @self: a runner
 *
 * Tells whether the calling thread is the one that runs the main context: whoever has run it last or, before that, made its
 * first scheduler.
 *
 * It is for language bindings, which raise an exception where a function that belongs to that thread would log a critical message.
 *
 * Any thread may call it.
 *
 * Returns: whether it is; %FALSE if the main context has gone
 *
 * Since: 1.0
 */
gboolean
prio_runner_is_owner (PrioRunner *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (!prio_loop_enter (self->loop))
    return FALSE;
  prio_loop_leave (self->loop);
  return TRUE;
}
