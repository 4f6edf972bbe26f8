"""Checks that the version is the same everywhere: in the project, NEWS, debian/, the wrap, pkg-config and the
libraries' names.

    check-versions.py SOURCE BUILD VERSION LIBRARY…

VERSION is the project's.  A library of version 1.2.3 is the file lib….so.1.2.3, and its name for programs ends in
.so.1, as its packages' name does.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import pathlib
import re
import subprocess
import sys


def first(path, pattern):
    """Returns the version in a file: the first group of the pattern."""
    found = re.search(pattern, path.read_text(encoding='utf-8'), re.MULTILINE)
    return found[1] if found else 'none'


def said_by_files(source, build):
    yield 'NEWS', first(source / 'NEWS', r'\A\S+ (\S+)')
    yield 'debian/changelog', first(source / 'debian/changelog', r'\A\S+ \((.*)-')
    yield 'prio-sched.wrap', first(source / 'prio-sched.wrap', r'^revision = (\S+)')
    yield 'package.json', first(source / 'introspection/gjs/package.json', r'"version": "(.*)"')
    yield 'Cargo.toml', first(source / 'rust/Cargo.toml', r'^version = "(.*)"')
    for path in sorted((build / 'meson-private').glob('prio-sched*.pc')):
        yield path.name, first(path, r'^Version: (\S+)')


def said_by_library(path):
    """Returns the version in the library's file name, and the major version in the name that programs load."""
    dynamic = subprocess.run(['readelf', '--dynamic', '--wide', path], capture_output=True, text=True,
                             check=True).stdout
    yield path.name, path.resolve().name.partition('.so.')[2]
    yield f'the soname of {path.name}', re.search(r'soname: \[.*\.so\.(.*)\]', dynamic)[1]


def main(source, build, version, *libraries):
    major = version.partition('.')[0]
    said = dict(said_by_files(pathlib.Path(source), pathlib.Path(build)))
    assert len(said) >= 4, said
    for library in libraries:
        said |= said_by_library(pathlib.Path(library))
    wrong = {what: other for what, other in said.items()
             if other != (major if what.startswith('the soname') else version)}
    for what, other in wrong.items():
        print(f'The version is {version}, but {other} in {what}')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
