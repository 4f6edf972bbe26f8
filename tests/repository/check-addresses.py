"""Checks that tests/tools/set-addresses changes the project's addresses in all files, and restores them.

    check-addresses.py SOURCE

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

OTHERS = 'https://git.example/prio-sched', 'https://git.example/prio-sched.git', 'prio-sched@git.example'
USED_BY = ('SECURITY.md', 'debian/control', 'debian/copyright', 'debian/upstream/metadata', 'debian/watch', 'introspection/gjs/package.json',
           'introspection/manual/getting-it.md', 'introspection/prio-sched.toml.in', 'prio-sched.doap', 'prio-sched.wrap', 'pyproject.toml', 'rust/Cargo.toml')
SCRIPT = 'tests/tools/set-addresses'


def texts(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob('*') if path.is_file()}


def main(source):
    source = pathlib.Path(source)
    with tempfile.TemporaryDirectory() as work:
        copy = pathlib.Path(work, 'copy')
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns('.git', 'build*', 'library', 'model', '*.png', '*.po', '__pycache__', pathlib.Path(__file__).name))
        before = texts(copy)
        control = (copy / 'debian/control').read_text()
        own = (re.search('^Homepage: (.*)$', control, re.MULTILINE)[1], re.search('^url = (.*)$', (copy / 'prio-sched.wrap').read_text(), re.MULTILINE)[1],
               re.search('^Maintainer: .*<(.*)>$', control, re.MULTILINE)[1])

        subprocess.run([copy / SCRIPT, *OTHERS], check=True, stdout=subprocess.DEVNULL)
        left = [str(path) for path, text in texts(copy).items() if str(path) != SCRIPT and any(address.encode() in text for address in own)]
        changed = [path for path, text in texts(copy).items() if text != before[path]]
        assert not left, f'the old addresses are left in {left}'
        # Files for users and packagers have an address; other files that name example.org have addresses of examples.
        missed = set(USED_BY) - {str(path) for path in changed}
        assert not missed, f'no address was changed in {sorted(missed)}'

        subprocess.run([copy / SCRIPT, *own], check=True, stdout=subprocess.DEVNULL)
        assert texts(copy) == before, 'the old addresses were not given back'
    print(f'{len(changed)} files have addresses')


if __name__ == '__main__':
    main(sys.argv[1])
