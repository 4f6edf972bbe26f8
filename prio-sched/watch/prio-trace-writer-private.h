/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-trace-writer-private.h: writes the trace of this process to a descriptor
 *
 * Promises: the trace is an array of events in the Chrome trace event format, one per line.  Any thread adds lines
 * without waiting.  The trace's thread writes the lines when there are 64 KiB, or after a tenth of a second.  Only that
 * thread waits for a slow reader.  Up to 64 MiB are kept for a slow reader; further lines are dropped and counted.
 *
 * The trace ends when prio_trace_writer_stop () is called, when the program exits, or, with a warning, when a write
 * fails.  Stopping waits for the thread, for a second or so.  The last lines may be missing: the format allows this.
 *
 * A child of fork () adds its own events to the trace if the descriptor is a pipe: each event has its process's id,
 * and lines of two processes do not mix.  Otherwise a child has no trace.
 *
 * Any thread may call these functions.  But a thread that has entered a loop (prio-loop-private.h) must not start or
 * stop a trace. */

#pragma once

#include <gio/gio.h>

/* Kinds of things that have a number in the trace.  Each kind is numbered separately. */
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
