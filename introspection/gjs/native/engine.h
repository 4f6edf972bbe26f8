/* engine.h: what is known of a JavaScript context
 *
 * One Engine stands beside each JSContext whose program has loaded the overrides.  All of it belongs to the thread of that
 * context.  It ends with the GjsContext, before the JSContext does.
 *
 * The current state is an object of the overrides, null for none, or undefined where no task or job of theirs is running;
 * then the library knows it.  It is current at one depth of main loops only: what a nested loop runs is not part
 * of the task that runs the loop.
 *
 * On an engine that asks its job queue for host-defined data, each reaction has the state of the code that registered it
 * (job-queue.h): the Engine is exact.  On others, the state goes on with whatever settles a promise, so that what is settled for
 * code with another state has to wait until the jobs of this one have run (results).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <memory>
#include <vector>

#include <gjs/gjs.h>
#include <js-config.h>
#include <js/Class.h>
#include <js/Promise.h>
#include <js/RootingAPI.h>
#include <js/TypeDecls.h>
#include <js/Value.h>
#include <js/ValueArray.h>

#define PRIO_IS_EXACT (MOZJS_MAJOR_VERSION == 140)

namespace PrioGjs {

class JobQueue;
struct Table;

/* The functions of the overrides that are called from here, in the order in which they are given. */
enum class Hook { REASON, FOLLOW, FINISH, SETTLED, YIELD, LIBRARY_STATE, N_HOOKS };

/* A promise to settle; or, if there is a reject, its resolving functions. */
struct Deferred
{
  JS::Heap<JSObject *> promise;
  JS::Heap<JSObject *> reject;
};

/* A promise that is settled after the jobs of the current state, with the state of the code that awaits it. */
struct Result
{
  Deferred deferred;
  JS::Heap<JS::Value> value;
  JS::Heap<JS::Value> outer;
  bool rejects;
};

struct Engine
{
  JSContext *cx;        /* NULL once the GjsContext has gone */
  GjsContext *context;  /* weak */
  GThread *thread;
  JS::JobQueue *gjs_queue;
  std::unique_ptr<JobQueue> queue; /* if it is exact */

  JS::Heap<JSObject *> global;
  JS::Heap<JSObject *> hooks[(size_t) Hook::N_HOOKS];

  JS::Heap<JS::Value> current; /* as above */
  int depth;                   /* the depth of main loops at which it is current */
  JS::Heap<JS::Value> library; /* the state of the task that runs, or null */
  Table *library_table;        /* whose task that is */
  int library_depth;

  Deferred last; /* the functions that the executor of the last promise got */
  std::vector<Result> results;
  std::vector<Table *> tables;
  Table *own_table; /* carries what is the overrides' own */

  explicit Engine (JSContext *cx, GjsContext *context);
  ~Engine ();
  void close ();
  void trace (JSTracer *trc);

  /* The current state, or null at another depth of main loops. */
  JS::Value state () const;
  bool call (Hook hook, const JS::HandleValueArray &args, JS::MutableHandleValue result);
  void settle (JS::HandleObject promise, JS::HandleObject reject, bool rejects, JS::HandleValue value);
  /* The same with the state @outer. */
  void settle_later (JS::HandleObject promise, JS::HandleObject reject, bool rejects, JS::HandleValue value, JS::HandleValue outer);
  void drain ();
  void run_jobs ();
};

/* Sets what is current, and sets back what was. */
class Scope
{
 public:
  Scope (Engine *engine, JS::HandleValue current);
  ~Scope ();

  Scope (const Scope &) = delete;
  Scope &operator= (const Scope &) = delete;

 private:
  Engine *m_engine;
  JS::RootedValue m_current, m_library;
  Table *m_table;
  int m_depth, m_library_depth;
};

/* Whether the calling thread is that of @cx. */
bool    is_of_this_thread (JSContext *cx);
Engine *engine_find (JSContext *cx);
void    engine_report (JSContext *cx, const char *where);

} // namespace PrioGjs
