/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-unrun-private.h: with PRIO_SCHED_DEBUG=1, warns about tasks that never ran in a program without a main loop */

#pragma once

void prio_unrun_watch_from_environment (void); /* called once, when the library is loaded */
