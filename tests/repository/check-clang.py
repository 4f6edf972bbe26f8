"""Checks that clang has no warnings about the sources that another compiler has built.

    check-clang.py CLANG SOURCE-FOLDER BUILD-FOLDER

It reads each source of SOURCE-FOLDER once, with its compiler arguments, and generates no code.  Most of the time would go to
GLib's and GTK's headers: sources with the same arguments share precompiled headers.  A source with errors is read again without
them, because it may define a macro that a header tests.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

# These options make warnings errors, and make clang ignore options that only gcc knows.
OWN = ['-Werror', '-Wno-unknown-warning-option', '-Wno-unused-command-line-argument', '-fno-color-diagnostics']


# Number of sources from which on headers are precompiled.
WORTHWHILE = 3


def commands(sources, build):
    """Returns the arguments with which each source is first compiled."""
    seen = {}
    for entry in json.loads((build / 'compile_commands.json').read_text()):
        path = (pathlib.Path(entry['directory']) / entry['file']).resolve()
        if path.suffix != '.c' or sources not in path.parents or build in path.parents or path in seen:
            continue
        words = shlex.split(entry['command'])
        start = next(i for i, word in enumerate(words) if word.startswith('-'))
        arguments = words[start:]
        for option in ('-o', '-MF', '-MQ'):
            if option in arguments:
                i = arguments.index(option)
                del arguments[i:i + 2]
        seen[path] = [word for word in arguments if word not in ('-MD', '-c', entry['file']) and 'sanitize' not in word]
    return seen


def alike(found):
    """Groups the sources by their arguments, without the target's own folder."""
    groups = collections.defaultdict(list)
    for path, arguments in found.items():
        groups[tuple(word for word in arguments if not (word.startswith('-I') and word.endswith('.p')))].append(path)
    return groups


class Clang:
    def __init__(self, program, build, place):
        self.program, self.build, self.place = program, build, place

    def run(self, *arguments):
        """Runs clang.  Returns its output, and whether there are warnings."""
        done = subprocess.run([self.program, *arguments, *OWN], cwd=self.build, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        return done.stdout, done.returncode != 0

    def read_headers(self, number, arguments):
        """Precompiles the headers, and returns the options that use them."""
        header = self.place / f'{number}.h'
        header.write_text('#include <gtk/gtk.h>\n' if any('gtk-4.0' in word for word in arguments) else '#include <gio/gio.h>\n')
        said, wrong = self.run(*arguments, '-x', 'c-header', header, '-o', header.with_suffix('.pch'))
        assert not wrong, said
        return ['-include-pch', header.with_suffix('.pch')]

    def read(self, path, arguments, headers):
        said, wrong = self.run('-fsyntax-only', *headers, *arguments, path)
        return self.run('-fsyntax-only', *arguments, path) if wrong and headers else (said, wrong)


def main(program, sources, build):
    sources, build = pathlib.Path(sources).resolve(), pathlib.Path(build).resolve()
    found = commands(sources, build)
    with tempfile.TemporaryDirectory() as place, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        clang = Clang(program, build, pathlib.Path(place))
        headers = {}
        for number, (arguments, paths) in enumerate(alike(found).items()):
            if len(paths) >= WORTHWHILE:
                headers |= dict.fromkeys(paths, pool.submit(clang.read_headers, number, arguments))
        results = list(pool.map(lambda path: clang.read(path, found[path], headers[path].result() if path in headers else []), found))
    for said, wrong in results:
        if wrong:
            print(said)
    n_wrong = sum(wrong for _, wrong in results)
    print(f'clang has read {len(results)} sources: {n_wrong} are wrong')
    assert len(results) > 50, 'where are the others?'
    return n_wrong > 0


sys.exit(main(*sys.argv[1:]))
