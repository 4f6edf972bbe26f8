/* prio-monitor-private.h: tells prio-sched-monitor what the schedulers of this process do
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

void prio_monitor_start_from_environment (void);
