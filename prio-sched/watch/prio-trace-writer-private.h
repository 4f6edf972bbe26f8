/* prio-trace-writer-private.h: writes the trace of this process to a descriptor
 *
 * Promises: an array of events in the Chrome trace event format, one a line.  Any thread adds lines, and never waits: a thread of the
 * trace writes them, as soon as there are 64 KiB or a tenth of a second has passed.  That thread alone waits for a reader.  While it
 * waits, 64 MiB are kept, and more is left out and counted.
 *
 * The trace ends when prio_trace_writer_stop () is called, when the program exits, or when a write fails, with a warning then.  It
 * needs no end: all that has been written can be read.
 *
 * A child of fork () goes on with its own events if the descriptor is that of a pipe: each event says of which process it is, and no
 * line is cut by that of another process.  Otherwise a child has no trace.
 *
 * Threads: any.  Functions that say so may be called inside a loop: they call nothing of the user's.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

/* What a trace tells apart by numbers, each kind by its own. */
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
