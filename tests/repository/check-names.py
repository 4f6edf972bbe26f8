"""Checks that each file of the overrides for GJS is a function whose parameters are the global names that the file uses.

    check-names.py SOURCE

GJS's importer looks up the names of a file, and global names such as `undefined`, at each use, in up to 0.3 µs.  The names of a
function cost nothing (introspection/README.md).  SOURCE is the project's folder.  Prints the beginning that a file should have.
Fails also if it misses a planted error.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import pathlib
import re
import sys

# The names of the language, and `imports`.  Programs may replace the functions of GJS, such as logError ().
GLOBALS = ('undefined', 'Infinity', 'Object', 'Function', 'Promise', 'Symbol', 'Map', 'Set', 'WeakMap', 'Array', 'String', 'Number', 'Boolean', 'Math', 'Date',
           'RegExp', 'JSON', 'Proxy', 'Reflect', 'Error', 'TypeError', 'RangeError', 'TextDecoder', 'imports')
WIDTH = 150
FUNCTION = re.compile(r'^var \{([\w,\s]+)\} = \(\(([\w,\s]*)\) => \{$', re.MULTILINE)


def globals_in(text):
    """Returns the global names that the text uses, in the order of GLOBALS."""
    code = re.sub(r'^\s*//.*$|\s//\s.*$|\'(?:\\.|[^\'\\\n])*\'', '', text, flags=re.MULTILINE)
    return [name for name in GLOBALS if re.search(rf'(?<![\w.#$]){name}\b(?!\s*:(?!:))', code)]


def first_line(exports, used):
    names, end = ', '.join(exports), f"}} = (({', '.join(used)}) => {{"
    return f'var {{{names}{end}' if len(names) + len(end) < WIDTH else f'var {{\n    {names},\n{end}'


def check(text):
    """Returns an error, or None."""
    found = FUNCTION.search(text)
    if found is None:
        return 'is not a function: var {…} = ((…) => {'
    exports, parameters = ([name for name in re.split(r'[,\s]+', group) if name] for group in found.groups())
    used = globals_in(text[found.end():text.rindex('\n})(')])
    if parameters != used:
        return f'should begin: {first_line(exports, used)}'
    return None if text.endswith(f"\n}})({', '.join(used)});\n") else f"should end: }})({', '.join(used)});"


def self_test():
    good = 'var {f} = ((undefined, Map) => {\nfunction f(x) {\n    return x === undefined ? new Map() : x; // Set\n}\n\nreturn {f};\n})(undefined, Map);\n'
    assert check(good) is None, check(good)
    assert check(good.replace('new Map', 'new Set')) is not None
    assert check(good.replace('})(undefined, Map)', '})(Map, undefined)')) is not None
    assert check('var f = () => undefined;\n') is not None


def main():
    self_test()
    overrides = pathlib.Path(sys.argv[1], 'introspection/gjs/overrides')
    paths = [overrides / 'PrioSched.js', *sorted((overrides / '_priosched').glob('*/*.js'))]
    errors = {path: error for path in paths if (error := check(path.read_text(encoding='utf-8')))}
    for path, error in errors.items():
        print(f'{path}: {error}')
    print(f'{len(paths)} files, {len(errors)} with an error')
    return 1 if errors or len(paths) < 20 else 0


if __name__ == '__main__':
    sys.exit(main())
