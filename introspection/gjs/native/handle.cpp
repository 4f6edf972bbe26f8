/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* handle.cpp: handles of task signals, for the tables */

#include "handle.h"

#include <utility>

#include <js/Class.h>
#include <js/MemoryFunctions.h>
#include <js/Object.h>
#include <js/PropertyAndElement.h>
#include <jsapi.h>

namespace PrioGjs {

/* The slots of a handle. */
enum { SIGNAL, CONTROLLER, PRIORITY, STATE, OWNER, RECORD, N_SLOTS };

/* The estimated memory of a controller with a task, in bytes.  The collector is given this size, so that it knows when
 * to start. */
static constexpr size_t CONTROLLER_SIZE = 512;

static thread_local GCancellable *offered_signal;
static thread_local PrioTaskController *offered_controller;

void
handle_offer_signal (GCancellable *signal)
{
  offered_signal = signal;
}

void
handle_offer_controller (PrioTaskController *controller)
{
  offered_controller = controller;
}

PrioTaskController *
handle_take_controller (void)
{
  return std::exchange (offered_controller, nullptr);
}

static void
finalize (JS::GCContext *, JSObject *handle)
{
  PrioTaskController *controller = handle_controller (handle);

  if (controller == nullptr)
    return;
  JS::RemoveAssociatedMemory (handle, CONTROLLER_SIZE, JS::MemoryUse::Embedding1);
  g_object_unref (controller);
}

static constexpr JSClassOps handle_class_ops = { nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, finalize };
static constexpr JSClass handle_class = {
  "PrioSchedHandle", JSCLASS_HAS_RESERVED_SLOTS (N_SLOTS) | JSCLASS_FOREGROUND_FINALIZE, &handle_class_ops
};

JSObject *
handle_new (JSContext *cx, JS::HandleObject state, gint priority, JS::HandleValue owner, guint current,
            JS::HandleValue record)
{
  GCancellable *signal = std::exchange (offered_signal, nullptr);
  JSObject *handle = JS_NewObject (cx, &handle_class);

  if (handle == nullptr)
    return nullptr;
  if (signal == nullptr)
    {
      PrioTaskController *controller = prio_task_controller_new ((PrioTaskPriority) current);

      JS::SetReservedSlot (handle, CONTROLLER, JS::PrivateValue (controller));
      JS::AddAssociatedMemory (handle, CONTROLLER_SIZE, JS::MemoryUse::Embedding1);
      signal = G_CANCELLABLE (prio_task_controller_get_signal (controller));
    }
  JS::SetReservedSlot (handle, SIGNAL, JS::PrivateValue (signal));
  JS::SetReservedSlot (handle, PRIORITY, JS::Int32Value (priority));
  JS::SetReservedSlot (handle, STATE, JS::ObjectValue (*state));
  JS::SetReservedSlot (handle, OWNER, owner);
  JS::SetReservedSlot (handle, RECORD, record);
  return handle;
}

void
handle_set_record (JSObject *handle, const JS::Value &record)
{
  JS::SetReservedSlot (handle, RECORD, record);
}

bool
handle_is_alone (JSContext *cx, JSObject *handle, JS::HandleId n_pending)
{
  const JS::Value &given = JS::GetReservedSlot (handle, RECORD);
  JS::RootedObject record (cx, given.isObject () ? &given.toObject () : nullptr);
  JS::RootedValue count (cx);

  return !record || (JS_GetPropertyById (cx, record, n_pending, &count) && count.isInt32 () && count.toInt32 () == 0);
}

PrioTaskController *
handle_controller (JSObject *handle)
{
  return JS::GetMaybePtrFromReservedSlot<PrioTaskController> (handle, CONTROLLER);
}

bool
is_handle (const JS::Value &value)
{
  return value.isObject () && JS::GetClass (&value.toObject ()) == &handle_class;
}

GCancellable *
handle_signal (JSObject *handle)
{
  return JS::GetMaybePtrFromReservedSlot<GCancellable> (handle, SIGNAL);
}

gint
handle_priority (JSObject *handle)
{
  return JS::GetReservedSlot (handle, PRIORITY).toInt32 ();
}

JS::Value
handle_state (JSObject *handle)
{
  return JS::GetReservedSlot (handle, STATE);
}

JS::Value
handle_owner (JSObject *handle)
{
  return JS::GetReservedSlot (handle, OWNER);
}

} // namespace PrioGjs
