/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-sched-gjs-engine.cpp: functions that the overrides for GJS call by introspection */

#define PRIO_SCHED_GJS_ENGINE_EXPORT __attribute__ ((visibility ("default"))) extern

#include "prio-sched-gjs-engine.h"

#include <cstring>

#include <dlfcn.h>

#include <js/Initialization.h>
#include <js/PropertyAndElement.h>
#include <jsapi.h>

#include "engine.h"
#include "functions.h"
#include "handle.h"
#include "prio-sched-gjs-made-for.h"
#include "table.h"

/* The version of the native functions' interface; it grows when they change. */
#define INTERFACE 11

static_assert (PRIO_SCHED_GJS_ENGINE_MADE_FOR == MOZJS_MAJOR_VERSION, "the typelib would name another engine");

/* The tests build a library that has another version here. */
#ifndef PRIO_SCHED_GJS_ENGINE_SAYS_MADE_FOR
#define PRIO_SCHED_GJS_ENGINE_SAYS_MADE_FOR PRIO_SCHED_GJS_ENGINE_MADE_FOR
#endif

/* Returns whether the process has the SpiderMonkey that this library was built for, and logs a warning if not.  The
 * library does not link to SpiderMonkey, so it uses the one of GJS, whose version may differ.  If the overrides can
 * find out GJS's version, they compare it with the version in the typelib before they load this library. */
static gboolean
is_my_engine (void)
{
  static const char mine[] = "JavaScript-C" G_STRINGIFY (PRIO_SCHED_GJS_ENGINE_SAYS_MADE_FOR) ".";

  if (g_str_has_prefix (JS_GetImplementationVersion (), mine))
    return TRUE;
  g_warning_once ("The native part of PrioSched was built for SpiderMonkey %d, and this is %s: GJS goes on without it",
                  PRIO_SCHED_GJS_ENGINE_SAYS_MADE_FOR, JS_GetImplementationVersion ());
  return FALSE;
}

/* Returns whether the context's private data is the job queue of GJS, as it has been since GJS 1.62: an object whose
 * class is in GJS's library. */
static gboolean
has_job_queue_of_gjs (JSContext *cx)
{
  void *queue = JS_GetContextPrivate (cx);
  Dl_info queue_info, gjs_info;

  return queue != nullptr && dladdr (*static_cast<void **> (queue), &queue_info) != 0 &&
         dladdr (reinterpret_cast<void *> (gjs_context_get_type), &gjs_info) != 0 &&
         queue_info.dli_fbase == gjs_info.dli_fbase;
}

/* Returns the property @name of the global object of the code that runs in @cx, or NULL. */
static JSObject *
get_target (JSContext *cx, const char *name)
{
  JS::RootedObject global (cx, JS::CurrentGlobalOrNull (cx));
  JS::RootedValue value (cx);
  bool has = false;

  if (!global || !JS_HasOwnProperty (cx, global, name, &has) || !has || !JS_GetProperty (cx, global, name, &value))
    return nullptr;
  return value.isObject () ? &value.toObject () : nullptr;
}

static gboolean
open_in (GjsContext *context, const char *name)
{
  JSContext *cx = static_cast<JSContext *> (gjs_context_get_native_context (context));

  if (cx == nullptr || !PrioGjs::is_of_this_thread (cx))
    return FALSE;
  JS::RootedObject target (cx, get_target (cx, name));
  if (!target || !has_job_queue_of_gjs (cx) || PrioGjs::engine_find (cx) != nullptr)
    return FALSE;
  return PrioGjs::functions_define (cx, context, target);
}

GType
prio_sched_gjs_engine_gain_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { PRIO_SCHED_GJS_ENGINE_GAIN_NONE, "PRIO_SCHED_GJS_ENGINE_GAIN_NONE", "none" },
    { PRIO_SCHED_GJS_ENGINE_GAIN_SPEED, "PRIO_SCHED_GJS_ENGINE_GAIN_SPEED", "speed" },
    { PRIO_SCHED_GJS_ENGINE_GAIN_STATE, "PRIO_SCHED_GJS_ENGINE_GAIN_STATE", "state" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("PrioSchedGjsEngineGain", values));
  return type;
}

PrioSchedGjsEngineGain
prio_sched_gjs_engine_open (const char *name, guint version)
{
  GList *contexts;
  gboolean opened = FALSE;

  g_return_val_if_fail (name != NULL, PRIO_SCHED_GJS_ENGINE_GAIN_NONE);

  if (version != INTERFACE || !is_my_engine ())
    return PRIO_SCHED_GJS_ENGINE_GAIN_NONE;
  contexts = gjs_context_get_all ();
  for (GList *l = contexts; l != nullptr && !opened; l = l->next)
    opened = open_in (static_cast<GjsContext *> (l->data), name);
  g_list_free_full (contexts, g_object_unref);
  if (!opened)
    return PRIO_SCHED_GJS_ENGINE_GAIN_NONE;
  return PRIO_IS_EXACT ? PRIO_SCHED_GJS_ENGINE_GAIN_STATE : PRIO_SCHED_GJS_ENGINE_GAIN_SPEED;
}

PrioRunner *
prio_sched_gjs_engine_new_runner (PrioScheduler *scheduler)
{
  g_return_val_if_fail (PRIO_IS_SCHEDULER (scheduler), NULL);

  return PrioGjs::table_new (scheduler);
}

void
prio_sched_gjs_engine_offer_signal (GCancellable *signal)
{
  g_return_if_fail (G_IS_CANCELLABLE (signal));

  PrioGjs::handle_offer_signal (signal);
}

PrioTaskController *
prio_sched_gjs_engine_take_controller (void)
{
  return PrioGjs::handle_take_controller ();
}
