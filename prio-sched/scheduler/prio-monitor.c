/* prio-monitor.c: tells prio-sched-monitor what the schedulers of this process do
 *
 * The monitor has named a folder in the environment.  Each process makes a file there, with which it shares its page
 * (prio-monitor-page-private.h).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "scheduler/prio-monitor-private.h"

#include "base/prio-environment-private.h"
#include "base/prio-lock-private.h"
#include "loop/prio-observer-private.h"
#include "scheduler/prio-monitor-page-private.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A process that runs another program keeps its id. */
#define MAX_PAGES_OF_PROCESS 100

static char *folder;
/* Atomic.  NULL in a child of fork () that has not begun its own. */
static PrioMonitorPage *shared;
static gint failed;
/* Leaves: @lock guards the longest tasks, and who makes a page. */
static PrioLock lock = PRIO_LOCK_INIT;
static gint64 longest_enough; /* what is shorter is none of the longest; atomic, µs */

/* The place in `running` that this thread has in @page, and for how many batches. */
typedef struct
{
  PrioMonitorPage *page;
  gint slot; /* -1 if there was none */
  guint depth;
} Place;

static PRIO_TLS Place place;

#define ADD(field, n) __atomic_fetch_add (&(field), n, __ATOMIC_RELAXED)
#define SET(field, value) __atomic_store_n (&(field), value, __ATOMIC_RELAXED)
#define GET(field) __atomic_load_n (&(field), __ATOMIC_RELAXED)

/* Makes this process's file.  Returns what is wrong, or 0. */
static int
make_page (PrioMonitorPage **page)
{
  const char *program = prio_environment_get_program ();
  int fd = -1, error;

  for (guint i = 0; fd < 0 && i < MAX_PAGES_OF_PROCESS; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%d-%u", folder, (int) getpid (), i);

      fd = open (path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
      if (fd < 0 && errno != EEXIST)
        return errno;
    }
  if (fd < 0)
    return EEXIST;

  /* So that there is memory for it: to write to a page that has none is the end of a program. */
  error = posix_fallocate (fd, 0, sizeof **page);
  if (error == 0)
    {
      *page = mmap (NULL, sizeof **page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      if (*page == MAP_FAILED)
        error = errno;
    }
  close (fd);
  if (error != 0)
    return error;

  (*page)->size = sizeof **page;
  (*page)->pid = getpid ();
  (*page)->started = prio_clock_now ();
  g_strlcpy ((*page)->program, program != NULL ? program : "", sizeof (*page)->program);
  prio_release_fence ();
  memcpy ((*page)->magic, PRIO_MONITOR_MAGIC, sizeof (*page)->magic);
  return 0;
}

/* This process's page, which is made if there is none yet, or NULL. */
static PrioMonitorPage *
get_page (void)
{
  PrioMonitorPage *page = __atomic_load_n (&shared, __ATOMIC_ACQUIRE);

  if (G_LIKELY (page != NULL) || g_atomic_int_get (&failed) != 0)
    return page;

  prio_lock_lock (&lock);
  page = shared;
  if (page == NULL && failed == 0)
    {
      g_atomic_int_set (&failed, make_page (&page));
      if (failed != 0)
        page = NULL;
      SET (longest_enough, 0);
      __atomic_store_n (&shared, page, __ATOMIC_RELEASE);
    }
  prio_lock_unlock (&lock);
  return page;
}

/* The parent's page is the parent's. */
static void
after_fork_in_child (void)
{
  if (shared != NULL)
    munmap (shared, sizeof *shared);
  shared = NULL;
  place.page = NULL;
}

static PrioMonitorPriority *
priority_of (PrioMonitorPage *page, gint priority)
{
  return &page->priorities[CLAMP (priority - PRIO_TASK_PRIORITY_BACKGROUND, 0, PRIO_MONITOR_N_PRIORITIES - 1)];
}

static const char *
task_name (const PrioObserved *task)
{
  return task->name != NULL ? task->name : "";
}

static void
queued (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task G_GNUC_UNUSED,
        gint64 now G_GNUC_UNUSED)
{
  PrioMonitorPage *page = get_page ();

  if (page != NULL)
    ADD (page->n_queued, 1);
}

static void
begins (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task, gint64 now)
{
  PrioMonitorPage *page = get_page ();
  PrioMonitorPriority *priority;

  if (page == NULL)
    return;
  priority = priority_of (page, task->priority);
  ADD (page->n_queued, -1);
  if (task->queued != 0)
    prio_histogram_add_shared (&priority->waits, now - task->queued);

  if (place.page == page && place.slot >= 0)
    {
      PrioMonitorTask *running = &page->running[place.slot];

      prio_seq_begin (&running->seq);
      running->priority = task->priority;
      running->begun = now;
      g_strlcpy (running->name, task_name (task), sizeof running->name);
      prio_seq_end (&running->seq);
    }
}

static void
note_longest (PrioMonitorPage *page, const PrioObserved *task, gint64 time, gint64 now)
{
  prio_lock_lock (&lock);
  SET (longest_enough,
       prio_longest_note (page->longest, PRIO_MONITOR_N_LONGEST, task->name, task->priority, time, now, FALSE));
  prio_lock_unlock (&lock);
}

static void
ran (const PrioObserved *task, gboolean has_ended, gint64 now)
{
  PrioMonitorPage *page = get_page ();
  PrioMonitorPriority *priority;

  if (page == NULL)
    return;
  priority = priority_of (page, task->priority);
  prio_histogram_add_shared (&priority->runs, now - task->begun);
  if (has_ended)
    ADD (priority->n_ended, 1);
  else
    ADD (priority->n_yielded, 1);
  if (now - task->begun > GET (longest_enough))
    note_longest (page, task, now - task->begun, now);

  if (place.page == page && place.slot >= 0)
    {
      PrioMonitorTask *running = &page->running[place.slot];

      prio_seq_begin (&running->seq);
      running->begun = 0;
      prio_seq_end (&running->seq);
    }
}

static void
yielded (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task, gint64 now)
{
  ran (task, FALSE, now);
}

static void
ended (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task, gint64 now)
{
  ran (task, TRUE, now);
}

static void
aborted (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, const PrioObserved *task, gboolean runs,
         gint64 now G_GNUC_UNUSED)
{
  PrioMonitorPage *page = get_page ();

  if (page == NULL)
    return;
  ADD (priority_of (page, task->priority)->n_aborted, 1);
  if (!runs && task->queued != 0)
    ADD (page->n_queued, -1);
}

static void
batch_begins (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, PrioLane lane G_GNUC_UNUSED,
              gint64 now G_GNUC_UNUSED)
{
  PrioMonitorPage *page = get_page ();

  if (page == NULL)
    return;
  if (place.page != page)
    place = (Place) { page, -1, 0 };
  if (place.depth++ > 0)
    return;
  for (gint i = 0; i < PRIO_MONITOR_N_RUNNING && place.slot < 0; i++)
    {
      gint32 unused = 0;

      if (GET (page->slots[i]) == 0 &&
          __atomic_compare_exchange_n (&page->slots[i], &unused, 1, FALSE, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        place.slot = i;
    }
}

static void
batch_ended (PrioObserver *self G_GNUC_UNUSED, PrioLoop *loop G_GNUC_UNUSED, PrioLane lane G_GNUC_UNUSED,
             gboolean cut G_GNUC_UNUSED, gint64 now G_GNUC_UNUSED)
{
  PrioMonitorPage *page = get_page ();

  if (page == NULL || place.page != page || place.depth == 0 || --place.depth > 0 || place.slot < 0)
    return;
  __atomic_store_n (&page->slots[place.slot], 0, __ATOMIC_RELEASE);
  place.slot = -1;
}

static PrioObserver observer = {
  .queued = queued,
  .begins = begins,
  .yielded = yielded,
  .ended = ended,
  .aborted = aborted,
  .batch_begins = batch_begins,
  .batch_ended = batch_ended,
};

static gpointer
start_from_environment (gpointer data G_GNUC_UNUSED)
{
  const char *path = prio_environment_get (PRIO_MONITOR_VARIABLE);

  if (path == NULL || *path == '\0')
    return NULL;

  folder = g_strdup (path);
  if (get_page () == NULL)
    {
      g_warning (PRIO_MONITOR_VARIABLE ": the folder '%s' cannot be written to: %s", folder, g_strerror (failed));
      return NULL;
    }
  prio_loop_add_leaf_lock (&lock);
  pthread_atfork (NULL, NULL, after_fork_in_child);
  prio_observer_add (&observer);
  return NULL;
}

/* Called with the first scheduler, outside. */
void
prio_monitor_start_from_environment (void)
{
  static GOnce once = G_ONCE_INIT;

  g_once (&once, start_from_environment, NULL);
}
