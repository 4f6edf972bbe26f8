/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fast.h: posting and yielding in one native function
 *
 * The postTask () and yield () of the web's interface and of the scheduler are made with these functions.  They handle
 * only the common case, without a frame of JavaScript: the engine walks the whole stack for each promise.  For all
 * other cases they call the overrides' function that they replace.
 */

#pragma once

#include <js/TypeDecls.h>

namespace PrioGjs {

/* fastPost (table, receiver, function, name, length, handleOf[, other, other]) → a function that posts callbacks with no options, a
 * priority or a signal, for that receiver.  handleOf (signal) returns the handle of a signal, or null for another value.  A callback
 * whose prototype is one of the others, such as a generator function, goes to @function. */
bool fast_post_new (JSContext *cx, unsigned argc, JS::Value *vp);
/* fastYield (table, receiver, function, name, length) → a function that yields, with no options, for that receiver */
bool fast_yield_new (JSContext *cx, unsigned argc, JS::Value *vp);

} // namespace PrioGjs
