/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-rows.c: which rows of a list are new, under way or done */

#include "config.h"

#include "above/prio-rows-private.h"

struct _PrioRun
{
  PrioRun *parent, *left, *right;
  guint32 rank;  /* random, and greater than the ranks below */
  guint n;       /* rows of this run */
  guint n_below; /* rows of this run and of the runs below it */
  guint n_new;   /* how many of @n_below are new */
  gboolean is_new;
  gpointer data; /* of a row that is under way, or NULL */
};

static guint
count (const PrioRun *run)
{
  return run != NULL ? run->n_below : 0;
}

static guint
count_new (const PrioRun *run)
{
  return run != NULL ? run->n_new : 0;
}

/* Returns @run, after a change of it or of the runs just below it. */
static PrioRun *
update (PrioRun *run)
{
  run->n_below = count (run->left) + run->n + count (run->right);
  run->n_new = count_new (run->left) + (run->is_new ? run->n : 0) + count_new (run->right);
  if (run->left != NULL)
    run->left->parent = run;
  if (run->right != NULL)
    run->right->parent = run;
  return run;
}

/* Returns a run, or NULL if there are no rows. */
static PrioRun *
run_new (PrioRows *rows, guint n, gboolean is_new)
{
  PrioRun *run;

  if (n == 0)
    return NULL;
  rows->seed = rows->seed * 1664525 + 1013904223;
  run = g_new (PrioRun, 1);
  *run = (PrioRun) { .rank = rows->seed, .n = n, .is_new = is_new };
  return update (run);
}

static void
free_all (PrioRun *run)
{
  if (run == NULL)
    return;
  free_all (run->left);
  free_all (run->right);
  g_free (run);
}

static PrioRun *
join (PrioRun *before, PrioRun *after)
{
  if (before == NULL || after == NULL)
    return before != NULL ? before : after;
  if (before->rank > after->rank)
    {
      before->right = join (before->right, after);
      return update (before);
    }
  after->left = join (before, after->left);
  return update (after);
}

/* Splits the tree of @run, which may be NULL, before the row at @position. */
static void
split (PrioRows *rows, PrioRun *run, guint position, PrioRun **before, PrioRun **after)
{
  guint first = run != NULL ? count (run->left) : 0;

  if (run == NULL)
    {
      *before = *after = NULL;
    }
  else if (position <= first)
    {
      split (rows, run->left, position, before, &run->left);
      *after = update (run);
    }
  else if (position - first >= run->n)
    {
      split (rows, run->right, position - first - run->n, &run->right, after);
      *before = update (run);
    }
  else
    {
      *after = join (run_new (rows, run->n - (position - first), run->is_new), g_steal_pointer (&run->right));
      run->n = position - first;
      *before = update (run);
    }
  if (*before != NULL)
    (*before)->parent = NULL;
  if (*after != NULL)
    (*after)->parent = NULL;
}

/* Takes the rows from @position on out of the tree, as many as @n, until put_back (). */
static PrioRun *
take_out (PrioRows *rows, guint position, guint n, PrioRun **after)
{
  PrioRun *run;

  split (rows, rows->root, position, &rows->root, &run);
  split (rows, run, n, &run, after);
  return run;
}

static void
put_back (PrioRows *rows, PrioRun *run, PrioRun *after)
{
  rows->root = join (join (rows->root, run), after);
}

static void
list (const PrioRun *run, GPtrArray *under_way)
{
  if (run == NULL || run->n_new == run->n_below)
    return;
  list (run->left, under_way);
  if (run->data != NULL)
    g_ptr_array_add (under_way, run->data);
  list (run->right, under_way);
}

void
prio_rows_clear (PrioRows *rows)
{
  free_all (g_steal_pointer (&rows->root));
}

guint
prio_rows_get_n (const PrioRows *rows)
{
  return count (rows->root);
}

/* Replaces @n_removed rows by @n_added new rows, and adds to @removed the data of rows that were under way.  Returns
 * FALSE, and changes nothing, if the list is shorter. */
gboolean
prio_rows_splice (PrioRows *rows, guint position, guint n_removed, guint n_added, GPtrArray *removed)
{
  guint n = prio_rows_get_n (rows);
  PrioRun *run, *after;

  if (position > n || n_removed > n - position || n_added > G_MAXUINT - (n - n_removed))
    return FALSE;

  run = take_out (rows, position, n_removed, &after);
  list (run, removed);
  free_all (run);
  put_back (rows, run_new (rows, n_added, TRUE), after);
  return TRUE;
}

/* Adds the data of the rows under way from @begin to before @end. */
void
prio_rows_list (PrioRows *rows, guint begin, guint end, GPtrArray *under_way)
{
  PrioRun *after, *run = take_out (rows, begin, end - begin, &after);

  list (run, under_way);
  put_back (rows, run, after);
}

/* Begins the row at @position, which is new.  Returns its run, which exists until the row is removed. */
PrioRun *
prio_rows_begin (PrioRows *rows, guint position, gpointer data)
{
  PrioRun *after, *run = take_out (rows, position, 1, &after);

  run->is_new = FALSE;
  run->data = data;
  put_back (rows, update (run), after);
  return run;
}

/* Ends the row of @run, which is under way: it is done, or new again. */
void
prio_run_end (PrioRun *run, gboolean is_new)
{
  run->is_new = is_new;
  run->data = NULL;
  for (; run != NULL; run = run->parent)
    update (run);
}

/* Returns how many rows before @end are new. */
guint
prio_rows_count_new (const PrioRows *rows, guint end)
{
  const PrioRun *run = rows->root;
  guint n = 0;

  while (run != NULL)
    {
      guint first = count (run->left);

      if (end <= first)
        {
          run = run->left;
          continue;
        }
      n += count_new (run->left) + (run->is_new ? MIN (end - first, run->n) : 0);
      if (end - first <= run->n)
        break;
      end -= first + run->n;
      run = run->right;
    }
  return n;
}

/* Returns the new row before which there are @n others, or PRIO_NO_ROW. */
guint
prio_rows_find_new (const PrioRows *rows, guint n)
{
  const PrioRun *run = rows->root;
  guint position = 0;

  if (n >= count_new (run))
    return PRIO_NO_ROW;
  for (;;)
    {
      guint n_left = count_new (run->left), n_here = run->is_new ? run->n : 0;

      if (n < n_left)
        {
          run = run->left;
          continue;
        }
      position += count (run->left);
      if (n - n_left < n_here)
        return position + (n - n_left);
      n -= n_left + n_here;
      position += run->n;
      run = run->right;
    }
}

/* Returns where the row of @run is now. */
guint
prio_run_get_position (const PrioRun *run)
{
  guint position = count (run->left);

  for (; run->parent != NULL; run = run->parent)
    {
      if (run == run->parent->right)
        position += count (run->parent->left) + run->parent->n;
    }
  return position;
}
