/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-util-private.h: checks whether an argument is a signal, another cancellable, or NULL */

#pragma once

#include "base/prio-check-private.h"
#include "signal/prio-signal-node-private.h"

/* Returns whether @signal is NULL or a GCancellable.  First checks for a PrioTaskSignal, which needs no call. */
#define PRIO_IS_SIGNAL_OR_NULL(signal) \
  ((signal) == NULL || prio_signal_node_is_embedded (signal) || G_IS_CANCELLABLE (signal))
