/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-trace-writer-private.h: writes the trace of this process to a descriptor
 *
 * Promises: an array of events in the Chrome trace event format, one a line.  Any thread adds lines, and never waits:
 * the trace's thread writes them, as soon as there are 64 KiB or a tenth of a second has passed.  It alone waits for a
 * reader.  While it waits, 64 MiB are kept; further lines are dropped and counted.
 *
 * The trace ends when prio_trace_writer_stop () is called, when the program exits, or when a write fails, with a
 * warning then.  The end may be missing: the format allows it.
 *
 * A child of fork () continues with its own events if the descriptor is a pipe: each event has its process's id, and
 * lines of two processes do not mix.  Otherwise a child has no trace.
 *
 * Threads: any.  Functions marked so may be called inside a loop: they call no user code.
 */

#pragma once

#include <gio/gio.h>

/* Kinds of things that have numbers in a trace, each its own. */
typedef enum
{
  PRIO_TRACE_THREAD,
  PRIO_TRACE_LOOP,
  PRIO_TRACE_SCHEDULER,
  PRIO_TRACE_SIGNAL,
  PRIO_TRACE_N_KINDS
} PrioTraceKind;

gboolean prio_trace_writer_start (int fd, GError **error);
void prio_trace_writer_stop (void);
gint prio_trace_writer_get_trace (void);
guint prio_trace_writer_get_number (PrioTraceKind kind, gconstpointer thing);
void prio_trace_writer_add (const GString *line);
