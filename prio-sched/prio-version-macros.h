/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-version-macros.h: which symbols are public, and since when */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched.h> can be included directly."
#endif

#include <glib.h>

#include "prio-version.h"

#ifndef _PRIO_EXTERN
#define _PRIO_EXTERN extern
#endif

/**
 * PRIO_CHECK_VERSION:
 * @major: the required major version
 * @minor: the required minor version
 * @micro: the required micro version
 *
 * Checks whether the headers that the program is compiled with are of this version or a later one.
 *
 * Since: 1.0
 */
#define PRIO_CHECK_VERSION(major, minor, micro) \
  (PRIO_MAJOR_VERSION > (major) || \
   (PRIO_MAJOR_VERSION == (major) && PRIO_MINOR_VERSION > (minor)) || \
   (PRIO_MAJOR_VERSION == (major) && PRIO_MINOR_VERSION == (minor) && PRIO_MICRO_VERSION >= (micro)))

/**
 * PRIO_SCHED_VERSION_1_0: (skip)
 *
 * The version 1.0, for %PRIO_SCHED_VERSION_MIN_REQUIRED and %PRIO_SCHED_VERSION_MAX_ALLOWED.
 *
 * Since: 1.0
 */
#define PRIO_SCHED_VERSION_1_0 (G_ENCODE_VERSION (1, 0))

/**
 * PRIO_SCHED_VERSION_MIN_REQUIRED: (skip)
 *
 * The oldest version that the program is to be built with.  Define it before the header is included, as %PRIO_SCHED_VERSION_1_0 or a
 * later one: the compiler warns about functions that were deprecated in this version or before.  If it is not defined,
 * it is the version of the headers.
 *
 * Since: 1.0
 */
#ifndef PRIO_SCHED_VERSION_MIN_REQUIRED
#define PRIO_SCHED_VERSION_MIN_REQUIRED (G_ENCODE_VERSION (PRIO_MAJOR_VERSION, PRIO_MINOR_VERSION))
#endif

/**
 * PRIO_SCHED_VERSION_MAX_ALLOWED: (skip)
 *
 * The newest version whose functions the program uses.  Define it before the header is included: the compiler warns
 * about functions that were added later.  If it is not defined, it is the version of the headers.
 *
 * Since: 1.0
 */
#ifndef PRIO_SCHED_VERSION_MAX_ALLOWED
#define PRIO_SCHED_VERSION_MAX_ALLOWED (G_ENCODE_VERSION (PRIO_MAJOR_VERSION, PRIO_MINOR_VERSION))
#endif

#if PRIO_SCHED_VERSION_MIN_REQUIRED < PRIO_SCHED_VERSION_1_0
#error "PRIO_SCHED_VERSION_MIN_REQUIRED must be PRIO_SCHED_VERSION_1_0 or later"
#endif
#if PRIO_SCHED_VERSION_MAX_ALLOWED < PRIO_SCHED_VERSION_MIN_REQUIRED
#error "PRIO_SCHED_VERSION_MAX_ALLOWED must be PRIO_SCHED_VERSION_MIN_REQUIRED or later"
#endif

#define PRIO_DEPRECATED G_DEPRECATED _PRIO_EXTERN
#define PRIO_DEPRECATED_FOR(function) G_DEPRECATED_FOR (function) _PRIO_EXTERN
#define PRIO_UNAVAILABLE(major, minor) G_UNAVAILABLE (major, minor) _PRIO_EXTERN

/* Functions of 1.0 are available in all versions.  Each later version that adds or deprecates a function has three of
 * these: PRIO_AVAILABLE_IN_, PRIO_DEPRECATED_IN_ and PRIO_DEPRECATED_IN_…_FOR. */
#define PRIO_AVAILABLE_IN_ALL _PRIO_EXTERN
#if PRIO_SCHED_VERSION_MIN_REQUIRED >= PRIO_SCHED_VERSION_1_0
#define PRIO_DEPRECATED_IN_1_0 PRIO_DEPRECATED
#define PRIO_DEPRECATED_IN_1_0_FOR(function) PRIO_DEPRECATED_FOR (function)
#else
#define PRIO_DEPRECATED_IN_1_0 _PRIO_EXTERN
#define PRIO_DEPRECATED_IN_1_0_FOR(function) _PRIO_EXTERN
#endif
