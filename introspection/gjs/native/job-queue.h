/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* job-queue.h: gives every reaction its state
 *
 * When a reaction is registered, at the `await` or `.then ()`, SpiderMonkey asks its job queue for host-defined data, and gives
 * the data back with the job.  This is HTML's HostMakeJobCallback, which the draft of Prioritized Task Scheduling changes
 * (§4.1.6).  So a state belongs to the code that awaits, and crosses any promise, whatever code settles it.
 *
 * All other calls are passed to GJS's queue.  A job that has a state is queued there inside a function, which makes the state
 * current while the job runs.
 */

#pragma once

#include "engine.h"

namespace PrioGjs {

#if PRIO_IS_EXACT

class JobQueue final : public JS::JobQueue
{
 public:
  explicit JobQueue (Engine *engine) : m_engine (engine) {}
  ~JobQueue () override = default;

  bool getHostDefinedData (JSContext *cx, JS::MutableHandle<JSObject *> data) const override;
  bool enqueuePromiseJob (JSContext *cx, JS::HandleObject promise, JS::HandleObject job, JS::HandleObject allocation_site,
                          JS::HandleObject data) override;
  void runJobs (JSContext *cx) override;
  bool empty () const override;
  bool isDrainingStopped () const override;

  void trace (JSTracer *trc);
  void close ();
  void recycle (JSObject *function);

 protected:
  js::UniquePtr<SavedJobQueue> saveJobQueue (JSContext *cx) override;

 private:
  /* How many functions are kept in m_spare; the collector frees the others. */
  static constexpr size_t MAX_SPARE = 256;

  class Saved;

  JSObject *function_for (JSContext *cx, JS::HandleObject job, JS::HandleObject state);

  Engine *m_engine;
  std::vector<JS::Heap<JSObject *>> m_spare; /* functions whose job has run, to be used again */
};

#else

/* Completes the type of Engine::queue, which is NULL if SpiderMonkey has no host-defined data. */
class JobQueue
{
};

#endif

} // namespace PrioGjs
