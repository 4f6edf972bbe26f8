/* monitor-pages.c: what the processes tell
 *
 * A page is read, not mapped: whoever has written it may do anything to its file meanwhile.  Nothing in it is believed.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "monitor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether @folder is this user's, and nobody else's: others could exchange there what the monitor makes. */
static gboolean
is_private (const char *folder)
{
  struct stat status;

  return stat (folder, &status) == 0 && S_ISDIR (status.st_mode) && status.st_uid == geteuid () && (status.st_mode & 0077) == 0;
}

/* What the processes share with the monitor is memory if there is such a folder, and not a disk. */
static const char *
place (void)
{
  const char *runtime = g_getenv ("XDG_RUNTIME_DIR");

  if (runtime != NULL && g_path_is_absolute (runtime) && is_private (runtime) && g_access (runtime, W_OK | X_OK) == 0)
    return runtime;
  if (g_access ("/dev/shm", W_OK | X_OK) == 0)
    return "/dev/shm";
  return g_get_tmp_dir ();
}

/* Opens the folder that has just been made.  Returns the descriptor, or -1 with errno if it is another one meanwhile. */
static int
open_folder (const char *folder)
{
  int fd = g_open (folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  struct stat status;

  if (fd < 0 || (fstat (fd, &status) == 0 && status.st_uid == geteuid () && (status.st_mode & 0077) == 0))
    return fd;
  close (fd);
  errno = EPERM;
  return -1;
}

gboolean
pages_init (Pages *pages, GError **error)
{
  *pages = (Pages) { .folder = g_build_filename (place (), "prio-sched-monitor-XXXXXX", NULL), .fd = -1 };
  if (g_mkdtemp (pages->folder) == NULL || (pages->fd = open_folder (pages->folder)) < 0)
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

/* The names of what is in the folder. */
static GPtrArray *
list_names (const Pages *pages)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  int fd = openat (pages->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = fd >= 0 ? fdopendir (fd) : NULL;
  struct dirent *entry;

  while (dir != NULL && (entry = readdir (dir)) != NULL)
    {
      if (strcmp (entry->d_name, ".") != 0 && strcmp (entry->d_name, "..") != 0)
        g_ptr_array_add (names, g_strdup (entry->d_name));
    }
  if (dir != NULL)
    closedir (dir);
  else if (fd >= 0)
    close (fd);
  return names;
}

/* Whether @folder still names what @fd is open for. */
static gboolean
is_same_folder (const char *folder, int fd)
{
  struct stat named, opened;

  return lstat (folder, &named) == 0 && fstat (fd, &opened) == 0 && named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

/* Removes this user's files in the folder, wherever it is now, and the folder if it has kept its name.  Whatever has been put in
 * its place remains. */
void
pages_clear (Pages *pages)
{
  g_autoptr (GPtrArray) names = list_names (pages);

  for (guint i = 0; i < names->len; i++)
    {
      const char *name = names->pdata[i];
      struct stat status;

      if (fstatat (pages->fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_uid == geteuid ())
        unlinkat (pages->fd, name, 0);
    }
  if (is_same_folder (pages->folder, pages->fd))
    g_rmdir (pages->folder);
  close (pages->fd);
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

/* Reads the page @name in @folder.  Returns whether it is one.  One that a process makes at this moment is still all zeros. */
static gboolean
read_page (int folder, const char *name, PrioMonitorPage *page, gboolean *is_new)
{
  int fd = openat (folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
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
  g_autoptr (GPtrArray) names = list_names (pages);

  g_ptr_array_set_size (pages->pages, 0);
  for (guint i = 0; i < names->len; i++)
    {
      const char *name = names->pdata[i];
      g_autofree PrioMonitorPage *page = g_new0 (PrioMonitorPage, 1);
      gboolean is_new;

      if (read_page (pages->fd, name, page, &is_new))
        g_ptr_array_add (pages->pages, g_steal_pointer (&page));
      else if (!is_new)
        g_hash_table_add (pages->garbage, g_strdup (name));
    }
  g_ptr_array_sort (pages->pages, compare_pages);
}
