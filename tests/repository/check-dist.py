"""check-dist.py: checks that the tarball of the last commit has all that the library is built from

    check-dist.py MESON SOURCE BUILD

Has `meson dist` make it, builds the library from it, and runs a program with that.  What is not committed is not in it.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

from installed import C, expect_works, run

# The rest is built by other tests, from the same files.
FEATURES = ('introspection', 'vapi', 'speedups', 'gjs_native', 'dex', 'sysprof', 'tests', 'examples', 'gtk')


def main(meson, source, build):
    listed = subprocess.run(['git', '-C', source, 'ls-tree', '-r', '--name-only', '-z', 'HEAD'], capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        print('this is no clone of the repository')
        sys.exit(77)

    run(meson, 'dist', '-C', build, '--no-tests', '--allow-dirty', '--formats', 'gztar')
    [tarball] = pathlib.Path(build, 'meson-dist').glob('prio-sched-*.tar.gz')
    version = tarball.name.removeprefix('prio-sched-').removesuffix('.tar.gz')
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        with tarfile.open(tarball) as archive:
            inside = {name.split('/', 1)[1] for name in archive.getnames() if '/' in name and archive.getmember(name).isfile()}
            archive.extractall(place)
        missing = set(listed.stdout.split('\0')) - {''} - inside
        assert not missing, f'not in the tarball: {sorted(missing)}'

        environment = {name: value for name, value in os.environ.items() if name not in ('CFLAGS', 'LDFLAGS')}
        made = place / 'build'
        run(meson, 'setup', made, place / f'prio-sched-{version}', '-Doptimization=0', '-Ddebug=false',
            *(f'-D{feature}=disabled' for feature in FEATURES), env=environment)
        run(meson, 'compile', '-C', made, 'prio-sched-1')

        (place / 'program.c').write_text(C)
        environment['PKG_CONFIG_PATH'] = str(made / 'meson-uninstalled')
        flags = run('pkg-config', '--cflags', '--libs', 'prio-sched-1', env=environment).split()
        major, minor, micro = version.split('.')
        run('cc', f'-DPRIO_EXPECTED=(PRIO_MAJOR_VERSION == {major} && PRIO_MINOR_VERSION == {minor} && PRIO_MICRO_VERSION == {micro})',
            '-o', place / 'program', place / 'program.c', *flags, env=environment)
        expect_works(place / 'program', env=environment | {'LD_LIBRARY_PATH': str(made / 'prio-sched')})
        print(f'{len(inside)} files of {version}')


main(*sys.argv[1:])
