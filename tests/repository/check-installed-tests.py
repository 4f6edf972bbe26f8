"""Runs the installed tests from a folder, as gnome-desktop-testing-runner does from the system's.

    check-installed-tests.py FOLDER               installed there by dpkg-deb -x or meson install --destdir
    check-installed-tests.py --build BUILD        installed from that build

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import configparser
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile


def description(path):
    """Returns the fields of a file that describes a test."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str
    parser.read(path, encoding='utf-8')
    return parser['Test']


def run_all(root):
    """Runs each described test, and returns their number."""
    descriptions = sorted(root.glob('**/share/installed-tests/prio-sched-1/*.test'))
    library, = (path.parent for path in root.glob('**/libprio-sched-1.so.1'))
    for path in descriptions:
        test = description(path)
        assert (test['Type'], test['Output']) == ('session', 'TAP'), path
        program, *arguments = shlex.split(test['Exec'])
        result = subprocess.run([root / program.lstrip('/'), *arguments], capture_output=True, text=True, timeout=300,
                                cwd='/', env=os.environ | {'LD_LIBRARY_PATH': str(library)})
        said = result.stdout.splitlines()
        if result.returncode != 0 or not any(line.startswith('ok') for line in said) or \
                any(line.startswith('not ok') for line in said):
            sys.exit(f'{path.name}: status {result.returncode}\n{result.stdout[-3000:]}{result.stderr[-3000:]}')
    return len(descriptions)


def main(arguments):
    if arguments[0] != '--build':
        return run_all(pathlib.Path(arguments[0]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        subprocess.run(['meson', 'install', '-C', arguments[1], '--no-rebuild', '--quiet', '--destdir', root],
                       check=True, stdout=subprocess.DEVNULL)
        return run_all(root)


if __name__ == '__main__':
    count = main(sys.argv[1:])
    print(f'{count} installed tests have passed')
    sys.exit(0 if count > 0 else 1)
