"""Checks the messages of `meson setup` about bindings that it cannot build.

    check-parts.py MESON SOURCE

It configures the project while pkg-config does not find PyGObject and libgjs.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import os
import pathlib
import subprocess
import sys
import tempfile

HIDDEN = ('pygobject-3.0.pc', 'gjs-1.0.pc')
# Parts that need no hidden package, and only take time.
OPTIONS = ['-Dgtk=disabled', '-Dvapi=disabled', '-Dtests=disabled', '-Dexamples=disabled', '-Drust=disabled', '-Ddex=disabled']


def hide(folder):
    """Fills folder with links to all packages of pkg-config, except the hidden ones."""
    folder.mkdir()
    paths = subprocess.run(['pkg-config', '--variable=pc_path', 'pkg-config'], capture_output=True, text=True, check=True).stdout
    for path in [*os.environ.get('PKG_CONFIG_PATH', '').split(':'), *paths.strip().split(':')]:
        for file in sorted(pathlib.Path(path).glob('*.pc')) if path else ():
            if file.name not in HIDDEN and not (folder / file.name).exists():
                (folder / file.name).symlink_to(file)


def set_up(meson, source, place, *options):
    """Returns the status and the output of `meson setup`."""
    environment = dict(os.environ, PKG_CONFIG_LIBDIR=str(place / 'packages'), PKG_CONFIG_PATH='')
    with tempfile.TemporaryDirectory(dir=place) as build:
        done = subprocess.run([meson, 'setup', build, source, *OPTIONS, *options], env=environment, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def main():
    meson, source = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        hide(place / 'packages')

        status, said = set_up(meson, source, place)
        assert status == 0, said
        for sentence in ('Python will have no PrioSched: its binding needs PyGObject',
                         'In GJS, tasks will take two to four times as long: the native part of the binding needs'):
            assert sentence in said, f'{sentence!r} is missing:\n{said}'

        status, said = set_up(meson, source, place, '-Dpygobject=disabled', '-Dgjs_native=disabled')
        assert status == 0 and 'will have no PrioSched' not in said and 'will take' not in said, said

        for option, part in (('pygobject', 'pygobject-3.0'), ('gjs_native', 'gjs-1.0')):
            status, said = set_up(meson, source, place, f'-D{option}=enabled')
            assert status != 0 and part in said, f'-D{option}=enabled: {said}'


if __name__ == '__main__':
    main()
