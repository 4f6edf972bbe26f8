/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* table.h: tasks that have only a callback and a priority or a signal, by their numbers in the library
 *
 * A state is plain if it has only the default priority: code of a task with a plain state acts as code outside any task does, but
 * has a current task signal.  If the engine is not exact, no frame on the stack identifies a plain state, so the table records
 * whether the running code is part of such a task.
 *
 * A continuation is a task without a callback.  The overrides have an object for each table; that object and the library's runner
 * hold the table.  A table belongs to the thread of its engine; only `closed` may be set on other threads.
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
  JS::Heap<JSObject *> handle; /* handle of the task's signal, or NULL if it has none */
  JS::Heap<JSObject *> poster; /* the state of the code that has posted the task, or NULL if that code has none */
  guint next_free; /* for a free number: the next free number, or 0 */
  guint priority;  /* the priority of a task without a signal */
};

/* The outcome of a task's function, and a task that was taken out of its table to run: see table.cpp. */
struct Outcome;
struct Running;

struct Table
{
  Engine *engine = nullptr; /* NULL once its context has gone */
  PrioRunner *runner;
  bool is_held;       /* whether the overrides' object for this table exists */
  gint closed;        /* atomic: whether the library has closed the runner */

  JS::Heap<JS::Value> states[PRIO_TASK_PRIORITY_USER_BLOCKING]; /* states of tasks that have only a priority, by priority
                                                                 * less 1 */

  std::vector<Entry> entries; /* by number; the first is not used */
  guint free_id;              /* the first free number, or 0 */
  guint n_used;

  void trace (JSTracer *trc);
  guint add (JS::HandleObject callback, JS::HandleObject promise, guint priority, JS::HandleObject handle, JS::HandleObject poster);
  JS::Value state_of (guint id) const;
  JSObject *plain_state () const;
  bool is_plain (JSObject *state) const;
  void remove (guint id);
  void clear ();

  /* These functions run tasks, on the thread of the engine.  begin () is the runner's function. */
  void begin (guint id);
  void run (guint id);
  bool run_entry (guint id);
  bool run_task (Running *running);
  void settle_task (Running *running, Outcome *outcome);
};

/* Makes a table for the next call of table_object_new (), and returns its runner. */
PrioRunner *table_new (PrioScheduler *scheduler);
Table      *table_take_offered (void);
/* Records that the overrides' object for @table has gone.  If the library has closed the runner, frees @table. */
void        table_released (Table *table);
/* Clears the tables whose runners the library has closed, and frees those without an object of the overrides. */
void        tables_reclaim (Engine *engine);

/* Makes the overrides' object for a table, with the states of tasks that have only a priority. */
JSObject   *table_object_new (JSContext *cx, Engine *engine, JS::HandleObject states);
Table      *table_of (const JS::Value &object);

/* Returns the priority of a continuation of the running code, or 0 if the overrides have to post the continuation.  They have to if
 * the code's state has more than a priority or, if the engine is not exact, more than the default priority.  If the engine is not
 * exact, and the code's state is plain, @poster becomes this state. */
guint       table_priority_here (JSObject *object, JS::MutableHandleObject poster);
/* Returns whether the state of the running code is known without a search of the stack.  If the engine is not exact, @poster
 * becomes this state; NULL stands for none. */
bool        table_may_post (JSObject *object, JS::MutableHandleObject poster);
/* Posts a task or, without a callback, a continuation that settles @promise.  The task has a priority, or the handle of a signal.
 * If the library rejects the task, rejects @promise at once. */
void        table_post (JSObject *object, JS::HandleObject callback, JS::HandleObject promise, guint priority, JS::HandleObject handle,
                        JS::HandleObject poster);

/* Returns the numbers of tasks that aborts of their signals have removed from the library's queues, in the order in which the tasks
 * are to be rejected: an array that the caller frees, or NULL. */
guint      *table_take_rejected (Table *table, gsize *n);
/* Gets the promise, the state, the owner and the poster's state of the task @id, and frees the number.  Gets nothing if @id is not
 * a task with a signal.  Returns FALSE if memory is exhausted. */
bool        table_take (Table *table, guint id, JS::MutableHandleValueVector taken);
/* Asks the overrides for the reason for which a task with @handle is rejected. */
void        get_reason (Engine *engine, JS::HandleObject handle, JS::MutableHandleValue reason);
/* Gets the promises of the running tasks that an abort by @owner may reject, each with the poster's state. */
bool        engine_get_running (Engine *engine, JS::HandleValue owner, JS::MutableHandleValueVector running);
/* Returns PATH:LINE of the function of the running task with @promise, or NULL if there is none. */
char       *engine_get_place (Engine *engine, JSObject *promise);

} // namespace PrioGjs
