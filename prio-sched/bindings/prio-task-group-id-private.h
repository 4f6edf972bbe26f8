/* prio-task-group-id-private.h: which task of a runner a task of a group stands for
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "prio-task-group-id.h"

guint prio_runner_id_of_task (PrioRunner *runner, PrioTask *task);
