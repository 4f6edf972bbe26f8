"""Checks that clang has nothing to warn of in what another compiler has built.

    check-clang.py CLANG SOURCE-FOLDER BUILD-FOLDER

It reads each source of SOURCE-FOLDER once, with the arguments that it was compiled with, and makes no code.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

# Those of gcc's options that clang does not know are no fault of the source's.
OWN = ['-fsyntax-only', '-Werror', '-Wno-unknown-warning-option', '-Wno-unused-command-line-argument', '-fno-color-diagnostics']


def commands(sources, build):
    """The arguments of each source, of the first time that it is compiled."""
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
        seen[path] = [word for word in arguments if word not in ('-MD', '-c') and 'sanitize' not in word]
    return seen


def main(clang, sources, build):
    sources, build = pathlib.Path(sources).resolve(), pathlib.Path(build).resolve()

    def check(arguments):
        return subprocess.run([clang, *arguments, *OWN], cwd=build, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(check, commands(sources, build).values()))
    for result in results:
        if result.returncode != 0:
            print(result.stdout)
    wrong = sum(result.returncode != 0 for result in results)
    print(f'clang has read {len(results)} sources: {wrong} are wrong')
    assert len(results) > 50, 'where are the others?'
    return wrong > 0


sys.exit(main(*sys.argv[1:]))
