/* prio-error.c: the error domain
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "prio-error.h"

G_DEFINE_QUARK (prio-error-quark, prio_error)
