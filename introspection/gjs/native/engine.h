/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* engine.h: the data of a JavaScript context
 *
 * Each JSContext whose program has loaded the overrides has an Engine.  The Engine belongs to the thread of that context, and
 * closes with the GjsContext, before the JSContext is destroyed.
 *
 * The current state is an object of the overrides, or null for code without a state.  It is undefined while no task or job of
 * the overrides is running: then the library knows the state.  A state is current at one depth of main loops only: callbacks of
 * a nested loop are not part of the task that runs the loop.
 *
 * A SpiderMonkey that asks its job queue for host-defined data is called exact: each reaction has the state of the code that
 * registered the reaction (job-queue.h).  On others the overrides know the current state, and Engine::current stays undefined.
 */

#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include <gjs/gjs.h>
#include <js-config.h>
#include <js/Class.h>
#include <js/ContextOptions.h>
#include <js/Promise.h>
#include <js/RootingAPI.h>
#include <js/TypeDecls.h>
#include <js/Value.h>
#include <js/ValueArray.h>

#define PRIO_IS_EXACT (MOZJS_MAJOR_VERSION == 140)

namespace PrioGjs {

class JobQueue;
struct Running;
struct Table;

/* The functions of the overrides that the native part calls, in the order in which setHooks () gets them. */
enum class Hook { CLOSED_ERROR, FOLLOW, FINISH, RUN, STATE_HERE, UNHANDLED, NAMED, REPORT, REASON, REJECTED, CALL_UNDER, DRAIN_UNDER, SETTLE_UNDER, END_UNDER,
                  N_HOOKS };

struct Engine
{
  JSContext *cx;        /* NULL once the GjsContext has gone */
  GjsContext *context;  /* a weak reference */
  GThread *thread;
  JS::JobQueue *gjs_queue;
  std::unique_ptr<JobQueue> queue; /* NULL unless the engine is exact */

  JS::Heap<JSObject *> global;
  JS::Heap<JSObject *> hooks[(size_t) Hook::N_HOOKS];

  /* If the engine is not exact: the states of tasks whose promises are pending, by their numbers, which are found on the stack.
   * The reactions of those promises keep the states; this map does not, so the collector may remove states here. */
  std::unordered_map<double, JS::Heap<JSObject *>> pending;

  JS::Heap<JS::Value> current; /* the current state: see the top of this file */
  int depth;                   /* the depth of main loops at which the state is current */
  int plain_depth;             /* if the engine is not exact: the depth at which code of a task with a plain state (table.h) runs; negative for
                                * other code; 0 if no table runs a task */
  bool reports;                /* whether the overrides have rejections to report after the running tasks */
  bool drains;                 /* whether the overrides have promises to settle before the result of the running task; not if it is exact */
  Running *running;            /* the innermost running task; used by table.cpp */
  std::vector<Table *> tables;
  JS::Heap<JSObject *> last_binding, last_signal, last_handle; /* used by fast.cpp: the last look-up and its result */
  std::vector<JSString *> words; /* names, used by fast.cpp: pinned, so that no collection moves or frees them */

  explicit Engine (JSContext *cx, GjsContext *context);
  ~Engine ();
  void close ();
  void trace (JSTracer *trc);

  /* Returns the current state, or null if a state is current at another depth of main loops. */
  JS::Value state () const;
  /* Returns whether the running code is part of a task with a plain state, as far as a table knows: see table.h. */
  bool is_plain () const;
  void set_plain (bool is_plain);
  bool call (Hook hook, const JS::HandleValueArray &args, JS::MutableHandleValue result);
  void settle (JS::HandleObject promise, bool rejects, JS::HandleValue value);
  void run_jobs ();
  void report_rejections ();
};

/* Makes a state current as long as this object exists, and then restores the previous state. */
class Scope
{
 public:
  Scope (Engine *engine, JS::HandleValue current);
  ~Scope ();

  Scope (const Scope &) = delete;
  Scope &operator= (const Scope &) = delete;

 private:
  Engine *m_engine;
  JS::RootedValue m_current;
  int m_depth;
};

/* Keeps SpiderMonkey from capturing the stacks where promises are made and settled, because a stack costs more than a promise.
 * Only a debugger shows these stacks, and the report of a rejection if nothing else shows where the reason comes from. */
class WithoutStacks
{
 public:
  explicit WithoutStacks (JSContext *cx) : m_cx (cx), m_captured (JS::ContextOptionsRef (cx).asyncStack ())
  {
    JS::ContextOptionsRef (cx).setAsyncStack (false);
  }

  ~WithoutStacks ()
  {
    JS::ContextOptionsRef (m_cx).setAsyncStack (m_captured);
  }

  WithoutStacks (const WithoutStacks &) = delete;
  WithoutStacks &operator= (const WithoutStacks &) = delete;

 private:
  JSContext *m_cx;
  bool m_captured;
};

/* Returns whether @cx belongs to the calling thread. */
bool    is_of_this_thread (JSContext *cx);
Engine *engine_find (JSContext *cx);
void    engine_report (JSContext *cx, const char *where);

} // namespace PrioGjs
