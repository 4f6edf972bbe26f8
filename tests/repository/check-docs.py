"""Checks the documentation: each public function has Since:, Returns: and a statement on threads, each type an example.

    check-docs.py FILE…

FILE… are the public headers, and the sources with the comments.  Callbacks and signals must name their thread.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import os
import re
import sys

COMMENT = re.compile(r'/\*\*\n(.*?)\*/', re.DOTALL)
FUNCTION = re.compile(r'PRIO_AVAILABLE_IN_\w+\s([^;{]*?)\b(prio_\w+)\s*\(')
TYPE = re.compile(r'G_DECLARE_FINAL_TYPE \((\w+),|G_DEFINE_BOXED_TYPE \((\w+),')
CALLBACK = re.compile(r'typedef\s+\w[\w\s]*\*?\s*\(\*(Prio\w+)\)')
GENERATED = re.compile(r'_(get_type|quark)$')


def read(paths):
    """Returns the documentation by name, with its file; and the names that must have one."""
    docs, functions, types, callbacks = {}, {}, set(), set()
    for path in paths:
        with open(path, encoding='utf-8') as file:
            text = file.read()
        for comment in COMMENT.findall(text):
            lines = [re.sub(r'^\s*\* ?', '', line) for line in comment.splitlines()]
            name = re.match(r'([\w:-]+?):?(\s|$)', lines[0])
            if name:
                docs[name.group(1)] = (os.path.basename(path), '\n'.join(lines[1:]))
        bare = re.sub(r'/\*.*?\*/', '', text, flags=re.DOTALL)
        functions |= {name: kind.strip() for kind, name in FUNCTION.findall(bare)}
        types |= {a or b for a, b in TYPE.findall(bare)}
        callbacks |= set(CALLBACK.findall(bare))
    return docs, functions, types, callbacks


def missing(doc, returns):
    """Returns the missing parts of a function's documentation."""
    body = re.sub(r'^(Since|Returns|@\w+):.*?(?=^\S|\Z)', '', doc, flags=re.MULTILINE | re.DOTALL)
    if not re.search(r'^Since: \d', doc, flags=re.MULTILINE):
        yield 'Since:'
    if returns and not re.search(r'^Returns:', doc, flags=re.MULTILINE):
        yield 'Returns:'
    if not re.search(r'\bthreads?\b', body):
        yield 'on which threads'


def check(docs, functions, types, callbacks):
    for name, kind in sorted(functions.items()):
        if GENERATED.search(name):
            continue
        file, doc = docs.get(name, ('', ''))
        if not doc:
            yield file, f'{name}: no documentation'
        else:
            yield from ((file, f'{name}: {what}') for what in missing(doc, kind != 'void'))
    for name in sorted(types):
        file, doc = docs.get(name, ('', ''))
        if '```c\n' not in doc:
            yield file, f'{name}: an example in C'
    for name in sorted(callbacks | {name for name in docs if '::' in name}):
        file, doc = docs.get(name, ('', ''))
        yield from ((file, f'{name}: {what}') for what in missing(doc, False))


def main(paths):
    docs, functions, types, callbacks = read(paths)
    found = list(check(docs, functions, types, callbacks))
    for file, what in found:
        print(f'missing: {what} ({file})')
    print(f'{len(functions)} functions, {len(types)} types, {len(callbacks)} callbacks')
    return 1 if found or not functions or not types or not callbacks else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
