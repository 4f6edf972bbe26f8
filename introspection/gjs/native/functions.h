/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* functions.h: the native functions that the overrides call */

#pragma once

#include "engine.h"

namespace PrioGjs {

/* Defines them in @target, which owns the engine from then on. */
bool functions_define (JSContext *cx, GjsContext *context, JS::HandleObject target);

} // namespace PrioGjs
