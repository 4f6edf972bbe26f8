"""The words are the field's: those that the library once had of its own are not used again.

    check-words.py SOURCE

SOURCE is the project's folder.  It looks at code, comments and documents, and prints each old word that it finds with
the word that took its place.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import pathlib
import re
import sys

FOLDERS = ('prio-sched', 'introspection', 'examples', 'tests', 'dex', 'gtk')
SUFFIXES = ('.c', '.h', '.py', '.js', '.ts', '.pyi', '.vala', '.md', '.build')

WORDS = {
    r'[Hh]ubs?': 'signal node',
    r'[Bb]onds?': 'registration',
    r'[Cc]ores?': 'run queue',
    r'at home|home thread': 'on the owner thread',
    r'bias': 'biased lock',
    r'inbox': 'mailbox',
    r'bur(?:y|ied)|graves?|exhumed?': 'deferred release',
    r'condemned|reap(?:ed|s)?': 'aborted list',
    r'tokens?': 'task id',
    r'_refused?|refused?_': 'reject, abort',
    r'lingers?': 'spins',
    r'attend(?:s|ed)?|heed(?:s|ed)?': 'process pending',
    r'gathering': 'generation',
    r'heirs?': 'inherited continuation',
    r'guests?': 'foreign follower',
    r'owe[ds]?': 'awaiting, pending',
    r'withdraw|discharge|admit': 'dequeue, release, enqueue',
}
OLD = re.compile('|'.join(f'((?<![A-Za-z])(?:{word})(?![A-Za-z]))' for word in WORDS))
# What the conformance vectors are is told by whoever recorded them; this file names the old words.
EXCEPTED = {'conformance-vectors.md', 'check-words.py'}


def old_words(text):
    """Yields the number of the line, the old word and the new one."""
    for number, line in enumerate(text.splitlines(), 1):
        for match in OLD.finditer(line):
            yield number, match.group(), list(WORDS.values())[match.lastindex - 1]


def files_of(source):
    yield from source.glob('*.md')
    yield source / 'NEWS'
    for folder in FOLDERS:
        yield from (path for path in sorted((source / folder).rglob('*'))
                    if path.suffix in SUFFIXES and path.name not in EXCEPTED)


def main(source):
    planted = [word for _, word, _ in old_words('/* At home in its hub: */\nprio_loop_bury (heirs);\n')]
    assert planted == ['hub', 'bury', 'heirs'], planted

    files = list(files_of(pathlib.Path(source)))
    found = 0
    for path in files:
        for number, word, better in old_words(path.read_text(encoding='utf-8')):
            print(f'{path}:{number}: “{word}”: the field says {better}')
            found += 1
    print(f'{found} old words in {len(files)} files')
    return 1 if found or len(files) < 100 else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
