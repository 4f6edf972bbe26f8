/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-options-boxed.c: options as boxed types, for language bindings and channels */

#include "config.h"

#include "prio-options.h"

#include "base/prio-check-private.h"
#include "prio-scheduling-state.h"

static gpointer
ref_object (gpointer object)
{
  return object != NULL ? g_object_ref (object) : NULL;
}

/* Copies the options that this version of the library has.  The copy owns its objects and name, but not its tag. */
static PrioTaskOptions *
task_options_copy (PrioTaskOptions *options)
{
  PrioTaskOptions *copy = g_new0 (PrioTaskOptions, 1);

  PRIO_COPY_OPTIONS (PrioTaskOptions, copy, options);
  copy->size = MIN (copy->size, sizeof *copy);
  copy->signal = ref_object (copy->signal);
  copy->cancellable = ref_object (copy->cancellable);
  copy->name = g_strdup (copy->name);
  copy->source_object = ref_object (copy->source_object);
  return copy;
}

static void
task_options_free (PrioTaskOptions *copy)
{
  g_clear_object (&copy->signal);
  g_clear_object (&copy->cancellable);
  g_free ((char *) copy->name);
  g_clear_object (&copy->source_object);
  g_free (copy);
}

static PrioYieldOptions *
yield_options_copy (PrioYieldOptions *options)
{
  PrioYieldOptions *copy = g_new0 (PrioYieldOptions, 1);

  PRIO_COPY_OPTIONS (PrioYieldOptions, copy, options);
  copy->size = MIN (copy->size, sizeof *copy);
  copy->signal = ref_object (copy->signal);
  copy->cancellable = ref_object (copy->cancellable);
  copy->state = copy->state != NULL ? prio_scheduling_state_ref (copy->state) : NULL;
  copy->name = g_strdup (copy->name);
  return copy;
}

static void
yield_options_free (PrioYieldOptions *copy)
{
  g_clear_object (&copy->signal);
  g_clear_object (&copy->cancellable);
  g_clear_pointer (&copy->state, prio_scheduling_state_unref);
  g_free ((char *) copy->name);
  g_free (copy);
}

G_DEFINE_BOXED_TYPE (PrioTaskOptions, prio_task_options, task_options_copy, task_options_free)
G_DEFINE_BOXED_TYPE (PrioYieldOptions, prio_yield_options, yield_options_copy, yield_options_free)
