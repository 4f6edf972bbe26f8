/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-loop-source-private.h: the library's GSources in a context */

#pragma once

#include "loop/prio-loop-private.h"

void prio_loop_attach (PrioLoop *loop);
