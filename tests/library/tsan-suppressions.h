/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* This file is for tests whose threads connect handlers and drop signals at the same time, or are GLib's threads. */

#pragma once

#if defined (__SANITIZE_THREAD__)
/* GLib grows its arrays of handlers, and passes work to its pool of threads, under its own locks, which ThreadSanitizer
 * does not see. */
const char *__tsan_default_suppressions (void);

const char *
__tsan_default_suppressions (void)
{
  return "race:g_realloc\nrace:g_slice_free1\nrace:g_queue_pop_tail\n";
}
#endif
