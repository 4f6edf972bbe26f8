/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fast.h: posting and yielding in one native function
 *
 * These functions make native functions that replace postTask () and yield () of the web's scheduler, and post_task () and
 * yield () of the library's.  The native functions handle only the common case, without a frame of JavaScript, because
 * SpiderMonkey walks the whole stack for each promise.  In all other cases they call the overrides' function that they
 * replace.
 */

#pragma once

#include <js/TypeDecls.h>

namespace PrioGjs {

/* fastPost (table, receiver, function, name, length, handleOf[, other, other]) → a function that posts callbacks with no
 * options, a priority or a signal, for that receiver, and passes all other calls to @function.  handleOf (signal) returns
 * the handle of a signal, or null for another value.  A callback whose prototype is one of the others, such as a generator
 * function, is passed to @function, too. */
bool fast_post_new (JSContext *cx, unsigned argc, JS::Value *vp);
/* fastYield (table, receiver, function, name, length) → a function that yields, with no options, for that receiver, and
 * passes all other calls to @function */
bool fast_yield_new (JSContext *cx, unsigned argc, JS::Value *vp);

} // namespace PrioGjs
