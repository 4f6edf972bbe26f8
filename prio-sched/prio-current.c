/* prio-current.c: the scheduling state that is current, and what holds one
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-current-private.h"

const PrioState *
prio_state_of_thread (void)
{
  const PrioState *state = prio_thread.state;

  return state != NULL && state->depth == g_main_depth () ? state : NULL;
}

const PrioState *
prio_state_current (PrioCore *core)
{
  const PrioState *state = prio_state_of_thread ();

  return state != NULL && state->core == core ? state : NULL;
}

const PrioState *
prio_state_capture (PrioCore *core)
{
  return prio_state_is_current (core->loop) ? prio_thread.state : NULL;
}

gboolean
prio_state_is_current (PrioLoop *loop)
{
  const PrioState *state = prio_state_of_thread ();

  return state != NULL && state->core->loop == loop;
}

void
prio_state_hold (const PrioState *state)
{
  if (state->core == NULL)
    return;

  prio_core_hold (state->core);
  if (state->group != NULL)
    prio_group_hold (state->group);
}

void
prio_state_release (const PrioState *state)
{
  if (state->core == NULL)
    return;

  if (state->group != NULL)
    prio_group_release (state->group);
  prio_core_release (state->core);
}
