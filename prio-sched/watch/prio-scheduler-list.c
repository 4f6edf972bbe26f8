/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-scheduler-list.c: the list of all schedulers */

#include "config.h"

#include "watch/prio-scheduler-list-private.h"

#include "prio-scheduler-list.h"
#include "prio-observe.h"

static G_DEFINE_QUARK (prio-sched-listed, listed)

/* Guards the list, which begins with the oldest scheduler.  No other lock is taken while this lock is held. */
static PrioLock lock = PRIO_LOCK_INIT;
/* Weak references, each in a GAtomicRcBox, to the schedulers, which may be about to be finalized.  The link is also a
 * qdata of the scheduler.  g_weak_ref_get () is called outside the lock, because it may call a toggle notify. */
static GQueue list = G_QUEUE_INIT;

static void
box_unref (gpointer box)
{
  g_atomic_rc_box_release_full (box, (GDestroyNotify) g_weak_ref_clear);
}

void
prio_scheduler_enlist (PrioScheduler *self)
{
  GWeakRef *box = g_atomic_rc_box_new0 (GWeakRef);
  GList *link = g_list_prepend (NULL, box);

  prio_loop_add_leaf_lock (&lock);
  g_weak_ref_init (box, self);
  g_object_set_qdata (G_OBJECT (self), listed_quark (), link);

  prio_lock_lock (&lock);
  g_queue_push_tail_link (&list, link);
  prio_lock_unlock (&lock);
}

void
prio_scheduler_unlist (PrioScheduler *self)
{
  GList *link = g_object_steal_qdata (G_OBJECT (self), listed_quark ());

  prio_lock_lock (&lock);
  g_queue_unlink (&list, link);
  prio_lock_unlock (&lock);
  g_list_free_full (link, box_unref);
}

/**
 * prio_scheduler_list_all:
 *
 * Returns all live schedulers of this process, of any main context, the oldest first.
 *
 * Tools such as a page in GTK's inspector can show them.  Some functions of a scheduler may be called only on the
 * thread that runs its main context: see [method@PrioSched.Scheduler.get_context].
 *
 * ```c
 * g_autoptr (GPtrArray) schedulers = prio_scheduler_list_all ();
 *
 * for (guint i = 0; i < schedulers->len; i++)
 *   {
 *     if (prio_scheduler_get_context (schedulers->pdata[i]) == g_main_context_default ())
 *       g_print ("%u tasks wait\n", prio_scheduler_count_pending (schedulers->pdata[i]));
 *   }
 * ```
 *
 * Any thread may call this function.
 *
 * Returns: (transfer container) (element-type PrioScheduler): the schedulers; in C, freeing the array releases them
 *
 * Since: 1.0
 */
GPtrArray *
prio_scheduler_list_all (void)
{
  g_autoptr (GPtrArray) found = g_ptr_array_new_with_free_func (box_unref);
  GPtrArray *schedulers;

  prio_lock_lock (&lock);
  for (GList *link = list.head; link != NULL; link = link->next)
    g_ptr_array_add (found, g_atomic_rc_box_acquire (link->data));
  prio_lock_unlock (&lock);

  schedulers = g_ptr_array_new_full (found->len, prio_object_unref);
  for (guint i = 0; i < found->len; i++)
    {
      gpointer scheduler = g_weak_ref_get (found->pdata[i]);

      if (scheduler != NULL)
        g_ptr_array_add (schedulers, scheduler);
    }
  return schedulers;
}
