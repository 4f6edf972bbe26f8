/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-numbers.h: runners, whose tasks are numbers, for language bindings
 *
 * Promises: a number is queued as a job or, with a signal, a delay or a timeout, as an entry (prio-queue-private.h).
 * In a dispatch, a runner's function is called once for several numbers: it calls prio_numbers_next (), which ends the
 * running number, and begins the next, exactly as a batch does with other tasks.
 *
 * The users of a runner are its scheduler, idle callbacks, waiting numbers, and a pending report of rejected numbers.
 * When the last user is gone, at the latest at the end of the context, the runner is closed: its functions are
 * released.  The record is freed with its last reference.
 *
 * Threads: only the owner thread uses the fields, except the reference count, and calls the functions below, unless
 * their comment says that any thread may call them.  A thread has entered the loop between prio_numbers_enter () and
 * prio_numbers_leave (). */

#pragma once

#include <gio/gio.h>

#include "prio-observe.h"
#include "prio-post-result.h"

typedef struct _PrioRunner PrioRunner;
typedef struct _PrioEntry PrioEntry;
typedef struct _PrioState PrioState;
typedef struct _PrioTask PrioTask;
typedef struct _PrioTaskGroup PrioTaskGroup;

struct _PrioRunner
{
  gint refs; /* one for all users together, and references of the scheduler and of callers; atomic */
  PrioLoop *loop;          /* owned */
  PrioRunQueue *run_queue; /* owned; NULL once the runner is closed */
  void (*func) (guint id, gpointer data); /* called in a dispatch: begins the number @id or, if @id is 0, reports
                                           * rejected numbers */
  gpointer data;
  GDestroyNotify notify;
  char *(*name_func) (guint id, gpointer data); /* called on the owner thread, for observers and warnings; or NULL */
  gpointer name_data;
  GDestroyNotify name_notify;
  GHashTable *waiting; /* number → PrioEntry, until the number begins or is aborted; NULL until needed */
  GArray *rejected;    /* of guint: rejected numbers that have not been reported yet */
  gsize users;
};

/* Any thread that has entered no loop may call these functions. */
PrioRunner *prio_numbers_new (PrioRunQueue *run_queue, GObject *scheduler, void (*func) (guint id, gpointer data), gpointer data,
                              GDestroyNotify notify);
void prio_numbers_unref (gpointer runner);
/* Removes a user that prio_numbers_use () has added.  Rejects the number @rejected if it is not 0. */
void prio_numbers_drop (gpointer runner);
void prio_numbers_drop_rejected (PrioRunner *self, guint rejected);
guint prio_numbers_request_idle (PrioRunner *self, guint timeout);

/* Posts a number that has only a priority, or a continuation of the running task.  Any thread that has entered no loop
 * may call these functions.  prio-engine.h has a function for all options. */
PrioPostResult prio_numbers_post (PrioRunner *self, guint id, PrioTaskPriority priority);
PrioPostResult prio_numbers_yield (PrioRunner *self, guint id);

/* Makes the batches of @loop call @func before each task, except between numbers that a runner runs in one call.  @func
 * may be NULL.  Called when no batch runs, or after entering the loop. */
typedef void (*PrioCheckpointFunc) (PrioLoop *loop);
void prio_loop_set_checkpoint_func (PrioLoop *loop, PrioCheckpointFunc func);

/* Called in a dispatch, by a runner's function or, for prio_numbers_run_in (), by the function of a group's task. */
gboolean prio_numbers_end (void);
guint prio_numbers_next (void);
void prio_numbers_run_in (PrioRunner *self, guint id, PrioEntry *entry);

/* Enters @loop.  Returns FALSE if another thread owns the loop, or it has ended.  The caller has entered no loop. */
gboolean prio_numbers_enter (PrioLoop *loop);
void prio_numbers_leave (PrioLoop *loop);

/* The caller of these functions has entered the loop. */
void prio_numbers_use (PrioRunner *self);
gboolean prio_numbers_cancel (PrioRunner *self, guint id);
guint prio_numbers_first (PrioRunner *self, PrioTask **task);

/* These functions lend priorities.  A task that waits or is awaited has a second number, for its node in prio-lending,
 * or 0 if no scheduler lends.  The caller has entered the loop. */
guint prio_numbers_keep (PrioRunner *self, guint id, gint priority, GCancellable *signal);
guint prio_numbers_keep_task (PrioTask *task);
void prio_numbers_begin_wait (PrioRunner *self, guint waiter, guint id);
void prio_lending_drop (PrioLoop *loop, guint number);
void prio_lending_begin_wait (PrioLoop *loop, guint waiter, guint awaited);
void prio_lending_end_wait (PrioLoop *loop, guint waiter, guint awaited);

/* Any thread that has entered no loop may call these functions. */
PrioLoop *prio_loop_for_context (GMainContext *context);
void prio_loop_release (PrioLoop *loop);
gboolean prio_loop_has_gone (PrioLoop *loop);
gboolean prio_loop_enter_or_lock (PrioLoop *loop, gboolean *locked);
void prio_loop_leave_or_unlock (PrioLoop *loop, gboolean locked);
/* Returns the state that is current on this thread, if it belongs to a scheduler of @loop, or NULL. */
const PrioState *prio_state_capture (PrioLoop *loop);
void prio_release_now (GDestroyNotify notify, gpointer data);
void prio_loop_flush_releases (PrioLoop *loop);

/* Returns whether @options are valid, and there is a function.  If not, logs a critical message for @function.  Any
 * thread may call this function. */
gboolean prio_check_options (const char *function, const PrioTaskOptions *options, gboolean has_func);

/* The caller of these functions has entered no loop. */
gboolean prio_check_task_group (const char *function, PrioTaskGroup *self);
PrioEntry *prio_task_get_entry (PrioTask *task);
void prio_task_complain (PrioTask *task, const char *function, const char *format, ...) G_GNUC_PRINTF (3, 4);
/* Sets the program's function, for messages, if the task's own function belongs to the library. */
void prio_task_set_program_func (PrioTask *task, gpointer func);

/* The caller of these functions has entered no loop.  A task of a group has a number until it has its result. */
PrioLoop *prio_task_group_get_loop (PrioTaskGroup *self);
guint prio_task_group_number (PrioTask *task);
PrioTask *prio_task_group_find (PrioTaskGroup *self, guint number);
gpointer prio_task_group_get_data (PrioTask *task);
/* Waits for @self without a scheduling state, on behalf of the task @number of @own if that task has begun. */
void prio_task_group_wait_as (PrioTaskGroup *self, PrioTaskGroup *own, guint number, PrioTaskGroupWait until, GCancellable *cancellable,
                              GAsyncReadyCallback callback, gpointer user_data);
