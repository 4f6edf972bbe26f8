/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* functions.cpp: the native functions that the overrides call */

#include "functions.h"

#include <cstdlib>

#include <js/Array.h>
#include <js/CallAndConstruct.h>
#include <js/Object.h>
#include <js/Promise.h>
#include <js/PropertyAndElement.h>
#include <js/SavedFrameAPI.h>
#include <js/ValueArray.h>
#include <jsapi.h>
#include <jsfriendapi.h>

#include "fast.h"
#include "handle.h"
#include "table.h"

namespace PrioGjs {

/* Frees the engine when the object that owns it is collected. */
static void
finalize (JS::GCContext *, JSObject *object)
{
  delete JS::GetMaybePtrFromReservedSlot<Engine> (object, 0);
}

static constexpr JSClassOps engine_class_ops = { nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, finalize };
static constexpr JSClass engine_class = {
  "PrioSchedEngine", JSCLASS_HAS_RESERVED_SLOTS (1) | JSCLASS_FOREGROUND_FINALIZE, &engine_class_ops
};

/* Returns the engine of the called function, or NULL with an exception. */
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

/* Returns the table that is the first argument, or NULL with an exception. */
static Table *
get_table (JSContext *cx, const JS::CallArgs &args)
{
  Table *table = table_of (args.get (0));

  if (table != nullptr && table->engine != nullptr)
    return table;
  JS_ReportErrorUTF8 (cx, "This is not a table");
  return nullptr;
}

static JSObject *
to_object (JS::HandleValue value)
{
  return value.isObject () ? &value.toObject () : nullptr;
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

/* isPlain () → whether the running code is part of a task with a plain state, as far as the native part knows */
static bool
is_plain (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);

  if (engine == nullptr)
    return false;
  args.rval ().setBoolean (engine->is_plain ());
  return true;
}

/* setPlain (is): if a task of a table is running, records whether the running code is part of a task with a plain state from now
 * on */
static bool
set_plain (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);

  if (engine == nullptr)
    return false;
  args.rval ().setUndefined ();
  if (std::abs (engine->plain_depth) == g_main_depth ())
    engine->set_plain (args.get (0).isTrue ());
  return true;
}

/* runAs (state, callback): calls callback with state as the current state. */
static bool
run_as (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);

  if (engine == nullptr)
    return false;
  Scope scope (engine, args.get (0));
  return JS::Call (cx, JS::UndefinedHandleValue, args.get (1), JS::HandleValueArray::empty (), args.rval ());
}

/* drain (): runs the queued jobs, each with its state, if it has one. */
static bool
drain (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);

  if (engine == nullptr)
    return false;
  Scope scope (engine, JS::NullHandleValue);
  args.rval ().setUndefined ();
  js::RunJobs (cx);
  return true;
}

/* settle (promise, rejects, value): resolves or, if rejects, rejects the promise with value */
static bool
settle (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);
  JS::RootedObject promise (cx, to_object (args.get (0)));

  if (engine == nullptr)
    return false;
  args.rval ().setUndefined ();
  if (promise && JS::IsPromiseObject (promise))
    engine->settle (promise, args.get (1).isTrue (), args.get (2));
  return true;
}

/* isHandled (promise) → whether the promise has a handler, as far as SpiderMonkey knows */
static bool
is_handled (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  JS::RootedObject promise (cx, to_object (args.get (0)));

  args.rval ().setBoolean (!promise || !JS::IsPromiseObject (promise) || JS::GetPromiseIsHandled (promise));
  return true;
}

/* siteOf (promise) → a stack, as a string: the place of the task's function, if a running task has that promise, or where the
 * promise was made; empty if neither is known */
static bool
site_of (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  JS::RootedObject promise (cx, to_object (args.get (0))), site (cx);
  JS::RootedString text (cx, JS_GetEmptyString (cx));
  Engine *engine = engine_of (cx, args);
  g_autofree char *place = engine != nullptr ? engine_get_place (engine, promise) : nullptr;

  if (promise && JS::IsPromiseObject (promise))
    site = JS::GetPromiseAllocationSite (promise);
  if (place != nullptr)
    {
      g_autofree char *line = g_strconcat ("@", place, nullptr);

      text = JS_NewStringCopyUTF8Z (cx, JS::ConstUTF8CharsZ (line, strlen (line)));
    }
  else if (site && !JS::BuildStackString (cx, nullptr, site, &text))
    {
      return false;
    }
  if (!text)
    return false;
  args.rval ().setString (text);
  return true;
}

/* reportAfterTasks (): makes the native part call the hook REPORT after the running tasks, if a table runs them
 * drainAfterTask (): makes it call the hook DRAIN_UNDER before the running task's result settles, if a table runs it */
template <bool Engine::*flag>
static bool
set_flag (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);

  if (engine == nullptr)
    return false;
  args.rval ().setUndefined ();
  engine->*flag = true;
  return true;
}

/* setHooks ([functions]): sets the overrides' functions that the native part calls, in the order of Hook */
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

/* newTable ([states of tasks that have only a priority]) → the object for the table of the last new runner */
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

/* runTable (table, id): runs the task id and the tasks after it.  The overrides call this when the table's runner has called
 * them. */
static bool
run_table (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Table *table = engine_of (cx, args) != nullptr ? get_table (cx, args) : nullptr;

  if (table == nullptr)
    return false;
  args.rval ().setUndefined ();
  table->run (args.get (1).isInt32 () ? args[1].toInt32 () : 0);
  return true;
}

/* newHandle (state, priority, owner, current, record) → the handle of the signal that has been offered or, without one, of a new
 * controller's signal */
static bool
new_handle (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  JS::RootedObject state (cx, to_object (args.get (0)));
  JSObject *handle;

  if (engine_of (cx, args) == nullptr)
    return false;
  if (!state || !args.get (1).isInt32 () || !args.get (3).isInt32 ())
    {
      JS_ReportErrorUTF8 (cx, "A handle needs a state and priorities");
      return false;
    }
  handle = handle_new (cx, state, args[1].toInt32 (), args[2], args[3].toInt32 (), args.get (4));
  if (handle == nullptr)
    return false;
  args.rval ().setObject (*handle);
  return true;
}

/* Returns the controller of the handle that is the first argument, or NULL with an exception. */
static PrioTaskController *
get_controller (JSContext *cx, const JS::CallArgs &args)
{
  PrioTaskController *controller = is_handle (args.get (0)) ? handle_controller (&args[0].toObject ()) : nullptr;

  if (controller == nullptr)
    JS_ReportErrorUTF8 (cx, "There is no controller");
  args.rval ().setUndefined ();
  return controller;
}

/* abort (handle): aborts the handle's signal.  The handle must have its own controller. */
static bool
abort_controller (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  PrioTaskController *controller = get_controller (cx, args);

  if (controller == nullptr)
    return false;
  prio_task_controller_abort (controller, nullptr);
  return true;
}

/* setPriority (handle, priority): sets the priority of the handle's signal.  The handle must have its own controller. */
static bool
set_priority (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  PrioTaskController *controller = get_controller (cx, args);

  if (controller == nullptr)
    return false;
  prio_task_controller_set_priority (controller, (PrioTaskPriority) args.get (1).toInt32 (), nullptr);
  return true;
}

/* offerController (handle): keeps the handle's own controller, which it must have, until take_controller () returns it. */
static bool
offer_controller (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  PrioTaskController *controller = get_controller (cx, args);

  handle_offer_controller (controller);
  return controller != nullptr;
}

/* setRecord (handle, record): see handle_set_record () */
static bool
set_record (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);

  args.rval ().setUndefined ();
  if (is_handle (args.get (0)))
    handle_set_record (&args[0].toObject (), args.get (1));
  return true;
}

/* forgetHandle (): makes the next post with a signal ask the overrides for the signal's handle. */
static bool
forget_handle (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);

  if (engine == nullptr)
    return false;
  engine->last_binding = engine->last_signal = engine->last_handle = nullptr;
  args.rval ().setUndefined ();
  return true;
}

static bool
return_array (JSContext *cx, const JS::CallArgs &args, const JS::RootedValueVector &values)
{
  JSObject *array = JS::NewArrayObject (cx, values);

  if (array == nullptr)
    return false;
  args.rval ().setObject (*array);
  return true;
}

/* takeRejected (table) → the numbers, for takeTask (), of tasks that were rejected because their signals are aborted; or
 * undefined if there are none */
static bool
take_rejected (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Table *table = engine_of (cx, args) != nullptr ? get_table (cx, args) : nullptr;
  JS::RootedValueVector numbers (cx);
  g_autofree guint *ids = nullptr;
  gsize n = 0;

  if (table == nullptr)
    return false;
  args.rval ().setUndefined ();
  ids = table_take_rejected (table, &n);
  if (n == 0)
    return true;
  if (!numbers.reserve (n))
    return false;
  for (gsize i = 0; i < n; i++)
    numbers.infallibleAppend (JS::NumberValue (ids[i]));
  return return_array (cx, args, numbers);
}

/* takeTask (table, id) → [promise, state, owner, poster] of a task with a signal, or [] if there is no such task; frees the
 * number */
static bool
take_task (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Table *table = engine_of (cx, args) != nullptr ? get_table (cx, args) : nullptr;
  JS::RootedValueVector taken (cx);

  return table != nullptr && table_take (table, args.get (1).isInt32 () ? args[1].toInt32 () : 0, &taken) &&
         return_array (cx, args, taken);
}

/* getRunning (owner) → [promise, poster, …] of the running tasks that an abort of the owner's signal may reject: poster is the
 * state of the code that has posted the task */
static bool
get_running (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);
  JS::RootedValueVector taken (cx);

  return engine != nullptr && engine_get_running (engine, args.get (0), &taken) && return_array (cx, args, taken);
}

/* Returns the first argument, which is the number of a state.  If it is not a number, returns 0, which no state has. */
static double
number_in (const JS::CallArgs &args)
{
  return args.get (0).isNumber () ? args[0].toNumber () : 0;
}

/* setPending (number, state): adds the state of a task whose promise is pending to the map Engine::pending; or, if the state is
 * null, removes the number */
static bool
set_pending (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);
  double number = number_in (args);

  if (engine == nullptr)
    return false;
  args.rval ().setUndefined ();
  if (args.get (1).isObject ())
    engine->pending[number] = &args[1].toObject ();
  else
    engine->pending.erase (number);
  return true;
}

/* getPending (number) → the state with that number, or null if its task is not pending or the state has been
 * collected */
static bool
get_pending (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);

  if (engine == nullptr)
    return false;
  auto found = engine->pending.find (number_in (args));
  args.rval ().setObjectOrNull (found == engine->pending.end () ? nullptr : found->second.get ());
  return true;
}

/* countPending () → the number of pending states */
static bool
count_pending (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  Engine *engine = engine_of (cx, args);

  if (engine == nullptr)
    return false;
  args.rval ().setNumber ((double) engine->pending.size ());
  return true;
}

static const struct
{
  const char *name;
  JSNative native;
  unsigned n_args;
} functions[] = {
  { "state", state, 0 },
  { "isPlain", is_plain, 0 },
  { "setPlain", set_plain, 1 },
  { "runAs", run_as, 2 },
  { "drain", drain, 0 },
  { "settle", settle, 3 },
  { "isHandled", is_handled, 1 },
  { "siteOf", site_of, 1 },
  { "reportAfterTasks", set_flag<&Engine::reports>, 0 },
  { "drainAfterTask", set_flag<&Engine::drains>, 0 },
  { "setHooks", set_hooks, 1 },
  { "newTable", new_table, 1 },
  { "runTable", run_table, 2 },
  { "newHandle", new_handle, 5 },
  { "abort", abort_controller, 1 },
  { "setPriority", set_priority, 2 },
  { "offerController", offer_controller, 1 },
  { "setRecord", set_record, 2 },
  { "forgetHandle", forget_handle, 0 },
  { "takeRejected", take_rejected, 1 },
  { "takeTask", take_task, 2 },
  { "getRunning", get_running, 1 },
  { "setPending", set_pending, 2 },
  { "getPending", get_pending, 1 },
  { "countPending", count_pending, 0 },
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
