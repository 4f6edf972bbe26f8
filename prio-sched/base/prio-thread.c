/* prio-thread.c: what the library keeps per thread
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "base/prio-thread-private.h"

PRIO_TLS PrioThread prio_thread;
