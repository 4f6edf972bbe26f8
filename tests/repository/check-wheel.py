"""Checks that pip installs the binding for Python, from the source distribution of the last commit, into an environment.

    check-wheel.py SOURCE BUILD PYTHON [MYPY]

The commands are in the manual's page "Getting it".  The environment has the system's PyGObject, and no variable is set.  README's program must print its output there, mypy must find the types, and
nothing may be left after pip has removed the package.  The typelib's own overrides are used, also when there are others.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from installed import programs, run

MAPS = "print(*sorted({line.split()[-1] for line in open('/proc/self/maps') if 'libprio-sched-1' in line}))"
FILES = f"""
{MAPS}
print(__import__('sys').modules['gi.overrides.PrioSched'].__file__)
"""
TYPED = """
import gi
gi.require_version('PrioSched', '1')
from gi.repository import Gtk, PrioSched
Gtk.Window()
number: int = PrioSched.Scheduler.get_default().count_pending()
text: str = PrioSched.Scheduler.get_default().count_pending()
"""
VARIABLES = ('GI_TYPELIB_PATH', 'LD_LIBRARY_PATH', 'PYTHONPATH')
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in (*VARIABLES, 'CFLAGS', 'LDFLAGS')}


def installed(environment):
    return {path for path in environment.glob('lib/**/*') if '__pycache__' not in path.parts}


def unpack_sdist(source, place, python):
    """Returns the folder of the source distribution; without a clone of the repository, the folder of the sources."""
    if not (source / '.git').exists():
        return source
    # Meson packs the last commit.  Git has its own copy, because meson-python writes a file beside pyproject.toml.
    tree = place / 'tree'
    run('git', 'clone', '--quiet', '--no-hardlinks', source, tree)
    name = run(python, '-c', f'import mesonpy; print(mesonpy.build_sdist("{place}"))', cwd=tree, env=ENVIRONMENT).split()[-1]
    run('tar', '-xf', place / name, '-C', place)
    return place / name.removesuffix('.tar.gz')


def check_others(place, program, inside, build, python):
    """Checks that the overrides of another folder are used with its typelib only."""
    others = place / 'others'
    (others / 'gi/overrides').mkdir(parents=True)
    (others / 'gi/overrides/PrioSched.py').write_text('raise RuntimeError("the wrong overrides")\n')
    environment = ENVIRONMENT | {'PYTHONPATH': str(others), 'PRIO_SCHED_DEBUG': '1'}
    done = subprocess.run([python, program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.count(str(inside)) == 2, done.stdout
    assert done.stderr.count('is used; others are in') == 1 and str(others) in done.stderr, done.stderr

    folders = {'PYTHONPATH': 'introspection/python', 'GI_TYPELIB_PATH': 'prio-sched'}
    environment = ENVIRONMENT | {name: f'{build}/{folder}' for name, folder in folders.items()}
    environment['PYTHONPATH'] += f':{pathlib.Path(__file__).parents[2]}/introspection/python'
    said = run(python, program, env=environment)
    assert str(build) in said and str(inside) not in said, said


def check_installed_files(place, built):
    """Checks that the native part finds the library beside it as Meson installs it, too: later versions of meson-python pack these files."""
    run('meson', 'install', '-C', built, '--no-rebuild', '--quiet', '--destdir', place / 'stage')
    native, = place.glob('stage/**/_native.*')
    loaded = run(sys.executable, '-c', f'import ctypes; ctypes.CDLL("{native}"); {MAPS}', env=ENVIRONMENT)
    assert loaded.split() == [str(native.with_name('libprio-sched-1.so.1'))], loaded


def check(source, build, python, mypy, place):
    environment = place / 'environment'
    own = str(environment / 'bin/python')
    page = (source / 'introspection/manual/getting-it.md').read_text()
    [commands] = [block for block in re.findall(r'^```sh\n(.*?)^```$', page, re.MULTILINE | re.DOTALL) if 'pip install' in block]
    tree, (make, install) = unpack_sdist(source, place, python), commands.splitlines()
    (place / 'python3').symlink_to(python)
    variables = ENVIRONMENT | {'HOME': str(place), 'PATH': f'{place}:{os.environ["PATH"]}', 'PIP_NO_INDEX': '1'}
    run('sh', '-c', make, env=variables)
    before = installed(environment)
    run('sh', '-c', install, cwd=tree, env=variables | {'PIP_CONFIG_SETTINGS': f'builddir={place}/built'})
    check_installed_files(place, place / 'built')

    [(program, expected)] = programs((source / 'README.md').read_text())['python']
    (place / 'program.py').write_text(program + FILES)
    printed = run(own, place / 'program.py', env=ENVIRONMENT)
    assert printed.startswith(expected) and printed.count(f'{environment}/') == 2, printed
    run(python, '-m', 'venv', '--without-pip', place / 'lonely')
    (place / 'lonely/lib').rename(place / 'lonely/no-lib')
    (place / 'lonely/lib').symlink_to(environment / 'lib')
    done = subprocess.run([place / 'lonely/bin/python', place / 'program.py'], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert 'PrioSched needs PyGObject' in done.stderr, done.stderr
    check_others(place, place / 'program.py', environment, build, own)
    run(own, '-m', 'pip', 'check', env=ENVIRONMENT)

    if mypy:
        (place / 'typed.py').write_text(TYPED)
        done = subprocess.run([mypy, '--python-executable', own, '--cache-dir', place / 'cache', place / 'typed.py'], capture_output=True, text=True, check=False)
        assert [line.split(':')[1] for line in done.stdout.splitlines() if 'error' in line and 'typed.py:' in line] == ['7'], done.stdout + done.stderr

    run(own, '-m', 'pip', 'uninstall', '--yes', 'prio-sched', env=ENVIRONMENT)
    left = installed(environment) - before
    assert not left, f'pip leaves {sorted(map(str, left))}'


def main(source, build, python, mypy=None):
    with tempfile.TemporaryDirectory() as place:
        check(pathlib.Path(source), build, python, mypy, pathlib.Path(place).resolve())


if __name__ == '__main__':
    main(*sys.argv[1:])
