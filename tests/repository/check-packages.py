"""Builds the packages of debian/, checks them with lintian, and tests their contents.

    check-packages.py SOURCE PYTHON GJS

They are built from a copy of the tree without build products, and unpacked into an empty folder; from there
the first programs of README and of the start pages are built and run.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from installed import check_inspector, check_programs, environment_of, expect_works, ignored, move, run, write

# Without tests, which run elsewhere, without debug symbols, and without optimization, which would take as long as
# everything else.
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


def build(source, place):
    """Builds the packages, and returns their paths by name."""
    tree = place / 'prio-sched'
    shutil.copytree(source, tree, ignore=ignored(source), symlinks=True)
    # Variables of the sanitizers and of the test's own environment must not affect the build.
    environment = {name: value for name, value in os.environ.items()
                   if name in ('PATH', 'HOME', 'LANG', 'CCACHE_DIR', 'TMPDIR')} | {
                       'DEB_BUILD_OPTIONS': f'{OPTIONS} parallel={os.cpu_count()}'}
    result = subprocess.run(['dpkg-buildpackage', '-us', '-uc', '-b'], cwd=tree, env=environment,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, errors='replace')
    if result.returncode != 0:
        sys.exit(result.stdout[-6000:])
    warnings = re.findall(r'^dh_\w+: warning: .*', result.stdout, re.M)
    assert not warnings, warnings
    return {path.name.partition('_')[0]: path for path in sorted(place.glob('*.deb'))}


def check_lintian(place):
    """Checks that lintian finds no errors or warnings, except that no bug asks for the package."""
    changes, = place.glob('*.changes')
    result = subprocess.run(['lintian', '--allow-root', '--fail-on', 'error,warning',
                             '--suppress-tags', 'initial-upload-closes-no-bugs', changes],
                            capture_output=True, text=True)
    print(result.stdout, result.stderr, sep='')
    return result.returncode == 0


def wanted(source):
    """Returns the names of the packages that debian/control describes."""
    return set(re.findall(r'^Package: (\S+)', (source / 'debian/control').read_text(), re.M))


def owner(path):
    """Returns the package of this system that owns a file."""
    return run('dpkg-query', '--search', path).partition(':')[0]


def names(depends):
    """Returns the names of the packages in a field such as Depends."""
    return set(re.findall(r'(?:^|, )([^ ,:]+)', depends))


def dependencies(package):
    """Returns the names of the direct and indirect dependencies of a package."""
    lines = run('dpkg-query', '--show', '-f', '${Package}|${Depends}\\n').splitlines()
    installed = dict(line.split('|', 1) for line in lines)
    direct = names(run('dpkg-deb', '-f', package, 'Depends'))
    return direct.union(*(names(installed.get(name, '')) for name in direct))


def check_dependencies(packages):
    """Checks that the packages depend on everything that they need, including programs that no linker finds."""
    engine = re.search(r'NEEDED +(libmozjs\S+)', run('objdump', '-p', glob.glob('/usr/lib/*/libgjs.so.0')[0]))[1]
    said = run('dpkg-deb', '-f', packages['gjs-prio-sched'], 'Depends')
    assert owner(f'*/{engine}') in names(said), (engine, said)
    for name in ('prio-sched', 'prio-sched-react', 'prio-sched-dex', 'prio-sched-gtk'):
        package = packages[f'lib{name}-dev']
        described = run('sh', '-c', 'dpkg-deb --fsys-tarfile "$1" | tar -xO --wildcards "*.pc"', 'sh', package)
        for module in set(re.findall(r'(?:^Requires\S*: |, )([\w.-]+)', described, re.M)) - {'prio-sched-1'}:
            folder = run('pkg-config', '--variable=pcfiledir', module).strip()
            wanted = owner(f'{folder}/{module}.pc')
            assert wanted in dependencies(package) | dependencies(packages['libprio-sched-dev']), (name, module, wanted)


def check_manual(shared):
    """Checks that the search finds its index uncompressed, because browsers do not decompress it, and that the manual
    is in its usual place.
    """
    assert (shared / 'doc/prio-sched-1/index.json').is_file()
    assert (shared / 'doc/libprio-sched-doc/html/index.html').is_file()
    # Debhelper installs these files with the documentation of their main package.
    for name in ('README.md', 'NEWS.gz', 'examples/search.py', 'examples/indexer.c'):
        assert (shared / 'doc/libprio-sched-dev' / name).is_file(), name


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
    check_programs(source, prefix, environment, python, gjs, str(place))
    check_inspector(lib, environment, python)

    flags = run('pkg-config', '--cflags', '--libs', 'prio-sched-dex-1', env=environment).split()
    program = str(place / 'program')
    run('cc', '-Wall', '-Wno-address', '-o', program, write(place, 'dex.c', DEX), *flags, env=environment)
    expect_works(program, env=environment)
    monitor = run(f'{prefix}/bin/prio-sched-monitor', '--version', env=environment)
    version = re.search(r'\((.*)-', (source / 'debian/changelog').read_text())[1]
    assert version in monitor, (version, monitor)
    print(run(sys.executable, source / 'tests/repository/check-installed-tests.py', root).strip())
    check_dependencies(packages)
    check_manual(root / 'usr/share')
    return 0 if sound else 1


def main(source, python, gjs):
    with tempfile.TemporaryDirectory() as folder:
        return check(pathlib.Path(source), python, gjs, pathlib.Path(folder).resolve())


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
