/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-timeout-private.h: signals that are aborted after a delay */

#pragma once

#include "signal/prio-handle-private.h"

void prio_handle_start_timer (PrioHandle *handle, guint64 delay);
void prio_handle_stop_timer (PrioHandle *handle);
