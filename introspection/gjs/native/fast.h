/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fast.h: posting and yielding in one native function
 *
 * The web's and the scheduler's own postTask () and yield () are made of these.  Only the common case is done
 * in them, with no frame of JavaScript: the engine looks at the whole stack for each promise.  Everything else
 * is left to the function of the overrides that they stand before.
 */

#pragma once

#include <js/TypeDecls.h>

namespace PrioGjs {

/* fastPost (table, receiver, function, name, length, handleOf[, other, other]) → a function that posts callbacks with no options,
 * a priority or a signal, for that receiver.  handleOf (signal) gives the handle of one, or null for anything else.  A callback that
 * inherits directly from one of the others, as generator functions do from one object, is left to @function. */
bool fast_post_new (JSContext *cx, unsigned argc, JS::Value *vp);
/* fastYield (table, receiver, function, name, length) */
bool fast_yield_new (JSContext *cx, unsigned argc, JS::Value *vp);

} // namespace PrioGjs
