#!/usr/bin/env python3
"""Checks that every message to users is translated into every language.

    check-translations.py SOURCE

SOURCE is the project's folder.  po/POTFILES names the files that mark messages, and no other; each language of po/LINGUAS
has each message, with the same conversions ("%s"), and no fuzzy ones.  The programs of gettext read them.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDERS = ('prio-sched', 'introspection', 'examples', 'gtk', 'monitor', 'react', 'dex')
SUFFIXES = ('.c', '.h', '.py', '.js', '.vala')
ALL_MARKED = ('.desktop.in', '.metainfo.xml.in')
MARKED = re.compile(r'''(?<![A-Za-z0-9_])(?:N|C|NC|Q)?_ ?\(["']|g_dgettext \(|ngettext \(''')
# The keywords that are used here, from the preset "glib" of Meson's i18n module.
KEYWORDS = ('_', 'N_', 'C_:1c,2', 'NC_:1c,2', 'Q_:1g', 'g_dgettext:2', 'g_dngettext:2,3', 'ngettext:1,2')


def names(path):
    """Returns the lines of path that are neither empty nor comments."""
    return [line for line in path.read_text().split('\n') if line and not line.startswith('#')]


def marked(source):
    """Returns the files of source that mark messages."""
    for folder in FOLDERS:
        for path in (source / folder).rglob('*'):
            if path.name.endswith(ALL_MARKED) or path.suffix in SUFFIXES and path.is_file() and MARKED.search(path.read_text()):
                yield str(path.relative_to(source))


def run(*arguments):
    return subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True, check=False)


def main(source):
    # Rules for messages in a metainfo file.
    os.environ['GETTEXTDATADIRS'] = str(source / 'examples/desktop')
    listed, found = set(names(source / 'po/POTFILES')), set(marked(source))
    wrong = [f'po/POTFILES names {name}, which marks no message' for name in sorted(listed - found)]
    wrong += [f'po/POTFILES does not name {name}, which marks messages' for name in sorted(found - listed)]

    with tempfile.TemporaryDirectory() as folder:
        template = pathlib.Path(folder) / 'messages.pot'
        made = run('xgettext', '--from-code=UTF-8', '--add-comments', '--flag=_:1:pass-c-format', '-D', source, '-o', template,
                   *(f'--keyword={keyword}' for keyword in KEYWORDS), *sorted(found))
        if made.returncode != 0:
            sys.exit(made.stderr)

        languages = names(source / 'po/LINGUAS')
        for language in languages:
            path, merged = source / 'po' / f'{language}.po', pathlib.Path(folder) / f'{language}.po'
            for step in (('msgfmt', '--check', '-o', '/dev/null', path),
                         ('msgmerge', '--quiet', '--no-fuzzy-matching', '-o', merged, path, template)):
                done = run(*step)
                if done.returncode != 0:
                    wrong.append(done.stderr)
            for what in ('--untranslated', '--only-fuzzy'):
                left = run('msgattrib', what, '--no-obsolete', '--no-wrap', merged).stdout
                wrong += [f'{path.name} does not translate {message}' for message in re.findall('^msgid (?:""\n)?(".+")$', left, re.M)]

    for line in wrong:
        print(line)
    print(f'{len(found)} files, {len(languages)} languages, {len(wrong)} wrong')
    return bool(wrong)


sys.exit(main(pathlib.Path(sys.argv[1])))
