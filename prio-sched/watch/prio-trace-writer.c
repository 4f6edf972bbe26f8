/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-trace-writer.c: writes the trace of this process to a descriptor */

#include "config.h"

#include "watch/prio-trace-writer-private.h"

#include "base/prio-clock-private.h"
#include "base/prio-lock-private.h"
#include "prio-observe.h"

#include <errno.h>
#include <glib/gi18n-lib.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The thread writes as soon as it has a block of this size, in bytes. */
#define BLOCK_SIZE (64 * 1024)
/* A smaller block is written after this time, in µs, so that a crash loses only the last events. */
#define WRITE_INTERVAL (100 * 1000)
/* The most bytes that are kept for a slow reader, in addition to the block that is being written. */
#define MAX_GATHERED (64 * 1024 * 1024)
/* How long the end of a trace waits for a reader at most, in µs. */
#define END_TIME G_USEC_PER_SEC
/* How long the thread waits, in µs, before it tries again to write, if poll () reported room but write () failed. */
#define ROOM_INTERVAL 1000

typedef struct
{
  int fd;
  struct stat opened; /* identifies the file, in case @fd is closed and reused */
  gboolean is_child;   /* whether the parent process writes the beginning and the end of the array */
  gboolean has_begun;  /* whether the beginning of the array has been written */
  gboolean has_thread;
  gint generation;
  gint64 end;        /* when the thread stops waiting for a reader, in µs; 0 before the trace ends */
  GString *gathered; /* complete lines that have not been written */
  guint64 n_lost;    /* events that were dropped */
  GHashTable *numbers[PRIO_TRACE_N_KINDS]; /* gconstpointer → guint */
} Trace;

/* Guards all variables below.  A thread that has entered a loop may take this lock, under which no other is taken. */
static PrioLock lock = PRIO_LOCK_INIT;
/* Signalled when a block is full, and when a trace begins, has to end, or has ended. */
static PrioCond changed = PRIO_COND_INIT;
/* The trace, or NULL.  Its thread frees the trace; a trace without a thread is freed by drop_current (). */
static Trace *current;
static gint last_generation;
static gint generation; /* the generation of @current while lines are added to it, otherwise 0; atomic */

static void
set_current (Trace *trace)
{
  current = trace;
  if (trace != NULL)
    trace->generation = ++last_generation;
  __atomic_store_n (&generation, trace != NULL ? trace->generation : 0, __ATOMIC_RELEASE);
}

/* Returns whether the descriptor of @trace still refers to the same file.  A program that closes all descriptors, as
 * daemons do, may use the number for another file. */
static gboolean
is_still_open (Trace *trace)
{
  struct stat status;

  return fstat (trace->fd, &status) == 0 && status.st_dev == trace->opened.st_dev && status.st_ino == trace->opened.st_ino;
}

static Trace *
trace_new (int fd)
{
  Trace *trace = g_new0 (Trace, 1);

  trace->fd = fd;
  fstat (fd, &trace->opened);
  trace->gathered = g_string_new (NULL);
  for (guint i = 0; i < PRIO_TRACE_N_KINDS; i++)
    trace->numbers[i] = g_hash_table_new (NULL, NULL);
  return trace;
}

static void
trace_free (Trace *trace)
{
  if (is_still_open (trace))
    close (trace->fd);
  g_string_free (trace->gathered, TRUE);
  for (guint i = 0; i < PRIO_TRACE_N_KINDS; i++)
    g_hash_table_unref (trace->numbers[i]);
  g_free (trace);
}

/* Returns how many bytes of @lines to write in one write (): whole lines, but at most PIPE_BUF bytes.  Such a write is
 * not mixed with writes of other processes, and fits into a pipe for which poll () reports room. */
static gsize
get_part (const char *lines, gsize length)
{
  gsize part = MIN (length, PIPE_BUF);

  while (part > 0 && lines[part - 1] != '\n')
    part--;
  return part > 0 ? part : MIN (length, PIPE_BUF);
}

/* Waits until @trace can be written to.  Returns 0, EAGAIN if the trace ends without a reader, or EBADF. */
static int
await_room (Trace *trace)
{
  struct pollfd room = { .fd = trace->fd, .events = POLLOUT };

  while (is_still_open (trace))
    {
      gint64 end = __atomic_load_n (&trace->end, __ATOMIC_RELAXED);

      if (poll (&room, 1, WRITE_INTERVAL / 1000) > 0)
        return 0;
      if (end != 0 && prio_clock_now () >= end)
        return EAGAIN;
    }
  return EBADF;
}

/* Writes @lines.  Returns 0 or an errno: EAGAIN if the trace ends without a reader. */
static int
write_lines (Trace *trace, const GString *lines)
{
  gsize done = 0;

  while (done < lines->len)
    {
      int error = await_room (trace);
      gssize n;

      if (error != 0)
        return error;
      n = write (trace->fd, lines->str + done, get_part (lines->str + done, lines->len - done));
      if (n > 0)
        done += (gsize) n;
      else if (errno == EAGAIN || errno == EINTR)
        g_usleep (ROOM_INTERVAL);
      else
        return errno;
    }
  return 0;
}

/* Waits for lines, and returns them.  If they are the last lines, sets *@is_last, and ends the array. */
static GString *
take_lines (Trace *trace, gboolean *is_last)
{
  GString *lines;

  prio_lock_lock (&lock);
  trace->has_begun = TRUE;
  prio_cond_broadcast (&changed);
  if (trace->end == 0 && trace->gathered->len < BLOCK_SIZE)
    prio_cond_wait_until (&changed, &lock, prio_clock_now () + WRITE_INTERVAL);
  lines = g_steal_pointer (&trace->gathered);
  trace->gathered = g_string_sized_new (BLOCK_SIZE);
  *is_last = trace->end != 0;
  if (*is_last && !trace->is_child)
    g_string_append_printf (lines,
                            "{\"name\":\"lost events\",\"cat\":\"trace\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"count\":%" G_GUINT64_FORMAT
                            "}}\n]\n", (int) getpid (), trace->n_lost);
  prio_lock_unlock (&lock);
  return lines;
}

/* Writes @data, a Trace, and frees it.  Runs in the trace's thread. */
static gpointer
write_trace (gpointer data)
{
  Trace *trace = data;
  GString *lines = g_string_new (trace->is_child ? NULL : "[\n");
  gboolean is_last = FALSE;
  sigset_t signals;
  int error;

  /* This thread blocks all signals, so that the program's threads handle them, and write () fails with an error if
   * there is no reader, or the file reaches its size limit. */
  sigfillset (&signals);
  pthread_sigmask (SIG_BLOCK, &signals, NULL);

  while ((error = write_lines (trace, lines)) == 0 && !is_last)
    {
      g_string_free (lines, TRUE);
      lines = take_lines (trace, &is_last);
    }
  g_string_free (lines, TRUE);
  if (error != 0 && error != EAGAIN)
    g_warning ("The trace ends early: %s", g_strerror (error));

  prio_lock_lock (&lock);
  if (current == trace)
    set_current (NULL);
  trace_free (trace);
  prio_cond_broadcast (&changed);
  prio_lock_unlock (&lock);
  return NULL;
}

/* Frees the trace, which has no thread.  The caller holds the lock. */
static void
drop_current (void)
{
  trace_free (current);
  set_current (NULL);
}

/* Starts the thread that writes @trace.  The caller holds the lock. */
static gboolean
start_thread (Trace *trace, GError **error)
{
  GThread *thread = g_thread_try_new ("prio-trace", write_trace, trace, error);

  trace->has_thread = thread != NULL;
  g_clear_pointer (&thread, g_thread_unref);
  return trace->has_thread;
}

/* Returns whether the trace of generation @number is the current one.  The caller holds the lock. */
static gboolean
is_current (gint number)
{
  return current != NULL && current->generation == number;
}

/* Makes the thread write the last lines, and waits for the thread.  If the thread still waits for a reader after a
 * second, forgets the trace, which the thread then frees.  The caller holds the lock. */
static void
end_current (void)
{
  gint number = current->generation;
  gint64 end = prio_clock_now () + END_TIME;
  gboolean in_time = TRUE;

  __atomic_store_n (&generation, 0, __ATOMIC_RELAXED);
  __atomic_store_n (&current->end, end, __ATOMIC_RELAXED);
  prio_cond_broadcast (&changed);
  while (in_time && is_current (number))
    in_time = prio_cond_wait_until (&changed, &lock, end + 2 * WRITE_INTERVAL);
  if (is_current (number))
    current = NULL;
}

/* Ends the trace, if there is one.  Any thread that has entered no loop may call this function. */
void
prio_trace_writer_stop (void)
{
  prio_lock_lock (&lock);
  if (current != NULL && current->has_thread)
    end_current ();
  else if (current != NULL)
    drop_current ();
  prio_lock_unlock (&lock);
}

/* Continues or drops the trace in a child.  No other thread held the lock at the fork, because prio-loop.c takes it. */
static void
after_fork_in_child (void)
{
  Trace *trace = current;

  /* In the parent, a thread may have waited for this condition, but the child has no such thread. */
  changed = (PrioCond) PRIO_COND_INIT;
  if (trace == NULL)
    return;
  trace->has_thread = FALSE;
  trace->is_child = TRUE;
  trace->n_lost = 0;
  g_string_truncate (trace->gathered, 0);
  if (trace->end == 0 && S_ISFIFO (trace->opened.st_mode) && is_still_open (trace))
    set_current (trace);
  else
    drop_current ();
}

static gpointer
prepare_process (gpointer data G_GNUC_UNUSED)
{
  prio_loop_add_leaf_lock (&lock);
  pthread_atfork (NULL, NULL, after_fork_in_child);
  atexit (prio_trace_writer_stop);
  return NULL;
}

/* Begins a trace to @fd.  Closes @fd when the trace ends, or at once on failure.  Any thread that has entered no loop
 * may call this function. */
gboolean
prio_trace_writer_start (int fd, GError **error)
{
  static GOnce once = G_ONCE_INIT;
  Trace *trace = trace_new (fd);

  g_once (&once, prepare_process, NULL);
  prio_lock_lock (&lock);
  if (current != NULL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_BUSY, _("This process writes a trace already"));
    }
  else if (start_thread (trace, error))
    {
      gint64 until = prio_clock_now () + WRITE_INTERVAL;
      gint number;

      set_current (g_steal_pointer (&trace));
      number = current->generation;
      /* Waits until the beginning of the array has been written, so that no child of fork () writes before it.  If the
       * reader is slow, gives up. */
      while (is_current (number) && !current->has_begun && prio_cond_wait_until (&changed, &lock, until))
        ;
    }
  prio_lock_unlock (&lock);

  if (trace == NULL)
    return TRUE;
  trace_free (trace);
  return FALSE;
}

/* Returns the generation of the current trace, or 0 if there is none.  The trace of a child has a different generation.
 * Any thread may call this function, even if it has entered a loop. */
gint
prio_trace_writer_get_trace (void)
{
  return __atomic_load_n (&generation, __ATOMIC_ACQUIRE);
}

/* Returns the number, from 1, that stands for @thing in this trace, because the address of @thing would disclose the
 * layout of memory; 0 without a trace.  Any thread may call this function, even if it has entered a loop. */
guint
prio_trace_writer_get_number (PrioTraceKind kind, gconstpointer thing)
{
  guint number = 0;

  prio_lock_lock (&lock);
  if (current != NULL)
    {
      GHashTable *numbers = current->numbers[kind];

      number = GPOINTER_TO_UINT (g_hash_table_lookup (numbers, thing));
      if (number == 0)
        {
          number = g_hash_table_size (numbers) + 1;
          g_hash_table_insert (numbers, (gpointer) thing, GUINT_TO_POINTER (number));
        }
    }
  prio_lock_unlock (&lock);
  return number;
}

/* Adds @line, an event that ends with ",\n", or counts it as lost.  A thread that has entered a loop may call this. */
void
prio_trace_writer_add (const GString *line)
{
  prio_lock_lock (&lock);
  if (current != NULL && current->end == 0)
    {
      if (current->gathered->len + line->len <= MAX_GATHERED)
        g_string_append_len (current->gathered, line->str, (gssize) line->len);
      else
        current->n_lost++;
      /* In a child of fork () the thread has to be started again. */
      if (!current->has_thread)
        start_thread (current, NULL);
      if (current->gathered->len >= BLOCK_SIZE)
        prio_cond_broadcast (&changed);
    }
  prio_lock_unlock (&lock);
}
