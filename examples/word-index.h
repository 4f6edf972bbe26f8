/* word-index.h: which files have a word
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

/* Words of two letters or digits and more, in lower case. */
typedef struct
{
  GHashTable *words; /* char * → GArray of guint, file numbers in the order of their coming */
  GStringChunk *strings;
  GPtrArray *files; /* char *, paths */
  guint64 n_bytes;
} WordIndex;

/* A file that is being read, a piece at a time. */
typedef struct
{
  WordIndex *index;
  GInputStream *stream;
  GString *word; /* what has been read of it */
  guint file;
  gboolean begun; /* something has been read */
} WordReader;

WordIndex *word_index_new (void);
void word_index_free (WordIndex *index);
const GArray *word_index_find (WordIndex *index, const char *word);

WordReader *word_reader_new (WordIndex *index, const char *path, GError **error);
gboolean word_reader_read_piece (WordReader *reader, gboolean *done, GError **error);
void word_reader_free (WordReader *reader);
