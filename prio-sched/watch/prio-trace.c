/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-trace.c: a trace of the schedulers of this process, in the Chrome trace event format
 *
 * The post of a task is a slice of no length, and each run is a slice.  A flow leads from the time when the task is
 * queued to the run.  Turns of other sources have a separate track, because they begin and end between runs. */

/* For gettid (). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "config.h"

#include "watch/prio-trace-private.h"

#include "base/prio-debug-private.h"
#include "watch/prio-environment-private.h"
#include "base/prio-thread-private.h"
#include "prio-observe.h"
#include "watch/prio-trace-writer-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The longest name, in bytes; longer names are cut. */
#define MAX_NAME 240

/* The trace to which the name of this thread has been added, and the thread's id. */
static PRIO_TLS gint known_to;
static PRIO_TLS int thread_id;

static char *
to_json (const char *name)
{
  g_autofree char *valid = g_utf8_make_valid (name, -1);
  GString *json = g_string_new ("\"");

  for (const char *p = valid; *p != '\0' && json->len <= MAX_NAME; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);

      if (c < ' ' || c == '"' || c == '\\' || c == 0x7f)
        g_string_append_printf (json, "\\u%04x", c);
      else
        g_string_append_unichar (json, c);
    }
  g_string_append_c (json, '"');
  return g_string_free (json, FALSE);
}

static void introduce_thread (gint trace);

/* Adds an event of this thread to the trace, if there is one.  @format prints the members after the time. */
static void G_GNUC_PRINTF (3, 4)
add_event (const char *phase, gint64 time, const char *format, ...)
{
  gint trace = prio_trace_writer_get_trace ();
  g_autoptr (GString) event = NULL;
  va_list args;

  if (trace == 0)
    return;
  if (G_UNLIKELY (known_to != trace))
    introduce_thread (trace);

  event = g_string_new (NULL);
  g_string_printf (event, "{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%" G_GINT64_FORMAT, phase, (int) getpid (), thread_id, time);
  va_start (args, format);
  g_string_append_vprintf (event, format, args);
  va_end (args);
  g_string_append (event, "},\n");
  prio_trace_writer_add (event);
}

static void
introduce_thread (gint trace)
{
  char name[64] = "";
  const char *program = prio_environment_get_program ();
  g_autofree char *process_name = to_json (program != NULL ? program : "a program");
  g_autofree char *thread_name = NULL;

  known_to = trace;
#ifdef __linux__
  thread_id = (int) gettid ();
#else
  thread_id = (int) prio_trace_writer_get_number (PRIO_TRACE_THREAD, &thread_id);
#endif
  pthread_getname_np (pthread_self (), name, sizeof name);
  thread_name = to_json (*name != '\0' ? name : "thread");
  add_event ("M", 0, ",\"name\":\"process_name\",\"args\":{\"name\":%s}", process_name);
  add_event ("M", 0, ",\"name\":\"thread_name\",\"args\":{\"name\":%s}", thread_name);
}

static const char *
kind_name (PrioObservedKind kind)
{
  static const char *const names[] = {
    [PRIO_OBSERVED_CLOSURE] = "closure",      [PRIO_OBSERVED_TASK] = "task",     [PRIO_OBSERVED_ID] = "runner's task",
    [PRIO_OBSERVED_IDLE] = "idle callback",
  };

  return names[kind];
}

const char *
prio_trace_task_name (const PrioObserved *task)
{
  return task->name != NULL ? task->name : kind_name (task->kind);
}

/* Returns the members of an event of @task: its name, and arguments that the caller may add to. */
static GString *
describe (const PrioObserved *task)
{
  g_autofree char *name = to_json (prio_trace_task_name (task));
  GString *text = g_string_new (NULL);

  g_string_printf (text, ",\"name\":%s,\"args\":{\"task\":%" G_GUINT64_FORMAT ",\"priority\":\"%s\",\"kind\":\"%s\"", name,
                   task->id, prio_priority_name (task->priority), kind_name (task->kind));
  if (task->continuation)
    g_string_append (text, ",\"continuation\":true");
  if (task->group != NULL)
    g_string_append_printf (text, ",\"signal\":\"%u\"", prio_trace_writer_get_number (PRIO_TRACE_SIGNAL, task->group));
  return text;
}

static void
add_moment (const char *what, const PrioObserved *task, gint64 now)
{
  g_autoptr (GString) text = describe (task);

  if (task->poster != 0)
    g_string_append_printf (text, ",\"poster\":%" G_GUINT64_FORMAT, task->poster);
  if (task->due != 0)
    g_string_append_printf (text, ",\"due\":%" G_GINT64_FORMAT, task->due);
  add_event ("X", now, ",\"dur\":0,\"cat\":\"%s\"%s}", what, text->str);
}

/* Adds the beginning or the end of the arrow from the queueing of a task to its run. */
static void
add_flow (const char *phase, const PrioObserved *task, gint64 now)
{
  add_event (phase, now, ",\"cat\":\"flow\",\"name\":\"queued\",\"id\":\"%" G_GUINT64_FORMAT ".%" G_GINT64_FORMAT "\"%s", task->id,
             task->queued, *phase == 'f' ? ",\"bp\":\"e\"" : "");
}

static void
delayed (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task, gint64 now)
{
  add_moment ("post", task, now);
}

static void
queued (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task, gint64 now)
{
  add_moment (task->begun != 0 ? "again" : task->due != 0 ? "due" : "post", task, now);
  add_flow ("s", task, now);
}

static void
begins (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task, gint64 now)
{
  if (task->queued != 0)
    add_flow ("f", task, now);
}

static void
add_run (const PrioObserved *task, const char *end, gint64 now)
{
  g_autoptr (GString) text = describe (task);

  if (task->queued != 0)
    g_string_append_printf (text, ",\"waited\":%" G_GINT64_FORMAT, task->begun - prio_observed_waits_since (task));
  add_event ("X", task->begun, ",\"dur\":%" G_GINT64_FORMAT ",\"cat\":\"run\"%s,\"end\":\"%s\"}", now - task->begun, text->str, end);
}

static void
yielded (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task, gint64 now)
{
  add_run (task, "yielded", now);
}

const char *
prio_trace_end_name (const PrioObserved *task)
{
  static const char *const names[] = {
    [PRIO_TASK_STATE_RUNNING] = "deferred",
    [PRIO_TASK_STATE_FULFILLED] = "done",
    [PRIO_TASK_STATE_FAILED] = "failed",
    [PRIO_TASK_STATE_ABORTED] = "aborted",
  };

  return names[task->state];
}

static void
ended (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task, gint64 now)
{
  add_run (task, prio_trace_end_name (task), now);
}

static void
aborted (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task, gboolean runs,
         gint64 now)
{
  g_autoptr (GString) text = describe (task);

  add_event ("i", now, ",\"s\":\"t\",\"cat\":\"abort\"%s,\"running\":%s}", text->str, runs ? "true" : "false");
}

static void
priority_changed (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, gconstpointer group,
                  PrioTaskPriority from, PrioTaskPriority to, gint64 now)
{
  add_event ("i", now, ",\"s\":\"t\",\"cat\":\"priority\",\"name\":\"priority change\",\"args\":{\"signal\":\"%u\",\"from\":\"%s\",\"to\":\"%s\"}",
             prio_trace_writer_get_number (PRIO_TRACE_SIGNAL, group), prio_priority_name (from), prio_priority_name (to));
}

static void
paused (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, gconstpointer scheduler, gboolean is_paused, gint64 now)
{
  add_event ("i", now, ",\"s\":\"t\",\"cat\":\"pause\",\"name\":\"%s\",\"args\":{\"scheduler\":\"%u\"}", is_paused ? "paused" : "resumed",
             prio_trace_writer_get_number (PRIO_TRACE_SCHEDULER, scheduler));
}

static PrioObserver observer;
static gboolean is_observing; /* atomic */
static gboolean until_exit;   /* whether PRIO_SCHED_TRACE has begun the trace; atomic */

/* Stops observing if the trace has ended, by a call or because of a failed write. */
static void
end_observing (void)
{
  if (prio_trace_writer_get_trace () == 0 && __atomic_exchange_n (&is_observing, FALSE, __ATOMIC_ACQ_REL))
    prio_observer_remove (&observer);
}

/* Adds the slice when it has ended, because the trace may begin or end during the slice. */
static void
batch_ended (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, PrioLane lane, gint64 began, gboolean cut, gint64 now)
{
  static const char *const names[] = {
    [PRIO_LANE_IDLE] = "idle",
    [PRIO_LANE_BACKGROUND] = "background",
    [PRIO_LANE_USER_VISIBLE] = "user-visible",
    [PRIO_LANE_URGENT] = "urgent",
  };

  add_event ("X", began, ",\"dur\":%" G_GINT64_FORMAT ",\"cat\":\"slice\",\"name\":\"slice\",\"args\":{\"lane\":\"%s\",\"cut\":%s}",
             now - began, names[lane], cut ? "true" : "false");
  end_observing ();
}

static void
turn_ended (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop, gint64 began, gboolean whole, gint64 now)
{
  guint number = prio_trace_writer_get_number (PRIO_TRACE_LOOP, loop);

  add_event ("b", began, ",\"cat\":\"turn\",\"name\":\"others' turn\",\"id\":\"%u\",\"args\":{\"whole\":%s}", number,
             whole ? "true" : "false");
  add_event ("e", now, ",\"cat\":\"turn\",\"name\":\"others' turn\",\"id\":\"%u\"", number);
}

static void
frame (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, gint64 due, gint64 interval, gint64 now)
{
  add_event ("i", now, ",\"s\":\"t\",\"cat\":\"frame\",\"name\":\"next frame\",\"args\":{\"due\":%" G_GINT64_FORMAT
             ",\"interval\":%" G_GINT64_FORMAT "}", due, interval);
}

/* Adds a slice of @duration µs, until @now, for code that has blocked this thread's loop, with its name, or NULL. */
void
prio_trace_held (const char *name, gint64 duration, gint64 now)
{
  g_autofree char *json = to_json (name != NULL ? name : "something else");

  add_event ("X", now - duration, ",\"dur\":%" G_GINT64_FORMAT ",\"cat\":\"held\",\"name\":%s", duration, json);
}

static PrioObserver observer = {
  .delayed = delayed,
  .queued = queued,
  .begins = begins,
  .yielded = yielded,
  .ended = ended,
  .aborted = aborted,
  .priority_changed = priority_changed,
  .paused = paused,
  .batch_ended = batch_ended,
  .turn_ended = turn_ended,
  .frame = frame,
};

/* Begins a trace to @fd, and takes ownership of @fd.  If @lasts, the trace ends only when the program exits. */
static gboolean
start (int fd, gboolean lasts, GError **error)
{
  end_observing ();
  if (!prio_trace_writer_start (fd, error))
    return FALSE;
  __atomic_store_n (&until_exit, lasts, __ATOMIC_RELEASE);
  __atomic_store_n (&is_observing, TRUE, __ATOMIC_RELEASE);
  prio_observer_add (&observer);
  prio_debug ("A trace begins");
  return TRUE;
}

/* Returns a duplicate of @fd, or -1 with errno set if @fd cannot be written to. */
static int
duplicate (int fd)
{
  int flags = fcntl (fd, F_GETFL);

  if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY)
    return fcntl (fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  errno = EBADF;
  return -1;
}

/**
 * prio_trace_start:
 * @fd: a file descriptor that is open for writing: of a file, a pipe, a socket or a device
 * @error: return location for an error
 *
 * Starts writing a trace of all schedulers of this process in the Chrome trace event format, which
 * [ui.perfetto.dev](https://ui.perfetto.dev) and other viewers show.  In C, include `<prio-sched-watch.h>`.
 *
 * The trace has a duplicate of @fd, which it closes when it ends.  @fd itself belongs to the caller, who may close it
 * after this call.  The trace is written at the position of @fd, and the file is not truncated.  Names of tasks may be
 * private: open the file so that only the user may read it.
 *
 * The environment variable `PRIO_SCHED_TRACE` does the same for a whole program.  It names a file, which is opened when
 * the first scheduler is created, or at the first call of this function.  An existing file is overwritten, as by a
 * shell's `>`.  The variable may also name a pipe, such as `/proc/1234/fd/3`, or a device.  Only the user may read a
 * new file.  That trace lasts until the program exits, and no other trace can be started until then.
 *
 * | in the trace | category | meaning |
 * | --- | --- | --- |
 * | slices of no length, by the tasks' names | `post`, `due`, `again` | a task is posted; a delayed one is due; one has yielded and is queued again |
 * | slices, by the tasks' names | `run` | a task runs: `waited` in its queue (µs), and its `end`: `yielded`, `done`, `failed`, `aborted`, or `deferred` if its result comes later |
 * | arrows | `flow` | from where a task is queued to its run |
 * | slices named `slice` | `slice` | tasks run one after another; `cut` if the end of their time slice stopped them |
 * | a separate track | `turn` | the other sources have their turn |
 * | moments | `abort`, `priority`, `frame` | a task is aborted; a signal's tasks have another priority; a frame is announced for `due` |
 * | moments | `pause` | a scheduler is `paused`, or `resumed` |
 * | slices, by names of sources and functions | `held` | code that is not a task has blocked the main loop, as [method@PrioSched.Scheduler.add_long_task_func] reports it |
 *
 * Times are in microseconds of g_get_monotonic_time().
 *
 * The trace ends with [func@PrioSched.trace_stop], or when the program exits.  A thread of the library writes it, so a
 * slow reader or disk does not hold up the program: at most 64 MiB wait for it, further events are dropped and counted,
 * and the end of the trace waits for a second at most.  If a write fails, because the disk is full, the reader of a
 * pipe is gone, or the program has closed the trace's descriptor, a warning is logged, and the program continues
 * without the trace. SIGPIPE is not sent.
 *
 * After a crash, exec(), _exit() or a failed write, the trace can still be read: the format allows the end of the array
 * to be missing.  After a crash the last tenth of a second may be missing too.
 *
 * A child of fork() also writes to the trace if this is a pipe: events have process ids.  Otherwise it has no trace.
 *
 * If the library was built with libsysprof-capture, Sysprof's recordings have a mark of the group `PrioSched` for each
 * run of a task, with its name, and for each turn of the other sources.
 *
 * Any thread may call this function.  Do not call the function from a callback of the library while another thread
 * starts or stops the trace.
 *
 * ```c
 * g_autoptr (GError) error = NULL;
 * int fd = g_open ("trace.json", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
 *
 * if (!prio_trace_start (fd, &error))
 *   g_warning ("%s", error->message);
 * close (fd);
 * index_everything ();
 * prio_trace_stop ();
 * ```
 *
 * Returns: whether the trace has begun; if not, @error is set to one of [error@Gio.IOErrorEnum], such as
 *   %G_IO_ERROR_BUSY if this process writes a trace already
 *
 * Since: 1.0
 */
gboolean
prio_trace_start (int fd, GError **error)
{
  int own;

  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  prio_trace_start_from_environment ();
  own = duplicate (fd);
  if (own >= 0)
    return start (own, FALSE, error);
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), _("The trace cannot be written to the descriptor %d: %s"), fd,
               g_strerror (errno));
  return FALSE;
}

/**
 * prio_trace_stop:
 *
 * Ends the trace that [func@PrioSched.trace_start] has begun.  When this returns, the trace is complete, and its
 * descriptor is closed.  The call does nothing if there is no trace, or if `PRIO_SCHED_TRACE` has begun it.
 *
 * If the trace is a pipe without a reader, this waits for a second at most.  Any thread may call this function.
 *
 * Since: 1.0
 */
void
prio_trace_stop (void)
{
  if (!__atomic_load_n (&until_exit, __ATOMIC_ACQUIRE))
    prio_trace_writer_stop ();
  end_observing ();
}

/* Returns whether @path is in /proc, perhaps through links, as /dev/fd/3 is, or in a folder that cannot be found. */
static gboolean
is_in_proc (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  char *real = realpath (folder, NULL);
  gboolean is_in = real == NULL || g_str_has_prefix (real, "/proc/");

  free (real);
  return is_in;
}

/* Opens @path as a shell's > does, but makes a new file readable only for the user, and does not wait for the reader of
 * a pipe.  A lock keeps child programs, which inherit the variable, from overwriting the file.  A path in /proc may
 * meanwhile refer to another process's file, so only a pipe or a device is opened there.  Returns -1 and sets errno on
 * failure. */
static int
open_file (const char *path)
{
  int fd = open (path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
  struct stat status;

  if (fd < 0 || fstat (fd, &status) != 0 || !S_ISREG (status.st_mode))
    return fd;
  errno = EPERM;
  if (!is_in_proc (path) && flock (fd, LOCK_EX | LOCK_NB) == 0 && ftruncate (fd, 0) == 0)
    return fd;
  close (fd);
  return -1;
}

static const char *
explain (int error)
{
  if (error == EWOULDBLOCK)
    return "another process writes a trace to it";
  return error == ENXIO ? "nobody reads it" : g_strerror (error);
}

static gpointer
start_from_environment (gpointer data G_GNUC_UNUSED)
{
  const char *path = prio_environment_get ("PRIO_SCHED_TRACE");
  g_autoptr (GError) error = NULL;
  int fd;

  if (path == NULL || *path == '\0')
    return NULL;
  fd = open_file (path);
  if (fd < 0)
    g_warning ("PRIO_SCHED_TRACE: '%s' cannot be written: %s", path, explain (errno));
  else if (!start (fd, TRUE, &error))
    g_warning ("PRIO_SCHED_TRACE: %s", error->message);
  return NULL;
}

/* Starts a trace to the file that PRIO_SCHED_TRACE names.  Later calls do nothing.  The caller has entered no loop
 * (prio-loop-private.h). */
void
prio_trace_start_from_environment (void)
{
  static GOnce once = G_ONCE_INIT;

  g_once (&once, start_from_environment, NULL);
}
