"""check-search.py: checks the Python example in a real window, by typing into it while it reads files

    check-search.py PYTHON PROGRAM      (under xvfb-run)

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import os
import sys
import tempfile

import window


def main(python, program):
    with tempfile.TemporaryDirectory() as folder:
        for i in range(3000):
            with open(os.path.join(folder, f'{i}.txt'), 'w') as file:
                file.write(f'common word{i} ' + 'filler ' * 50 + ' '.join(f'w{i}x{j}' for j in range(100)))

        with window.Program([python, program, folder]) as search:
            search.wait_for_window('Search')
            search.wait_for_title('files read', r'[1-9]\d* files? read')
            search.type('word2')
            found = search.wait_for_title('an answer', r'^([1-9]\d*) files with “word2” · (\d+) files? read')
            print(f'{found[1]} files found when {found[2]} were read')
            search.type('zzz')
            search.wait_for_title('no file', '^0 files with “word2zzz”')
            search.close()


main(*sys.argv[1:])
