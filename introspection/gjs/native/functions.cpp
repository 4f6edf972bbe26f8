/* functions.cpp: the native functions that the overrides call
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "functions.h"

#include <js/Array.h>
#include <js/CallAndConstruct.h>
#include <js/Object.h>
#include <js/PropertyAndElement.h>
#include <js/ValueArray.h>
#include <jsapi.h>
#include <jsfriendapi.h>

#include "fast.h"
#include "table.h"

namespace PrioGjs {

/* The object that owns the engine. */
static void
finalize (JS::GCContext *, JSObject *object)
{
  delete JS::GetMaybePtrFromReservedSlot<Engine> (object, 0);
}

static constexpr JSClassOps engine_class_ops = { nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, finalize };
static constexpr JSClass engine_class = {
  "PrioSchedEngine", JSCLASS_HAS_RESERVED_SLOTS (1) | JSCLASS_FOREGROUND_FINALIZE, &engine_class_ops
};

/* The engine of the function that is called, or NULL with an exception. */
static Engine *
engine_of (JSContext *cx, const JS::CallArgs &args)
{
  JSObject *object = &js::GetFunctionNativeReserved (&args.callee (), 0).toObject ();
  Engine *engine = JS::GetMaybePtrFromReservedSlot<Engine> (object, 0);

  if (engine != nullptr && engine->cx != nullptr)
    return engine;
  JS_ReportErrorUTF8 (cx, "The context has gone");
  return nullptr;
}

/* The table that is given first, or NULL with an exception. */
static Table *
get_table (JSContext *cx, const JS::CallArgs &args, JS::MutableHandleObject object)
{
  Table *table = table_of (args.get (0));

  if (table != nullptr && table->engine != nullptr)
    {
      object.set (&args[0].toObject ());
      return table;
    }
  JS_ReportErrorUTF8 (cx, "This is no table");
  return nullptr;
}

static JSObject *
to_object (JS::HandleValue value)
{
  return value.isObject () ? &value.toObject () : nullptr;
}

/* keep (resolve, reject): the executor of every promise that the overrides make. */
static bool
keep (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);

  if (engine == nullptr)
    return false;
  engine->last.promise = to_object (args.get (0));
  engine->last.reject = to_object (args.get (1));
  args.rval ().setUndefined ();
  return true;
}

/* What settles the last promise. */
struct Last
{
  JS::RootedObject resolve, reject;

  Last (JSContext *cx, Engine *engine) : resolve (cx, engine->last.promise), reject (cx, engine->last.reject)
  {
    engine->last.promise = engine->last.reject = nullptr;
  }
};

/* lastReject () → the function that rejects the last promise */
static bool
last_reject (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);

  if (engine == nullptr)
    return false;
  args.rval ().setObjectOrNull (engine->last.reject);
  return true;
}

/* state () → the current state, null or undefined */
static bool
state (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);

  if (engine == nullptr)
    return false;
  args.rval ().set (engine->state ());
  return true;
}

/* runAs (state, callback): calls it while that state is current. */
static bool
run_as (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);

  if (engine == nullptr)
    return false;
  Scope scope (engine, args.get (0));
  engine->library = JS::NullValue ();
  return JS::Call (cx, JS::UndefinedHandleValue, args.get (1), JS::HandleValueArray::empty (), args.rval ());
}

/* drain (): runs the jobs that are queued, and settles what waits for that. */
static bool
drain (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);

  if (engine == nullptr)
    return false;
  args.rval ().setUndefined ();
  engine->drain ();
  return true;
}

/* settle (promise or resolve, reject, rejects, value, outer): settles a promise for code with the state outer. */
static bool
settle (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);

  if (engine == nullptr)
    return false;
  JS::RootedObject promise (cx, to_object (args.get (0))), reject (cx, to_object (args.get (1)));
  args.rval ().setUndefined ();
  engine->settle_later (promise, reject, args.get (2).isTrue (), args.get (3), args.get (4));
  return true;
}

/* takeRejected (): rejects the promises of aborted tasks, of all schedulers. */
static bool
take_rejected (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);

  if (engine == nullptr)
    return false;
  args.rval ().setUndefined ();
  for (size_t i = 0; i < engine->tables.size (); i++)
    engine->tables[i]->take_rejected ();
  return true;
}

/* setHooks ([functions]) */
static bool
set_hooks (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);
  JS::RootedObject array (cx, to_object (args.get (0)));
  JS::RootedValue function (cx);

  if (engine == nullptr)
    return false;
  args.rval ().setUndefined ();
  for (uint32_t i = 0; array && i < (uint32_t) Hook::N_HOOKS; i++)
    {
      if (!JS_GetElement (cx, array, i, &function))
        return false;
      engine->hooks[i] = to_object (function);
    }
  return true;
}

/* newTable ([states of its plain tasks]) → the object for the table of the runner that has been made */
static bool
new_table (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);
  JS::RootedObject states (cx, to_object (args.get (0))), object (cx);

  if (engine == nullptr)
    return false;
  object = table_object_new (cx, engine, states);
  if (!object)
    return false;
  args.rval ().setObject (*object);
  return true;
}

/* setOwn (table): the table that carries what is the overrides' own */
static bool
set_own (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);
  JS::RootedObject object (cx);
  Table *table = engine != nullptr ? get_table (cx, args, &object) : nullptr;

  if (table == nullptr)
    return false;
  engine->own_table = table;
  args.rval ().setUndefined ();
  return true;
}

/* wake (table): posts a task that has no effect but to drain the queue of jobs → whether there is a context for it */
static bool
wake (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  JS::RootedObject object (cx);
  Table *table = engine_of (cx, args) != nullptr ? get_table (cx, args, &object) : nullptr;

  if (table == nullptr)
    return false;
  args.rval ().setBoolean (table->wake ());
  return true;
}

/* post (table, callback, priority): a task that settles the last promise */
static bool
post (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);
  JS::RootedObject object (cx);

  if (engine == nullptr || get_table (cx, args, &object) == nullptr)
    return false;
  Last last (cx, engine);
  JS::RootedObject callback (cx, to_object (args.get (1)));
  args.rval ().setUndefined ();
  return table_post (cx, object, callback, last.resolve, last.reject, args.get (2).toInt32 ());
}

/* yield (table): a continuation that resolves the last promise */
static bool
yield (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);
  JS::RootedObject object (cx);

  if (engine == nullptr || get_table (cx, args, &object) == nullptr)
    return false;
  Last last (cx, engine);
  args.rval ().setUndefined ();
  return table_yield (cx, object, last.resolve, last.reject);
}

/* add (table, callback or null, state, watched) → the number of a task that settles the last promise, and is to be posted */
static bool
add (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);
  JS::RootedObject object (cx);
  Table *table = engine != nullptr ? get_table (cx, args, &object) : nullptr;
  guint id;

  if (table == nullptr)
    return false;
  Last last (cx, engine);
  JS::RootedObject callback (cx, to_object (args.get (1)));
  id = table->add (callback, last.resolve, last.reject);
  table->entries[id].state = args.get (2);
  table->entries[id].watched = args.get (3).isTrue ();
  args.rval ().setNumber (id);
  return true;
}

/* setState (table, id, state) */
static bool
set_state (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  JS::RootedObject object (cx);
  Table *table = engine_of (cx, args) != nullptr ? get_table (cx, args, &object) : nullptr;
  size_t id = args.get (1).isInt32 () ? args[1].toInt32 () : 0;

  if (table == nullptr)
    return false;
  if (id > 0 && id < table->entries.size ())
    table->entries[id].state = args.get (2);
  args.rval ().setUndefined ();
  return true;
}

/* enter (table, id, posted): after it has been posted */
static bool
enter (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  JS::RootedObject object (cx);
  Table *table = engine_of (cx, args) != nullptr ? get_table (cx, args, &object) : nullptr;
  size_t id = args.get (1).isInt32 () ? args[1].toInt32 () : 0;

  if (table == nullptr)
    return false;
  args.rval ().setUndefined ();
  return id == 0 || id >= table->entries.size () || table_enter (cx, table, id, args.get (2).toInt32 ());
}

static const struct
{
  const char *name;
  JSNative native;
  unsigned n_args;
} functions[] = {
  { "keep", keep, 2 },
  { "lastReject", last_reject, 0 },
  { "state", state, 0 },
  { "runAs", run_as, 2 },
  { "drain", drain, 0 },
  { "settle", settle, 5 },
  { "takeRejected", take_rejected, 0 },
  { "setHooks", set_hooks, 1 },
  { "newTable", new_table, 1 },
  { "setOwn", set_own, 1 },
  { "wake", wake, 1 },
  { "post", post, 3 },
  { "yield", yield, 1 },
  { "add", add, 4 },
  { "setState", set_state, 3 },
  { "enter", enter, 3 },
  { "fastPost", fast_post_new, 5 },
  { "fastYield", fast_yield_new, 5 },
};

static bool
define (JSContext *cx, JS::HandleObject target, JS::HandleObject owner, const char *name, JSNative native, unsigned n_args)
{
  JSFunction *made = js::NewFunctionWithReserved (cx, native, n_args, 0, name);

  if (made == nullptr)
    return false;
  JS::RootedObject function (cx, JS_GetFunctionObject (made));
  js::SetFunctionNativeReserved (function, 0, JS::ObjectValue (*owner));
  return JS_DefineProperty (cx, target, name, function, JSPROP_ENUMERATE);
}

bool
functions_define (JSContext *cx, GjsContext *context, JS::HandleObject target)
{
  JS::RootedObject owner (cx, JS_NewObject (cx, &engine_class));

  if (!owner)
    return false;
  JS::SetReservedSlot (owner, 0, JS::PrivateValue (new Engine (cx, context)));
  for (const auto &function : functions)
    {
      if (!define (cx, target, owner, function.name, function.native, function.n_args))
        return false;
    }
  return true;
}

} // namespace PrioGjs
