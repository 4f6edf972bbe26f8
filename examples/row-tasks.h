/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* row-tasks.h: a task for each of very many rows, rows in view first */

#pragma once

#include <prio-sched.h>

typedef struct _RowTasks RowTasks;

/* Does the work of @row in @task, or defers the result.  Call row_tasks_done () when the work is complete. */
typedef void (*RowFunc) (PrioTask *task, guint row, gpointer user_data);

RowTasks *row_tasks_new (PrioScheduler *scheduler, guint n_rows, guint limit, RowFunc func, gpointer user_data);
void row_tasks_free (RowTasks *self);
void row_tasks_post (RowTasks *self, guint row);
gboolean row_tasks_is_posted (RowTasks *self, guint row);
void row_tasks_done (RowTasks *self, guint row);
void row_tasks_abort (RowTasks *self, guint row);
void row_tasks_set_view (RowTasks *self, guint first, guint n_rows);
PrioTaskGroup *row_tasks_get_group (RowTasks *self);
