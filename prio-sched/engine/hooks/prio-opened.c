/* prio-opened.c: what prio-engine.h opens, of several rooms
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-dispatch-private.h"
#include "loop/prio-loop-source-private.h"
#include "open/prio-engine.h"
#include "post/prio-scheduler-thread-private.h"

gboolean
prio_scheduler_is_busy (PrioScheduler *self)
{
  return prio_loop_is_busy (self->run_queue->loop);
}

void
prio_scheduler_close (PrioScheduler *self)
{
  prio_loop_close (self->run_queue->loop);
}

PrioTask *
prio_scheduler_run_in (PrioScheduler *self, const char *function, const PrioTaskOptions *options, PrioScheduler *other,
                       PrioTaskFunc func, gpointer data, GDestroyNotify notify)
{
  prio_return_val_if_wrong (prio_check_scheduler (function, self), NULL);
  prio_return_val_if_wrong (prio_check_task_options (function, options, func != NULL), NULL);
  prio_return_val_if_wrong (prio_check_no_delay (function, options), NULL);

  if (options == NULL)
    options = &prio_no_task_options;
  return prio_task_run_in_scheduler (prio_run_queue_make_task (self->run_queue, options), other, func, data, notify);
}
