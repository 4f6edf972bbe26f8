/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* reasons.c: errors that represent the reasons of JavaScript's aborts
 *
 * The reason of an abort may be a value of any type.  A GError with a unique code represents it, and the overrides keep the value as
 * long as an error has this code.  GLib calls this file for each new, copied and freed error of the domain.
 */

#include "prio-sched-gjs.h"

static GMutex lock;
static GHashTable *n_errors; /* under the lock: by code, how many errors have it */

/* Adds @change to the number of errors with @code.  Called under the lock. */
static void
count (gint code, gint change)
{
  gpointer key = GINT_TO_POINTER (code);
  gint n = GPOINTER_TO_INT (g_hash_table_lookup (n_errors, key)) + change;

  if (n > 0)
    g_hash_table_insert (n_errors, key, GINT_TO_POINTER (n));
  else
    g_hash_table_remove (n_errors, key);
}

/* Called for new errors and for copies. */
static void
init (GError *error)
{
  g_mutex_lock (&lock);
  count (error->code, 1);
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
  count (error->code, -1);
  g_mutex_unlock (&lock);
}

static GQuark
get_domain (void)
{
  static gsize domain;

  if (g_once_init_enter (&domain))
    {
      n_errors = g_hash_table_new (NULL, NULL);
      g_once_init_leave (&domain, g_error_domain_register_static ("prio-sched-js-reason", 1, init, copy, clear));
    }
  return (GQuark) domain;
}

/**
 * prio_sched_gjs_new_reason:
 * @message: the reason as text
 *
 * Returns an error that represents a reason: no other reason has its code as long as an error with this code exists.
 *
 * Any thread may call it.
 *
 * Returns: (transfer full): a new error
 */
GError *
prio_sched_gjs_new_reason (const char *message)
{
  static gint last_code; /* under the lock */
  GQuark domain = get_domain ();
  gint code;

  g_mutex_lock (&lock);
  do
    last_code = last_code % G_MAXINT + 1;
  while (g_hash_table_contains (n_errors, GINT_TO_POINTER (last_code)));
  code = last_code;
  g_mutex_unlock (&lock);
  return g_error_new_literal (domain, code, message);
}

/**
 * prio_sched_gjs_has_reason:
 * @code: the code of an error that [func@PrioSchedGjs.new_reason] has returned
 *
 * Returns whether an error with that code exists: the original, or a copy.
 *
 * Any thread may call it.
 *
 * Returns: whether such an error exists
 */
gboolean
prio_sched_gjs_has_reason (gint code)
{
  gboolean has;

  get_domain ();
  g_mutex_lock (&lock);
  has = g_hash_table_contains (n_errors, GINT_TO_POINTER (code));
  g_mutex_unlock (&lock);
  return has;
}
