"""Checks that each mistake of newcomers has a test for its message, and that most messages say how to mend the program.

    check-mistakes.py SOURCE

SOURCE is the project's folder.  The tests have tables of mistakes, by their names, with the message: an entry ends with the words that
mend the program, or with None, null or FALSE.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import pathlib
import re
import sys

TABLES = {'C': 'tests/library/test-mistakes.c', 'Python': 'tests/bindings/mistakes.py', 'JavaScript': 'tests/bindings/mistakes.js'}
# Mistakes that people made when they tried the library for the first time.
MISTAKES = {
    'C': ["GLib's priority", 'NULL for the function', 'controller as signal', 'function that returns no result', 'wrong type of result',
          'result before the end', 'freed controller', 'group in another thread', 'wrong finish', 'used-up controller'],
    'Python': ["'urgent'", 'coroutine instead of its function', 'controller as signal', 'sleep(0.5)', "post_task(print, 'x')", 'no await before yield_()',
               'no main loop', 'used-up controller', 'group in another thread', 'asyncio.sleep() in PrioSched.run()', 'while not flag: await yield_()'],
    'JavaScript': ['priority by position', '{prioriy: …}', 'postTask() on the library’s scheduler', 'generator to post_task()', 'controller as signal',
                   'used-up controller', 'the web’s signal to GIO', 'while (!flag) await scheduler.yield()'],
}
# Mistakes that have a separate test, or that have become correct.
ALONE = {
    'no main loop, in C': ('tests/library/test-unrun.c', 'test_tasks_that_never_ran_are_counted'),
    'overrides not found, in Python': ('tests/bindings/mistakes.py', 'test_overrides_not_found'),
    'no await before yield(), in JavaScript': ('tests/bindings/mistakes.js', "test('no await before yield()'"),
    '{takes_turns: true}, in JavaScript': ('tests/bindings/mistakes.js', "test('{takes_turns: true}'"),
}
N_MISTAKES = 33
LEAST_MENDS = 25


def entry_of(name, text):
    """Returns the entry of a table that begins with the name, or None."""
    match = re.search(rf'^ +[{{\[]?\s?(["\']){re.escape(name)}\1[,:].*?[)\]}}],$', text, re.MULTILINE | re.DOTALL)
    return match and match[0]


def main(source):
    texts = {path: (pathlib.Path(source) / path).read_text(encoding='utf-8') for path in {*TABLES.values(), *(path for path, _ in ALONE.values())}}
    entries = {(language, name): entry_of(name, texts[TABLES[language]]) for language, names in MISTAKES.items() for name in names}
    missing = [key for key, entry in entries.items() if entry is None] + [name for name, (path, test) in ALONE.items() if test not in texts[path]]
    n = len(entries) + len(ALONE)
    n_mends = sum(not re.search(r'\b(?:None|null|FALSE) ?[)\]}],$', entry) for entry in entries.values() if entry)
    print(f'{n} mistakes, of {N_MISTAKES}; {n_mends} messages of the tables say the mend, of at least {LEAST_MENDS}')
    for key in missing:
        print(f'has no test: {key}')
    return bool(missing) or n != N_MISTAKES or n_mends < LEAST_MENDS or entry_of('planted', texts[TABLES['C']]) is not None


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
