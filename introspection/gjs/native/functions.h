/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* functions.h: the native functions that the overrides call */

#pragma once

#include "engine.h"

namespace PrioGjs {

/* Defines the functions in @target, which then owns the engine. */
bool functions_define (JSContext *cx, GjsContext *context, JS::HandleObject target);

} // namespace PrioGjs
