"""Builds the packages of debian/, has lintian look at them, and tries what is in them.

    check-packages.py SOURCE PYTHON GJS

They are built from a copy of the tree without what a build leaves, and unpacked into an empty folder; from there
programs in C, Vala, Python and GJS are built and run.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import fnmatch
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from installed import check_inspector, check_programs, environment_of, expect_works, move, run, write

# Neither tests, which are run elsewhere, nor symbols for debuggers; and no optimization,
# which would take as long as all the rest.
OPTIONS = 'nocheck noautodbgsym noopt terse'

DEX = '''
#include <prio-sched-dex.h>

int
main (void)
{
  g_print ("%s\\n", prio_dex_post != NULL ? "works" : "");
  return 0;
}
'''


def ignored(source):
    """What git ignores is not part of what is given on."""
    patterns = [line.strip('/') for line in (source / '.gitignore').read_text().splitlines()] + ['.git']
    return lambda folder, names: [name for name in names if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]


def build(source, place):
    """Returns the paths of the packages, by their names."""
    tree = place / 'prio-sched'
    shutil.copytree(source, tree, ignore=ignored(source), symlinks=True)
    # What the sanitizers or the test's own environment say is not meant for the build.
    environment = {name: value for name, value in os.environ.items()
                   if name in ('PATH', 'HOME', 'LANG', 'CCACHE_DIR', 'TMPDIR')} | {
                       'DEB_BUILD_OPTIONS': f'{OPTIONS} parallel={os.cpu_count()}'}
    result = subprocess.run(['dpkg-buildpackage', '-us', '-uc', '-b'], cwd=tree, env=environment,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, errors='replace')
    if result.returncode != 0:
        sys.exit(result.stdout[-6000:])
    return {path.name.partition('_')[0]: path for path in sorted(place.glob('*.deb'))}


def check_lintian(place):
    """It has no error and no warning to tell, but that nobody has asked Debian for the package."""
    changes, = place.glob('*.changes')
    result = subprocess.run(['lintian', '--allow-root', '--fail-on', 'error,warning',
                             '--suppress-tags', 'initial-upload-closes-no-bugs', changes],
                            capture_output=True, text=True)
    print(result.stdout, result.stderr, sep='')
    return result.returncode == 0


def wanted(source):
    """The names of the packages that debian/control describes."""
    return set(re.findall(r'^Package: (\S+)', (source / 'debian/control').read_text(), re.M))


def check(source, python, gjs, place):
    begun = time.monotonic()
    packages = build(source, place)
    print(f'built in {time.monotonic() - begun:.0f} s:', *packages)
    assert set(packages) == wanted(source), set(packages) ^ wanted(source)
    sound = check_lintian(place)

    root = place / 'root'
    for path in packages.values():
        run('dpkg-deb', '-x', path, root)
    prefix = str(root / 'usr')
    lib = move(prefix)
    environment = environment_of(prefix, lib)
    check_programs(prefix, lib, environment, python, gjs, str(place))
    check_inspector(lib, environment, python)

    flags = run('pkg-config', '--cflags', '--libs', 'prio-sched-dex-1', env=environment).split()
    program = str(place / 'program')
    run('cc', '-Wall', '-Wno-address', '-o', program, write(place, 'dex.c', DEX), *flags, env=environment)
    expect_works(program, env=environment)
    monitor = run(f'{prefix}/bin/prio-sched-monitor', '--version', env=environment)
    version = re.search(r'\((.*)-', (source / 'debian/changelog').read_text())[1]
    assert version in monitor, (version, monitor)
    print(run(sys.executable, source / 'tests/check-installed-tests.py', root).strip())
    assert glob.glob(f'{prefix}/share/doc/prio-sched-1/index.html')
    return 0 if sound else 1


def main(source, python, gjs):
    with tempfile.TemporaryDirectory() as folder:
        return check(pathlib.Path(source), python, gjs, pathlib.Path(folder).resolve())


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
