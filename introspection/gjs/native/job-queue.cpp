/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* job-queue.cpp: gives every reaction its state */

#include "job-queue.h"

#if PRIO_IS_EXACT

#include <js/CallAndConstruct.h>
#include <js/Object.h>
#include <js/TracingAPI.h>
#include <js/ValueArray.h>
#include <jsapi.h>
#include <jsfriendapi.h>

namespace PrioGjs {

/* The slots of the function in which a job is queued. */
enum { JOB, STATE };

/* Runs a job, and empties the slots.  A second call does nothing, unless the function was reused: then it runs the new job. */
static bool
run_job (JSContext *cx, unsigned argc, JS::Value *vp)
{
  JS::CallArgs args = JS::CallArgsFromVp (argc, vp);
  JS::RootedObject self (cx, &args.callee ());
  JS::RootedValue job (cx, js::GetFunctionNativeReserved (self, JOB));
  JS::RootedValue state (cx, js::GetFunctionNativeReserved (self, STATE));
  Engine *engine = engine_find (cx);

  args.rval ().setUndefined ();
  if (!job.isObject ())
    return true;
  js::SetFunctionNativeReserved (self, JOB, JS::UndefinedValue ());
  js::SetFunctionNativeReserved (self, STATE, JS::UndefinedValue ());

  JSAutoRealm realm (cx, &job.toObject ());
  if (engine == nullptr)
    return JS::Call (cx, JS::UndefinedHandleValue, job, JS::HandleValueArray::empty (), args.rval ());

  Scope scope (engine, state);
  engine->queue->recycle (self);
  return JS::Call (cx, JS::UndefinedHandleValue, job, JS::HandleValueArray::empty (), args.rval ());
}

/* Gives the state of the running code to the jobs that the code queues.  If the code is in another compartment, the jobs get no
 * state, because they could use the state only through a cross-compartment wrapper. */
bool
JobQueue::getHostDefinedData (JSContext *cx, JS::MutableHandle<JSObject *> data) const
{
  JS::Value state = m_engine->state ();

  if (state.isObject () && JS::GetCompartment (&state.toObject ()) == js::GetContextCompartment (cx))
    {
      data.set (&state.toObject ());
      return true;
    }
  return m_engine->gjs_queue->getHostDefinedData (cx, data);
}

JSObject *
JobQueue::function_for (JSContext *cx, JS::HandleObject job, JS::HandleObject state)
{
  JS::RootedObject function (cx);

  if (!m_spare.empty ())
    {
      function = m_spare.back ();
      m_spare.pop_back ();
    }
  else
    {
      JSAutoRealm realm (cx, m_engine->global);
      JSFunction *made = js::NewFunctionWithReserved (cx, run_job, 0, 0, "job");

      if (made == nullptr)
        return nullptr;
      function = JS_GetFunctionObject (made);
    }
  js::SetFunctionNativeReserved (function, JOB, JS::ObjectValue (*job));
  js::SetFunctionNativeReserved (function, STATE, JS::ObjectValue (*state));
  return function;
}

/* Passes a job on to GJS's queue.  If @data is a scheduling state, and not the global object that GJS expects, puts the job
 * into a function that runs it in that state, and queues the function.  But if the job or the state is in another compartment,
 * the job is queued without the state. */
bool
JobQueue::enqueuePromiseJob (JSContext *cx, JS::HandleObject promise, JS::HandleObject job, JS::HandleObject allocation_site,
                             JS::HandleObject data)
{
  if (!data || JS_IsGlobalObject (data))
    return m_engine->gjs_queue->enqueuePromiseJob (cx, promise, job, allocation_site, data);

  JS::Compartment *compartment = JS::GetCompartment (m_engine->global.unbarrieredGet ());
  JS::RootedObject global (cx, JS::GetNonCCWObjectGlobal (data)), function (cx);

  if (JS::GetCompartment (job) != compartment || JS::GetCompartment (data) != compartment)
    return m_engine->gjs_queue->enqueuePromiseJob (cx, promise, job, allocation_site, global);
  function = function_for (cx, job, data);
  return function && m_engine->gjs_queue->enqueuePromiseJob (cx, promise, function, allocation_site, global);
}

void
JobQueue::recycle (JSObject *function)
{
  if (m_spare.size () < MAX_SPARE)
    m_spare.emplace_back (function);
}

void
JobQueue::runJobs (JSContext *cx)
{
  m_engine->gjs_queue->runJobs (cx);
}

bool
JobQueue::empty () const
{
  return m_engine->gjs_queue->empty ();
}

bool
JobQueue::isDrainingStopped () const
{
  return m_engine->gjs_queue->isDrainingStopped ();
}

/* Saves the current state and GJS's queue while the debugger has stopped the program, and restores both.  Meanwhile no state is
 * current, because code of the debugger is not part of a task. */
class JobQueue::Saved final : public JS::JobQueue::SavedJobQueue
{
 public:
  Saved (Engine *engine, js::UniquePtr<SavedJobQueue> saved)
    : m_saved (std::move (saved)), m_engine (engine), m_current (engine->cx, engine->current)
  {
    engine->current = JS::NullValue ();
  }

  ~Saved () override
  {
    m_engine->current = m_current;
  }

 private:
  js::UniquePtr<SavedJobQueue> m_saved;
  Engine *m_engine;
  JS::PersistentRootedValue m_current;
};

/* Makes saveJobQueue () public, so that it can be called on GJS's queue. */
struct OpenJobQueue : JS::JobQueue
{
  using JS::JobQueue::saveJobQueue;
};

js::UniquePtr<JS::JobQueue::SavedJobQueue>
JobQueue::saveJobQueue (JSContext *cx)
{
  js::UniquePtr<SavedJobQueue> saved = (m_engine->gjs_queue->*&OpenJobQueue::saveJobQueue) (cx);

  if (!saved)
    return nullptr;
  return js::MakeUnique<Saved> (m_engine, std::move (saved));
}

void
JobQueue::trace (JSTracer *trc)
{
  for (auto &function : m_spare)
    JS::TraceEdge (trc, &function, "prio-sched job");
}

void
JobQueue::close ()
{
  m_spare.clear ();
}

} // namespace PrioGjs

#endif
