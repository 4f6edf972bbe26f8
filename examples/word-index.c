/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* word-index.c: finds the files that contain a word */

#include "config.h"

#include "word-index.h"

#include <glib/gi18n.h>
#include <string.h>

#define PIECE 4096
#define MAX_WORD 40

WordIndex *
word_index_new (void)
{
  WordIndex *index = g_new0 (WordIndex, 1);

  index->words = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) g_array_unref);
  index->strings = g_string_chunk_new (65536);
  index->files = g_ptr_array_new_with_free_func (g_free);
  return index;
}

void
word_index_free (WordIndex *index)
{
  g_hash_table_unref (index->words);
  g_string_chunk_free (index->strings);
  g_ptr_array_unref (index->files);
  g_free (index);
}

/* Returns: (nullable): the numbers of the files that contain @word */
const GArray *
word_index_find (WordIndex *index, const char *word)
{
  g_autofree char *lower = g_ascii_strdown (word, -1);

  return g_hash_table_lookup (index->words, lower);
}

static void
add_word (WordReader *reader)
{
  WordIndex *index = reader->index;
  GArray *files;

  if (reader->word->len < 2 || reader->word->len > MAX_WORD)
    return;

  files = g_hash_table_lookup (index->words, reader->word->str);
  if (files == NULL)
    {
      files = g_array_new (FALSE, FALSE, sizeof (guint));
      g_hash_table_insert (index->words, g_string_chunk_insert (index->strings, reader->word->str), files);
    }

  /* Several files are read alternately, so this file may be anywhere among the last entries. */
  for (guint i = files->len; i > 0 && i + 8 > files->len; i--)
    {
      if (g_array_index (files, guint, i - 1) == reader->file)
        return;
    }
  g_array_append_val (files, reader->file);
}

static void
add_text (WordReader *reader, const guchar *text, gsize length)
{
  for (gsize i = 0; i < length; i++)
    {
      /* Letters beyond ASCII are part of words, and stay as they are. */
      if (g_ascii_isalnum (text[i]) || text[i] >= 0x80)
        {
          if (reader->word->len <= MAX_WORD)
            g_string_append_c (reader->word, g_ascii_tolower (text[i]));
        }
      else if (reader->word->len > 0)
        {
          add_word (reader);
          g_string_truncate (reader->word, 0);
        }
    }
}

/* Returns a stream of the text of a file, which may be compressed. */
GInputStream *
word_stream_open (const char *path, GError **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GInputStream) stream = G_INPUT_STREAM (g_file_read (file, NULL, error));
  g_autoptr (GZlibDecompressor) gunzip = NULL;

  if (stream == NULL || !g_str_has_suffix (path, ".gz"))
    return g_steal_pointer (&stream);

  gunzip = g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP);
  return g_converter_input_stream_new (stream, G_CONVERTER (gunzip));
}

static GInputStream *
to_stream (GByteArray *text)
{
  g_autoptr (GBytes) bytes = g_byte_array_free_to_bytes (text);

  return g_memory_input_stream_new_from_bytes (bytes);
}

/* Returns a stream whose text is in memory, so that reading it does not wait for the disk.  Any thread may call it. */
GInputStream *
word_stream_load (const char *path, GError **error)
{
  g_autoptr (GInputStream) stream = word_stream_open (path, error);
  g_autoptr (GByteArray) text = g_byte_array_new ();
  guchar block[16 * PIECE];
  gssize length = 1;

  while (stream != NULL && length > 0)
    {
      length = g_input_stream_read (stream, block, sizeof block, NULL, error);
      if (length < 0)
        return NULL;
      g_byte_array_append (text, block, length);
      /* With a zero byte in its first piece, a file is not text, and is not read to its end. */
      if (text->len > 0 && memchr (text->data, 0, MIN (text->len, PIECE)) != NULL)
        break;
    }
  return stream != NULL ? to_stream (g_steal_pointer (&text)) : NULL;
}

/* Adds the file at @path to @index.  Returns a reader that reads its text from @stream. */
WordReader *
word_reader_new (WordIndex *index, const char *path, GInputStream *stream)
{
  WordReader *reader = g_new0 (WordReader, 1);

  reader->index = index;
  reader->stream = g_object_ref (stream);
  reader->word = g_string_new (NULL);
  reader->file = index->files->len;
  g_ptr_array_add (index->files, g_strdup (path));
  return reader;
}

/* Reads the next piece, and sets @done at the end of the file.  Fails with %G_CONVERT_ERROR_ILLEGAL_SEQUENCE if the
 * file is not text. */
gboolean
word_reader_read_piece (WordReader *reader, gboolean *done, GError **error)
{
  guchar piece[PIECE];
  gssize length = g_input_stream_read (reader->stream, piece, sizeof piece, NULL, error);

  if (length < 0)
    return FALSE;

  if (!reader->begun && memchr (piece, 0, length) != NULL)
    {
      g_set_error_literal (error, G_CONVERT_ERROR, G_CONVERT_ERROR_ILLEGAL_SEQUENCE, _("Not a text"));
      return FALSE;
    }

  reader->begun = TRUE;
  reader->index->n_bytes += length;
  add_text (reader, piece, length);
  *done = length == 0;
  if (*done)
    add_word (reader);
  return TRUE;
}

void
word_reader_free (WordReader *reader)
{
  g_object_unref (reader->stream);
  g_string_free (reader->word, TRUE);
  g_free (reader);
}
