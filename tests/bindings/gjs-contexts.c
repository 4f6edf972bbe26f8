/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gjs-contexts.c: several contexts of GJS in one process, one after another
 *
 *     gjs-contexts FOLDER [ROUNDS]
 *
 * SpiderMonkey allows a thread one context at a time.  Each round creates a context whose tasks run to their end, and a
 * context that is dropped in the middle of its tasks; these tasks remain in the main loop, and do nothing in the next
 * context.  FOLDER has gjs-contexts.js.
 */

#include <stdbool.h>
#include <stdlib.h>

#include <gjs/gjs.h>

static void
evaluate (GjsContext *context, const char *code)
{
  g_autoptr (GError) error = NULL;
  int status = 0;

  if (!gjs_context_eval (context, code, -1, "<gjs-contexts>", &status, &error))
    g_error ("%s: %s", code, error->message);
}

static void
run_context (const char *folder, const char *code)
{
  g_autofree char *begin = g_strdup_printf ("imports.searchPath.unshift ('%s'); globalThis.program = imports['gjs-contexts'];", folder);
  GjsContext *context = gjs_context_new ();

  evaluate (context, begin);
  evaluate (context, code);
  g_object_unref (context);
}

int
main (int argc, char **argv)
{
  int rounds = argc > 2 ? atoi (argv[2]) : 1;

  if (argc < 2)
    g_error ("usage: gjs-contexts FOLDER [ROUNDS]");

  for (int i = 0; i < rounds; i++)
    {
      run_context (argv[1], "program.begin (30); program.finish ()");
      run_context (argv[1], "program.begin (1e9, () => null); program.iterate (20)");
      run_context (argv[1], "program.abortLater (); program.iterate (20)");
    }
  for (int i = 0; i < 20; i++)
    g_main_context_iteration (NULL, FALSE);
  g_print ("%d rounds\n", rounds);
  return 0;
}
