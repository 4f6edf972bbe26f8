/* table.h: the tasks of a scheduler, by the numbers that identify them in the library
 *
 * The overrides have an object for each table, which holds it; so do the library's runner and the states of its tasks.  A
 * table belongs to the thread of its engine, but for `closed`.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <vector>

#include <prio-sched.h>

#include "engine.h"

namespace PrioGjs {

/* A task or, without a callback, a continuation. */
struct Entry
{
  JS::Heap<JSObject *> callback;
  Deferred deferred;
  JS::Heap<JS::Value> state; /* its own */
  JS::Heap<JS::Value> outer; /* that of the code that awaits it, where the engine is not exact */
  bool watched;              /* somebody wants to know that it has settled */
  guint next_free;           /* for a free number: the next one, or 0 */
};

/* A task that has been taken out of its table to be run. */
struct Running;

struct Table
{
  Engine *engine = nullptr; /* NULL once its context has gone */
  PrioRunner *runner;
  bool is_held;       /* the overrides have an object for it */
  gint closed;        /* atomic: the library has closed the runner */

  std::vector<Entry> entries; /* the first is not used */
  guint free_id;              /* the first free number, or 0 */
  guint n_used;

  void trace (JSTracer *trc);
  guint add (JS::HandleObject callback, JS::HandleObject promise, JS::HandleObject reject);
  void remove (guint id);
  void clear ();
  void reject (guint id);
  void take_rejected ();
  /* Posts a task that has no effect but to drain the queue of jobs.  Returns whether there is a main context for it. */
  bool wake ();

  void run (guint id);
  bool run_entry (guint id);
  bool run_task (Running *running);
};

/* Makes a table and its runner, for the object that the overrides make next. */
PrioRunner *table_new (PrioScheduler *scheduler);
Table      *table_take_offered (void);
/* The overrides' object for it has gone. */
void        table_released (Table *table);
/* Frees the tables that nobody holds any more. */
void        tables_reclaim (Engine *engine);

/* The object that the overrides have for a table.  It has the states of tasks with nothing but a priority. */
JSObject   *table_object_new (JSContext *cx, Engine *engine, JS::HandleObject states);
Table      *table_of (const JS::Value &object);

/* Both post a task that settles @promise, and are native functions that may throw. */
bool        table_post (JSContext *cx, JS::HandleObject object, JS::HandleObject callback, JS::HandleObject promise,
                        JS::HandleObject reject, guint priority);
bool        table_yield (JSContext *cx, JS::HandleObject object, JS::HandleObject promise, JS::HandleObject reject);
/* Enters a task that has been posted with the result @posted. */
bool        table_enter (JSContext *cx, Table *table, guint id, gint posted);

} // namespace PrioGjs
