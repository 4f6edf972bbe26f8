/* fast.cpp: posting and yielding in one native function
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "fast.h"

#include <js/CallAndConstruct.h>
#include <js/Object.h>
#include <js/Promise.h>
#include <js/ValueArray.h>
#include <js/Conversions.h>
#include <jsapi.h>
#include <jsfriendapi.h>

#include "table.h"

namespace PrioGjs {

/* What such a function knows. */
enum { TABLE, RECEIVER, FUNCTION, OTHERS, N_SLOTS = OTHERS + 2 };

static constexpr JSClass binding_class = { "PrioSchedBinding", JSCLASS_HAS_RESERVED_SLOTS (N_SLOTS) };

static JSObject *
binding_of (const JS::CallArgs &args)
{
  return &js::GetFunctionNativeReserved (&args.callee (), 0).toObject ();
}

/* The table's object if it is called for its receiver, with no options at @n_args, and there is a context; or NULL. */
static JSObject *
table_for_call (const JS::CallArgs &args, unsigned n_args)
{
  JSObject *binding = binding_of (args);
  const JS::Value &object = JS::GetReservedSlot (binding, TABLE);
  Table *table = table_of (object);

  if (args.thisv ().get () != JS::GetReservedSlot (binding, RECEIVER) || !args.get (n_args).isUndefined () ||
      table == nullptr || table->engine == nullptr)
    return nullptr;
  return &object.toObject ();
}

/* Whether the function itself has to see @callback, by what that inherits from.  This may call a proxy's handler. */
static bool
is_other (JSContext *cx, const JS::CallArgs &args, JS::HandleObject callback, bool *result)
{
  JS::RootedObject from (cx);

  *result = false;
  if (JS::GetReservedSlot (binding_of (args), OTHERS).isUndefined ())
    return true;
  if (!JS_GetPrototype (cx, callback, &from))
    return false;
  for (unsigned i = OTHERS; from && i < N_SLOTS; i++)
    *result |= JS::GetReservedSlot (binding_of (args), i) == JS::ObjectValue (*from);
  return true;
}

static bool
call_function (JSContext *cx, const JS::CallArgs &args)
{
  JS::RootedValue function (cx, JS::GetReservedSlot (binding_of (args), FUNCTION));
  JS::RootedValue self (cx, args.thisv ());

  return JS::Call (cx, self, function, JS::HandleValueArray (args), args.rval ());
}

static bool
fast_post (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  JS::RootedObject object (cx), promise (cx), callback (cx);
  bool other;

  if (!args.get (0).isObject () || !JS::IsCallable (&args[0].toObject ()))
    return call_function (cx, args);
  callback = &args[0].toObject ();
  if (!is_other (cx, args, callback, &other))
    return false;
  object = other ? nullptr : table_for_call (args, 1);
  if (!object || !table_may_post (table_of (JS::ObjectValue (*object))->engine))
    return call_function (cx, args);

  promise = JS::NewPromiseObject (cx, nullptr);
  if (!promise)
    return false;
  args.rval ().setObject (*promise);
  table_post (object, callback, promise, PRIO_TASK_PRIORITY_USER_VISIBLE);
  return true;
}

static bool
fast_yield (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  JS::RootedObject object (cx, table_for_call (args, 0)), promise (cx);
  guint priority = object ? table_priority_here (object) : 0;

  if (priority == 0)
    return call_function (cx, args);

  promise = JS::NewPromiseObject (cx, nullptr);
  if (!promise)
    return false;
  args.rval ().setObject (*promise);
  table_post (object, nullptr, promise, priority);
  return true;
}

static bool
make (JSContext *cx, unsigned argc, JS::Value *vp, JSNative native)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  JS::RootedObject binding (cx, JS_NewObject (cx, &binding_class)), function (cx);
  JS::RootedString name (cx);
  JS::UniqueChars text;
  JSFunction *made;

  if (!args.requireAtLeast (cx, "fastPost", 5) || !binding)
    return false;
  for (unsigned i = TABLE; i < OTHERS; i++)
    JS::SetReservedSlot (binding, i, args[i]);
  for (unsigned i = OTHERS; i < N_SLOTS; i++)
    JS::SetReservedSlot (binding, i, args.get (i + 2));
  name = JS::ToString (cx, args[3]);
  text = name ? JS_EncodeStringToUTF8 (cx, name) : nullptr;
  made = text ? js::NewFunctionWithReserved (cx, native, args[4].toInt32 (), 0, text.get ()) : nullptr;
  if (made == nullptr)
    return false;
  function = JS_GetFunctionObject (made);
  js::SetFunctionNativeReserved (function, 0, JS::ObjectValue (*binding));
  args.rval ().setObject (*function);
  return true;
}

bool
fast_post_new (JSContext *cx, unsigned argc, JS::Value *vp)
{
  return make (cx, argc, vp, fast_post);
}

bool
fast_yield_new (JSContext *cx, unsigned argc, JS::Value *vp)
{
  return make (cx, argc, vp, fast_yield);
}

} // namespace PrioGjs
