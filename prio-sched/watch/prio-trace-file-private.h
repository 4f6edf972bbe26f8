/* prio-trace-file-private.h: the file into which this process writes its trace
 *
 * Promises: an array of events in the Chrome trace event format, one a line.  Events are gathered in a block.  The thread
 * that fills it writes it, while the others gather in the next one, and a thread of the trace writes what there is ten times a
 * second.  That one alone waits for the reader of a pipe: what it does not read is gathered, and beyond 64 MiB it is left out.
 * What is in the file is readable at every moment, but for the
 * array's end, which comes when the file is closed or the program exits.  A child of fork () does not write to its parent's
 * file: it gets one of its own if the path has %p, and none otherwise.  The file is its owner's alone.
 *
 * A descriptor of another process, /proc/PID/fd/NUMBER, has to be a pipe of the same user.  All processes of a program may write
 * to it: each event says of which process it is, and no line is cut by that of another one.
 *
 * Threads: any.  Functions that say so may be called inside a loop: they call nothing of the user's.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

/* Tells one trace from the next, and a parent's from its child's.  Names of threads stand once in each.  0 while there is none. */
extern gint prio_trace_generation G_GNUC_INTERNAL;

/* What a trace tells apart by numbers, each kind by its own. */
typedef enum
{
  PRIO_TRACE_THREAD,
  PRIO_TRACE_LOOP,
  PRIO_TRACE_SCHEDULER,
  PRIO_TRACE_SIGNAL,
  PRIO_TRACE_N_KINDS
} PrioTraceKind;

gboolean prio_trace_file_open (const char *path, GError **error);
void prio_trace_file_close (void);
gboolean prio_trace_file_is_open (void);
gint64 prio_trace_file_get_pid (void);
guint prio_trace_file_get_number (PrioTraceKind kind, gconstpointer thing);
void prio_trace_file_add (const char *lines, gsize length);
gboolean prio_trace_file_tell (void);
