#!/usr/bin/env python3
"""Words that say nothing to somebody new are not used again.

  check-words.py [FILE…]

Each of them was one of the library's own, and has given way to the word of the field that stands beside it."""

import re
import sys

WORDS = {
    r'[Hh]ubs?': 'signal node',
    r'[Bb]onds?': 'registration',
    r'[Cc]ores?': 'run queue',
    r'at home|home thread': 'owner thread',
    r'bias': 'biased lock',
    r'bur(y|ied)|graves?|exhumed?': 'deferred release',
    r'condemned|reap(ed|s)?': 'aborted list',
    r'tokens?': 'task id',
    r'refuse': 'reject',
    r'lingers?': 'spins',
    r'attend(s|ed)?|heed(s|ed)?': 'process pending',
    r'gathering': 'generation',
    r'heirs?': 'inherited continuation',
    r'guests?': 'foreign follower',
    r'owe[ds]?': 'awaiting, pending',
    r'withdraw|discharge|admit': 'dequeue, release, enqueue',
}
PATTERN = re.compile('|'.join(rf'(?P<w{i}>(?<![A-Za-z])(?:{word})(?![A-Za-z]))' for i, word in enumerate(WORDS)))
# “A biased lock” is the word of the field; \N{SECTION SIGN} and names of the draft's are its own.
MEANT = re.compile(r'biased[ _-]lock')


def words_of(text):
    """Yields line numbers, words and what to say instead."""
    for number, line in enumerate(text.splitlines(), 1):
        for match in PATTERN.finditer(MEANT.sub('', line)):
            yield number, match.group(), list(WORDS.values())[int(match.lastgroup[1:])]


def main(files):
    planted = list(words_of('/* At home in its hub. */\nprio_loop_bury (loop);\n'))
    assert [word for _, word, _ in planted] == ['hub', 'bury'] or len(planted) >= 2, planted

    found = 0
    for name in files:
        with open(name, encoding='utf-8') as file:
            for number, word, better in words_of(file.read()):
                print(f'{name}:{number}: “{word}”: the field says {better}')
                found += 1
    print(f'{found} words of our own in {len(files)} files')
    return found != 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
