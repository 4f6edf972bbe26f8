/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-sched-gjs.h: C code that the overrides for GJS need, whatever the version of SpiderMonkey */

#pragma once

#include <prio-sched-bindings.h>

G_BEGIN_DECLS

#ifndef PRIO_SCHED_GJS_EXPORT
#define PRIO_SCHED_GJS_EXPORT extern
#endif

PRIO_SCHED_GJS_EXPORT
void        prio_sched_gjs_exit       (void);

PRIO_SCHED_GJS_EXPORT
void        prio_sched_gjs_follow     (PrioTaskSignal *signal,
                                       GObject        *follower);

PRIO_SCHED_GJS_EXPORT
gboolean    prio_sched_gjs_guard_jobs (GSource       *source,
                                       GObject       *prober);

PRIO_SCHED_GJS_EXPORT
gboolean    prio_sched_gjs_has_reason (gint           code);

PRIO_SCHED_GJS_EXPORT
GError     *prio_sched_gjs_new_reason (PrioTaskSignal *signal,
                                       const char    *message);

PRIO_SCHED_GJS_EXPORT
PrioTaskSignal *prio_sched_gjs_ref_aborted (gint      code);

PRIO_SCHED_GJS_EXPORT
PrioRunner *prio_sched_gjs_new_runner (PrioScheduler *scheduler,
                                       GObject       *driver);

G_END_DECLS
