"""check-search.py: checks the Python example in a real window, by typing into it while it reads files

    check-search.py PYTHON PROGRAM      (under xvfb-run)

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import functools
import os
import re
import subprocess
import sys
import tempfile

import patience

PATIENCE = 60  # seconds
wait_for = functools.partial(patience.wait_for, seconds=PATIENCE)


def xdotool(*args):
    return subprocess.run(['xdotool', *args], capture_output=True, text=True).stdout.strip()


def main(python, program):
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile('w+') as errors:
        for i in range(3000):
            with open(os.path.join(folder, f'{i}.txt'), 'w') as file:
                file.write(f'common word{i} ' + 'filler ' * 50 + ' '.join(f'w{i}x{j}' for j in range(100)))

        process = subprocess.Popen([python, program, folder], stderr=errors)
        try:
            window = wait_for('a window', lambda: xdotool('search', '--onlyvisible', '--name', 'Search').split('\n')[0])
            title = lambda: xdotool('getwindowname', window)
            wait_for('files read', lambda: re.search(r'[1-9]\d* read', title()))
            xdotool('windowfocus', window)
            xdotool('type', '--delay', '20', 'word2')
            found = wait_for('an answer', lambda: re.match(r'([1-9]\d*) files with “word2” · (\d+) read', title()))
            print(f'{found[1]} files found when {found[2]} were read')
            xdotool('type', 'zzz')
            wait_for('no file', lambda: title().startswith('0 files with “word2zzz”'))

            xdotool('windowclose', window)
            process.wait(PATIENCE)
        finally:
            process.kill()
        errors.seek(0)
        complaints = [line for line in errors if re.search('Traceback|CRITICAL|WARNING.*PrioSched|never retrieved', line)]
        if complaints:
            raise SystemExit(''.join(complaints))


main(*sys.argv[1:])
