/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* table.h: tasks that need nothing but a callback and a priority or a signal, by the numbers that identify them in the library
 *
 * And continuations, which have no callback.  The overrides have an object for each table, which holds it; so does
 * the library's runner.  A table belongs to the thread of its engine, but for `closed`.
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
  JS::Heap<JSObject *> handle; /* of its signal, or NULL */
  guint next_free; /* for a free number: the next one, or 0 */
  guint priority;  /* of a task without a signal */
};

/* A task that has been taken out of its table to be run, and what comes of it. */
struct Outcome;
struct Running;

struct Table
{
  Engine *engine = nullptr; /* NULL once its context has gone */
  PrioRunner *runner;
  bool is_held;       /* the overrides have an object for it */
  gint closed;        /* atomic: the library has closed the runner */

  JS::Heap<JS::Value> states[PRIO_TASK_PRIORITY_USER_BLOCKING]; /* of tasks with nothing but a priority, by that less 1 */

  std::vector<Entry> entries; /* the first is not used */
  guint free_id;              /* the first free number, or 0 */
  guint n_used;

  void trace (JSTracer *trc);
  guint add (JS::HandleObject callback, JS::HandleObject promise, guint priority, JS::HandleObject handle);
  JS::Value state_of (guint id) const;
  void remove (guint id);
  void clear ();

  /* The runner's function, and what it does on the thread of the engine. */
  void begin (guint id);
  void run (guint id);
  bool run_entry (guint id);
  bool run_task (Running *running);
  void settle_task (Running *running, Outcome *outcome);
};

/* Makes a table and its runner, for the object that the overrides make next. */
PrioRunner *table_new (PrioScheduler *scheduler);
Table      *table_take_offered (void);
/* The overrides' object for it has gone. */
void        table_released (Table *table);
/* Frees the tables that nobody holds any more. */
void        tables_reclaim (Engine *engine);

/* The object that the overrides have for a table, with the states of tasks that have nothing but a priority. */
JSObject   *table_object_new (JSContext *cx, Engine *engine, JS::HandleObject states);
Table      *table_of (const JS::Value &object);

/* Whether the running code has no state that a task could tell from none: if so, the priority of its continuations. */
guint       table_priority_here (JSObject *object);
/* Whether what is posted here belongs to nobody's task. */
bool        table_may_post (Engine *engine);
/* Posts a task, or, without a callback, a continuation that settles @promise.  It has a priority, or the handle of a signal. */
void        table_post (JSObject *object, JS::HandleObject callback, JS::HandleObject promise, guint priority, JS::HandleObject handle);

/* Tasks that an abort of their signals has taken out of the library's queues: their numbers, in the order in which they are to be
 * rejected.  An array that the caller frees, or NULL. */
guint      *table_take_rejected (Table *table, gsize *n);
/* The promise, the state and the owner of @id, which is free from now on. */
bool        table_take (Table *table, guint id, JS::MutableHandleValueVector taken);
/* The reason for which a task with that handle is rejected. */
void        get_reason (Engine *engine, JS::HandleObject handle, JS::MutableHandleValue reason);
/* The promises of the tasks that run, and that an abort by @owner may reject. */
bool        engine_get_running (Engine *engine, JS::HandleValue owner, JS::MutableHandleValueVector running);

} // namespace PrioGjs
