/* table-object.cpp: posting and yielding, and the object that the overrides have for a table
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "table.h"

#include <js/Array.h>
#include <js/Object.h>
#include <js/PropertyAndElement.h>
#include <js/ValueArray.h>
#include <jsapi.h>

namespace PrioGjs {

/* The slots of the object: the table, and from FIRST_STATE on the states of its plain tasks, by priority. */
enum { TABLE, FIRST_STATE, N_SLOTS = FIRST_STATE + PRIO_TASK_PRIORITY_USER_BLOCKING };

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
  JS::RootedValue state (cx);
  Table *table;

  if (!object)
    return nullptr;
  for (guint i = 0; i < PRIO_TASK_PRIORITY_USER_BLOCKING; i++)
    {
      if (!JS_GetElement (cx, states, i, &state))
        return nullptr;
      JS::SetReservedSlot (object, FIRST_STATE + i, state);
    }
  table = table_take_offered ();
  if (table == nullptr)
    {
      JS_ReportErrorUTF8 (cx, "There is no new runner");
      return nullptr;
    }
  tables_reclaim (engine);
  table->engine = engine;
  table->is_held = true;
  engine->tables.push_back (table);
  JS::SetReservedSlot (object, TABLE, JS::PrivateValue (table));
  return object;
}

static const JS::Value &
plain_state (JSObject *object, guint priority)
{
  return JS::GetReservedSlot (object, FIRST_STATE + priority - 1);
}

/* The priority of @state, if that is one of the plain states of @object, or 0. */
static guint
priority_of (JSObject *object, const JS::Value &state)
{
  for (guint priority = PRIO_TASK_PRIORITY_BACKGROUND; priority <= PRIO_TASK_PRIORITY_USER_BLOCKING; priority++)
    {
      if (plain_state (object, priority) == state)
        return priority;
    }
  return 0;
}

/* The state of the code that has posted a task, where the library has said @posted for it. */
static bool
outer_state (Engine *engine, gint posted, JS::MutableHandleValue outer)
{
  outer.set (engine->state ());
  if (!outer.isUndefined ())
    return true;
  outer.setNull ();
  return posted == PRIO_POSTED_OUTSIDE || engine->call (Hook::LIBRARY_STATE, JS::HandleValueArray::empty (), outer);
}

bool
table_enter (JSContext *cx, Table *table, guint id, gint posted)
{
  JS::RootedValue outer (cx);

  /* Code outside any task has no state, and awaits the task without one. */
  if (!PRIO_IS_EXACT && (posted != PRIO_POSTED_OUTSIDE || table->engine->current.get ().isObject ()))
    {
      if (!outer_state (table->engine, posted, &outer))
        return false;
      table->entries[id].outer = outer;
    }
  if (posted == PRIO_POSTED_REJECTED)
    table->reject (id);
  return true;
}

bool
table_post (JSContext *cx, JS::HandleObject object, JS::HandleObject callback, JS::HandleObject promise, JS::HandleObject reject,
            guint priority)
{
  Table *table = JS::GetMaybePtrFromReservedSlot<Table> (object, TABLE);
  guint id = table->add (callback, promise, reject);

  table->entries[id].state = plain_state (object, priority);
  return table_enter (cx, table, id, prio_runner_post (table->runner, id, (gint) priority));
}

/* What the overrides do for a continuation that inherits @state, which has a signal or is that of another table. */
static bool
yield_with (JSContext *cx, Table *table, JS::HandleObject object, guint id, JS::HandleValue state)
{
  JS::RootedValueArray<3> args (cx);
  JS::RootedValue posted (cx);

  args[0].setObject (*object);
  args[1].setNumber (id);
  args[2].set (state);
  if (!table->engine->call (Hook::YIELD, args, &posted))
    return false;
  return table_enter (cx, table, id, posted.isInt32 () ? posted.toInt32 () : PRIO_POSTED_REJECTED);
}

/* Outside of what a table runs: the library inherits its own current state. */
static bool
yield_outside (JSContext *cx, Table *table, JS::HandleObject object, guint id)
{
  JS::RootedValue state (cx);
  gint posted = prio_runner_yield (table->runner, id);

  if (posted == PRIO_POSTED_INSIDE &&
      !table->engine->call (Hook::LIBRARY_STATE, JS::HandleValueArray::empty (), &state))
    return false;
  table->entries[id].state = state.isObject () ? state.get () : plain_state (object, PRIO_TASK_PRIORITY_USER_VISIBLE);
  return table_enter (cx, table, id, posted);
}

bool
table_yield (JSContext *cx, JS::HandleObject object, JS::HandleObject promise, JS::HandleObject reject)
{
  Table *table = JS::GetMaybePtrFromReservedSlot<Table> (object, TABLE);
  Engine *engine = table->engine;
  JS::RootedValue state (cx, engine->state ());
  guint id = table->add (nullptr, promise, reject), priority;

  if (state.isUndefined ())
    return yield_outside (cx, table, object, id);
  if (state.isNull ())
    state = plain_state (object, PRIO_TASK_PRIORITY_USER_VISIBLE);

  /* If the library has the same current state, it makes the continuation inherit it. */
  if (engine->library.get () == state && engine->library_table == table && engine->library_depth == g_main_depth ())
    {
      table->entries[id].state = state;
      return table_enter (cx, table, id, prio_runner_yield (table->runner, id));
    }

  priority = priority_of (object, state);
  if (priority == 0)
    return yield_with (cx, table, object, id, state);
  table->entries[id].state = state;
  return table_enter (cx, table, id, prio_runner_post_full (table->runner, id, (gint) priority, nullptr, 0, TRUE));
}

} // namespace PrioGjs
