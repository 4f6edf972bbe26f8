/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* table.cpp: tasks that have only a callback and a priority or a signal, by their numbers in the library */

#include "handle.h"
#include "table.h"

#include <algorithm>
#include <utility>

#include <prio-sched-gjs.h>

#include <js/CallAndConstruct.h>
#include <js/CharacterEncoding.h>
#include <js/Exception.h>
#include <js/PropertyAndElement.h>
#include <js/TracingAPI.h>
#include <js/ValueArray.h>
#include <jsapi.h>
#include <jsfriendapi.h>
#include <mozilla/Maybe.h>

namespace PrioGjs {

/* The size of the largest table whose memory is kept when its last task has been removed. */
static constexpr size_t MAX_KEPT_ENTRIES = 4096;

void
Table::trace (JSTracer *trc)
{
  for (Entry &entry : entries)
    {
      JS::TraceEdge (trc, &entry.callback, "prio-sched callback");
      JS::TraceEdge (trc, &entry.promise, "prio-sched promise");
      JS::TraceEdge (trc, &entry.handle, "prio-sched handle");
      JS::TraceEdge (trc, &entry.poster, "prio-sched state");
    }
  for (auto &state : states)
    JS::TraceEdge (trc, &state, "prio-sched state");
}

guint
Table::add (JS::HandleObject callback, JS::HandleObject promise, guint priority, JS::HandleObject handle, JS::HandleObject poster)
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

  entries[id].callback = callback;
  entries[id].promise = promise;
  entries[id].handle = handle;
  entries[id].poster = poster;
  entries[id].priority = priority;
  n_used++;
  return id;
}

void
Table::remove (guint id)
{
  entries[id].callback = nullptr;
  entries[id].promise = nullptr;
  entries[id].handle = nullptr;
  entries[id].poster = nullptr;
  entries[id].next_free = free_id;
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

JS::Value
Table::state_of (guint id) const
{
  const Entry &entry = entries[id];

  if (entry.handle)
    return handle_state (entry.handle);
  if (!PRIO_IS_EXACT && entry.priority == PRIO_TASK_PRIORITY_USER_VISIBLE)
    return JS::NullValue ();
  return states[entry.priority - 1].get ();
}

JSObject *
Table::plain_state () const
{
  return states[PRIO_TASK_PRIORITY_USER_VISIBLE - 1].get ().toObjectOrNull ();
}

bool
Table::is_plain (JSObject *state) const
{
  return state != nullptr && state == plain_state ();
}

/* Records in the engine, while a task or a continuation runs, whether the running code is part of a task with a plain state. */
class Plain
{
 public:
  Plain (Engine *engine, bool is_plain) : m_engine (engine), m_outer (engine->plain_depth)
  {
    engine->set_plain (is_plain);
  }

  ~Plain ()
  {
    m_engine->plain_depth = m_outer;
  }

  Plain (const Plain &) = delete;
  Plain &operator= (const Plain &) = delete;

 private:
  Engine *m_engine;
  int m_outer;
};

/* A task that is running, and is no longer in the table. */
struct Running
{
  Engine *engine;
  Running *outer;
  JS::RootedObject callback, promise;
  JS::RootedObject handle; /* handle of the task's signal, or NULL if no signal can abort the task */
  JS::RootedObject poster; /* the state of the code that has posted the task, or NULL */
  JS::RootedValue state;   /* null if the state is plain, and the engine is not exact */
  bool is_under;           /* whether the overrides end the task: either they call its function, because frames on the stack identify
                            * its state (core/states.js), or they have run its reactions */

  Running (Engine *its_engine, Table *table, guint id)
    : engine (its_engine), outer (its_engine->running), callback (engine->cx, table->entries[id].callback),
      promise (engine->cx, table->entries[id].promise), handle (engine->cx, table->entries[id].handle),
      poster (engine->cx, table->entries[id].poster), state (engine->cx, table->state_of (id)),
      is_under (!PRIO_IS_EXACT && !state.isNull ())
  {
    table->remove (id);
    engine->running = this;
  }

  ~Running ()
  {
    engine->running = outer;
  }

  Running (const Running &) = delete;
  Running &operator= (const Running &) = delete;
};

static bool
is_promise (JSContext *cx, JS::HandleValue value)
{
  JS::RootedObject object (cx, value.isObject () ? &value.toObject () : nullptr);

  return object && JS::IsPromiseObject (object);
}

/* Gets the function `then` of a thenable that is not a promise, or undefined for other values.  Returns false if a getter has
 * thrown. */
static bool
get_then (JSContext *cx, JS::HandleValue value, JS::MutableHandleValue then)
{
  JS::RootedObject object (cx, value.isObject () ? &value.toObject () : nullptr);

  then.setUndefined ();
  if (!object || JS::IsPromiseObject (object))
    return true;
  if (!JS_GetProperty (cx, object, "then", then))
    return false;
  if (!then.isObject () || !JS::IsCallable (&then.toObject ()))
    then.setUndefined ();
  return true;
}

/* Makes the overrides follow @value, which the task's function has returned, if it is a promise or a thenable, and gets the
 * outcome for Outcome::promised.  Otherwise does nothing.  Returns false if this has thrown. */
static bool
follow (const Running &running, JS::HandleValue value, JS::MutableHandleValue outcome)
{
  JS::RootedValueArray<5> args (running.engine->cx);

  if (!get_then (running.engine->cx, value, args[3]))
    return false;
  if (args[3].isUndefined () && !is_promise (running.engine->cx, value))
    return true;
  args[0].set (value);
  args[1].setObject (*running.promise);
  args[2].set (running.state);
  args[4].setObjectOrNull (running.poster);
  return running.engine->call (Hook::FOLLOW, args, outcome);
}

/* The outcome of the task's function. */
struct Outcome
{
  JS::RootedValue value, promised; /* the overrides' object for the outcome of a returned promise, or undefined */
  bool rejects = false;

  explicit Outcome (JSContext *cx) : value (cx), promised (cx) {}
};

static bool
call_in_state (const Running &running, JS::MutableHandleValue value)
{
  Engine *engine = running.engine;
  JS::RootedValue function (engine->cx, JS::ObjectValue (*running.callback));
  JS::RootedValueArray<2> args (engine->cx);
  mozilla::Maybe<Scope> scope;

  if (running.is_under)
    {
      args[0].set (running.state);
      args[1].set (function);
      return engine->call (Hook::CALL_UNDER, args, value);
    }
  if (PRIO_IS_EXACT)
    scope.emplace (engine, running.state);
  return JS::Call (engine->cx, JS::UndefinedHandleValue, function, JS::HandleValueArray::empty (), value);
}

/* Calls the function of the task, in its state.  Returns FALSE if the program is to end. */
static bool
call_function (const Running &running, Outcome *outcome)
{
  Engine *engine = running.engine;
  JSContext *cx = engine->cx;

  if (call_in_state (running, &outcome->value) && follow (running, outcome->value, &outcome->promised))
    return true;

  outcome->promised.setUndefined ();
  outcome->rejects = true;
  if (!JS_GetPendingException (cx, &outcome->value))
    {
      prio_sched_gjs_exit ();
      return false;
    }
  JS_ClearPendingException (cx);
  return true;
}

static void
tell_overrides (const Running &running, Hook hook)
{
  JS::RootedValue state (running.engine->cx, running.state), result (running.engine->cx);

  if (!running.engine->call (hook, JS::HandleValueArray (state), &result))
    engine_report (running.engine->cx, "A task did not end as it should");
}

void
get_reason (Engine *engine, JS::HandleObject handle, JS::MutableHandleValue reason)
{
  JS::RootedValueArray<2> args (engine->cx);

  args[0].set (handle_state (handle));
  args[1].set (handle_owner (handle));
  if (!engine->call (Hook::REASON, args, reason))
    engine_report (engine->cx, "There is no reason");
}

/* Settles the promise, and runs its reactions in the state of the code that has posted the task.  The overrides are called only
 * if there are reactions, or if a getter of @value may be called. */
static void
settle_under (Running *running, bool rejects, JS::HandleValue value)
{
  Engine *engine = running->engine;
  JS::RootedValueArray<3> args (engine->cx);
  JS::RootedValue result (engine->cx);

  if (rejects || !value.isObject ())
    {
      engine->settle (running->promise, rejects, value);
      if (engine->gjs_queue->empty ())
        return;
    }
  else
    {
      args[1].setObject (*running->promise);
      args[2].set (value);
    }
  args[0].setObject (*running->poster);
  running->is_under = true;
  if (!engine->call (Hook::SETTLE_UNDER, args, &result))
    engine_report (engine->cx, "A task's result could not be settled");
}

/* Passes the outcome of a returned promise to the overrides, which then settle the task's promise.  @poster is undefined if the
 * task has been aborted. */
static void
finish (const Running &running, JS::HandleValue promised, JS::HandleValue poster)
{
  JS::RootedValueArray<3> args (running.engine->cx);
  JS::RootedValue result (running.engine->cx);

  args[0].set (promised);
  args[1].set (running.state);
  args[2].set (poster);
  if (!running.engine->call (Hook::FINISH, args, &result))
    engine_report (running.engine->cx, "A task's result could not be settled");
}

/* Ends the task: from now on, its signal can no longer abort it.  Settles the promise of the task, unless its function has
 * returned a promise, which the overrides follow. */
void
Table::settle_task (Running *running, Outcome *outcome)
{
  JS::RootedObject handle (engine->cx, running->handle);
  JS::RootedValue poster (engine->cx);

  running->handle = nullptr;
  if (prio_runner_end () && handle)
    {
      if (!outcome->promised.isUndefined ())
        finish (*running, outcome->promised, JS::UndefinedHandleValue);
      get_reason (engine, handle, &outcome->value);
      outcome->promised.setUndefined ();
      outcome->rejects = true;
    }
  /* From now on, code that awaits the task runs, in the poster's state, which may be plain. */
  engine->set_plain (is_plain (running->poster));
  if (is_plain (running->poster))
    running->poster = nullptr;
  if (outcome->promised.isUndefined ())
    {
      if (running->poster)
        settle_under (running, outcome->rejects, outcome->value);
      else
        engine->settle (running->promise, outcome->rejects, outcome->value);
      return;
    }
  running->is_under = running->is_under || running->poster;
  poster.setObjectOrNull (running->poster);
  finish (*running, outcome->promised, poster);
}

/* Runs a task: calls its function, runs the jobs that the function has queued, and then settles the result.  Returns FALSE if no
 * more code may run. */
bool
Table::run_task (Running *running)
{
  Engine *e = engine;
  Outcome outcome (e->cx);

  if (!call_function (*running, &outcome))
    return false;
  if (!running->is_under)
    e->run_jobs ();
  if (e->cx != nullptr && (e->drains || (running->is_under && !e->gjs_queue->empty ())))
    {
      running->is_under = true;
      e->drains = false;
      tell_overrides (*running, Hook::DRAIN_UNDER);
    }
  if (e->cx == nullptr)
    return false;

  settle_task (running, &outcome);
  if (running->is_under && e->cx != nullptr)
    tell_overrides (*running, Hook::END_UNDER);
  return e->cx != nullptr;
}

/* Runs a task or a continuation, and the jobs that it has queued.  Returns FALSE if no more code may run. */
bool
Table::run_entry (guint id)
{
  Engine *e = engine;
  Running running (e, this, id);
  Plain plain (e, running.callback ? running.state.isNull () : is_plain (running.poster));

  if (!running.callback)
    e->settle (running.promise, false, JS::UndefinedHandleValue);
  else if (!run_task (&running))
    return false;
  e->run_jobs ();
  return e->cx != nullptr;
}

void
Table::run (guint id)
{
  Engine *e = engine;

  while (id != 0 && id < entries.size () && run_entry (id))
    id = prio_runner_next ();
  /* Even without jobs, this call is needed: it releases objects that SpiderMonkey keeps alive because a WeakRef has returned
   * them. */
  if (e->cx != nullptr)
    js::RunJobs (e->cx);
}

/* Runs the task @id and the tasks after it or, if @id is 0, has the overrides reject tasks.  If the engine is not exact, the
 * overrides know the current state, and call run ().  No garbage collection can be running, because GLib or JavaScript has called
 * the code that runs a main context, and GJS calls neither from a finalizer. */
void
Table::begin (guint id)
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
  if (id == 0)
    {
      Scope scope (e, PRIO_IS_EXACT ? JS::NullHandleValue : JS::UndefinedHandleValue);
      JS::RootedValue result (e->cx);

      if (!e->call (Hook::REJECTED, JS::HandleValueArray::empty (), &result))
        engine_report (e->cx, "Tasks could not be rejected");
    }
  else if (PRIO_IS_EXACT)
    {
      Scope scope (e, JS::NullHandleValue);

      run (id);
      e->report_rejections ();
    }
  else
    {
      JS::RootedValue number (e->cx, JS::NumberValue (id)), result (e->cx);

      if (!e->call (Hook::RUN, JS::HandleValueArray (number), &result))
        engine_report (e->cx, "Tasks could not be run");
    }
}

guint *
table_take_rejected (Table *table, gsize *n)
{
  return prio_runner_take_rejected (table->runner, n);
}

bool
table_take (Table *table, guint id, JS::MutableHandleValueVector taken)
{
  Entry *entry = id < table->entries.size () ? &table->entries[id] : nullptr;
  bool appended;

  if (entry == nullptr || !entry->handle)
    return true;
  appended = taken.append (JS::ObjectValue (*entry->promise)) && taken.append (handle_state (entry->handle)) &&
             taken.append (handle_owner (entry->handle)) && taken.append (JS::ObjectOrNullValue (entry->poster));
  table->remove (id);
  return appended;
}

bool
engine_get_running (Engine *engine, JS::HandleValue owner, JS::MutableHandleValueVector found)
{
  for (Running *running = engine->running; running != nullptr; running = running->outer)
    {
      if (running->handle && handle_owner (running->handle) == owner &&
          !(found.append (JS::ObjectValue (*running->promise)) && found.append (JS::ObjectOrNullValue (running->poster))))
        return false;
    }
  return true;
}

static void
table_free (Table *table)
{
  prio_runner_unref (table->runner);
  delete table;
}

/* Closes the table, because the library no longer calls the runner's function.  Drops the remaining entries, and frees the table
 * if the overrides have no object for it.  On a thread other than the context's, leaves both to the next call that makes a
 * table. */
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
  static_cast<Table *> (data)->begin (id);
}

/* Returns PATH:LINE of the function, or NULL if it has no source, such as a bound function. */
static char *
place_of (JSContext *cx, JS::HandleObject callback)
{
  JS::RootedFunction function (cx, JS_ObjectIsFunction (callback) ? JS_GetObjectFunction (callback) : nullptr);
  JS::RootedScript script (cx, function ? JS_GetFunctionScript (cx, function) : nullptr);
  const char *path = script ? JS_GetScriptFilename (script) : nullptr;

  return path != nullptr ? g_strdup_printf ("%s:%u", path, JS_GetScriptBaseLineNumber (cx, script)) : nullptr;
}

char *
engine_get_place (Engine *engine, JSObject *promise)
{
  for (Running *running = engine->running; running != nullptr; running = running->outer)
    {
      if (running->promise == promise && running->callback)
        return place_of (engine->cx, running->callback);
    }
  return nullptr;
}

/* Returns the name of the function or, if it has none, “a function (FILE:LINE)”; or NULL if its place is not known, either. */
static char *
name_of (JSContext *cx, JS::HandleObject callback)
{
  JS::RootedValue value (cx);
  g_autofree char *place = nullptr, *base = nullptr;
  JS::UniqueChars name;

  if (JS_GetProperty (cx, callback, "name", &value) && value.isString ())
    {
      JS::RootedString string (cx, value.toString ());

      name = JS_EncodeStringToUTF8 (cx, string);
    }
  JS_ClearPendingException (cx);
  if (name && *name.get () != '\0')
    return g_strdup (name.get ());
  place = place_of (cx, callback);
  base = place != nullptr ? g_path_get_basename (place) : nullptr;
  return base != nullptr ? g_strdup_printf ("a function (%s)", base) : nullptr;
}

/* Makes the task call a new function of that name, which runs the task's function in a separate state with the name: so
 * continuations have the name, too. */
static void
set_name (Table *table, guint id, JS::HandleObject callback, const char *name)
{
  JSContext *cx = table->engine->cx;
  JS::RootedString string (cx, JS_NewStringCopyUTF8Z (cx, JS::ConstUTF8CharsZ (name, strlen (name))));
  JS::RootedValueArray<3> args (cx);
  JS::RootedValue named (cx);

  args[0].setObject (*callback);
  if (string)
    args[1].setString (string);
  args[2].set (table->state_of (id));
  if (!string || !table->engine->call (Hook::NAMED, args, &named))
    engine_report (cx, "Continuations will have no name");
  else if (table->engine != nullptr && named.isObject ())
    table->entries[id].callback = &named.toObject ();
}

/* Returns the name of the task's function, and makes it the name of the task's continuations.  Returns NULL if the function has
 * no name, or on another thread.  For a continuation, also returns NULL: the overrides keep the continuations of named tasks. */
static char *
get_name (guint id, gpointer data)
{
  Table *table = static_cast<Table *> (data);
  Engine *engine = table->engine;

  if (engine == nullptr || engine->cx == nullptr || engine->thread != g_thread_self () || id >= table->entries.size () ||
      !table->entries[id].callback)
    return nullptr;

  JSAutoRealm realm (engine->cx, engine->global);
  JS::RootedObject callback (engine->cx, table->entries[id].callback);
  char *name = name_of (engine->cx, callback);

  if (name != nullptr)
    set_name (table, id, callback, name);
  return name;
}

/* The last table that was made, if the overrides have no object for it yet.  It has no engine. */
static thread_local Table *offered;

PrioRunner *
table_new (PrioScheduler *scheduler)
{
  Table *table = new Table ();

  table->runner = prio_runner_new (scheduler, run_table, table, table_closed);
  prio_runner_set_name_func (table->runner, get_name, table, nullptr);
  offered = table;
  return prio_runner_ref (table->runner);
}

Table *
table_take_offered (void)
{
  return std::exchange (offered, nullptr);
}

} // namespace PrioGjs
