/* prio-version-macros.h: which symbols are public, and since when
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

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
 * Whether the headers that the program is compiled with are of this version or a later one.
 *
 * Since: 1.0
 */
#define PRIO_CHECK_VERSION(major, minor, micro) \
  (PRIO_MAJOR_VERSION > (major) || \
   (PRIO_MAJOR_VERSION == (major) && PRIO_MINOR_VERSION > (minor)) || \
   (PRIO_MAJOR_VERSION == (major) && PRIO_MINOR_VERSION == (minor) && PRIO_MICRO_VERSION >= (micro)))

#define PRIO_AVAILABLE_IN_ALL _PRIO_EXTERN
#define PRIO_AVAILABLE_IN_1_0 _PRIO_EXTERN
