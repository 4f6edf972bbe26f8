/* prio-lending-node-private.h: the graph of who waits for whom, for prio-lending*.c only
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "loop/prio-lending-private.h"

#define PRIO_LEND_N_PRIORITIES (PRIO_TASK_PRIORITY_USER_BLOCKING + 1) /* with 0, for none */

typedef struct _PrioLendNode PrioLendNode;
typedef struct _PrioLendWait PrioLendWait;

/* A task, or the state of code that has no result. */
struct _PrioLendNode
{
  guint number;
  gsize users;
  PrioEntry *entry; /* of the task, until it has its result; or NULL */
  PrioGroup *follows, *abort; /* held, or NULL */
  guint8 priority;  /* its own, if @follows is NULL; 0 while that is not known */
  guint8 level;     /* what it lends: the highest of its own and of what is lent to it */
  gboolean aborted; /* it lends nothing of its own */
  gboolean marked;  /* until settle () */
  gboolean is_kept; /* a binding is a user, and tells when the task has its result */
  PrioLendWait *waits; /* of its own */
  PrioLendWait *lenders[PRIO_LEND_N_PRIORITIES]; /* those that wait for it, by what they lend */
  gsize rank;       /* if @level is lent to it, greater than the rank of one that lends it: so a circle lends nothing to itself */
  PrioQueue queue;  /* where its entry stands if it is boosted */
};

/* A link of the two lists that a wait is on. */
typedef struct
{
  PrioLendWait *next, *prev;
} Link;

struct _PrioLendWait
{
  PrioLendNode *waiter, *awaited;
  Link of_waiter, of_awaited; /* the second is on the list of @lent */
  guint8 lent;
};

struct _PrioLending
{
  GPtrArray *nodes;      /* by number; NULL for those that are free, and for 0 */
  GArray *free_numbers;  /* of guint */
  GHashTable *by_entry;  /* PrioEntry → PrioLendNode */
  GHashTable *by_group;  /* PrioGroup → set of PrioLendNode */
  GPtrArray *stack, *marked; /* of PrioLendNode: in raise_awaited (); until settle () */
};

void prio_lend_wait_link (PrioLendWait *wait, guint8 priority);
void prio_lend_wait_unlink (PrioLendWait *wait);
void prio_lend_wait_set (PrioLendWait *wait, guint8 priority);
void prio_lend_node_update (PrioLending *self, PrioLendNode *node, gboolean lost);
PrioLendNode *prio_lend_node_of_entry (PrioLending *self, PrioEntry *entry);
PrioLendNode *prio_lend_node_of_state (PrioLending *self, const PrioState *state);
void prio_lend_node_release (PrioLending *self, PrioLendNode *node);
