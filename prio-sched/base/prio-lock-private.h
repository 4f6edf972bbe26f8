/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-lock-private.h: a mutex and a condition that ThreadSanitizer understands
 *
 * Promises: PrioLock is a GMutex, and PrioCond a GCond.  In builds with ThreadSanitizer, which does not understand
 * futexes, both are pthread types with the same functions.
 *
 * ThreadSanitizer also does not see that g_object_unref () orders every use of an object before the finalization.
 * prio_before_unref () annotates the release, as in prio_object_unref (), and prio_in_finalize () the acquire. */

#pragma once

#include <glib-object.h>

#if defined (__SANITIZE_THREAD__)
#define PRIO_THREAD_SANITIZER 1
#elif defined (__has_feature)
#if __has_feature (thread_sanitizer)
#define PRIO_THREAD_SANITIZER 1
#endif
#endif

#ifdef PRIO_THREAD_SANITIZER

#include <pthread.h>

typedef pthread_mutex_t PrioLock;
typedef pthread_cond_t PrioCond;

#define PRIO_LOCK_INIT PTHREAD_MUTEX_INITIALIZER
#define prio_lock_init(lock) pthread_mutex_init (lock, NULL)
#define prio_lock_clear(lock) pthread_mutex_destroy (lock)
#define prio_lock_lock(lock) pthread_mutex_lock (lock)
#define prio_lock_trylock(lock) (pthread_mutex_trylock (lock) == 0)
#define prio_lock_unlock(lock) pthread_mutex_unlock (lock)

#define PRIO_COND_INIT PTHREAD_COND_INITIALIZER
#define prio_cond_broadcast(cond) pthread_cond_broadcast (cond)

extern void __tsan_release (void *address);
extern void __tsan_acquire (void *address);
#define prio_before_unref(object) __tsan_release (object)
#define prio_in_finalize(object) __tsan_acquire (object)

#else

typedef GMutex PrioLock;
typedef GCond PrioCond;

#define PRIO_LOCK_INIT { NULL }
#define prio_lock_init(lock) g_mutex_init (lock)
#define prio_lock_clear(lock) g_mutex_clear (lock)
#define prio_lock_lock(lock) g_mutex_lock (lock)
#define prio_lock_trylock(lock) g_mutex_trylock (lock)
#define prio_lock_unlock(lock) g_mutex_unlock (lock)

#define PRIO_COND_INIT { NULL }
#define prio_cond_broadcast(cond) g_cond_broadcast (cond)

#define prio_before_unref(object) ((void) (object))
#define prio_in_finalize(object) ((void) (object))

#endif

/* Drops a reference to a GObject that another thread may finalize. */
static inline void
prio_object_unref (gpointer object)
{
  prio_before_unref (object);
  g_object_unref (object);
}

/* Lets the processor relax in a spin loop.  Call this between two reads of a value that another thread is changing. */
static inline void
prio_lock_relax (void)
{
#if defined (__x86_64__) || defined (__i386__)
  __builtin_ia32_pause ();
#endif
}
