/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-loop-source-private.h: the GSources of a context */

#pragma once

#include "loop/prio-loop-private.h"

extern PrioLock prio_sources_lock G_GNUC_INTERNAL;

void prio_loop_attach (PrioLoop *loop);
