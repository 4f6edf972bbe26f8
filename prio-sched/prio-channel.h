/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-channel.h: brings values from any thread to a function that runs on a main loop */

#pragma once

#if !defined (PRIO_SCHED_INSIDE) && !defined (PRIO_SCHED_COMPILATION)
#error "Only <prio-sched-threads.h> can be included directly."
#endif

#include "prio-scheduler.h"

G_BEGIN_DECLS

/**
 * PrioChannelPace:
 * @PRIO_CHANNEL_PACE_EACH: for each value, as soon as a task of the channel's priority may run
 * @PRIO_CHANNEL_PACE_TURN: at most once in an iteration of the main loop, so that other sources run in between
 * @PRIO_CHANNEL_PACE_FRAME: at most once per frame, or 60 times a second if no frame clock is followed
 *
 * How often a [class@PrioSched.Channel] calls its function.
 *
 * Since: 1.0
 */
typedef enum
{
  PRIO_CHANNEL_PACE_EACH,
  PRIO_CHANNEL_PACE_TURN,
  PRIO_CHANNEL_PACE_FRAME
} PrioChannelPace;

#define PRIO_TYPE_CHANNEL (prio_channel_get_type ())

PRIO_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (PrioChannel, prio_channel, PRIO, CHANNEL, GObject)

/**
 * PrioChannelFunc: (skip)
 * @channel: the channel
 * @value: (nullable): the oldest value, which the channel releases when the function has returned
 * @user_data: the data given to prio_channel_new()
 *
 * Handles a value of a channel.  The function is called on the thread that runs the scheduler's main context.
 *
 * Since: 1.0
 */
typedef void (*PrioChannelFunc) (PrioChannel *channel, gpointer value, gpointer user_data);

PRIO_AVAILABLE_IN_ALL
PrioChannel *prio_channel_new (PrioScheduler *scheduler, const PrioTaskOptions *options, guint capacity,
                               PrioChannelPace pace, PrioChannelFunc func, gpointer user_data, GDestroyNotify notify);
PRIO_AVAILABLE_IN_ALL
gboolean prio_channel_replace (PrioChannel *self, gpointer value, GDestroyNotify destroy);
PRIO_AVAILABLE_IN_ALL
gboolean prio_channel_offer (PrioChannel *self, gpointer value, GDestroyNotify destroy);
PRIO_AVAILABLE_IN_ALL
gboolean prio_channel_give (PrioChannel *self, gpointer value, GDestroyNotify destroy, GCancellable *cancellable,
                            GError **error);
PRIO_AVAILABLE_IN_ALL
PrioTask *prio_channel_post_value (PrioChannel *self, PrioScheduler *scheduler, const PrioTaskOptions *options,
                                   gpointer value, GDestroyNotify destroy) G_GNUC_WARN_UNUSED_RESULT;
PRIO_AVAILABLE_IN_ALL
void prio_channel_hold_place (PrioChannel *self, PrioTask *task);
PRIO_AVAILABLE_IN_ALL
guint prio_channel_get_length (PrioChannel *self);
PRIO_AVAILABLE_IN_ALL
void prio_channel_close (PrioChannel *self);

G_END_DECLS
