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


def hide(folder, hidden=HIDDEN):
    """Fills folder with links to all packages of pkg-config, except the hidden ones."""
    folder.mkdir()
    paths = subprocess.run(['pkg-config', '--variable=pc_path', 'pkg-config'], capture_output=True, text=True, check=True).stdout
    for path in [*os.environ.get('PKG_CONFIG_PATH', '').split(':'), *paths.strip().split(':')]:
        for file in sorted(pathlib.Path(path).glob('*.pc')) if path else ():
            if file.name not in hidden and not (folder / file.name).exists():
                (folder / file.name).symlink_to(file)


def set_up(meson, source, place, *options, packages='packages', **variables):
    """Returns the status and the output of `meson setup`."""
    environment = dict(os.environ, PKG_CONFIG_LIBDIR=str(place / packages), PKG_CONFIG_PATH='', **variables)
    with tempfile.TemporaryDirectory(dir=place) as build:
        done = subprocess.run([meson, 'setup', build, source, *OPTIONS, *options], env=environment, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def check_needs(meson, source, place):
    """Checks that a sentence names the packages to install without a compiler, g-ir-scanner or GLib's headers, and with an old GLib."""
    hide(place / 'no-scanner', ['gobject-introspection-1.0.pc'])
    for name in ('no-glib', 'old-glib'):
        hide(place / name, ['gio-2.0.pc'])
    (place / 'old-glib/gio-2.0.pc').write_text('Name: GIO\nDescription: old\nVersion: 2.72.0\nLibs:\n')
    glib = 'prio-sched needs GLib 2.74 or newer with its headers'
    for packages, variables, sentence in (('packages', {'CC': 'no-compiler'}, 'prio-sched needs a C compiler'), ('no-glib', {}, glib), ('old-glib', {}, glib),
                                          ('no-scanner', {}, 'Introspection needs g-ir-scanner')):
        status, said = set_up(meson, source, place, '-Dintrospection=enabled', packages=packages, **variables)
        assert status != 0 and sentence in said and 'on Debian: apt install' in said, f'{packages}, {variables}: {said}'


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
        check_needs(meson, source, place)


if __name__ == '__main__':
    main()
