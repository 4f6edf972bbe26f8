/* monitor.h: the parts of prio-sched-monitor
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>
#include <sys/types.h>

#include "scheduler/prio-monitor-page-private.h"

/* What the processes have told: a folder with a file for each. */
typedef struct
{
  char *folder;        /* its name, which may come to name another one; what is done is done in @fd */
  int fd;
  GPtrArray *pages;    /* of PrioMonitorPage: what they had told at the last look */
  GHashTable *garbage; /* names of files that are no pages; a set */
} Pages;

gboolean pages_init (Pages *pages, GError **error);
void pages_clear (Pages *pages);
void pages_look (Pages *pages);

/* The program that runs, whose output may come through pipes. */
typedef struct
{
  pid_t pid;
  int output; /* what it prints, if asked for; or -1 */
} Program;

gboolean program_start (Program *program, char **argv, const char *folder, gboolean with_output, int *status, GError **error);

/* Text for people. */
char *view_clean (const char *text, gssize length);
void view_add_pages (GString *text, const Pages *pages, gint64 now, gboolean is_live);
char *view_fit (const char *text, guint rows, guint columns);
