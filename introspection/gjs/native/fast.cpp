/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fast.cpp: posts and yields in one native function */

#include "fast.h"

#include <js/CallAndConstruct.h>
#include <js/Object.h>
#include <js/Promise.h>
#include <js/PropertyAndElement.h>
#include <js/PropertyDescriptor.h>
#include <js/Realm.h>
#include <js/ValueArray.h>
#include <js/Conversions.h>
#include <jsapi.h>
#include <jsfriendapi.h>

#include <algorithm>

#include "handle.h"
#include "table.h"

namespace PrioGjs {

/* The slots of such a function. */
enum { TABLE, RECEIVER, FUNCTION, HANDLE_OF, OTHERS, N_SLOTS = OTHERS + 2 };

static constexpr JSClass binding_class = { "PrioSchedBinding", JSCLASS_HAS_RESERVED_SLOTS (N_SLOTS) };

static JSObject *
binding_of (const JS::CallArgs &args)
{
  return &js::GetFunctionNativeReserved (&args.callee (), 0).toObject ();
}

/* Returns the table's object if the function is called on its receiver, and there is a context; or NULL. */
static JSObject *
table_for_call (const JS::CallArgs &args)
{
  JSObject *binding = binding_of (args);
  const JS::Value &object = JS::GetReservedSlot (binding, TABLE);
  Table *table = table_of (object);

  if (args.thisv ().get () != JS::GetReservedSlot (binding, RECEIVER) || table == nullptr || table->engine == nullptr)
    return nullptr;
  return &object.toObject ();
}

/* Returns whether the function is the web's, which calls generator functions, and ignores options that it does not know. */
static bool
is_webs (const JS::CallArgs &args)
{
  return JS::GetReservedSlot (binding_of (args), OTHERS).isUndefined ();
}

/* Returns whether the prototype of @callback says that the overrides' function has to handle it.  This may call a
 * proxy's handler. */
static bool
is_other (JSContext *cx, const JS::CallArgs &args, JS::HandleObject callback, bool *result)
{
  JS::RootedObject from (cx);

  *result = false;
  if (is_webs (args))
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

/* The names of options and, from FIRST_NICK on, the nicks of priorities; and names that the overrides use. */
enum { PRIORITY, SIGNAL, DELAY, NAME, TIMEOUT, TAKES_TURNS, FIRST_NICK, KEEPER = FIRST_NICK + PRIO_TASK_PRIORITY_USER_BLOCKING, N_PENDING, N_WORDS };

static bool
find_words (Engine *engine)
{
  static const char *const texts[N_WORDS] = {
    "priority", "signal", "delay", "name", "timeout", "takesTurns", "background", "user-visible", "user-blocking",
    "keeper", "nPending"
  };

  while (engine->words.size () < N_WORDS)
    {
      JSString *word = JS_AtomizeAndPinString (engine->cx, texts[engine->words.size ()]);

      if (word == nullptr)
        return false;
      engine->words.push_back (word);
    }
  return true;
}

/* Returns the number of a priority's nick, which is mostly a literal, or 0. */
static guint
priority_of (Engine *engine, JS::HandleValue value)
{
  JSString **nicks = &engine->words[FIRST_NICK];

  for (int i = 0; value.isString () && i < PRIO_TASK_PRIORITY_USER_BLOCKING; i++)
    {
      if (value.toString () == nicks[i])
        return i + PRIO_TASK_PRIORITY_BACKGROUND;
    }
  for (int i = 0; value.isString () && i < PRIO_TASK_PRIORITY_USER_BLOCKING; i++)
    {
      JS::RootedString string (engine->cx, value.toString ()), nick (engine->cx, nicks[i]);
      int32_t order = 1;

      if (JS_CompareStrings (engine->cx, string, nick, &order) && order == 0)
        return i + PRIO_TASK_PRIORITY_BACKGROUND;
    }
  return 0;
}

/* Gets a member that @options has or inherits, if that is possible without calling any function; or undefined. */
static bool
get_member (Engine *engine, JS::HandleObject options, int name, JS::MutableHandleValue value)
{
  JSContext *cx = engine->cx;
  JS::Rooted<mozilla::Maybe<JS::PropertyDescriptor>> descriptor (cx);
  JS::RootedObject holder (cx);
  JS::RootedId id (cx, JS::PropertyKey::fromPinnedString (engine->words[name]));

  value.setUndefined ();
  if (!JS_GetPropertyDescriptorById (cx, options, id, &descriptor, &holder))
    return false;
  if (descriptor.isSome () && descriptor->isDataDescriptor ())
    value.set (descriptor->value ());
  return descriptor.isNothing () || descriptor->isDataDescriptor ();
}

/* Returns whether @options is a plain object: reading it has no side effect. */
static bool
is_literal (JSContext *cx, JS::HandleObject options)
{
  JS::RootedObject prototype (cx, JS::GetRealmObjectPrototype (cx)), from (cx);

  return prototype && JS::GetClass (options) == JS::GetClass (prototype) && JS_GetPrototype (cx, options, &from) && from == prototype;
}

/* Returns whether @options has only members whose names are names of options.  The overrides check others. */
static bool
knows_names (Engine *engine, JS::HandleObject options)
{
  JS::Rooted<JS::IdVector> ids (engine->cx, JS::IdVector (engine->cx));
  auto *words = &engine->words[0];

  if (!JS_Enumerate (engine->cx, options, &ids))
    return false;
  for (const jsid &id : ids)
    {
      if (!id.isString () || std::find (words, words + FIRST_NICK, id.toString ()) == words + FIRST_NICK)
        return false;
    }
  return true;
}

/* Returns whether the native part may keep tasks with @handle: its signal is not aborted, and the overrides keep no task of it. */
static bool
may_keep (Engine *engine, JSObject *handle)
{
  JS::RootedId n_pending (engine->cx, JS::PropertyKey::fromPinnedString (engine->words[N_PENDING]));

  return !g_cancellable_is_cancelled (handle_signal (handle)) && handle_is_alone (engine->cx, handle, n_pending);
}

/* Returns the handle of @signal, which the overrides find, or NULL.  Most posts have the same signal as the last
 * one. */
static JSObject *
find_handle (Engine *engine, const JS::CallArgs &args, JS::HandleValue signal)
{
  JS::RootedValue handle_of (engine->cx, JS::GetReservedSlot (binding_of (args), HANDLE_OF)), found (engine->cx);

  if (engine->last_signal.unbarrieredGet () == &signal.toObject () && engine->last_binding.unbarrieredGet () == binding_of (args))
    return engine->last_handle;
  if (!handle_of.isObject () ||
      !JS::Call (engine->cx, JS::UndefinedHandleValue, handle_of, JS::HandleValueArray (signal), &found) || !is_handle (found))
    return nullptr;
  engine->last_binding = binding_of (args);
  engine->last_signal = &signal.toObject ();
  engine->last_handle = &found.toObject ();
  return engine->last_handle;
}

/* The target of a post: a priority, or the handle of a signal. */
struct Options
{
  guint priority = 0;
  JS::RootedObject handle;

  explicit Options (JSContext *cx) : handle (cx) {}
};

/* Reads the options at @n_args.  Returns false if the overrides' function has to handle them. */
static bool
read_options (Engine *engine, const JS::CallArgs &args, unsigned n_args, Options *read)
{
  JSContext *cx = engine->cx;
  JS::RootedObject options (cx, args.get (n_args).isObject () ? &args[n_args].toObject () : nullptr);
  JS::RootedValue priority (cx), signal (cx), other (cx);

  read->priority = PRIO_TASK_PRIORITY_USER_VISIBLE;
  if (args.get (n_args).isUndefined ())
    return true;
  if (!options || !is_literal (cx, options) || !find_words (engine) ||
      (!is_webs (args) && !knows_names (engine, options)) || !get_member (engine, options, PRIORITY, &priority) ||
      !get_member (engine, options, SIGNAL, &signal))
    return false;
  for (int name = SIGNAL + 1; name < FIRST_NICK; name++)
    {
      if (!get_member (engine, options, name, &other) || !other.isUndefined ())
        return false;
    }
  if (signal.isObject () && priority.isUndefined ())
    {
      read->priority = 0;
      read->handle = find_handle (engine, args, signal);
      return read->handle && may_keep (engine, read->handle);
    }
  if (!priority.isUndefined ())
    read->priority = priority_of (engine, priority);
  return signal.isUndefined () && read->priority != 0;
}

static bool
fast_post (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  JS::RootedObject object (cx), promise (cx), callback (cx);
  Options options (cx);
  Engine *engine;
  bool other, is_fast;

  if (!args.get (0).isObject () || !JS::IsCallable (&args[0].toObject ()))
    return call_function (cx, args);
  callback = &args[0].toObject ();
  if (!is_other (cx, args, callback, &other))
    return false;
  object = other ? nullptr : table_for_call (args);
  engine = object ? table_of (JS::ObjectValue (*object))->engine : nullptr;
  is_fast = engine != nullptr && table_may_post (engine) && read_options (engine, args, 1, &options);
  JS_ClearPendingException (cx);
  if (!is_fast)
    return call_function (cx, args);

  promise = JS::NewPromiseObject (cx, nullptr);
  if (!promise)
    return false;
  args.rval ().setObject (*promise);
  table_post (object, callback, promise, options.priority, options.handle);
  return true;
}

/* Returns the handle of the running code's state, if the native part may keep the continuation of its yield; or
 * NULL. */
static JSObject *
handle_here (Engine *engine)
{
  JSContext *cx = engine->cx;
  JS::RootedObject state (cx, engine->state ().isObject () ? &engine->state ().toObject () : nullptr);
  JS::RootedValue handle (cx);
  bool is_fast;

  if (!state || !find_words (engine))
    return nullptr;
  JS::RootedId name (cx, JS::PropertyKey::fromPinnedString (engine->words[KEEPER]));
  is_fast = JS_GetPropertyById (cx, state, name, &handle) && is_handle (handle) && may_keep (engine, &handle.toObject ());
  JS_ClearPendingException (cx);
  return is_fast ? &handle.toObject () : nullptr;
}

static bool
fast_yield (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  JS::RootedObject object (cx, args.get (0).isUndefined () ? table_for_call (args) : nullptr), promise (cx), handle (cx);
  guint priority = object ? table_priority_here (object) : 0;

  if (PRIO_IS_EXACT && object && priority == 0)
    handle = handle_here (table_of (JS::ObjectValue (*object))->engine);
  if (priority == 0 && !handle)
    return call_function (cx, args);

  promise = JS::NewPromiseObject (cx, nullptr);
  if (!promise)
    return false;
  args.rval ().setObject (*promise);
  table_post (object, nullptr, promise, priority, handle);
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
  for (unsigned i = TABLE; i < HANDLE_OF; i++)
    JS::SetReservedSlot (binding, i, args[i]);
  JS::SetReservedSlot (binding, HANDLE_OF, args.get (5));
  for (unsigned i = OTHERS; i < N_SLOTS; i++)
    JS::SetReservedSlot (binding, i, args.get (i + 6 - OTHERS));
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
