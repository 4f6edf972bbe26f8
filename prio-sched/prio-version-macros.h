/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-version-macros.h: marks public symbols with the version that added them */

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
 * PRIO_VERSION_1_0: (skip)
 *
 * The version 1.0, for %PRIO_VERSION_MIN_REQUIRED and %PRIO_VERSION_MAX_ALLOWED.
 *
 * Since: 1.0
 */
#define PRIO_VERSION_1_0 (G_ENCODE_VERSION (1, 0))

/**
 * PRIO_VERSION_MIN_REQUIRED: (skip)
 *
 * The oldest version that the program can be built with.  Define the macro before the header is included, as
 * %PRIO_VERSION_1_0 or a later version.  The compiler then warns about functions that were deprecated in this version
 * or earlier.  By default, this is the version of the headers.
 *
 * Since: 1.0
 */
#ifndef PRIO_VERSION_MIN_REQUIRED
#define PRIO_VERSION_MIN_REQUIRED (G_ENCODE_VERSION (PRIO_MAJOR_VERSION, PRIO_MINOR_VERSION))
#endif

/**
 * PRIO_VERSION_MAX_ALLOWED: (skip)
 *
 * The newest version whose functions the program uses.  If you define the macro before the header is included, the
 * compiler warns about functions that were added later.  By default, this is the version of the headers.
 *
 * Since: 1.0
 */
#ifndef PRIO_VERSION_MAX_ALLOWED
#define PRIO_VERSION_MAX_ALLOWED (G_ENCODE_VERSION (PRIO_MAJOR_VERSION, PRIO_MINOR_VERSION))
#endif

#if PRIO_VERSION_MIN_REQUIRED < PRIO_VERSION_1_0
#error "PRIO_VERSION_MIN_REQUIRED must be PRIO_VERSION_1_0 or later"
#endif
#if PRIO_VERSION_MAX_ALLOWED < PRIO_VERSION_MIN_REQUIRED
#error "PRIO_VERSION_MAX_ALLOWED must be PRIO_VERSION_MIN_REQUIRED or later"
#endif

#define PRIO_AVAILABLE_IN_ALL _PRIO_EXTERN

