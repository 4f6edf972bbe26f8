/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* reasons.c: errors that represent the reasons of JavaScript's aborts
 *
 * The reason of an abort may be a value of any type.  A GError with a unique code represents the reason.  The aborted signal has
 * the value itself, and the overrides keep the value as long as any other object has an error with this code.  GLib calls functions
 * of this file when an error of the domain is created, copied or freed.
 */

#include "prio-sched-gjs.h"

typedef struct
{
  guint n_errors;
  GWeakRef signal; /* the aborted signal */
} Reason;

static GMutex lock;
static GHashTable *reasons; /* by code; under the lock */

static Reason *
find (gint code)
{
  return g_hash_table_lookup (reasons, GINT_TO_POINTER (code));
}

static void
free_reason (gpointer data)
{
  Reason *self = data;

  g_weak_ref_clear (&self->signal);
  g_free (self);
}

/* Counts @error, which is new or a copy, among the errors of its reason.  The first error makes the reason. */
static void
init (GError *error)
{
  Reason *self;

  g_mutex_lock (&lock);
  self = find (error->code);
  if (self == NULL)
    {
      self = g_new0 (Reason, 1);
      g_weak_ref_init (&self->signal, NULL);
      g_hash_table_insert (reasons, GINT_TO_POINTER (error->code), self);
    }
  self->n_errors++;
  g_mutex_unlock (&lock);
}

static void
copy (const GError *error G_GNUC_UNUSED, GError *copied G_GNUC_UNUSED)
{
}

static void
clear (GError *error)
{
  g_mutex_lock (&lock);
  if (--find (error->code)->n_errors == 0)
    g_hash_table_remove (reasons, GINT_TO_POINTER (error->code));
  g_mutex_unlock (&lock);
}

static GQuark
get_domain (void)
{
  static gsize domain;

  if (g_once_init_enter (&domain))
    {
      reasons = g_hash_table_new_full (NULL, NULL, NULL, free_reason);
      g_once_init_leave (&domain, g_error_domain_register_static ("prio-sched-js-reason", 1, init, copy, clear));
    }
  return (GQuark) domain;
}

/**
 * prio_sched_gjs_new_reason:
 * @signal: the signal that is to be aborted
 * @message: the reason as text
 *
 * Returns an error that represents a reason: no other reason has its code as long as an error with this code exists.
 *
 * Any thread may call this function.
 *
 * Returns: (transfer full): a new error
 */
GError *
prio_sched_gjs_new_reason (PrioTaskSignal *signal, const char *message)
{
  static gint last_code; /* under the lock */
  GQuark domain = get_domain ();
  GError *error;
  gint code;

  g_mutex_lock (&lock);
  do
    last_code = last_code % G_MAXINT + 1;
  while (g_hash_table_contains (reasons, GINT_TO_POINTER (last_code)));
  code = last_code;
  g_mutex_unlock (&lock);

  error = g_error_new_literal (domain, code, message);
  g_mutex_lock (&lock);
  g_weak_ref_set (&find (code)->signal, signal);
  g_mutex_unlock (&lock);
  return error;
}

/**
 * prio_sched_gjs_ref_aborted:
 * @code: the code of an error that [func@PrioSchedGjs.new_reason] has returned
 *
 * Returns the signal that was aborted with that error.  Any thread may call this function.
 *
 * Returns: (transfer full) (nullable): the signal, or %NULL if it has gone
 */
PrioTaskSignal *
prio_sched_gjs_ref_aborted (gint code)
{
  PrioTaskSignal *signal;
  Reason *self;

  get_domain ();
  g_mutex_lock (&lock);
  self = find (code);
  signal = self != NULL ? g_weak_ref_get (&self->signal) : NULL;
  g_mutex_unlock (&lock);
  return signal;
}

/**
 * prio_sched_gjs_has_reason:
 * @code: the code of an error that [func@PrioSchedGjs.new_reason] has returned
 *
 * Returns whether there is an error with that code, in addition to the error that the aborted signal has.
 *
 * Any thread may call this function.
 *
 * Returns: whether such an error exists
 */
gboolean
prio_sched_gjs_has_reason (gint code)
{
  PrioTaskSignal *signal = prio_sched_gjs_ref_aborted (code);
  guint n_own = signal != NULL ? 1 : 0;
  Reason *self;
  gboolean has;

  g_mutex_lock (&lock);
  self = find (code);
  has = self != NULL && self->n_errors > n_own;
  g_mutex_unlock (&lock);
  g_clear_object (&signal);
  return has;
}
