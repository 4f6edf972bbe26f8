/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* crossings.h: a program of random work in which all mechanisms of the library meet */

#pragma once

#include <prio-sched-bindings.h>
#include <prio-sched-feed.h>
#include "helpers.h"
#include "slots.h"
#include "statistics.h"

/* Their names are in crossings.c. */
typedef enum
{
  /* Switches, while they are on. */
  STATISTICS,
  LENDING,
  TASK_SHARE,
  PAUSE,
  OBSERVER,
  TRACE,
  LONG_TASKS,
  /* Kinds of work, until it has ended. */
  CLOSURE,
  REPEATED,
  TASK,
  STEPS,
  DEFERRED,
  GROUP,
  WAIT,
  RUNNER,
  THREAD,
  MICROTASK,
  IDLE,
  YIELD,
  SLEEP,
  DELAYED,
  TIMEOUT,
  TURNS,
  RETURNS,
  LISTENED,
  SLOW,
  FEED,
  ROW,
  /* Signals, as long as there is work under them. */
  TASK_SIGNAL,
  CANCELLABLE,
  ANY_SIGNAL,
  TIMED_SIGNAL,
  /* Places, while code runs there. */
  FUNCTION,
  HANDLER,
  NOTIFY,
  NESTED,
  OTHER_THREAD,
  ENDING_THREAD,
  /* Operations, until the call returns. */
  ABORT,
  BY_HAND,
  CANCEL,
  PRIORITY,
  AWAIT,
  STATE,
  RENEW,
  DROP,
  LIST,
  VIEW,
  /* A lock of the program, while aborting code holds it. */
  LOCK,
  N_MECHANISMS
} Mechanism;

#define BIT(mechanism) (G_GUINT64_CONSTANT (1) << (mechanism))

enum { N_SCHEDULERS = 3, N_CONTROLLERS = 3, N_SIGNALS = 9, N_TASKS = 6, N_GROUPS = 2, N_FEEDS = 3, MAX_NESTING = 3, MAX_PAYLOADS = 4000 };

/* A count that the library keeps too, in all, and by priority.  The second number includes runs that may have been before
 * or after the counting. */
typedef struct
{
  gboolean on;
  gboolean loose;  /* whether another thread has started or ended it, so that the time is not known */
  guint session;   /* number of the period in which the mechanism was on */
  guint least[4], most[4];
} Tally;

/* A scheduler, and its expected counts. */
typedef struct
{
  PrioScheduler *scheduler; /* in a slot */
  PrioRunner *runner;
  Tally runs;
  gboolean steady; /* whether the scheduler has counted since its creation */
  guint least_aborted[4], most_aborted[4]; /* as in a Tally */
  guint64 on; /* the scheduler's own switches */
} Book;

/* The record of a signal, which may have been freed. */
typedef struct _Origin Origin;

struct _Origin
{
  Mechanism kind;
  gint may;  /* atomic: whether it may have been aborted */
  gint must; /* atomic: the iteration since which it is certainly aborted, or 0 */
  Origin *sources[2];
};

typedef struct
{
  PrioTaskGroup *group;
  Book *book;
  guint number; /* by age */
  gboolean returns; /* whether its tasks have return-on-abort */
  gint may; /* atomic: whether it has been aborted */
  guint n_aborts, n_over, n_within; /* how often the group was aborted, how many of these aborts have ended, and how
                                     * many have not */
} Group;

typedef enum
{
  NOTHING,
  NUMBER,
  FAILURE,
  IF_CANCELLED
} Given;

typedef struct _World World;
typedef struct _Payload Payload;
typedef struct _Lists Lists;

/* Posted work, from its creation to the end of the program. */
struct _Payload
{
  World *world;
  guint number;
  guint64 kinds;
  Book *book; /* or NULL */
  Group *group;
  guint n_aborts; /* the group's aborts before it was posted */
  Origin *origin;  /* origin of its signal, or NULL */
  PrioTaskGroupWait until; /* of a wait */
  PrioTask *waiter; /* gets its result when a wait is over, or NULL */
  gint8 fixed; /* its priority, or 0 */
  gboolean foreign; /* whether another thread has posted it */
  gboolean has_result;
  gboolean may_reject; /* whether its signal may have been aborted before */
  gint n_runs, runs_left;
  gboolean wants_more, runs;
  gboolean begins; /* whether its notify::state has reported that it runs */
  gint state; /* the last state that its notify::state has reported */
  gint aborted_in_run; /* atomic: whether any signal was aborted since its last run began */
  gint returns; /* atomic: the iteration since which it has return-on-abort, or 0 */
  gint cancelled, must_cancel; /* atomic */
  gint deferred_since; /* the iteration */
  gboolean may_end; /* whether an abort may have ended it before, on another thread, for instance */
  gint must_end; /* atomic: the iteration since which it is certainly cancelled, or 0 */
  gint given; /* atomic: a Given */
  gint ended, completed; /* atomic: how often */
};

/* A run that may not have ended. */
typedef struct
{
  Payload *payload; /* or NULL */
  guint n_more; /* steps that have followed, which may have been separate runs */
  guint sessions[3];
  gboolean loose;
} Run;

struct _World
{
  guint64 seed;
  guint64 uses; /* mechanisms */
  gboolean is_free; /* whether the other thread runs freely */
  gboolean ticks; /* whether each look at the clock takes 1 µs */
  gboolean drops;   /* whether the context is destroyed with work in it */
  gboolean is_made_elsewhere; /* whether another thread makes the context, and posts and aborts there before this thread
                               * runs it */
  GMainContext *context;
  GThread *owner;
  Book *books[N_SCHEDULERS];
  GPtrArray *all_books, *all_origins, *all_groups, *all_feeds; /* guarded by the lock of slots.h */
  PrioTaskController *controllers[N_CONTROLLERS];
  GCancellable *signals[N_SIGNALS];
  PrioTask *tasks[N_TASKS], *deferred[N_TASKS];
  Group *groups[N_GROUPS];
  Lists *lists;
  PrioFeed *feeds[N_FEEDS];
  PrioSchedulingState *state;
  guint idle_ids[N_TASKS];
  Payload *payloads[MAX_PAYLOADS]; /* by number */
  GSList *dropped; /* objects to drop at the end */
  GSList *threads; /* threads that end by themselves */
  guint n_keys; /* keys that came during a slow callback, and have not been dispatched */
  guint n_slow; /* number of slow callbacks in short succession */
  gint last_slow; /* the iteration */
  Tally trace, observed;
  guint64 n_observed;
  Run runs[MAX_NESTING + 1];
  gboolean next_is_loose[MAX_NESTING + 1]; /* whether the next run that is seen may have started already */
  gint live[N_MECHANISMS]; /* atomic */
  gint n_payloads, n_open, n_objects; /* atomic */
  gint budget; /* atomic */
  gint n_feeds; /* feeds whose data has not been released */
  gint n_emitting; /* atomic */
  guint nesting;
  gint n_iterations; /* from 1 */
  guint n_places; /* number of places that the owner has been in */
  gboolean is_watching_changed, is_list_changing; /* within the call */
  gint over; /* atomic: whether all operations have ended */
  gint n_contexts_freed;
};

/* The data of the current thread. */
typedef struct
{
  World *world;
  guint64 random;
  Mechanism place;
  guint depth;
  guint n_held; /* how often it holds the lock */
  guint n_cancelling; /* depth of calls in which GLib may hold its own lock */
} Self;

extern _Thread_local Self this_thread;

/* crossings.c */
extern guint64 met[N_MECHANISMS][N_MECHANISMS];
guint dice (guint sides);

/* crossings-slow.c */
void attach_keys (World *world);
void be_slow (World *world);
gboolean goes_before_keys (Payload *payload);

/* crossings-books.c */
void begin (World *world, Mechanism mechanism);
void end (World *world, Mechanism mechanism);
void begin_all (World *world, guint64 mechanisms);
void end_all (World *world, guint64 mechanisms);
Mechanism enter_place (World *world, Mechanism place);
void leave_place (World *world, Mechanism outer);
void begin_run (World *world, Payload *payload);
void end_runs (World *world);
void loosen_runs (World *world);
void begin_iteration (World *world);
void something_is_aborted (World *world);
void count_end (Payload *payload, gboolean is_aborted);
void tally_set (World *world, Tally *tally, gboolean on);
void check_statistics (World *world, Book *book, gboolean is_over);
guint n_running (World *world, Tally *tally);
void check_tally (const Tally *tally, guint n_more, guint64 told);

/* crossings-watching.c */
void set_trace (World *world, gboolean on);
void set_observer (World *world, gboolean on);

/* crossings-posts.c */
gboolean uses (World *world, guint64 kinds);
void post_something (World *world);
void await_something (World *world);
void wait_for_group (World *world);
void wait_in_task (World *world, PrioTask *task);
void give_to_waiter (Payload *payload);
PrioTask *post_row (World *world, Group *group, PrioTaskGroup *own, Origin *origin, PrioTaskSignal *signal);

/* crossings-feeds.c */
void make_lists (World *world);
void free_lists (World *world);
void change_list (World *world);
void move_view (World *world);
void make_feed (World *world);
void drop_feed (World *world);
void drop_feeds (World *world);
void drop_schedulers (World *world);
void check_lists (World *world);
gboolean have_loaded (World *world);

/* crossings-work.c */
gboolean is_owner (World *world);
Mechanism enter_function (Payload *payload);
gboolean leave_function (Payload *payload, Mechanism outer, gboolean more);
gboolean run_closure (gpointer payload);
void run_once (gpointer payload);
void run_idle (PrioIdleDeadline *deadline, gpointer payload);
void run_task (PrioTask *task, gpointer payload);
gboolean run_step (PrioTask *task, gpointer payload);
void run_in_thread (PrioTask *task, gpointer payload);
void state_changed (GObject *task, GParamSpec *property, gpointer payload);
void return_on_abort (PrioTask *task, Payload *payload);
void check_answers (World *world);
void give (PrioTask *task, Payload *payload);
void complete (GObject *source, GAsyncResult *result, gpointer payload);
void end_payload (gpointer payload);
void return_results (World *world);
void run_ids (guint id, gpointer book);
void take_rejected (World *world, Book *book);
Payload *payload_new (World *world, guint64 kinds, Book *book);

/* crossings-acts.c */
void act (World *world);
void touch_lock (World *world);
void cancel_task (World *world, PrioTask *task);
void act_some (World *world, guint at_most);
void make_signal (World *world, guint i);
void make_group (World *world, guint i);
void switch_something (World *world);
void set_watching (World *world, Mechanism which, gboolean on);
void switch_off (World *world, Book *book, Mechanism first, Mechanism last);
void set_switch (World *world, Book *book, Mechanism which, gboolean on);
gboolean may_abort (Origin *origin);
gboolean must_abort (World *world, Origin *origin);
Origin *origin_of (gpointer signal);
gpointer track (World *world, gpointer object);
void let_go_of (World *world, gpointer object);

/* crossings-world.c */
gboolean is_free_program (guint64 seed, guint64 without);
void start_thread (World *world);
void run_world (guint64 seed, guint64 without, guint n_acts);
Book *book_new (World *world);
void pass_time (gint64 time);
void ask_other_thread (World *world, guint n_acts, gboolean waits);
void take_turn (World *world);
void end_turn (World *world);
gboolean give_turn (void);
