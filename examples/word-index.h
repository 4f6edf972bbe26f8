/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* word-index.h: finds the files that contain a word */

#pragma once

#include <gio/gio.h>

/* Words of at least two letters or digits, in lower case. */
typedef struct
{
  GHashTable *words; /* char * → GArray of guint: file numbers, in the order in which they were found */
  GStringChunk *strings;
  GPtrArray *files; /* char *, paths */
  guint64 n_bytes;
} WordIndex;

/* A file that is being read, a piece at a time. */
typedef struct
{
  WordIndex *index;
  GInputStream *stream;
  GString *word; /* the part of the current word that has been read */
  guint file;
  gboolean begun; /* whether the first piece has been read */
} WordReader;

WordIndex *word_index_new (void);
void word_index_free (WordIndex *index);
const GArray *word_index_find (WordIndex *index, const char *word);

GInputStream *word_stream_open (const char *path, GError **error);
GInputStream *word_stream_load (const char *path, GError **error);
WordReader *word_reader_new (WordIndex *index, const char *path, GInputStream *stream);
gboolean word_reader_read_piece (WordReader *reader, gboolean *done, GError **error);
void word_reader_free (WordReader *reader);
