/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-options.c: checks options and other arguments of public functions */

#include "config.h"

#include "scheduler/prio-options-private.h"

#include "base/prio-debug-private.h"

/* The largest size that options will have in any version, in bytes. */
#define MAX_SIZE 512

/* The structures have no padding on any platform. */
G_STATIC_ASSERT (PRIO_SIZE_1_0 (PrioTaskOptions) == 4 * 4 + 8 + 6 * sizeof (gpointer));
G_STATIC_ASSERT (PRIO_SIZE_1_0 (PrioYieldOptions) == 4 * 4 + 5 * sizeof (gpointer));

const PrioTaskOptions prio_no_task_options;
const PrioYieldOptions prio_no_yield_options;

/* Logs a critical message that names @function and, unless @name is NULL, the task. */
static void G_GNUC_PRINTF (3, 4)
complain (const char *function, const char *name, const char *format, ...)
{
  g_autofree char *what = NULL;
  g_autofree char *escaped = prio_debug_escape (name);
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);

  if (escaped != NULL)
    g_critical ("%s(): %s (task \"%s\")", function, what, escaped);
  else
    g_critical ("%s(): %s", function, what);
}

gboolean
prio_check_no_delay (const char *function, const PrioTaskOptions *options)
{
  if (G_LIKELY (options == NULL || (options->delay == 0 && options->timeout == 0)))
    return TRUE;

  if (options->delay != 0)
    complain (function, options->name, "a delay of %" G_GUINT64_FORMAT " ms, which only tasks that are posted have",
              options->delay);
  else
    complain (function, options->name, "a timeout of %d ms, which only tasks that are posted have", options->timeout);
  return FALSE;
}

gboolean
prio_check_limit (const char *function, guint limit)
{
  if (G_LIKELY (limit > 0))
    return TRUE;

  complain (function, NULL, "with a limit of 0 no task would ever run");
  return FALSE;
}

/* Checks the size of @options, and that all bytes from offset @known_size on, where `reserved` is, are 0: only later
 * versions have fields there.  @given is the size in bytes, or 0 for the size in version 1.0. */
static gboolean
check_size (const char *function, gconstpointer options, gsize given, gsize known_size)
{
  const gsize size_1_0 = known_size + sizeof (guint), size = given != 0 ? given : size_1_0;
  const guint8 *bytes = options;
  gsize i = known_size;

  if (size < size_1_0 || size > MAX_SIZE)
    {
      complain (function, NULL, "options of %" G_GSIZE_FORMAT " bytes, as in no version: PRIO_TASK_OPTIONS() sets the size", size);
      return FALSE;
    }
  while (i < size && bytes[i] == 0)
    i++;
  if (i < size)
    complain (function, NULL, "options of %" G_GSIZE_FORMAT " bytes, of which this version of the library knows %"
              G_GSIZE_FORMAT ", and byte %" G_GSIZE_FORMAT ", perhaps not initialized, is set", size, known_size, i);
  return i == size;
}

static gboolean
check_priority_and_signal (const char *function, const char *name, PrioTaskPriority priority, PrioTaskSignal *signal,
                           GCancellable *cancellable)
{
  if (G_UNLIKELY (!PRIO_IS_PRIORITY_OR_UNSET (priority)))
    {
      complain (function, name, "%d is not a PrioTaskPriority: these are 1 (background), 2 (user-visible) and 3 "
                "(user-blocking), and 0 (PRIO_TASK_PRIORITY_UNSET) for none", (gint) priority);
      return FALSE;
    }
  if (G_UNLIKELY (signal != NULL && cancellable != NULL))
    {
      complain (function, name, "a signal and a cancellable are given, of which a task has one");
      return FALSE;
    }
  if (G_UNLIKELY (signal != NULL && !PRIO_IS_TASK_SIGNAL (signal)))
    {
      g_autofree char *description = prio_describe (signal);

      complain (function, name, "%s is not a PrioTaskSignal, so it cannot be the signal; prio_task_controller_get_signal() gives a controller's", description);
      return FALSE;
    }
  if (G_UNLIKELY (!PRIO_IS_SIGNAL_OR_NULL (cancellable)))
    {
      g_autofree char *description = prio_describe (cancellable);

      complain (function, name, "%s is not a GCancellable, so it cannot be the cancellable", description);
      return FALSE;
    }
  return TRUE;
}

gboolean
prio_check_options (const char *function, const PrioTaskOptions *options, gboolean has_func)
{
  if (options == NULL)
    options = &prio_no_task_options;
  if (!check_size (function, options, options->size, G_STRUCT_OFFSET (PrioTaskOptions, reserved)) ||
      !check_priority_and_signal (function, options->name, options->priority, options->signal,
                                  options->cancellable))
    return FALSE;

  if (options->source_object != NULL && !G_IS_OBJECT (options->source_object))
    complain (function, options->name, "%p is not a GObject, so it cannot be the source object",
              (gpointer) options->source_object);
  else if (!has_func)
    complain (function, options->name, "func is NULL, and has to be a function");
  else
    return TRUE;
  return FALSE;
}

gboolean
prio_check_yield_options (const char *function, const PrioYieldOptions *options, gboolean has_callback)
{
  const PrioYieldFlags both = PRIO_YIELD_DROP_PRIORITY | PRIO_YIELD_KEEP_PRIORITY;

  if (G_LIKELY (options == NULL && has_callback))
    return TRUE;
  if (options == NULL)
    options = &prio_no_yield_options;
  if (!check_size (function, options, options->size, G_STRUCT_OFFSET (PrioYieldOptions, reserved)) ||
      !check_priority_and_signal (function, options->name, options->priority, options->signal,
                                  options->cancellable))
    return FALSE;

  if ((options->flags & ~PRIO_YIELD_FLAGS_ALL) != 0)
    {
      complain (function, options->name, "0x%x is not a set of PrioYieldFlags: 0x%x is unknown", (guint) options->flags,
                (guint) (options->flags & ~PRIO_YIELD_FLAGS_ALL));
      return FALSE;
    }
  if ((options->flags & both) == both)
    complain (function, options->name, "PRIO_YIELD_DROP_PRIORITY and PRIO_YIELD_KEEP_PRIORITY exclude each other");
  else if (!has_callback)
    complain (function, options->name, "callback is NULL, and has to be a function");
  else
    return TRUE;
  return FALSE;
}
