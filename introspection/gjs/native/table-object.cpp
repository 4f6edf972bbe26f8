/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* table-object.cpp: posts tasks, and makes the overrides' objects for tables */

#include "handle.h"
#include "table.h"

#include <js/Array.h>
#include <js/Object.h>
#include <js/PropertyAndElement.h>
#include <js/ValueArray.h>
#include <jsapi.h>

namespace PrioGjs {

/* The slots of the overrides' object for a table. */
enum { TABLE, N_SLOTS };

static void
finalize (JS::GCContext *, JSObject *object)
{
  Table *table = JS::GetMaybePtrFromReservedSlot<Table> (object, TABLE);

  if (table != nullptr)
    table_released (table);
}

static constexpr JSClassOps table_class_ops = { nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, finalize };
static constexpr JSClass table_class = {
  "PrioSchedTable", JSCLASS_HAS_RESERVED_SLOTS (N_SLOTS) | JSCLASS_FOREGROUND_FINALIZE, &table_class_ops
};

Table *
table_of (const JS::Value &object)
{
  if (!object.isObject () || JS::GetClass (&object.toObject ()) != &table_class)
    return nullptr;
  return JS::GetMaybePtrFromReservedSlot<Table> (&object.toObject (), TABLE);
}

JSObject *
table_object_new (JSContext *cx, Engine *engine, JS::HandleObject states)
{
  JS::RootedObject object (cx, JS_NewObject (cx, &table_class));
  JS::RootedValueArray<PRIO_TASK_PRIORITY_USER_BLOCKING> found (cx);
  Table *table;

  if (!object)
    return nullptr;
  for (guint i = 0; i < PRIO_TASK_PRIORITY_USER_BLOCKING; i++)
    {
      if (!JS_GetElement (cx, states, i, found[i]))
        return nullptr;
    }
  table = table_take_offered ();
  if (table == nullptr)
    {
      JS_ReportErrorUTF8 (cx, "There is no new runner");
      return nullptr;
    }
  tables_reclaim (engine);
  for (guint i = 0; i < PRIO_TASK_PRIORITY_USER_BLOCKING; i++)
    table->states[i] = found[i];
  table->engine = engine;
  table->is_held = true;
  engine->tables.push_back (table);
  JS::SetReservedSlot (object, TABLE, JS::PrivateValue (table));
  return object;
}

static Table *
table_in (JSObject *object)
{
  return JS::GetMaybePtrFromReservedSlot<Table> (object, TABLE);
}

/* Asks the overrides for the state of the running code, if the engine is not exact.  Returns the state, null for none,
 * undefined if the library has to be asked, or false if the stack has to be searched. */
static JS::Value
ask_overrides (Engine *engine)
{
  JS::RootedValue depth (engine->cx, JS::Int32Value (g_main_depth ())), state (engine->cx);

  if (!engine->call (Hook::STATE_HERE, JS::HandleValueArray (depth), &state))
    {
      engine_report (engine->cx, "The current state is not known");
      return JS::FalseValue ();
    }
  return state;
}

guint
table_priority_here (JSObject *object, JS::MutableHandleObject poster)
{
  Table *table = table_in (object);
  Engine *engine = table->engine;
  JS::Value state = PRIO_IS_EXACT ? engine->state () : ask_overrides (engine);

  if (!PRIO_IS_EXACT)
    {
      if (state.isNull () ? engine->is_plain () : state.isObject () && table->is_plain (&state.toObject ()))
        poster.set (table->plain_state ());
      return state.isNull () || poster ? PRIO_TASK_PRIORITY_USER_VISIBLE : 0;
    }
  if (state.isNull ())
    return PRIO_TASK_PRIORITY_USER_VISIBLE;
  for (guint priority = PRIO_TASK_PRIORITY_BACKGROUND; priority <= PRIO_TASK_PRIORITY_USER_BLOCKING; priority++)
    {
      if (table->states[priority - 1].get () == state)
        return priority;
    }
  return 0;
}

bool
table_may_post (JSObject *object, JS::MutableHandleObject poster)
{
  Table *table = table_in (object);
  Engine *engine = table->engine;
  PrioSchedulingState *state;
  JS::Value here;

  if (PRIO_IS_EXACT)
    return true;
  here = ask_overrides (engine);
  if (here.isObjectOrNull ())
    poster.set (here.isNull () && engine->is_plain () ? table->plain_state () : here.toObjectOrNull ());
  if (!here.isUndefined ())
    return here.isObjectOrNull ();
  state = prio_scheduling_state_ref_current ();
  if (state == nullptr)
    return true;
  prio_scheduling_state_unref (state);
  return false;
}

/* Removes a task and rejects its promise, because the main context has gone or another thread has just cancelled the signal. */
static void
reject (Table *table, guint id)
{
  Engine *engine = table->engine;
  JS::RootedObject promise (engine->cx, table->entries[id].promise), handle (engine->cx, table->entries[id].handle);
  JS::RootedValue error (engine->cx);

  table->remove (id);
  if (handle)
    get_reason (engine, handle, &error);
  else if (!engine->call (Hook::CLOSED_ERROR, JS::HandleValueArray::empty (), &error))
    engine_report (engine->cx, "There is no error");
  engine->settle (promise, true, error);
}

void
table_post (JSObject *object, JS::HandleObject callback, JS::HandleObject promise, guint priority, JS::HandleObject handle,
            JS::HandleObject poster)
{
  Table *table = table_in (object);
  guint id = table->add (callback, promise, priority, handle, poster);
  GCancellable *signal = handle ? handle_signal (handle) : nullptr;
  gint given = handle ? handle_priority (handle) : (gint) priority;
  PrioPostResult posted = callback ? prio_runner_post_full (table->runner, id, given, signal, 0, 0, FALSE)
                               : prio_runner_yield_full (table->runner, id, given, signal, 0, -1, FALSE);

  if (posted == PRIO_POST_RESULT_REJECTED)
    reject (table, id);
}

} // namespace PrioGjs
