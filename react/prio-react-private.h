/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-react-private.h: which level the running code has
 *
 * Promises: a state of prio-sched has a priority, and React's levels are more than priorities.  Whatever of this library calls the
 * program's code keeps the level of that code on the stack meanwhile, and the task whose function it is.
 *
 * Everything here belongs to the thread that runs the code.
 */

#pragma once

#include "prio-sched-react.h"

typedef struct _PrioReactFrame PrioReactFrame;

struct _PrioReactFrame
{
  PrioReactFrame *outer;
  PrioReactLevel level;
  gint depth;     /* g_main_depth (): what a nested main loop calls has not this level */
  PrioTask *task; /* whose function is called, or NULL */
  gpointer data;  /* what that belongs to */
};

void prio_react_enter (PrioReactFrame *frame);
void prio_react_leave (PrioReactFrame *frame);
PrioReactFrame *prio_react_top (void);
PrioReactFrame *prio_react_find (PrioTask *task);
gboolean prio_react_check_level (const char *function, PrioReactLevel level);
