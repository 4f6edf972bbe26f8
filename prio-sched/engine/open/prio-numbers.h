/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-numbers.h: tasks that are only numbers, for language bindings
 *
 * Promises: a number is a job like any other or, with a signal, a delay or a timeout, an entry.  The dispatch calls the
 * function of its runner once for several numbers.  The function asks for the next number, which ends one number and
 * begins another exactly as the batch does for other tasks.
 *
 * The users of a runner's numbers are the scheduler, idle callbacks, numbers, and a pending report of rejected numbers.
 * After the last of them, at the latest at the end of the context, the runner is closed, and its functions are
 * released.  The record stays until its last reference is dropped.
 *
 * Threads: all fields except the reference count belong to the owner thread, and so do the functions below, unless they
 * say that any thread may call them.  Inside means between prio_numbers_enter () and prio_numbers_leave ().
 */

#pragma once

#include <gio/gio.h>

#include "prio-observe.h"

typedef struct _PrioRunner PrioRunner;
typedef struct _PrioEntry PrioEntry;
typedef struct _PrioState PrioState;
typedef struct _PrioTask PrioTask;
typedef struct _PrioTaskGroup PrioTaskGroup;

struct _PrioRunner
{
  gint refs; /* atomic: one for all users of the numbers, and one for each binding and pending operation */
  PrioLoop *loop;          /* held */
  PrioRunQueue *run_queue; /* held; NULL once the runner is closed */
  void (*func) (guint id, gpointer data); /* in a dispatch: begins with @id, or reports rejected tasks if it is 0 */
  gpointer data;
  GDestroyNotify notify;
  char *(*name_func) (guint id, gpointer data); /* on the owner thread, while the loop is observed; or NULL */
  gpointer name_data;
  GDestroyNotify name_notify;
  GHashTable *waiting; /* number → PrioEntry, until it begins or is aborted; NULL until needed */
  GArray *rejected;    /* of guint: not taken yet */
  gsize users;
};

/* Any thread, outside. */
PrioRunner *prio_numbers_new (PrioRunQueue *run_queue, GObject *scheduler, void (*func) (guint id, gpointer data), gpointer data,
                              GDestroyNotify notify);
void prio_numbers_unref (gpointer runner);
/* Drops a user that prio_numbers_use () has added, and rejects the task @rejected if it is not 0. */
void prio_numbers_drop (gpointer runner);
void prio_numbers_drop_rejected (PrioRunner *self, guint rejected);
guint prio_numbers_request_idle (PrioRunner *self, guint timeout);

/* Posts a task with only a priority, or as a continuation of the running task.  Any thread, outside.  For other
 * posts see prio-engine.h. */
PrioPostResult prio_numbers_post (PrioRunner *self, guint id, PrioTaskPriority priority);
PrioPostResult prio_numbers_yield (PrioRunner *self, guint id);

/* Inside, or where no batch runs: the batches of @loop call @func before each task from now on, or nothing if that is NULL. */
typedef void (*PrioInterludeFunc) (PrioLoop *loop);
void prio_loop_set_interlude (PrioLoop *loop, PrioInterludeFunc func);

/* In a dispatch. */
gboolean prio_numbers_end (void);
guint prio_numbers_next (void);
void prio_numbers_run_in (PrioRunner *self, guint id, PrioEntry *entry);

/* Enters if this is the owner thread, and the context exists.  Any thread, outside. */
gboolean prio_numbers_enter (PrioLoop *loop);
void prio_numbers_leave (PrioLoop *loop);

/* Inside. */
void prio_numbers_use (PrioRunner *self);
gboolean prio_numbers_cancel (PrioRunner *self, guint id);
guint prio_numbers_first (PrioRunner *self, PrioTask **task);

/* Inside: a lender, which is a task that waits or is awaited, gets a second number: 0 if no scheduler lends
 * (prio-lending). */
guint prio_numbers_keep (PrioRunner *self, guint id, gint priority, GCancellable *signal);
guint prio_numbers_keep_task (PrioTask *task);
void prio_numbers_begin_wait (PrioRunner *self, guint waiter, guint id);
void prio_lending_drop (PrioLoop *loop, guint number);
void prio_lending_begin_wait (PrioLoop *loop, guint waiter, guint awaited);
void prio_lending_end_wait (PrioLoop *loop, guint waiter, guint awaited);

/* Any thread, outside. */
PrioLoop *prio_loop_for_context (GMainContext *context);
void prio_loop_release (PrioLoop *loop);
gboolean prio_loop_has_gone (PrioLoop *loop);
gboolean prio_loop_enter_or_lock (PrioLoop *loop, gboolean *locked);
void prio_loop_leave_or_unlock (PrioLoop *loop, gboolean locked);
/* Returns the state that is current on this thread for @loop, of any of its schedulers, or NULL. */
const PrioState *prio_state_capture (PrioLoop *loop);
void prio_release_now (GDestroyNotify notify, gpointer data);
void prio_loop_flush_releases (PrioLoop *loop);

/* Outside. */
gboolean prio_check_task_group (const char *function, PrioTaskGroup *self);
PrioEntry *prio_task_get_entry (PrioTask *task);
void prio_task_complain (PrioTask *task, const char *function, const char *format, ...) G_GNUC_PRINTF (3, 4);
/* Sets the program's function that the task calls, if its own is the library's: for messages. */
void prio_task_set_program_func (PrioTask *task, gpointer func);

/* Outside.  A task of a group has a number until it has its result; with the number, the task and its data are found. */
PrioLoop *prio_task_group_get_loop (PrioTaskGroup *self);
guint prio_task_group_number (PrioTask *task);
PrioTask *prio_task_group_find (PrioTaskGroup *self, guint number);
gpointer prio_task_group_get_data (PrioTask *task);
/* Waits for @self as the task of @own that has begun and has @number, if there is one. */
void prio_task_group_wait_as (PrioTaskGroup *self, PrioTaskGroup *own, guint number, PrioTaskGroupWait until, GCancellable *cancellable,
                              GAsyncReadyCallback callback, gpointer user_data);
