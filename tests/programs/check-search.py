"""check-search.py: checks the Python example in a real window, by typing into it while it reads files

    check-search.py PYTHON PROGRAM      (under xvfb-run)

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import os
import subprocess
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
            search.wait_for_title('no file, and that said to the end of the reading', '^0 files with “word2zzz” · 3.?000 files read')
            search.close()


def check_odd(python, program):
    """Checks that special files are skipped, that a name need not be UTF-8, and that another window may search another folder."""
    with tempfile.TemporaryDirectory() as folder:
        odd, empty = os.path.join(folder, 'odd'), os.path.join(folder, 'empty')
        os.mkdir(odd)
        os.mkdir(empty)
        os.mkfifo(os.path.join(odd, 'pipe'))  # opening it waits for a writer
        for name in (b'latin-\xe9', b'plain'):
            with open(os.path.join(os.fsencode(odd), name), 'w') as file:
                file.write('a word')
        with window.Program([python, program, odd]) as search:
            search.wait_for_window('Search')
            search.wait_for_title('both files', '2 files read')
            search.type('word')
            search.wait_for_title('an answer', '^2 files with “word” · 2 files read')
            with window.Program([python, program, empty]) as other:
                # The program that is already running shows both windows, and the second process ends.
                search.wait_for('a second window', lambda: len(window.xdotool('search', '--onlyvisible', '--name', 'files read').split()) == 2)
                assert other.process.poll() is None, 'the first one has opened the window'
                other.process.terminate()
                other.process.wait()
            search.close()

        nothing = os.path.join(folder, 'nothing')
        result = subprocess.run([python, program, nothing], timeout=window.PATIENCE, capture_output=True, text=True, check=False,
                                env=os.environ | {'LC_ALL': 'C.UTF-8'})
        # Only the last line counts, because Mesa may have warned of a machine without a graphics card.
        assert result.returncode == 1 and result.stderr.splitlines()[-1:] == [f'“{nothing}” cannot be read: No such file or directory'], result
        window.check_ends([python, program, empty], 'Search')


main(*sys.argv[1:])
check_odd(*sys.argv[1:])
