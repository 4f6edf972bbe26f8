/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* table.h: tasks that have only a callback and a priority or a signal, by their numbers in the library
 *
 * A state is plain if it has only the default priority: tasks with a plain state act as code outside any task does, but have a task
 * signal.  If the engine is not exact, no frame on the stack identifies them; so the table tells their code from other code.
 *
 * A continuation is a task without a callback.  The overrides have an object for each table; that object and the library's
 * runner hold the table.  A table belongs to the thread of its engine, except for `closed`.
 */

#pragma once

#include <vector>

#include <prio-sched-bindings.h>

#include "engine.h"

namespace PrioGjs {

/* A task or, without a callback, a continuation. */
struct Entry
{
  JS::Heap<JSObject *> callback;
  JS::Heap<JSObject *> promise;
  JS::Heap<JSObject *> handle; /* handle of its signal, or NULL */
  JS::Heap<JSObject *> poster; /* the state of the code that has posted it, or NULL if that has none */
  guint next_free; /* for a free number: the next free number, or 0 */
  guint priority;  /* of a task without a signal */
};

/* A task that was taken out of its table to run, and its outcome. */
struct Outcome;
struct Running;

struct Table
{
  Engine *engine = nullptr; /* NULL once its context has gone */
  PrioRunner *runner;
  bool is_held;       /* whether the overrides' object for it exists */
  gint closed;        /* atomic: whether the library has closed the runner */

  JS::Heap<JS::Value> states[PRIO_TASK_PRIORITY_USER_BLOCKING]; /* states of tasks that have only a priority, by priority
                                                                 * less 1 */

  std::vector<Entry> entries; /* by number; the first is not used */
  guint free_id;              /* the first free number, or 0 */
  guint n_used;

  void trace (JSTracer *trc);
  guint add (JS::HandleObject callback, JS::HandleObject promise, guint priority, JS::HandleObject handle, JS::HandleObject poster);
  JS::Value state_of (guint id) const;
  bool is_plain (JSObject *state) const;
  void remove (guint id);
  void clear ();

  /* The runner's function, which runs tasks on the thread of the engine. */
  void begin (guint id);
  void run (guint id);
  bool run_entry (guint id);
  bool run_task (Running *running);
  void settle_task (Running *running, Outcome *outcome);
};

/* Makes a table and its runner, for the next object that the overrides make. */
PrioRunner *table_new (PrioScheduler *scheduler);
Table      *table_take_offered (void);
/* Drops the reference of the overrides' object for @table, which has gone. */
void        table_released (Table *table);
/* Frees the tables without references. */
void        tables_reclaim (Engine *engine);

/* Makes the overrides' object for a table, with the states of tasks that have only a priority. */
JSObject   *table_object_new (JSContext *cx, Engine *engine, JS::HandleObject states);
Table      *table_of (const JS::Value &object);

/* Returns the priority of the running code's continuations if it has no state or, if the engine is not exact, a plain one, which it then
 * gets; or 0. */
guint       table_priority_here (JSObject *object, JS::MutableHandleObject poster);
/* Returns whether the state of the running code is known without a search of the stack, and gets it.  NULL stands for none. */
bool        table_may_post (JSObject *object, JS::MutableHandleObject poster);
/* Posts a task or, without a callback, a continuation that settles @promise.  It has a priority, or the handle of a signal. */
void        table_post (JSObject *object, JS::HandleObject callback, JS::HandleObject promise, guint priority, JS::HandleObject handle,
                        JS::HandleObject poster);

/* Returns the numbers of tasks that aborts of their signals have removed from the library's queues, in the order in which they
 * are to be rejected.  An array that the caller frees, or NULL. */
guint      *table_take_rejected (Table *table, gsize *n);
/* Gets the promise, the state, the owner and the poster's state of @id, and frees the number. */
bool        table_take (Table *table, guint id, JS::MutableHandleValueVector taken);
/* Gets the reason for which a task with that handle is rejected. */
void        get_reason (Engine *engine, JS::HandleObject handle, JS::MutableHandleValue reason);
/* Gets the promises of the running tasks that an abort by @owner may reject, each with the poster's state. */
bool        engine_get_running (Engine *engine, JS::HandleValue owner, JS::MutableHandleValueVector running);
/* Returns PATH:LINE of the function of the running task with @promise, or NULL if there is none. */
char       *engine_get_place (Engine *engine, JSObject *promise);

} // namespace PrioGjs
