"""check-tarball.py: checks that the tarball of the last commit builds, installs, and works as README says

    check-tarball.py MESON SOURCE BUILD [INDEXER]

The library is compiled once, from the tarball that `meson dist` packs.  Uncommitted changes are not in it.

  - The tarball has each file of the commit.
  - Its tree is a subproject of a program, which finds it by its wrap.  Only the library is built, and its warnings do not
    fail the build, as the program's would.
  - getting-it.md has the projects in C and Vala.  The programs are the first of start-c.md and of start-vala.md, and must print the
    output in these pages.  The header has the version of the tarball.
  - Into an empty prefix, the program is installed with the library and nothing else.  With the option default_library=static, it is
    installed alone, and works.
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

from installed import ignored, programs, run

# Added to the project in C.
CHECKED = "static_library('version', 'version.c', dependencies: dependency('prio-sched-1'))\n"
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

# A project in the page about getting it.
BLOCK = re.compile(r"^```meson\n(project\(.*?)^```$", re.MULTILINE | re.DOTALL)
# The caller's flags must not affect these builds.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ('CFLAGS', 'LDFLAGS', 'LD_LIBRARY_PATH')}


def committed(source):
    """Returns the files of the last commit; none if this is not a clone of the repository."""
    listed = subprocess.run(['git', '-C', source, 'ls-tree', '-r', '--name-only', '-z', 'HEAD'], capture_output=True, text=True, check=False)
    return set(listed.stdout.split('\0')) - {''} if listed.returncode == 0 else set()


def unpack(meson, source, build, tree):
    """Packs the tarball, and unpacks its tree into tree."""
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


def build_subproject(meson, place, language, kind):
    """Sets up and compiles a build with that kind of library, and returns the files that it installs."""
    build, prefix = place / f'build-{language}-{kind}', place / f'prefix-{language}-{kind}'
    run(meson, 'setup', build, place, f'--prefix={prefix}', '--libdir=lib', f'-Ddefault_library={kind}', '-Dbuildtype=plain', '--unity=on',
        f'-Dwerror={"true" if language == "c" else "false"}', '-Dprio-sched:warning_level=everything', '--wrap-mode=nodownload',
        '--force-fallback-for=prio-sched-1', env=ENVIRONMENT)
    targets = {target['name'] for target in json.loads(run(meson, 'introspect', '--targets', build))}
    expected = {'program', 'prio-sched-1', 'prio-sched-enumtypes.h', 'prio-sched-enumtypes.c'}
    expected |= {'version'} if language == 'c' else {'PrioSched-1.gir', 'PrioSched-1.typelib', 'prio-sched-1.vapi'}
    others = {name for name in targets ^ expected if not re.match('prio-sched-1-', name)}
    assert not others, f'of a subproject, only the library is built, and not or also {sorted(others)}'
    run(meson, 'compile', '-C', build, env=ENVIRONMENT)
    run(meson, 'install', '-C', build, '--no-rebuild', env=ENVIRONMENT)
    return {str(path.relative_to(prefix)) for path in prefix.glob('**/*') if not path.is_dir()}


def check_subproject(meson, tree, place):
    manual = tree / 'introspection/manual'
    projects = {re.search(r"'program', '(\w+)'", text)[1]: text for text in BLOCK.findall((manual / 'getting-it.md').read_text())}
    version = re.search(r"version: '(.*)'", (tree / 'meson.build').read_text())[1]
    (place / 'version.c').write_text(VERSION.format(*version.split('.')))
    # The wrap has the address of the repository; here the tree already exists.
    shutil.copy(tree / 'prio-sched.wrap', tree.parent)
    library = {f'lib/libprio-sched-1.so{end}' for end in ('', '.1', f'.{version}')}
    for language, kind in (('c', 'shared'), ('c', 'static'), ('vala', 'shared')):
        if language == 'vala' and not (shutil.which('valac') and shutil.which('vapigen')):
            continue
        program, expected = programs((manual / f'start-{language}.md').read_text())[language][0]
        (place / f'program.{language}').write_text(program)
        (place / 'meson.build').write_text(projects[language] + (CHECKED if language == 'c' else ''))
        installed = build_subproject(meson, place, language, kind)
        assert installed == {'bin/program', *(library if kind == 'shared' else ())}, f'in {language}, with a {kind} library, these are installed: {sorted(installed)}'
        prefix = place / f'prefix-{language}-{kind}'
        printed = run(prefix / 'bin/program', env=ENVIRONMENT | {'LD_LIBRARY_PATH': f'{prefix}/lib'})
        assert printed == expected, f'start-{language}.md says {expected!r}, the program {printed!r}'


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
        check_subproject(meson, tree, place)
        check_command(tree, place, *indexer)


main(*sys.argv[1:])
