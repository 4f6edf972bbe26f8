/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-react-private.h: the level of the running code
 *
 * A PrioSchedulingState has a priority, but no level of React.  So while a function of this library calls the program's
 * code, a PrioReactFrame on the stack keeps the level and the task of that code.
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
  gint depth;     /* g_main_depth () around the function; callbacks of a nested main loop do not have this level */
  PrioTask *task; /* the task whose function is called, or NULL */
  gpointer data;  /* the task's data */
};

void prio_react_enter (PrioReactFrame *frame);
void prio_react_leave (PrioReactFrame *frame);
PrioReactFrame *prio_react_top (void);
PrioReactFrame *prio_react_find (PrioTask *task);
gboolean prio_react_check_level (const char *function, PrioReactLevel level);
