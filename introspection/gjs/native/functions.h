/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* functions.h: the native functions that the overrides call */

#pragma once

#include "engine.h"

namespace PrioGjs {

/* Makes the engine of @cx, and defines the functions, which own the engine, as properties of @target.  Returns FALSE
 * with an exception if this fails. */
bool functions_define (JSContext *cx, GjsContext *context, JS::HandleObject target);

} // namespace PrioGjs
