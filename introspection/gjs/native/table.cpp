/* table.cpp: the tasks of a scheduler, by the numbers that identify them in the library
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "table.h"

#include <algorithm>
#include <utility>

#include <js/CallAndConstruct.h>
#include <js/Exception.h>
#include <js/TracingAPI.h>
#include <js/ValueArray.h>
#include <jsapi.h>
#include <jsfriendapi.h>

namespace PrioGjs {

/* A table that has had more entries than these gives them back when none is used. */
static constexpr size_t MAX_KEPT_ENTRIES = 4096;

void
Table::trace (JSTracer *trc)
{
  for (Entry &entry : entries)
    {
      JS::TraceEdge (trc, &entry.callback, "prio-sched callback");
      JS::TraceEdge (trc, &entry.deferred.promise, "prio-sched promise");
      JS::TraceEdge (trc, &entry.deferred.reject, "prio-sched reject");
      JS::TraceEdge (trc, &entry.state, "prio-sched state");
      JS::TraceEdge (trc, &entry.outer, "prio-sched state");
    }
}

/* Adds an entry that has no state yet, and returns its number. */
guint
Table::add (JS::HandleObject callback, JS::HandleObject promise, JS::HandleObject reject)
{
  guint id = free_id;

  if (id == 0)
    {
      if (entries.empty ())
        entries.emplace_back ();
      id = entries.size ();
      entries.emplace_back ();
    }
  else
    {
      free_id = entries[id].next_free;
    }

  Entry &entry = entries[id];
  entry.callback = callback;
  entry.deferred.promise = promise;
  entry.deferred.reject = reject;
  entry.state = JS::NullValue ();
  entry.outer = JS::NullValue ();
  entry.watched = false;
  n_used++;
  return id;
}

void
Table::remove (guint id)
{
  Entry &entry = entries[id];

  entry.callback = nullptr;
  entry.deferred.promise = nullptr;
  entry.deferred.reject = nullptr;
  entry.state = JS::NullValue ();
  entry.outer = JS::NullValue ();
  entry.next_free = free_id;
  free_id = id;
  if (--n_used == 0 && entries.size () > MAX_KEPT_ENTRIES)
    clear ();
}

void
Table::clear ()
{
  std::vector<Entry> ().swap (entries);
  free_id = n_used = 0;
}

/* A task that is run or rejected, and is in the table no more. */
struct Running
{
  JS::RootedObject callback, promise, reject;
  JS::RootedValue state, outer;
  bool watched;

  Running (Engine *engine, Table *table, guint id)
    : callback (engine->cx, table->entries[id].callback), promise (engine->cx, table->entries[id].deferred.promise),
      reject (engine->cx, table->entries[id].deferred.reject), state (engine->cx, table->entries[id].state),
      outer (engine->cx, table->entries[id].outer), watched (table->entries[id].watched)
  {
    table->remove (id);
  }

  /* Code that awaits the task goes on with its own state. */
  void enter_outer (Engine *engine)
  {
    engine->current = PRIO_IS_EXACT ? JS::NullValue () : outer.get ();
  }
};

static void
tell_watcher (Engine *engine, const Running &running)
{
  JS::RootedValue result (engine->cx);

  if (running.watched && !engine->call (Hook::SETTLED, JS::HandleValueArray (running.state), &result))
    engine_report (engine->cx, "A task's end could not be told");
}

/* The task @id will not run: its signal has been aborted, or the main context has gone. */
void
Table::reject (guint id)
{
  Engine *e = engine;
  Running running (e, this, id);
  JS::RootedValue reason (e->cx);

  tell_watcher (e, running);
  if (!e->call (Hook::REASON, JS::HandleValueArray (running.state), &reason))
    {
      engine_report (e->cx, "A task that is aborted has no reason");
      reason.setUndefined ();
    }
  e->settle_later (running.promise, running.reject, true, reason, running.outer);
}

void
Table::take_rejected ()
{
  gsize n_rejected = 0;
  g_autofree guint *rejected = prio_runner_take_rejected (runner, &n_rejected);

  for (gsize i = 0; i < n_rejected && engine != nullptr; i++)
    reject (rejected[i]);
}

bool
Table::wake ()
{
  guint id = add (nullptr, nullptr, nullptr);

  if (prio_runner_post (runner, id, PRIO_TASK_PRIORITY_USER_BLOCKING) != PRIO_POSTED_REJECTED)
    return true;
  remove (id);
  return false;
}

static bool
is_promise (JSContext *cx, JS::HandleValue value)
{
  JS::RootedObject object (cx, value.isObject () ? &value.toObject () : nullptr);

  return object && JS::IsPromiseObject (object);
}

/* Begins to follow the promise in @value, which the task's function has returned. */
static bool
follow (Engine *engine, const Running &running, JS::MutableHandleValue value, JS::MutableHandleValue outcome)
{
  JS::RootedValueArray<4> args (engine->cx);

  args[0].set (value);
  args[1].setObject (*running.promise);
  args[2].setObjectOrNull (running.reject);
  args[3].set (running.outer);
  return engine->call (Hook::FOLLOW, args, outcome);
}

/* What the task's function has come to. */
struct Outcome
{
  JS::RootedValue value, promised; /* what follows a promise, or undefined */
  bool rejects = false;

  explicit Outcome (JSContext *cx) : value (cx), promised (cx) {}
};

/* Calls the function of the task.  Returns FALSE if the program is to end. */
static bool
call_function (Engine *engine, const Running &running, Outcome *outcome)
{
  JSContext *cx = engine->cx;
  JS::RootedValue function (cx, JS::ObjectValue (*running.callback));

  if (JS::Call (cx, JS::UndefinedHandleValue, function, JS::HandleValueArray::empty (), &outcome->value) &&
      (!is_promise (cx, outcome->value) ||
       follow (engine, running, &outcome->value, &outcome->promised)))
    return true;

  outcome->promised.setUndefined ();
  outcome->rejects = true;
  if (!JS_GetPendingException (cx, &outcome->value))
    return false;
  JS_ClearPendingException (cx);
  return true;
}

/* prio_runner_end() performs the checkpoint; after it, the signal can no longer abort the task.  Then the result settles. */
bool
Table::run_task (Running *running)
{
  Engine *e = engine;
  Outcome outcome (e->cx);
  JS::RootedValue result (e->cx);

  e->current = running->state;
  if (!call_function (e, *running, &outcome))
    return false;
  if (PRIO_IS_EXACT)
    e->current = JS::NullValue ();
  e->run_jobs ();
  if (e->cx == nullptr)
    return false;

  if (prio_runner_end ())
    {
      outcome.rejects = true;
      outcome.promised.setUndefined ();
      if (!e->call (Hook::REASON, JS::HandleValueArray (running->state), &outcome.value))
        engine_report (e->cx, "A task that is aborted has no reason");
    }
  tell_watcher (e, *running);
  running->enter_outer (e);
  e->library = JS::NullValue ();
  if (outcome.promised.isUndefined ())
    e->settle (running->promise, running->reject, outcome.rejects, outcome.value);
  else if (!e->call (Hook::FINISH, JS::HandleValueArray (outcome.promised), &result))
    engine_report (e->cx, "A task's result could not be settled");
  return true;
}

/* Returns FALSE if nothing may run any more. */
bool
Table::run_entry (guint id)
{
  Engine *e = engine;
  Running running (e, this, id);

  e->library = running.state;
  e->library_table = this;
  e->library_depth = g_main_depth ();
  if (running.callback)
    {
      if (!run_task (&running))
        return false;
    }
  else
    {
      running.enter_outer (e);
      e->settle (running.promise, running.reject, false, JS::UndefinedHandleValue);
    }
  e->drain ();
  return e->cx != nullptr;
}

/* The runner's function.  No collection can be going on: what runs a main context has come from GLib or from JavaScript, and
 * GJS calls neither from a finalizer. */
void
Table::run (guint id)
{
  Engine *e = engine;

  if (e == nullptr)
    return;
  if (e->thread != g_thread_self ())
    {
      g_critical ("A task of JavaScript cannot run on another thread than its context's");
      return;
    }

  JSAutoRealm realm (e->cx, e->global);
  Scope scope (e, JS::NullHandleValue);

  e->library = JS::NullValue ();
  if (id == 0)
    {
      take_rejected ();
      if (e->cx != nullptr)
        e->drain ();
    }
  while (id != 0 && id < entries.size () && run_entry (id))
    id = prio_runner_next ();
  /* Where no job was queued: the engine's weak references and finalization registries. */
  if (e->cx != nullptr)
    js::RunJobs (e->cx);
}

static void
table_free (Table *table)
{
  prio_runner_unref (table->runner);
  delete table;
}

/* The library does not call the runner's function any more.  What is left in the table is let go here, or, on another thread, as
 * soon as the context's own thread makes a table. */
static void
table_closed (gpointer data)
{
  Table *table = static_cast<Table *> (data);
  Engine *engine = table->engine;

  if (engine != nullptr && engine->thread != g_thread_self ())
    {
      g_atomic_int_set (&table->closed, TRUE);
      return;
    }
  table->clear ();
  g_atomic_int_set (&table->closed, TRUE);
  if (!table->is_held)
    {
      if (engine != nullptr)
        engine->tables.erase (std::find (engine->tables.begin (), engine->tables.end (), table));
      table_free (table);
    }
}

void
tables_reclaim (Engine *engine)
{
  for (size_t i = engine->tables.size (); i-- > 0;)
    {
      Table *table = engine->tables[i];

      if (!g_atomic_int_get (&table->closed))
        continue;
      table->clear ();
      if (table->is_held)
        continue;
      engine->tables.erase (engine->tables.begin () + i);
      table_free (table);
    }
}

void
table_released (Table *table)
{
  Engine *engine = table->engine;

  table->is_held = false;
  if (!g_atomic_int_get (&table->closed))
    return;
  if (engine != nullptr)
    engine->tables.erase (std::find (engine->tables.begin (), engine->tables.end (), table));
  table_free (table);
}

static void
run_table (guint id, gpointer data)
{
  static_cast<Table *> (data)->run (id);
}

/* Made, but no engine's yet. */
static thread_local Table *offered;

PrioRunner *
table_new (PrioScheduler *scheduler)
{
  Table *table = new Table ();

  table->runner = prio_runner_new (scheduler, run_table, table, table_closed);
  offered = table;
  return prio_runner_ref (table->runner);
}

Table *
table_take_offered (void)
{
  return std::exchange (offered, nullptr);
}

} // namespace PrioGjs
