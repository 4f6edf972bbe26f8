/* tsan-suppressions.h: reports of ThreadSanitizer that concern GLib alone
 *
 * For a test whose threads connect handlers and drop signals at the same time.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if defined (__SANITIZE_THREAD__)
/* GLib's arrays of handlers grow under a lock of its own, which is not seen. */
const char *__tsan_default_suppressions (void);

const char *
__tsan_default_suppressions (void)
{
  return "race:g_realloc";
}
#endif
