/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tsan-suppressions.h: reports of ThreadSanitizer that concern GLib alone
 *
 * For a test whose threads connect handlers and drop signals at the same time, or are GLib's.
 */

#pragma once

#if defined (__SANITIZE_THREAD__)
/* GLib's arrays of handlers grow, and its pool of threads hands over, under locks of its own, which are not seen. */
const char *__tsan_default_suppressions (void);

const char *
__tsan_default_suppressions (void)
{
  return "race:g_realloc\nrace:g_slice_free1\nrace:g_queue_pop_tail\n";
}
#endif
