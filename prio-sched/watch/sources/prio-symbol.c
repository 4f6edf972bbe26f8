/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prio-symbol.c: the names of functions */

/* For dladdr1 (). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "config.h"

#include "watch/sources/prio-symbol-private.h"

#include "base/prio-lock-private.h"

#include <string.h>

#ifdef HAVE_DLADDR1

#include <dlfcn.h>
#include <link.h>

/* Guards @names.  No other lock of the library is taken while this lock is held. */
static PrioLock lock = PRIO_LOCK_INIT;
/* The names that were found, as interned strings, by address. */
static GHashTable *names;

/* Copies @size bytes from @file at @offset; returns FALSE if the file is shorter.  The data need not be aligned. */
static gboolean
read_at (const char *file, gsize length, guint64 offset, gpointer to, gsize size)
{
  if (offset > length || size > length - offset)
    return FALSE;

  memcpy (to, file + offset, size);
  return TRUE;
}

/* Returns the name of the function at @address in the table @symbols of @file, or NULL. */
static char *
find_in_table (const char *file, gsize length, const ElfW (Shdr) *symbols, const ElfW (Shdr) *strings, guintptr address)
{
  for (guint64 i = 0; i < symbols->sh_size / sizeof (ElfW (Sym)); i++)
    {
      ElfW (Sym) symbol;
      const char *name;

      if (!read_at (file, length, symbols->sh_offset + i * sizeof symbol, &symbol, sizeof symbol))
        return NULL;
      if (symbol.st_value != address || ELF64_ST_TYPE (symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
        continue;
      if (symbol.st_name >= strings->sh_size || strings->sh_offset > length || strings->sh_size > length - strings->sh_offset)
        return NULL;
      name = file + strings->sh_offset + symbol.st_name;
      if (*name != '\0')
        return g_strndup (name, strings->sh_size - symbol.st_name);
    }
  return NULL;
}

/* Returns the name of the function at @address in @file, or NULL if @file is not an ELF file with a symbol table. */
char *
prio_symbol_find (const char *file, gsize length, guintptr address)
{
  ElfW (Ehdr) header;
  ElfW (Shdr) symbols, strings;

  if (!read_at (file, length, 0, &header, sizeof header) || memcmp (header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != (sizeof (gpointer) == 8 ? ELFCLASS64 : ELFCLASS32))
    return NULL;

  for (guint i = 0; i < header.e_shnum; i++)
    {
      if (!read_at (file, length, header.e_shoff + (guint64) i * sizeof symbols, &symbols, sizeof symbols))
        return NULL;
      if (symbols.sh_type == SHT_SYMTAB)
        return read_at (file, length, header.e_shoff + (guint64) symbols.sh_link * sizeof strings, &strings, sizeof strings)
                   ? find_in_table (file, length, &symbols, &strings, address)
                   : NULL;
    }
  return NULL;
}

static char *
look_up (gconstpointer function)
{
  Dl_info info;
  struct link_map *map = NULL;
  g_autoptr (GMappedFile) file = NULL;
  guintptr address;
  char *name = NULL;

  if (dladdr1 (function, &info, (void **) &map, RTLD_DL_LINKMAP) == 0 || map == NULL)
    return NULL;
  if (info.dli_sname != NULL && info.dli_saddr == function)
    return g_strdup (info.dli_sname);

  /* Opens /proc/self/exe for the program itself, whose l_name is empty, because its dli_fname is only argv[0]. */
  address = (guintptr) function - map->l_addr;
  file = g_mapped_file_new (*map->l_name != '\0' ? info.dli_fname : "/proc/self/exe", FALSE, NULL);
  if (file != NULL)
    name = prio_symbol_find (g_mapped_file_get_contents (file), g_mapped_file_get_length (file), address);
  if (name == NULL)
    {
      g_autofree char *base = g_path_get_basename (info.dli_fname);

      name = g_strdup_printf ("%s+0x%" G_GINTPTR_MODIFIER "x", base, address);
    }
  return name;
}

/* Returns the name of @function, an interned string, or NULL if @function is in no file. */
const char *
prio_symbol_get_name (gconstpointer function)
{
  g_autofree char *found = NULL;
  const char *name;

  prio_lock_lock (&lock);
  if (names == NULL)
    names = g_hash_table_new (NULL, NULL);
  name = g_hash_table_lookup (names, function);
  /* A failed look-up is not kept, because code that is in no file may be freed, and its address used again. */
  if (name == NULL && (found = look_up (function)) != NULL)
    {
      name = g_intern_string (found);
      g_hash_table_insert (names, (gpointer) function, (gpointer) name);
    }
  prio_lock_unlock (&lock);
  return name;
}

/* Returns the public function @name of the library that contains @function, or NULL. */
gpointer
prio_symbol_find_beside (gconstpointer function, const char *name)
{
  Dl_info info;
  void *library = dladdr (function, &info) != 0 ? dlopen (info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  gpointer found = library != NULL ? dlsym (library, name) : NULL;

  if (library != NULL)
    dlclose (library);
  return found;
}

#else

gpointer
prio_symbol_find_beside (gconstpointer function G_GNUC_UNUSED, const char *name G_GNUC_UNUSED)
{
  return NULL;
}

char *
prio_symbol_find (const char *file G_GNUC_UNUSED, gsize length G_GNUC_UNUSED, guintptr address G_GNUC_UNUSED)
{
  return NULL;
}

const char *
prio_symbol_get_name (gconstpointer function G_GNUC_UNUSED)
{
  return NULL;
}

#endif
