/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-sysprof-private.h: marks for Sysprof */

#pragma once

#include "config.h"

#ifdef HAVE_SYSPROF
void prio_sysprof_start (void);
#else
static inline void
prio_sysprof_start (void)
{
}
#endif
