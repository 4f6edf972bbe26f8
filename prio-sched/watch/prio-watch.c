/* prio-watch.c: the part of a scheduler that watches: its statistics, its long tasks, and what the environment asks for
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "watch/prio-long-task-private.h"
#include "watch/prio-scheduler-list-private.h"
#include "watch/prio-statistics-private.h"
#include "watch/prio-sysprof-private.h"
#include "watch/prio-trace-private.h"

enum
{
  LONG_TASK_THRESHOLD
};

static void
class_init (GObjectClass *class, guint first)
{
  g_object_class_install_property (class, first + LONG_TASK_THRESHOLD, prio_scheduler_make_long_task (G_OBJECT_CLASS_TYPE (class)));
}

static void
made (PrioScheduler *self)
{
  prio_scheduler_enlist (self);
  prio_trace_start_from_environment ();
  prio_sysprof_start ();
  prio_scheduler_watch_from_environment (self);
}

static void
ends (PrioScheduler *self)
{
  prio_scheduler_unlist (self);
  prio_scheduler_end_long_tasks (self);
  prio_scheduler_end_statistics (self);
}

static gboolean
get_property (PrioScheduler *self, guint number, GValue *value)
{
  switch (number)
    {
    case LONG_TASK_THRESHOLD:
      g_value_set_uint (value, prio_scheduler_get_long_task_threshold (self));
      return TRUE;

    default:
      return FALSE;
    }
}

static gboolean
set_property (PrioScheduler *self, guint number, const GValue *value)
{
  switch (number)
    {
    case LONG_TASK_THRESHOLD:
      prio_scheduler_set_long_task_threshold (self, g_value_get_uint (value));
      return TRUE;

    default:
      return FALSE;
    }
}

static const PrioSchedulerWatchFuncs funcs = {
  .class_init = class_init,
  .made = made,
  .ends = ends,
  .get_property = get_property,
  .set_property = set_property,
};

/* When the library is loaded: nothing below calls this folder by name. */
__attribute__ ((constructor)) static void
load (void)
{
  prio_scheduler_set_watch (&funcs);
}
