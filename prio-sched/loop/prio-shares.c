/* prio-shares.c: shares of time that the program has said
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "loop/prio-shares-private.h"

/* The most time that can be due to a priority, and the longest for which it waits after what it has run, µs. */
#define MAX_DUE 50000
#define MAX_WAIT G_USEC_PER_SEC

static inline guint
read_share (guint *share)
{
  return __atomic_load_n (share, __ATOMIC_RELAXED);
}

/* A scheduler of @loop has said another share, or has gone. */
void
prio_shares_update (PrioLoop *loop)
{
  guint frame_share = 0, all = 0, least[PRIO_N_SHARED] = { 0 };

  for (PrioRunQueue *run_queue = loop->run_queues; run_queue != NULL; run_queue = run_queue->next)
    {
      frame_share = MAX (frame_share, read_share (&run_queue->frame_share));
      for (guint i = 0; i < PRIO_N_SHARED; i++)
        {
          least[i] = MAX (least[i], read_share (&run_queue->least_shares[i]));
          all |= least[i];
        }
    }

  loop->turn.frame_share = frame_share;
  if (frame_share == 0)
    loop->turn.frame_due = 0;

  if (loop->turn.low.share != least[0])
    loop->turn.low = (PrioLowTurn) { .share = least[0] };

  if (all == 0)
    {
      g_clear_pointer (&loop->shares, g_free);
      return;
    }
  if (loop->shares == NULL)
    {
      loop->shares = g_new0 (PrioShares, 1);
      loop->shares->since = prio_clock_now ();
    }
  for (guint i = 0; i < PRIO_N_SHARED; i++)
    loop->shares->of[i].share = least[i];
}

static inline gboolean
waits (PrioLoop *loop, guint priority)
{
  return (loop->ready.mask >> (2 * priority) & 3) != 0;
}

/* Tasks of @effective have run until @now; @ahead says that they did before more urgent ones. */
void
prio_shares_count (PrioLoop *loop, guint effective, gboolean ahead, gint64 now)
{
  gint64 time = MAX (now - loop->shares->since, 0);

  loop->shares->since = now;
  for (guint i = 0; i < PRIO_N_SHARED; i++)
    {
      PrioLeastShare *least = &loop->shares->of[i];

      if (effective / 2 == i)
        least->due = ahead ? MAX (least->due - time, -prio_share_of (least->share, MAX_WAIT)) : 0;
      else if (effective / 2 > i && waits (loop, i))
        least->due = MIN (least->due + prio_share_of (least->share, time), MAX_DUE);
      if (!waits (loop, i))
        least->due = MIN (least->due, 0);
    }
}

/* The queue of the next task: @first, or one of a priority to which time is due: then @ahead is TRUE.  The last task was
 * of the effective priority @ran, and @ahead too, or there was none (-1), and the time counts from @since. */
PrioQueue *
prio_shares_choose (PrioLoop *loop, PrioQueue *first, gint *ran, gint64 since, gboolean *ahead)
{
  if (*ran >= 0)
    prio_shares_count (loop, (guint) *ran, *ahead, prio_clock_now ());
  else
    loop->shares->since = since;

  *ahead = FALSE;
  for (guint i = 0; i < PRIO_N_SHARED && first->effective > 2 * i + 1; i++)
    {
      if (loop->shares->of[i].due <= 0 || !waits (loop, i))
        continue;
      *ahead = TRUE;
      first = prio_ready_at (&loop->ready, (PrioEffective) (2 * i + (loop->ready.mask >> (2 * i + 1) & 1)));
      break;
    }
  *ran = (gint) first->effective;
  return first;
}
