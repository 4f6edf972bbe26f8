/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-unrun-private.h: with PRIO_SCHED_DEBUG=1, a program that ends without a main loop says how many tasks never ran */

#pragma once

void prio_unrun_watch_from_environment (void); /* called once, when the library is loaded */
