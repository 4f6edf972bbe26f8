/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-symbol.c: the names of functions, for reports about long tasks
 *
 * With WITHOUT_SYMBOLS the test is linked with a library without a symbol table.
 */

#include <glib.h>

static void
static_function (void)
{
}

extern gpointer stripped_get_function (void);

#ifdef WITHOUT_SYMBOLS

gpointer
stripped_get_function (void)
{
  return (gpointer) static_function;
}

#else

#include "watch/sources/prio-symbol-private.h"

#include <string.h>
#include <unistd.h>

/* The linker's symbol for the start of the program. */
extern char __executable_start[];

/* A function that the linker does not know, and a function that it knows. */
static void
test_names (void)
{
  g_assert_cmpstr (prio_symbol_get_name ((gpointer) static_function), ==, "static_function");
  g_assert_cmpstr (prio_symbol_get_name ((gpointer) g_free), ==, "g_free");
  g_assert_true (prio_symbol_get_name ((gpointer) static_function) == prio_symbol_get_name ((gpointer) static_function));
}

/* Without a symbol table, the name is the address in the file, for addr2line. */
static void
test_stripped (void)
{
  const char *name = prio_symbol_get_name (stripped_get_function ());

  g_assert_true (g_regex_match_simple ("^libtest-symbol-stripped\\.so\\+0x[0-9a-f]+$", name, 0, 0));
}

/* Code that an interpreter has generated at run time, data, and NULL have no name. */
static void
test_nowhere (void)
{
  g_autofree char *heap = g_malloc (100);

  g_assert_null (prio_symbol_get_name (heap));
  g_assert_null (prio_symbol_get_name (&heap));
  g_assert_null (prio_symbol_get_name (NULL));
}

#define N_PARTS 400

/* The file may have been replaced, or be incomplete. */
static void
test_damaged_files (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  gsize length, n_found = 0, address = (gsize) static_function - (gsize) __executable_start;
  g_autofree char *file = NULL, *found = NULL;

  g_assert_true (g_file_get_contents ("/proc/self/exe", &file, &length, NULL));
  for (gsize part = 0; part < N_PARTS; part++)
    {
      gsize n = part < N_PARTS / 10 ? part : part % 2 == 0 ? length : (gsize) (g_rand_double (rand) * length);
      g_autofree char *copy = g_memdup2 (file, MAX (n, 1));
      g_autofree char *name = NULL;

      /* Damages mainly the header, which has the positions of the other parts. */
      for (gsize i = g_rand_int_range (rand, 0, 4); i > 0 && n > 64; i--)
        copy[g_rand_int_range (rand, 16, 64)] = (char) g_rand_int (rand);
      name = prio_symbol_find (copy, n, address);
      n_found += g_strcmp0 (name, "static_function") == 0;
    }
  g_assert_cmpuint (n_found, >, 0);
  g_assert_cmpuint (n_found, <, N_PARTS);
  g_assert_null (prio_symbol_find (file, length, 1));
  found = prio_symbol_find (file, length, address);
  g_assert_cmpstr (found, ==, "static_function");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/symbol/names", test_names);
  g_test_add_func ("/symbol/stripped", test_stripped);
  g_test_add_func ("/symbol/nowhere", test_nowhere);
  g_test_add_func ("/symbol/damaged-files", test_damaged_files);
  return g_test_run ();
}

#endif
