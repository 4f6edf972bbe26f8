/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions hold a lock that ThreadSanitizer sees, unlike GLib's locks.  The whole program has one such lock, which
 * one of its files defines. */

#pragma once

#include <glib-object.h>

#include <pthread.h>

extern pthread_mutex_t slots_lock;

/* Takes the reference out of @slot. */
static inline gpointer
take (gpointer *slot)
{
  gpointer object;

  pthread_mutex_lock (&slots_lock);
  object = g_steal_pointer (slot);
  pthread_mutex_unlock (&slots_lock);
  return object;
}

/* Returns another reference to the object in @slot, or NULL. */
static inline gpointer
look (gpointer *slot)
{
  gpointer object;

  pthread_mutex_lock (&slots_lock);
  object = *slot != NULL ? g_object_ref (*slot) : NULL;
  pthread_mutex_unlock (&slots_lock);
  return object;
}

/* Puts @object into @slot, and returns the previous object. */
static inline gpointer
put (gpointer *slot, gpointer object)
{
  gpointer old;

  pthread_mutex_lock (&slots_lock);
  old = *slot;
  *slot = object;
  pthread_mutex_unlock (&slots_lock);
  return old;
}

#define TAKE(slot) take ((gpointer *) &(slot))
#define LOOK(slot) look ((gpointer *) &(slot))
#define PUT(slot, object) put ((gpointer *) &(slot), object)
