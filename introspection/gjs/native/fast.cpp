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

/* The slots of a function that posts or yields. */
enum { TABLE, RECEIVER, FUNCTION, HANDLE_OF, OTHERS, N_SLOTS = OTHERS + 2 };

static constexpr JSClass binding_class = { "PrioSchedBinding", JSCLASS_HAS_RESERVED_SLOTS (N_SLOTS) };

static JSObject *
binding_of (const JS::CallArgs &args)
{
  return &js::GetFunctionNativeReserved (&args.callee (), 0).toObject ();
}

/* Returns the table's object if the function is called on its receiver, and the table's context still exists; otherwise
 * NULL. */
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

/* Returns whether the called function belongs to the web's scheduler.  Such a function calls generator functions, and ignores
 * options that it does not know. */
static bool
is_webs (const JS::CallArgs &args)
{
  return JS::GetReservedSlot (binding_of (args), OTHERS).isUndefined ();
}

/* Gets whether the prototype of @callback is in a slot from OTHERS on, so that the overrides' function has to handle the call.
 * Returns false if a proxy's handler, which this may call, has thrown. */
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

/* Returns the priority whose nick is @value, or 0 for other values. */
static guint
priority_of (Engine *engine, JS::HandleValue value)
{
  JS::RootedString string (engine->cx, value.isString () ? value.toString () : nullptr), nick (engine->cx);

  for (int i = 0; string && i < PRIO_TASK_PRIORITY_USER_BLOCKING; i++)
    {
      int32_t order = 1;

      nick = engine->words[FIRST_NICK + i];
      if (JS_GetStringLength (string) == JS_GetStringLength (nick) && JS_CompareStrings (engine->cx, string, nick, &order) && order == 0)
        return i + PRIO_TASK_PRIORITY_BACKGROUND;
    }
  return 0;
}

/* Returns whether @options is a plain object that inherits no option, so that only its own members have to be read. */
static bool
is_literal (Engine *engine, JS::HandleObject options)
{
  JSContext *cx = engine->cx;
  JS::RootedObject prototype (cx, JS::GetRealmObjectPrototype (cx)), from (cx);
  bool inherits = false;

  if (!prototype || JS::GetClass (options) != JS::GetClass (prototype) || !JS_GetPrototype (cx, options, &from) || from != prototype)
    return false;
  for (int name = 0; name < FIRST_NICK && !inherits; name++)
    {
      JS::RootedId id (cx, JS::PropertyKey::fromPinnedString (engine->words[name]));

      if (!JS_AlreadyHasOwnPropertyById (cx, prototype, id, &inherits))
        return false;
    }
  return !inherits;
}

/* The values of a post's options; other is the value of an option that the native part does not handle. */
struct Members
{
  JS::RootedValue priority, signal, other;

  explicit Members (JSContext *cx) : priority (cx), signal (cx), other (cx) {}
};

/* Gets the members of @options.  Returns false if the overrides have to read them: if a member has a getter, or is an option
 * that the native part does not handle.  A member that is not an option is skipped if @ignores is true; otherwise the result is
 * false, too. */
static bool
get_members (Engine *engine, JS::HandleObject options, bool ignores, Members *found)
{
  JSContext *cx = engine->cx;
  JS::RootedIdVector ids (cx);
  JS::Rooted<mozilla::Maybe<JS::PropertyDescriptor>> descriptor (cx);
  const auto words = engine->words.begin ();

  if (!js::GetPropertyKeys (cx, options, JSITER_OWNONLY | JSITER_HIDDEN, &ids))
    return false;
  for (size_t i = 0; i < ids.length (); i++)
    {
      auto name = ids[i].isString () ? std::find (words, words + FIRST_NICK, ids[i].toString ()) - words : int (FIRST_NICK);

      if (name == FIRST_NICK && ignores)
        continue;
      if (name == FIRST_NICK || !JS_GetOwnPropertyDescriptorById (cx, options, ids[i], &descriptor) || descriptor.isNothing () ||
          !descriptor->isDataDescriptor ())
        return false;
      (name == PRIORITY ? found->priority : name == SIGNAL ? found->signal : found->other) = descriptor->value ();
      if (!found->other.isUndefined ())
        return false;
    }
  return true;
}

/* Returns whether the native part may keep tasks with @handle: the handle's signal is not aborted, and the overrides keep no
 * task of the signal. */
static bool
may_keep (Engine *engine, JSObject *handle)
{
  JS::RootedId n_pending (engine->cx, JS::PropertyKey::fromPinnedString (engine->words[N_PENDING]));

  return !g_cancellable_is_cancelled (handle_signal (handle)) && handle_is_alone (engine->cx, handle, n_pending);
}

/* Returns the handle of @signal, which the overrides find, or NULL.  Most posts have the same signal as the post before, so the
 * last handle is kept. */
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

/* The options of a post: a priority, or the handle of a signal. */
struct Options
{
  guint priority = 0;
  JS::RootedObject handle;

  explicit Options (JSContext *cx) : handle (cx) {}
};

/* Reads the options, the argument with the index @n_args.  Returns false if the overrides' function has to handle them. */
static bool
read_options (Engine *engine, const JS::CallArgs &args, unsigned n_args, Options *read)
{
  JSContext *cx = engine->cx;
  JS::RootedObject options (cx, args.get (n_args).isObject () ? &args[n_args].toObject () : nullptr);
  Members members (cx);

  read->priority = PRIO_TASK_PRIORITY_USER_VISIBLE;
  if (args.get (n_args).isUndefined ())
    return true;
  if (!options || !find_words (engine) || !is_literal (engine, options) || !get_members (engine, options, is_webs (args), &members))
    return false;
  if (members.signal.isObject () && members.priority.isUndefined ())
    {
      read->priority = 0;
      read->handle = find_handle (engine, args, members.signal);
      return read->handle && may_keep (engine, read->handle);
    }
  if (!members.priority.isUndefined ())
    read->priority = priority_of (engine, members.priority);
  return members.signal.isUndefined () && read->priority != 0;
}

static bool
fast_post (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  JS::RootedObject object (cx), promise (cx), callback (cx), poster (cx);
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
  is_fast = engine != nullptr && table_may_post (object, &poster) && read_options (engine, args, 1, &options);
  JS_ClearPendingException (cx);
  if (!is_fast)
    return call_function (cx, args);

  /* The stacks are not needed: if the promise is rejected with a reason without a stack, site_of () finds the place of the
   * task's function. */
  WithoutStacks without (cx);
  promise = JS::NewPromiseObject (cx, nullptr);
  if (!promise)
    return false;
  args.rval ().setObject (*promise);
  table_post (object, callback, promise, options.priority, options.handle, poster);
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
  JS::RootedObject poster (cx);
  guint priority = object ? table_priority_here (object, &poster) : 0;

  if (PRIO_IS_EXACT && object && priority == 0)
    handle = handle_here (table_of (JS::ObjectValue (*object))->engine);
  if (priority == 0 && !handle)
    return call_function (cx, args);

  /* Nothing needs the stacks: only an abort rejects the promise, and the overrides record the abort's stack. */
  WithoutStacks without (cx);
  promise = JS::NewPromiseObject (cx, nullptr);
  if (!promise)
    return false;
  args.rval ().setObject (*promise);
  table_post (object, nullptr, promise, priority, handle, poster);
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
