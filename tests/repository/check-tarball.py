"""check-tarball.py: checks that the tarball of the last commit builds, installs, and works as README says

    check-tarball.py MESON SOURCE BUILD [INDEXER]

The library is compiled once, from the tarball that `meson dist` packs.  Uncommitted changes are not in it.

  - The tarball has each file of the commit.
  - Its tree is a subproject of a program, which finds it by its wrap.  Only the library is built, and its warnings do not
    fail the build, as the program's would.
  - The program is README's, and must print the output in README.
  - Installed into an empty prefix, the library is found by pkg-config, has the version of the tarball in its header too, and
    README's program is compiled against it without a warning.
  - README's first command, examples/run, sets up a folder in the tree, checks with Ninja that all targets are known, and
    runs the indexer.  INDEXER is BUILD's; without it, the command compiles its own.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

from installed import ignored, programs, run, run_c

# Warnings about the program's own unused arguments would fail the build.
PROJECT = '''
project('program', 'c')
executable('program', 'program.c', dependencies: dependency('prio-sched-1'), c_args: '-w')
'''

VERSION = '''
#include <prio-sched.h>
G_STATIC_ASSERT (PRIO_MAJOR_VERSION == {} && PRIO_MINOR_VERSION == {} && PRIO_MICRO_VERSION == {});
'''

# Replaces Ninja.  Its first call fails, because there is no folder yet; once the folder is set up, the program exists.
NINJA = '''#!/bin/sh
'{ninja}' -n "$@" || exit
if [ "$#" = 2 ] && [ "$1" = -C ]; then
  mkdir -p "$2/examples" && ln -sf '{indexer}' "$2/examples/indexer"
fi
'''

# The caller's flags must not affect these builds.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ('CFLAGS', 'LDFLAGS', 'LD_LIBRARY_PATH')}


def committed(source):
    """Returns the files of the last commit; none if this is not a clone of the repository."""
    listed = subprocess.run(['git', '-C', source, 'ls-tree', '-r', '--name-only', '-z', 'HEAD'], capture_output=True, text=True, check=False)
    return set(listed.stdout.split('\0')) - {''} if listed.returncode == 0 else set()


def unpack(meson, source, build, tree):
    """Unpacks the tree of the tarball there."""
    files = committed(source)
    if not files:
        print('no clone of the repository: the tree itself, and no tarball')
        shutil.copytree(source, tree, ignore=ignored(source), symlinks=True)
        return
    run(meson, 'dist', '-C', build, '--no-tests', '--allow-dirty', '--formats', 'gztar')
    [tarball] = pathlib.Path(build, 'meson-dist').glob('prio-sched-*.tar.gz')
    with tempfile.TemporaryDirectory(dir=tree.parent) as place, tarfile.open(tarball) as archive:
        archive.extractall(place)
        (pathlib.Path(place) / tarball.name.removesuffix('.tar.gz')).rename(tree)
    missing = files - {str(path.relative_to(tree)) for path in tree.glob('**/*') if path.is_file()}
    assert not missing, f'not in the tarball: {sorted(missing)}'
    print(f'{tarball.name} has {len(files)} files')


def expect(printed, expected):
    assert printed == expected, f'README says {expected!r}, the program {printed!r}'


def build_subproject(meson, tree, place, program):
    """Sets up a build, and returns its folder."""
    (place / 'meson.build').write_text(PROJECT)
    (place / 'program.c').write_text(program)
    # The wrap has its address; here the tree already exists.
    shutil.copy(tree / 'prio-sched.wrap', tree.parent)
    build = place / 'build'
    run(meson, 'setup', build, place, f'--prefix={place}/prefix', '--libdir=lib', '-Dbuildtype=plain', '-Dwerror=true', '--unity=on',
        '-Dprio-sched:warning_level=everything', '--wrap-mode=nodownload', '--force-fallback-for=prio-sched-1', env=ENVIRONMENT)
    targets = {target['name'] for target in json.loads(run(meson, 'introspect', '--targets', build))}
    expected = {'program', 'prio-sched-1', 'prio-sched-enumtypes.h', 'prio-sched-enumtypes.c'}
    others = {name for name in targets ^ expected if not name.startswith('prio-sched-1-')}
    assert not others, f'of a subproject, only the library is built, and not or also {sorted(others)}'
    run(meson, 'compile', '-C', build, env=ENVIRONMENT)
    return build


def check_installed(meson, tree, place, program, expected):
    run(meson, 'install', '-C', place / 'build', '--no-rebuild', env=ENVIRONMENT)
    environment = ENVIRONMENT | {'PKG_CONFIG_PATH': f'{place}/prefix/lib/pkgconfig', 'LD_LIBRARY_PATH': f'{place}/prefix/lib'}
    version = re.search(r"version: '(.*)'", (tree / 'meson.build').read_text())[1]
    installed = run('pkg-config', '--modversion', 'prio-sched-1', env=environment).strip()
    assert installed == version, f'{installed} is installed, not {version}'
    flags = run('pkg-config', '--cflags', '--libs', 'prio-sched-1', env=environment).split()
    (place / 'version.c').write_text(VERSION.format(*version.split('.')))
    run('cc', '-fsyntax-only', place / 'version.c', *flags, env=environment)
    expect(run_c(program, environment, place), expected)


def check_command(tree, place, indexer=None):
    environment = {name: value for name, value in ENVIRONMENT.items() if name != 'PRIO_SCHED_BUILD'}
    if indexer is not None:
        stand_in = place / 'bin' / 'ninja'
        stand_in.parent.mkdir()
        stand_in.write_text(NINJA.format(ninja=shutil.which('ninja'), indexer=pathlib.Path(indexer).resolve()))
        stand_in.chmod(0o755)
        environment['PATH'] = f'{stand_in.parent}:{environment["PATH"]}'
    printed = run(tree / 'examples/run', '--interval', '5', tree / 'prio-sched', env=environment, stdin=subprocess.DEVNULL)
    assert 'user-blocking' in printed, printed


def main(meson, source, build, *indexer):
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder).resolve()
        tree = place / 'subprojects' / 'prio-sched'
        tree.parent.mkdir()
        unpack(meson, pathlib.Path(source), build, tree)
        [(program, expected)] = programs((tree / 'README.md').read_text())['c']
        made = build_subproject(meson, tree, place, program)
        expect(run(made / 'program', env=ENVIRONMENT), expected)
        check_installed(meson, tree, place, program, expected)
        check_command(tree, place, *indexer)


main(*sys.argv[1:])
