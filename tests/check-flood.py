"""Checks that the flood example opens and draws its window, under each flood.

    check-flood.py SCREENSHOT-SCRIPT BUILD-FOLDER

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import pathlib
import subprocess
import sys
import tempfile


def main(script, build):
    with tempfile.TemporaryDirectory() as folder:
        for flood in ('background', 'user-visible', 'user-blocking'):
            picture = pathlib.Path(folder) / f'{flood}.png'
            subprocess.run([script, build, picture, flood], check=True, timeout=60)
            colours = subprocess.run(['identify', '-format', '%k', picture], check=True, text=True,
                                     stdout=subprocess.PIPE).stdout
            assert int(colours) > 50, f'{flood}: {colours} colours are no window'

    bad = subprocess.run([f'{build}/examples/flood', '--flood', 'bad'], check=False, text=True, stderr=subprocess.PIPE)
    assert bad.returncode == 1 and 'bad' in bad.stderr, bad


if __name__ == '__main__':
    main(*sys.argv[1:])
