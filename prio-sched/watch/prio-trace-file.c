/* prio-trace-file.c: the file into which this process writes its trace
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "watch/prio-trace-file-private.h"

#include "base/prio-environment-private.h"
#include "loop/prio-loop-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_SIZE (64 * 1024)
/* Beyond this, what threads gather while another one writes is lost, and counted. */
#define MAX_GATHERED (64 * 1024 * 1024)
/* What has been gathered is written as often, so that a crash leaves all but the last moment, and a reader sees what runs, µs. */
#define WRITE_INTERVAL (100 * 1000)
#define SIZE_VARIABLE "PRIO_SCHED_TRACE_SIZE"
#define DEFAULT_SIZE 1024 /* MiB */
/* For the end of the array. */
#define END_SIZE 256
/* How long the end of a trace waits for a reader at most, µs. */
#define END_TIME G_USEC_PER_SEC
/* How long until it looks again where there was less room than poll () had said, µs. */
#define ROOM_INTERVAL 1000

gint prio_trace_generation;

/* A leaf: it is taken inside.  It guards all of this, but for what the comments say. */
static PrioLock lock = PRIO_LOCK_INIT;
static struct
{
  char *path; /* as it was given; NULL if no file is open */
  char *name; /* with the process's id in place of %p */
  int fd;
  dev_t device; /* what @fd has been opened for, with @inode */
  ino_t inode;
  gint64 pid;
  GString *gathered;
  GString *spare;
  gboolean writing;  /* a thread writes, with the lock released; @fd and @written are its own meanwhile */
  gboolean ending;   /* a thread ends the trace: no other one begins to write */
  gboolean stalled;  /* a reader has made no room: only the thread of the trace, and its end, wait for that */
  gboolean may_seek; /* it is a plain file of this trace alone; */
  gboolean is_stream; /* it is not a plain file, but a pipe, a device or a socket; */
  gboolean is_shared; /* and a pipe that other processes write to, those of forks too */
  goffset written;   /* whole lines, bytes */
  guint64 size;      /* of all that has been gathered for this file, bytes */
  guint64 max_size;  /* bytes */
  gboolean full;     /* @max_size has ended the trace */
  guint64 n_lost;
  int error;         /* what has ended the trace */
  gboolean told;     /* @error, or @full, has been reported */
  gboolean is_followed; /* a file has been opened, and nobody has heard of its end, if that has come */
  gboolean forked;   /* this process is a child of the one whose file it was */
  gboolean has_writer; /* a thread of this process runs write_often () */
  guint generations;
  /* gconstpointer → guint: what the trace calls things of which the library knows the address only */
  GHashTable *numbers[PRIO_TRACE_N_KINDS];
} trace = { .fd = -1 };

/* Takes one of these signals, which are blocked, if it is pending. */
static void
take_pending (const sigset_t *signals)
{
#ifdef HAVE_SIGTIMEDWAIT
  static const struct timespec now = { 0, 0 };

  sigtimedwait (signals, NULL, &now);
#else
  sigset_t pending;
  int taken;

  sigpending (&pending);
  if ((sigismember (signals, SIGPIPE) && sigismember (&pending, SIGPIPE)) ||
      (sigismember (signals, SIGXFSZ) && sigismember (&pending, SIGXFSZ)))
    sigwait (signals, &taken);
#endif
}

/* As write (), but a reader that has gone, or a limit on sizes of files, is an error and no signal. */
static gssize
write_quietly (int fd, const char *data, gsize length)
{
  sigset_t quiet, before, pending, fresh;
  gssize n;
  int error;

  sigemptyset (&quiet);
  sigaddset (&quiet, SIGPIPE);
  sigaddset (&quiet, SIGXFSZ);
  sigpending (&pending);
  pthread_sigmask (SIG_BLOCK, &quiet, &before);

  do
    n = write (fd, data, length);
  while (n < 0 && errno == EINTR);
  error = errno;

  /* There is a signal after a short write too, if the reader has taken a part.  One that was pending before is somebody else's. */
  fresh = quiet;
  if (sigismember (&pending, SIGPIPE))
    sigdelset (&fresh, SIGPIPE);
  if (sigismember (&pending, SIGXFSZ))
    sigdelset (&fresh, SIGXFSZ);
  if (n < (gssize) length)
    take_pending (&fresh);
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  errno = error;
  return n;
}

/* How much of @length bytes of @lines is to be written at once.  What goes into a pipe is not mixed with what other processes
 * write: whole lines, of PIPE_BUF bytes at most.  For so much there is room where poll () finds any. */
static gsize
get_part (const char *lines, gsize length)
{
  gsize part = MIN (length, PIPE_BUF);

  if (!trace.is_stream)
    return length;
  while (part > 0 && lines[part - 1] != '\n')
    part--;
  return part > 0 ? part : MIN (length, PIPE_BUF);
}

/* Waits for a reader to make room, until that time at most, µs. */
static gboolean
await_room (gint64 until)
{
  struct pollfd room = { .fd = trace.fd, .events = POLLOUT };
  int n;

  if (!trace.is_stream)
    return TRUE;
  do
    n = poll (&room, 1, (int) (CLAMP (until - prio_clock_now (), 0, G_USEC_PER_SEC) / 1000));
  while (n < 0 && errno == EINTR);
  return n > 0;
}

/* Whether trace.fd is the trace's still.  A program that closes all descriptors, as a daemon does, gives its number to others. */
static gboolean
is_still_open (void)
{
  struct stat status;

  return trace.fd >= 0 && fstat (trace.fd, &status) == 0 && status.st_dev == trace.device && status.st_ino == trace.inode;
}

static guint64
count_lines (const char *lines, gsize length)
{
  guint64 n = 0;

  for (gsize i = 0; i < length; i++)
    n += lines[i] == '\n';
  return n;
}

/* A plain file keeps whole lines, and has room for the end of the array, when a write has failed after @done bytes of @lines.  Returns
 * how many remain. */
static gsize
keep_lines (const char *lines, gsize done)
{
  if (trace.may_seek)
    done -= MIN (done, END_SIZE);
  while (done > 0 && lines[done - 1] != '\n')
    done--;
  if (trace.may_seek && ftruncate (trace.fd, trace.written + (goffset) done) == 0)
    lseek (trace.fd, trace.written + (goffset) done, SEEK_SET);
  return done;
}

/* Writes @lines, and tells how much of them, @done.  Returns 0, or what is wrong: EAGAIN if nobody has read enough until then. */
static int
write_lines (const char *lines, gsize length, gint64 until, gsize *done)
{
  int error = is_still_open () ? 0 : EBADF;

  *done = 0;
  while (*done < length && error == 0)
    {
      gssize n = -1;

      errno = EAGAIN;
      if (await_room (until))
        n = write_quietly (trace.fd, lines + *done, get_part (lines + *done, length - *done));
      if (n > 0)
        *done += (gsize) n;
      else if (n < 0 && errno == EAGAIN && prio_clock_now () < until)
        g_usleep (ROOM_INTERVAL);
      else
        error = n < 0 ? errno : EIO;
    }

  if (error != 0 && error != EAGAIN && error != EBADF)
    *done = keep_lines (lines, *done);
  trace.written += (goffset) *done;
  return error;
}

/* Writes what has been gathered, and waits for a reader until then.  What that leaves is gathered still.  Called with the lock, which
 * it releases meanwhile. */
static void
write_gathered (gint64 until)
{
  GString *block = trace.gathered;
  gsize done;
  int error;

  trace.gathered = g_steal_pointer (&trace.spare);
  if (trace.gathered == NULL)
    trace.gathered = g_string_sized_new (BLOCK_SIZE + 4096);
  trace.writing = TRUE;
  prio_lock_unlock (&lock);

  error = write_lines (block->str, block->len, until, &done);

  prio_lock_lock (&lock);
  trace.writing = FALSE;
  trace.stalled = error == EAGAIN;
  g_string_erase (block, 0, (gssize) done);
  if (trace.stalled)
    {
      GString *later = trace.gathered;

      g_string_append_len (block, later->str, (gssize) later->len);
      trace.gathered = block;
      block = later;
    }
  else
    {
      trace.error = error;
      trace.n_lost += count_lines (block->str, block->len);
    }
  g_string_truncate (block, 0);
  if (trace.spare == NULL && block->allocated_len <= 4 * BLOCK_SIZE)
    trace.spare = block;
  else
    g_string_free (block, TRUE);
}

/* No other thread writes any more.  Called with the lock. */
static void
await_writer (void)
{
  trace.ending = TRUE;
  while (trace.writing)
    {
      prio_lock_unlock (&lock);
      g_usleep (100);
      prio_lock_lock (&lock);
    }
  trace.ending = FALSE;
}

static void
drop_file (void)
{
  __atomic_store_n (&prio_trace_generation, 0, __ATOMIC_RELAXED);
  if (is_still_open ())
    close (trace.fd);
  trace.fd = -1;
  if (trace.gathered != NULL)
    g_string_truncate (trace.gathered, 0);
  for (guint i = 0; i < PRIO_TRACE_N_KINDS; i++)
    g_clear_pointer (&trace.numbers[i], g_hash_table_unref);
  trace.n_lost = 0;
}

/* Ends the array.  If the disk is full, the end takes the place of the last lines. */
static void
end_array (void)
{
  gint64 until = prio_clock_now () + END_TIME;
  g_autofree char *end =
      g_strdup_printf ("{\"name\":\"lost events\",\"cat\":\"trace\",\"ph\":\"M\",\"pid\":%" G_GINT64_FORMAT
                       ",\"args\":{\"count\":%" G_GUINT64_FORMAT "}}\n]\n",
                       trace.pid, trace.n_lost);
  gsize done;
  int error;

  if (trace.stalled || !is_still_open () || (trace.error != 0 && !trace.may_seek))
    return;
  error = write_lines (end, strlen (end), until, &done);
  if (trace.error == 0 && error != EAGAIN)
    trace.error = error;
}

/* Called with the lock. */
static void
close_file (void)
{
  await_writer ();
  if (trace.fd >= 0 && !trace.forked)
    {
      gint64 until = prio_clock_now () + END_TIME;

      trace.stalled = FALSE;
      while (trace.error == 0 && !trace.stalled && trace.gathered->len > 0)
        write_gathered (until);
      trace.n_lost += count_lines (trace.gathered->str, trace.gathered->len);
      end_array ();
    }
  drop_file ();
  trace.forked = FALSE;
  g_clear_pointer (&trace.path, g_free);
}

static void
at_exit (void)
{
  prio_lock_lock (&lock);
  close_file ();
  prio_lock_unlock (&lock);
  prio_trace_file_tell ();
}

/* Locks are free: prio-loop.c has taken and released them.  The child's copy of the file's description is closed, which leaves the
 * parent's lock of the file. */
static void
after_fork_in_child (void)
{
  trace.has_writer = FALSE;
  if (trace.path == NULL)
    return;
  drop_file ();
  trace.writing = trace.ending = FALSE;
  trace.forked = TRUE;
}

/* How large a file may become, in bytes. */
static guint64
look_up_max_size (void)
{
  const char *text = prio_environment_get (SIZE_VARIABLE);
  guint64 size = DEFAULT_SIZE;

  if (text != NULL && *text != '\0' && !g_ascii_string_to_unsigned (text, 10, 0, G_MAXINT32, &size, NULL))
    {
      g_warning (SIZE_VARIABLE ": '%s' is not a number of MiB", text);
      size = DEFAULT_SIZE;
    }
  return size == 0 ? G_MAXUINT64 : size * 1024 * 1024;
}

static gpointer
prepare_process (gpointer data G_GNUC_UNUSED)
{
  trace.max_size = look_up_max_size ();
  prio_loop_add_leaf_lock (&lock);
  pthread_atfork (NULL, NULL, after_fork_in_child);
  atexit (at_exit);
  return NULL;
}

/* The path with the process's id in place of %p, and a percent sign in that of %%. */
static char *
expand_path (const char *path)
{
  GString *name = g_string_new (NULL);

  for (const char *c = path; *c != '\0'; c++)
    {
      if (c[0] == '%' && c[1] == 'p')
        g_string_append_printf (name, "%d", (int) getpid ());
      else if (c[0] == '%' && c[1] == '%')
        g_string_append_c (name, '%');
      else
        {
          g_string_append_c (name, *c);
          continue;
        }
      c++;
    }
  return g_string_free (name, FALSE);
}

/* Whose descriptor a name is that the system has made: a shell's >(…) is this process's own. */
typedef enum
{
  NO_DESCRIPTOR,
  OWN_DESCRIPTOR,
  DESCRIPTOR_OF_ANOTHER
} Descriptor;

/* Whether @text is a number, followed by @rest. */
static gboolean
is_number (const char *text, const char *rest)
{
  gsize length = strspn (text, "0123456789");

  return length > 0 && g_str_equal (text + length, rest);
}

/* @fd is the number of an own one. */
static Descriptor
find_descriptor (const char *name, int *fd)
{
  const char *number = strstr (name, "/fd/");

  *fd = g_str_equal (name, "/dev/stdout") ? STDOUT_FILENO : STDERR_FILENO;
  if (*fd == STDOUT_FILENO || g_str_equal (name, "/dev/stderr"))
    return OWN_DESCRIPTOR;
  if (number == NULL || !is_number (number + strlen ("/fd/"), ""))
    return NO_DESCRIPTOR;
  *fd = (int) MIN (g_ascii_strtoull (number + strlen ("/fd/"), NULL, 10), G_MAXINT);
  if (g_str_has_prefix (name, "/dev/fd/") || g_str_has_prefix (name, "/proc/self/fd/"))
    return OWN_DESCRIPTOR;
  return g_str_has_prefix (name, "/proc/") && is_number (name + strlen ("/proc/"), number) ? DESCRIPTOR_OF_ANOTHER : NO_DESCRIPTOR;
}

/* Whether a trace may go to what @status describes.  In a folder where everybody may write, others may have put there a file of
 * this user's by a second name, or a pipe that they read.  Only the administrator makes devices.  The process whose descriptor it is
 * may have ended, and another one may have its number: it is asked for a pipe, and nothing else is overwritten. */
static gboolean
is_ours (const struct stat *status, Descriptor descriptor)
{
  if (S_ISFIFO (status->st_mode))
    return status->st_uid == geteuid ();
  if (descriptor == DESCRIPTOR_OF_ANOTHER)
    return FALSE;
  return S_ISCHR (status->st_mode) || (S_ISREG (status->st_mode) && status->st_uid == geteuid () && status->st_nlink == 1);
}

/* Notes what @fd is open for, and empties it, for this process alone unless it is shared.  An own one is taken as it is.  Returns 0, or
 * what is wrong. */
static int
take (int fd, Descriptor descriptor)
{
  struct stat status;

  if (fstat (fd, &status) != 0)
    return errno;
  trace.device = status.st_dev;
  trace.inode = status.st_ino;
  trace.may_seek = S_ISREG (status.st_mode) && descriptor != OWN_DESCRIPTOR;
  trace.is_stream = !S_ISREG (status.st_mode);
  trace.is_shared = descriptor == DESCRIPTOR_OF_ANOTHER;
  if (descriptor == OWN_DESCRIPTOR)
    return 0;
  if (!is_ours (&status, descriptor))
    return EPERM;
  if (trace.may_seek && flock (fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return EBUSY;
  return trace.may_seek && ftruncate (fd, 0) != 0 ? errno : 0;
}

/* Another descriptor for what the own @fd is open for: it writes where that one does.  That of a pipe does not wait, where the system
 * lets that be had without a change for others.  Returns -1 with errno if it cannot write. */
static int
duplicate (int fd)
{
  g_autofree char *name = g_strdup_printf ("/proc/self/fd/%d", fd);
  int flags = fcntl (fd, F_GETFL), other = -1;
  struct stat status;

  if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY)
    {
      errno = EBADF;
      return -1;
    }
  if (flags >= 0 && fstat (fd, &status) == 0 && S_ISFIFO (status.st_mode))
    other = open (name, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  return flags >= 0 && other < 0 ? fcntl (fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : other;
}

/* Opens @name, empty unless it is an own descriptor.  Returns the descriptor, or -1 with errno: EBUSY if another process writes to a
 * file of that name. */
static int
open_name (const char *name)
{
  int own, fd, error;
  Descriptor descriptor = find_descriptor (name, &own);
  int links = descriptor == NO_DESCRIPTOR ? O_NOFOLLOW : 0;

  if (descriptor == OWN_DESCRIPTOR)
    fd = duplicate (own);
  else
    fd = open (name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | links, 0600);
  if (fd < 0)
    return -1;
  error = take (fd, descriptor);
  if (error == 0)
    return fd;
  close (fd);
  errno = error;
  return -1;
}

/* In a thread of its own, while there is a trace: writes what has been gathered.  The program may wait for something, a
 * task may run for long, or a reader may be slow.  A trace that begins right after the end of another one has the same thread. */
static gpointer
write_often (gpointer data G_GNUC_UNUSED)
{
  gboolean goes_on = TRUE, stalls = FALSE;

  while (goes_on)
    {
      if (!stalls)
        g_usleep (WRITE_INTERVAL);
      prio_lock_lock (&lock);
      goes_on = trace.fd >= 0 && trace.error == 0;
      if (goes_on && !trace.writing && !trace.ending && trace.gathered->len > 0)
        write_gathered (prio_clock_now () + WRITE_INTERVAL);
      stalls = trace.stalled && !trace.writing && !trace.ending;
      trace.has_writer = goes_on;
      prio_lock_unlock (&lock);
    }
  return NULL;
}

/* Called with the lock. */
static void
ensure_writer (void)
{
  GThread *thread;

  if (trace.has_writer)
    return;
  thread = g_thread_try_new ("prio-trace", write_often, NULL, NULL);
  trace.has_writer = thread != NULL;
  if (thread != NULL)
    g_thread_unref (thread);
}

/* Opens the file that trace.path names.  Called with the lock. */
static gboolean
open_file (void)
{
  g_free (trace.name);
  trace.name = expand_path (trace.path);
  trace.fd = open_name (trace.name);
  if (trace.fd < 0)
    return FALSE;

  trace.pid = getpid ();
  trace.forked = trace.told = trace.full = trace.stalled = FALSE;
  trace.error = 0;
  trace.written = 0;
  if (trace.gathered == NULL)
    trace.gathered = g_string_sized_new (BLOCK_SIZE + 4096);
  g_string_assign (trace.gathered, "[\n");
  trace.size = trace.gathered->len;
  __atomic_store_n (&prio_trace_generation, (gint) ++trace.generations, __ATOMIC_RELEASE);
  ensure_writer ();
  return TRUE;
}

/* Whether this process is a child that gets a file of its own with its first event.  Called with the lock. */
static gboolean
is_to_be_opened (void)
{
  return trace.forked && trace.path != NULL && (strstr (trace.path, "%p") != NULL || trace.is_shared);
}

/* Opens a file at @path.  Any thread, outside. */
gboolean
prio_trace_file_open (const char *path, GError **error)
{
  static GOnce once = G_ONCE_INIT;
  gboolean opened = FALSE;

  g_once (&once, prepare_process, NULL);
  prio_lock_lock (&lock);
  if (trace.path != NULL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_BUSY, _("A trace is being written already, to “%s”"), trace.name);
    }
  else
    {
      g_free (trace.path);
      trace.path = g_strdup (path);
      opened = trace.is_followed = open_file ();
      if (!opened)
        {
          int saved = errno;

          if (saved == EBUSY)
            g_set_error (error, G_IO_ERROR, G_IO_ERROR_BUSY,
                         _("Another process writes to the trace file “%s”; “%%p” in its name gives each process its own"), trace.name);
          else
            g_set_error (error, G_IO_ERROR, g_io_error_from_errno (saved), _("The trace file “%s” cannot be written: %s"),
                         trace.name, saved == ENXIO ? _("nobody reads it") : g_strerror (saved));
          g_clear_pointer (&trace.path, g_free);
        }
    }
  prio_lock_unlock (&lock);
  return opened;
}

/* Completes the file, unless it is that of another process, as a monitor's, which has all until the program exits.  Any thread, outside. */
void
prio_trace_file_close (void)
{
  prio_lock_lock (&lock);
  if (!trace.is_shared)
    close_file ();
  prio_lock_unlock (&lock);
}

/* Whether events are to be gathered.  A child of fork () opens its own file here, with its first event.  Any thread, inside too. */
gboolean
prio_trace_file_is_open (void)
{
  gboolean is_open;

  if (G_LIKELY (__atomic_load_n (&prio_trace_generation, __ATOMIC_ACQUIRE) != 0))
    return TRUE;

  prio_lock_lock (&lock);
  if (is_to_be_opened () && !open_file ())
    g_clear_pointer (&trace.path, g_free);
  is_open = trace.fd >= 0;
  prio_lock_unlock (&lock);
  return is_open;
}

/* The process whose trace it is.  After prio_trace_file_is_open () has said so, on the same thread. */
gint64
prio_trace_file_get_pid (void)
{
  return trace.pid;
}

/* The number by which this trace knows @thing, from 1.  An address would tell others where things are in memory.  Any thread,
 * inside too. */
guint
prio_trace_file_get_number (PrioTraceKind kind, gconstpointer thing)
{
  GHashTable *numbers;
  guint number;

  prio_lock_lock (&lock);
  if (trace.numbers[kind] == NULL)
    trace.numbers[kind] = g_hash_table_new (NULL, NULL);
  numbers = trace.numbers[kind];
  number = GPOINTER_TO_UINT (g_hash_table_lookup (numbers, thing));
  if (number == 0)
    {
      number = g_hash_table_size (numbers) + 1;
      g_hash_table_insert (numbers, (gpointer) thing, GUINT_TO_POINTER (number));
    }
  prio_lock_unlock (&lock);
  return number;
}

/* Adds @lines, each with a comma and a newline at its end.  Any thread, inside too. */
void
prio_trace_file_add (const char *lines, gsize length)
{
  prio_lock_lock (&lock);
  if (trace.fd >= 0)
    {
      trace.full = trace.full || (!trace.is_shared && trace.size + length > trace.max_size - END_SIZE);
      if (trace.error == 0 && !trace.full && trace.gathered->len < MAX_GATHERED)
        {
          g_string_append_len (trace.gathered, lines, (gssize) length);
          trace.size += length;
        }
      else
        {
          trace.n_lost += count_lines (lines, length);
        }
      while (!trace.writing && !trace.stalled && trace.error == 0 && trace.gathered->len >= BLOCK_SIZE)
        write_gathered (0);
    }
  prio_lock_unlock (&lock);
}

/* Tells of an error, or the size, that has ended the trace, once.  Any thread, outside: a program's own function may be called for
 * messages.  Returns whether a trace has ended since the last call: there is no file, and no child of fork () will open its own. */
gboolean
prio_trace_file_tell (void)
{
  g_autofree char *name = NULL;
  gboolean has_ended;
  int error = 0;

  prio_lock_lock (&lock);
  if ((trace.error != 0 || trace.full) && !trace.told && !trace.writing)
    {
      error = trace.error;
      name = g_strdup (trace.name);
      trace.told = TRUE;
      if (trace.fd >= 0)
        close_file ();
    }
  if (trace.forked && !is_to_be_opened ())
    g_clear_pointer (&trace.path, g_free);
  has_ended = trace.is_followed && trace.path == NULL;
  if (has_ended)
    trace.is_followed = FALSE;
  prio_lock_unlock (&lock);

  /* A reader that has gone has seen enough.  Code that has closed the descriptor may have closed that of the messages too. */
  if (name != NULL && error != 0 && error != EPIPE && error != EBADF)
    g_warning ("The trace file '%s' ends early: %s", name, g_strerror (error));
  else if (name != NULL && error == 0)
    g_warning ("The trace file '%s' ends early: it has reached its size; " SIZE_VARIABLE " sets another, in MiB", name);
  return has_ended;
}
