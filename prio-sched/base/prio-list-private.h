/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-list-private.h: doubly linked lists whose links are in the records
 *
 * Promises: adding a record and removing it take O(1).  @first is the list: a pointer to the first record, or NULL.
 * @next and @prev name the links of a record. */

#pragma once

#include <glib.h>

#define PRIO_LIST_PREPEND(first, item, next, prev)                                                                    \
  G_STMT_START                                                                                                        \
    {                                                                                                                 \
      (item)->prev = NULL;                                                                                            \
      (item)->next = (first);                                                                                         \
      if ((first) != NULL)                                                                                            \
        (first)->prev = (item);                                                                                       \
      (first) = (item);                                                                                               \
    }                                                                                                                 \
  G_STMT_END

#define PRIO_LIST_REMOVE(first, item, next, prev)                                                                     \
  G_STMT_START                                                                                                        \
    {                                                                                                                 \
      if ((item)->prev != NULL)                                                                                       \
        (item)->prev->next = (item)->next;                                                                            \
      else                                                                                                            \
        (first) = (item)->next;                                                                                       \
      if ((item)->next != NULL)                                                                                       \
        (item)->next->prev = (item)->prev;                                                                            \
    }                                                                                                                 \
  G_STMT_END
