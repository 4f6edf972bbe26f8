/* monitor-pages.c: what the processes tell
 *
 * A page is read, not mapped: whoever has written it may do anything to its file meanwhile.  Nothing in it is believed.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the processes share with the monitor is memory if there is such a folder, and not a disk. */
static const char *
place (void)
{
  const char *runtime = g_getenv ("XDG_RUNTIME_DIR");

  if (runtime != NULL && g_path_is_absolute (runtime) && g_access (runtime, W_OK | X_OK) == 0)
    return runtime;
  if (g_access ("/dev/shm", W_OK | X_OK) == 0)
    return "/dev/shm";
  return g_get_tmp_dir ();
}

gboolean
pages_init (Pages *pages, GError **error)
{
  *pages = (Pages) { .folder = g_build_filename (place (), "prio-sched-monitor-XXXXXX", NULL) };
  if (g_mkdtemp (pages->folder) == NULL)
    {
      int saved = errno;

      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (saved), _("%s: cannot be made: %s"), pages->folder,
                   g_strerror (saved));
      g_clear_pointer (&pages->folder, g_free);
      return FALSE;
    }
  pages->pages = g_ptr_array_new_with_free_func (g_free);
  pages->garbage = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return TRUE;
}

/* Removes the folder too. */
void
pages_clear (Pages *pages)
{
  GDir *dir = g_dir_open (pages->folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (pages->folder, name, NULL);

      g_unlink (path);
    }
  g_clear_pointer (&dir, g_dir_close);
  g_rmdir (pages->folder);
  g_clear_pointer (&pages->folder, g_free);
  g_clear_pointer (&pages->pages, g_ptr_array_unref);
  g_clear_pointer (&pages->garbage, g_hash_table_unref);
}

/* Whether @page says of itself that it is one; puts what could harm in order. */
static gboolean
check_page (PrioMonitorPage *page)
{
  if (memcmp (page->magic, PRIO_MONITOR_MAGIC, sizeof page->magic) != 0 || page->size != sizeof *page)
    return FALSE;

  page->program[PRIO_MONITOR_NAME - 1] = '\0';
  for (guint i = 0; i < PRIO_MONITOR_N_RUNNING; i++)
    page->running[i].name[PRIO_MONITOR_NAME - 1] = '\0';
  for (guint i = 0; i < PRIO_MONITOR_N_LONGEST; i++)
    page->longest[i].name[PRIO_MONITOR_NAME - 1] = '\0';
  return TRUE;
}

/* Reads the page at @path.  Returns whether it is one.  One that a process makes at this moment is still all zeros. */
static gboolean
read_page (const char *path, PrioMonitorPage *page, gboolean *is_new)
{
  int fd = g_open (path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
  struct stat status;
  gboolean is_page = FALSE;

  *is_new = FALSE;
  if (fd < 0)
    return FALSE;
  if (fstat (fd, &status) == 0 && S_ISREG (status.st_mode))
    {
      memset (page, 0, sizeof *page);
      is_page = pread (fd, page, sizeof *page, 0) == (gssize) sizeof *page && check_page (page);
      *is_new = !is_page && page->magic[0] == '\0';
    }
  close (fd);
  return is_page;
}

static gint
compare_pages (gconstpointer a, gconstpointer b)
{
  const PrioMonitorPage *x = *(gpointer const *) a, *y = *(gpointer const *) b;

  return (x->started > y->started) - (x->started < y->started);
}

/* Looks at what the processes have told until now. */
void
pages_look (Pages *pages)
{
  g_autoptr (GDir) dir = g_dir_open (pages->folder, 0, NULL);
  const char *name;

  g_ptr_array_set_size (pages->pages, 0);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (pages->folder, name, NULL);
      g_autofree PrioMonitorPage *page = g_new0 (PrioMonitorPage, 1);
      gboolean is_new;

      if (read_page (path, page, &is_new))
        g_ptr_array_add (pages->pages, g_steal_pointer (&page));
      else if (!is_new)
        g_hash_table_add (pages->garbage, g_strdup (name));
    }
  g_ptr_array_sort (pages->pages, compare_pages);
}
