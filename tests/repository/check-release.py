"""Checks that tests/tools/release makes the same files twice, with checksums and a module for Flatpak.

    check-release.py SOURCE VERSION

The parts that need no compilation are made, from a tag of the last commit in a clone.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import hashlib
import json
import pathlib
import sys
import tempfile

from installed import run


def main(source, version):
    if not pathlib.Path(source, '.git').exists():
        print('no clone of the repository')
        return
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        run('git', 'clone', '--quiet', '--no-tags', source, place / 'clone')
        run('git', '-C', place / 'clone', 'tag', version)
        for name in ('first', 'second'):
            run(place / 'clone/tests/tools/release', version, place / name, 'tarball', 'sdist', 'npm')
        first, second = ((place / name / 'SHA256SUMS').read_text() for name in ('first', 'second'))
        assert first == second, f'{first}and then\n{second}'
        tarball = f'prio-sched-{version}.tar.xz'
        names = {line.split()[1] for line in first.splitlines()}
        assert names == {'flatpak.json', f'girs-priosched-1-{version}.tgz', f'prio_sched-{version}.tar.gz', tarball}, names
        [archive] = json.loads((place / 'first/flatpak.json').read_text())['sources']
        assert archive['sha256'] == hashlib.sha256((place / 'first' / tarball).read_bytes()).hexdigest(), archive
        assert archive['url'].endswith(tarball), archive


main(*sys.argv[1:])
