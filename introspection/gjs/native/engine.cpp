/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* engine.cpp: the data of a JavaScript context */

#include "engine.h"

#include <algorithm>

#include <pthread.h>

#include <prio-sched-gjs.h>

#include <js/CallAndConstruct.h>
#include <js/Exception.h>
#include <js/GCAPI.h>
#include <js/Promise.h>
#include <js/TracingAPI.h>
#include <js/ValueArray.h>
#include <js/Conversions.h>
#include <jsapi.h>
#include <jsfriendapi.h>
#include <mozilla/Maybe.h>

#include "job-queue.h"
#include "table.h"

namespace PrioGjs {

/* The open engines of this thread. */
static thread_local std::vector<Engine *> engines;

Engine *
engine_find (JSContext *cx)
{
  for (Engine *engine : engines)
    {
      if (engine->cx == cx)
        return engine;
    }
  return nullptr;
}

/* Returns whether @cx belongs to this thread: the limit of @cx for the native stack is an address within its thread's stack. */
bool
is_of_this_thread (JSContext *cx)
{
  uintptr_t limit = JS::RootingContext::get (cx)->nativeStackLimit[JS::StackForTrustedScript];
  pthread_attr_t attributes;
  void *stack;
  size_t size;
  bool is_here;

  if (pthread_getattr_np (pthread_self (), &attributes) != 0)
    return false;
  is_here = pthread_attr_getstack (&attributes, &stack, &size) == 0 && limit - reinterpret_cast<uintptr_t> (stack) < size;
  pthread_attr_destroy (&attributes);
  return is_here;
}

static void
trace_engine (JSTracer *trc, void *data)
{
  static_cast<Engine *> (data)->trace (trc);
}

#if !PRIO_IS_EXACT
/* Drops pending states that are no longer referenced, when the collector sweeps.  SpiderMonkey calls this once for each engine,
 * with the engine's JSContext. */
static void
sweep_pending (JSTracer *trc, void *data)
{
  for (Engine *engine : engines)
    {
      auto &pending = engine->pending;

      for (auto i = pending.begin (); engine->cx == data && i != pending.end ();)
        i = JS_UpdateWeakPointerAfterGC (trc, &i->second) ? std::next (i) : pending.erase (i);
    }
}
#endif

/* Closes the engine when the GjsContext is disposed of.  At this time its JSContext still exists. */
static void
context_gone (gpointer data, GObject *)
{
  Engine *engine = static_cast<Engine *> (data);

  engine->context = nullptr;
  engine->close ();
}

Engine::Engine (JSContext *js_context, GjsContext *gjs_context)
  : cx (js_context), context (gjs_context), thread (g_thread_self ()),
    gjs_queue (static_cast<JS::JobQueue *> (JS_GetContextPrivate (js_context))), global (JS::CurrentGlobalOrNull (js_context)),
    current (JS::UndefinedValue ()),
    depth (0), plain_depth (0), reports (false), drains (false), running (nullptr)
{
  engines.push_back (this);
  JS_AddExtraGCRootsTracer (cx, trace_engine, this);
  g_object_weak_ref (G_OBJECT (context), context_gone, this);
#if PRIO_IS_EXACT
  queue.reset (new JobQueue (this));
  JS::SetJobQueue (cx, queue.get ());
#else
  JS_AddWeakPointerZonesCallback (cx, sweep_pending, cx);
#endif
}

Engine::~Engine ()
{
  close ();
}

/* Closes the engine: from now on the tasks of the tables do nothing. */
void
Engine::close ()
{
  if (cx == nullptr)
    return;

#if PRIO_IS_EXACT
  JS::SetJobQueue (cx, gjs_queue);
  queue->close ();
#else
  JS_RemoveWeakPointerZonesCallback (cx, sweep_pending);
  pending.clear ();
#endif
  JS_RemoveExtraGCRootsTracer (cx, trace_engine, this);
  if (context != nullptr)
    g_object_weak_unref (G_OBJECT (context), context_gone, this);
  engines.erase (std::find (engines.begin (), engines.end (), this));

  for (Table *table : tables)
    {
      table->clear ();
      table->engine = nullptr;
    }
  tables.clear ();
  for (auto &hook : hooks)
    hook = nullptr;
  global = last_binding = last_signal = last_handle = nullptr;
  current = JS::UndefinedValue ();
  cx = nullptr;
}

void
Engine::trace (JSTracer *trc)
{
  JS::TraceEdge (trc, &global, "prio-sched global");
  for (auto &hook : hooks)
    JS::TraceEdge (trc, &hook, "prio-sched hook");
  JS::TraceEdge (trc, &current, "prio-sched current state");
  /* The last look-up of fast.cpp is forgotten, so that the collector can free its objects. */
  last_binding = last_signal = last_handle = nullptr;
  for (Table *table : tables)
    table->trace (trc);
#if PRIO_IS_EXACT
  queue->trace (trc);
#endif
}

JS::Value
Engine::state () const
{
  return current.unbarrieredGet ().isObject () && depth != g_main_depth () ? JS::NullValue () : current.get ();
}

bool
Engine::is_plain () const
{
  return plain_depth > 0 && plain_depth == g_main_depth ();
}

void
Engine::set_plain (bool is_plain)
{
  plain_depth = is_plain ? g_main_depth () : -g_main_depth ();
}

/* Logs the pending exception, which no other code handles.  If there is none, ends the program if System.exit () was called. */
void
engine_report (JSContext *cx, const char *where)
{
  JS::RootedValue exception (cx);
  JS::UniqueChars text;

  /* If code has failed without an exception, System.exit () may have stopped it. */
  if (!JS_GetPendingException (cx, &exception))
    {
      prio_sched_gjs_exit ();
      return;
    }
  JS_ClearPendingException (cx);
  JS::RootedString string (cx, JS::ToString (cx, exception));
  if (string)
    text = JS_EncodeStringToUTF8 (cx, string);
  JS_ClearPendingException (cx);
  g_warning ("%s: %s", where, text ? text.get () : "an exception that is not text");
}

bool
Engine::call (Hook hook, const JS::HandleValueArray &args, JS::MutableHandleValue result)
{
  JS::RootedValue function (cx, JS::ObjectValue (*hooks[(size_t) hook].get ()));

  return JS::Call (cx, JS::UndefinedHandleValue, function, args, result);
}

/* Reports that @promise, which has no handler, is about to be rejected. */
static void
tell_unhandled (Engine *engine, JS::HandleObject promise, JS::HandleValue reason)
{
  JS::RootedValueArray<2> args (engine->cx);
  JS::RootedValue result (engine->cx);

  args[0].setObject (*promise);
  args[1].set (reason);
  if (!engine->call (Hook::UNHANDLED, args, &result))
    engine_report (engine->cx, "An unhandled rejection could not be noted");
}

/* Settles @promise, after the overrides have recorded a rejection without a handler.  Calls code of the program only if
 * @promise is resolved with an object: the object's getter of `then`. */
void
Engine::settle (JS::HandleObject promise, bool rejects, JS::HandleValue value)
{
  mozilla::Maybe<WithoutStacks> without;

  if (rejects && !JS::GetPromiseIsHandled (promise))
    tell_unhandled (this, promise, value);
  if (rejects || !value.isObject ())
    without.emplace (cx);
  if (!(rejects ? JS::RejectPromise (cx, promise, value) : JS::ResolvePromise (cx, promise, value)))
    engine_report (cx, "A task's promise could not be settled");
}

/* Reports the unhandled rejections, if there are any.  This is done right after the running tasks, because no other code runs
 * if one of the tasks has ended the main loop. */
void
Engine::report_rejections ()
{
  if (cx == nullptr || !reports)
    return;
  JS::RootedValue result (cx);

  reports = false;
  if (!call (Hook::REPORT, JS::HandleValueArray::empty (), &result))
    engine_report (cx, "Unhandled rejections could not be reported");
}

/* Runs the queued jobs, if there are any. */
void
Engine::run_jobs ()
{
  if (!gjs_queue->empty ())
    js::RunJobs (cx);
}

Scope::Scope (Engine *engine, JS::HandleValue current)
  : m_engine (engine), m_current (engine->cx, engine->current), m_depth (engine->depth)
{
  engine->current = current;
  engine->depth = g_main_depth ();
}

Scope::~Scope ()
{
  /* If the engine has been closed meanwhile, this has no effect. */
  m_engine->current = m_current;
  m_engine->depth = m_depth;
}

} // namespace PrioGjs
