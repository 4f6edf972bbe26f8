/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* crossings-books.c: counts kept independently of the library: which mechanisms have met, and how often tasks have
 * run */

#include "crossings.h"

/* Records that @mechanism meets all mechanisms in use. */
void
begin (World *world, Mechanism mechanism)
{
  for (guint i = 0; i < N_MECHANISMS; i++)
    {
      if (g_atomic_int_get (&world->live[i]) > 0)
        {
          __atomic_fetch_add (&met[mechanism][i], 1, __ATOMIC_RELAXED);
          if (i != mechanism)
            __atomic_fetch_add (&met[i][mechanism], 1, __ATOMIC_RELAXED);
        }
    }
  g_atomic_int_inc (&world->live[mechanism]);
}

void
end (World *world, Mechanism mechanism)
{
  g_atomic_int_add (&world->live[mechanism], -1);
}

void
begin_all (World *world, guint64 mechanisms)
{
  for (Mechanism i = 0; i < N_MECHANISMS; i++)
    {
      if ((mechanisms & BIT (i)) != 0)
        begin (world, i);
    }
}

void
end_all (World *world, guint64 mechanisms)
{
  for (Mechanism i = 0; i < N_MECHANISMS; i++)
    {
      if ((mechanisms & BIT (i)) != 0)
        end (world, i);
    }
}

/* Enters @place.
 *
 * Returns: the place where this thread was */
Mechanism
enter_place (World *world, Mechanism place)
{
  Mechanism outer = this_thread.place;

  this_thread.place = place;
  world->n_places += is_owner (world);
  begin (world, place);
  return outer;
}

void
leave_place (World *world, Mechanism outer)
{
  end (world, this_thread.place);
  this_thread.place = outer;
}

/* Returns whether the ends of all runs are known: while a function runs, or while none does. */
static gboolean
is_certain (World *world)
{
  return is_owner (world) && (this_thread.place == FUNCTION || this_thread.place == N_MECHANISMS);
}

static Tally *
tally_of (World *world, Payload *payload, guint i)
{
  if (i == 0)
    return payload->book != NULL ? &payload->book->runs : NULL;
  return i == 1 ? &world->trace : &world->observed;
}

static void
tally_add (Tally *tally, const Run *run, guint i)
{
  const Payload *payload = run->payload;
  gboolean is_sure = run->sessions[i] == tally->session && !run->loose;

  if (!tally->on)
    return;
  tally->least[0] += is_sure;
  tally->most[0] += 1 + run->n_more;
  for (gint priority = 1; i == 0 && priority < 4; priority++)
    {
      tally->least[priority] += is_sure && payload->fixed == priority;
      if (payload->fixed == 0 || payload->fixed == priority)
        tally->most[priority] += 1 + run->n_more;
    }
}

static void
end_run (World *world, Run *run)
{
  Payload *payload = run->payload;

  if (payload == NULL)
    return;
  payload->runs = FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (run->sessions); i++)
    {
      Tally *tally = tally_of (world, payload, i);

      if (tally != NULL)
        tally_add (tally, run, i);
    }
  run->payload = NULL;
}

/* Several consecutive steps may be one run. */
void
begin_run (World *world, Payload *payload)
{
  Run *run = &world->runs[world->nesting];

  /* The handler of notify::state has counted this run. */
  if (run->payload == payload && payload->n_runs == 0)
    return;
  g_atomic_int_set (&payload->aborted_in_run, FALSE);
  if (run->payload == payload && (payload->kinds & BIT (STEPS)) != 0)
    {
      run->n_more++;
      return;
    }
  end_runs (world);
  *run = (Run) { .payload = payload, .loose = world->next_is_loose[world->nesting] };
  world->next_is_loose[world->nesting] = FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (run->sessions); i++)
    {
      Tally *tally = tally_of (world, payload, i);

      run->sessions[i] = tally != NULL && tally->on ? tally->session : 0;
    }
  payload->runs = TRUE;
}

/* Counts a turn of an aborted task: for the library the task has run, but its function was not called. */
static void
count_turn (World *world, Payload *payload)
{
  for (guint i = 0; i < 3; i++)
    {
      Tally *tally = tally_of (world, payload, i);

      for (guint priority = 0; tally != NULL && priority < G_N_ELEMENTS (tally->most); priority++)
        tally->most[priority]++;
    }
}

/* Ends the runs at this depth, and deeper. */
void
end_runs (World *world)
{
  for (guint i = world->nesting; i <= MAX_NESTING; i++)
    end_run (world, &world->runs[i]);
}

/* Marks runs as possibly ended: the callback of a yield or a task is called in a run, and earlier callbacks in that run
 * may have started other runs. */
void
loosen_runs (World *world)
{
  for (guint i = 0; i <= MAX_NESTING; i++)
    {
      world->runs[i].loose = TRUE;
      world->next_is_loose[i] = TRUE;
    }
}

/* Called when a main context begins an iteration: none of its tasks has started. */
void
begin_iteration (World *world)
{
  world->n_iterations++;
  world->next_is_loose[world->nesting] = FALSE;
}

/* Called when a running task may have been aborted, and may have ended.  Another thread may do so while a function
 * waits for it. */
void
something_is_aborted (World *world)
{
  for (guint i = 0; (is_owner (world) || !world->is_free) && i <= MAX_NESTING; i++)
    {
      if (world->runs[i].payload != NULL)
        g_atomic_int_set (&world->runs[i].payload->aborted_in_run, TRUE);
    }
}

/* Counts the end of @payload if it was aborted while it waited. */
void
count_end (Payload *payload, gboolean is_aborted)
{
  Book *book = payload->book;
  gboolean is_sure = is_owner (payload->world) && !payload->foreign && !payload->world->is_free && !payload->may_reject;

  if (book == NULL || !is_aborted)
    return;
  if ((payload->kinds & (BIT (STEPS) | BIT (YIELD) | BIT (SLEEP) | BIT (GROUP))) != 0)
    count_turn (payload->world, payload);
  /* A continued task may have got a result instead; and a task that was aborted at its turn has run. */
  if ((payload->kinds & (BIT (STEPS) | BIT (GROUP))) != 0 || (payload->begins && payload->n_runs == 0) ||
      (payload->n_runs > 0 && (payload->runs || g_atomic_int_get (&payload->aborted_in_run))))
    is_sure = FALSE;
  for (gint priority = 0; priority < 4; priority++)
    {
      gboolean is_its = priority == 0 || payload->fixed == priority;

      book->most_aborted[priority] += is_its || payload->fixed == 0;
      book->least_aborted[priority] += is_its && is_sure;
    }
}

static void
tally_clear (Tally *tally)
{
  memset (tally->least, 0, sizeof tally->least);
  memset (tally->most, 0, sizeof tally->most);
}

void
tally_set (World *world, Tally *tally, gboolean on)
{
  tally->on = on;
  tally->session++;
  tally->loose = !is_owner (world);
  if (on)
    tally_clear (tally);
  if (!is_certain (world))
    loosen_runs (world);
}

/* Returns how many tasks have started, and may have ended. */
guint
n_running (World *world, Tally *tally)
{
  guint n = 0;

  for (guint i = 0; i <= MAX_NESTING; i++)
    {
      const Run *run = &world->runs[i];
      gboolean is_its = run->payload != NULL && (tally == &world->trace || tally == &world->observed ||
                                                 (run->payload->book != NULL && tally == &run->payload->book->runs));

      n += is_its ? 1 + run->n_more : 0;
    }
  return n;
}

void
check_tally (const Tally *tally, guint n_more, guint64 told)
{
  if (tally->loose)
    return;
  g_assert_cmpuint (told, >=, tally->least[0]);
  g_assert_cmpuint (told, <=, tally->most[0] + n_more);
}

/* Returns how many posted tasks have not ended. */
static guint
n_open_in (World *world, Book *book)
{
  guint n = 0;

  for (gint i = 1; i <= g_atomic_int_get (&world->n_payloads); i++)
    {
      const Payload *payload = __atomic_load_n (&world->payloads[i], __ATOMIC_ACQUIRE);

      n += payload != NULL && payload->book == book && g_atomic_int_get (&payload->ended) == 0;
    }
  return n;
}

static void
check_aborted (Book *book, gint priority, guint64 n)
{
  g_assert_cmpuint (n, >=, book->least_aborted[priority]);
  g_assert_cmpuint (n, <=, book->most_aborted[priority]);
}

/* Checks that the library's statistics of each priority match the counts. */
void
check_statistics (World *world, Book *book, gboolean is_over)
{
  g_autoptr (PrioScheduler) scheduler = LOOK (book->scheduler);
  Tally *tally = &book->runs;
  guint64 n_run = 0, n_aborted = 0, n_waiting = 0;

  if (!is_owner (world) || scheduler == NULL || !tally->on || tally->loose)
    return;
  for (PrioTaskPriority i = BACKGROUND; i <= USER_BLOCKING; i++)
    {
      PrioTaskStatistics statistics = statistics_of (scheduler, i);
      guint64 n = statistics.n_run;

      g_assert_cmpuint (n, >=, tally->least[i]);
      g_assert_cmpuint (n, <=, tally->most[i] + n_running (world, tally));
      g_assert_cmpuint (statistics.n_continued, <=, n);
      /* Each run takes at least a microsecond. */
      g_assert_cmpfloat (statistics.running.total * 1000 + 0.5, >=, tally->least[i]);
      if (is_over && book->steady)
        check_aborted (book, i, statistics.n_aborted);
      n_run += n;
      n_aborted += statistics.n_aborted;
      n_waiting += statistics.n_queued + statistics.n_delayed;
    }
  check_tally (tally, n_running (world, tally), n_run);
  g_assert_cmpuint (n_waiting, <=, is_over ? 0 : n_open_in (world, book));
  if (is_over && book->steady)
    check_aborted (book, 0, n_aborted);
}
