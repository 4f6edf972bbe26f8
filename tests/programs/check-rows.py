"""Checks that the example of 200,000 rows loads rows in view first, in a window and without.

    check-rows.py ROWS [XVFB-RUN]

With XVFB-RUN there is a window.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

PRINTED = re.compile(r'(\d+) rows came into view, each after [\d.]+ ms on average, [\d.]+ ms at worst; (\d+) of (\d+) are left\n')


def run(*command):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False,
                          env=os.environ | {'LC_ALL': 'C.UTF-8', 'G_DEBUG': 'fatal-criticals'})


def check_jumps(*command, n_rows):
    """Checks that few rows have been loaded when the rows in view are complete."""
    result = run(*command, '--rows', str(n_rows), '--jumps', '3')
    assert result.returncode == 0, result
    shown, left, every = map(int, PRINTED.fullmatch(result.stdout).groups())
    assert shown >= 20 and left > every / 2 and every == n_rows, result.stdout


def check_errors(rows, folder):
    for arguments, said in ((['--rows', '0', folder], '0, 8, 0'), (['--limit', '-1', folder], '200000, -1, 0'),
                            ([folder / 'empty'], 'there is no file'), ([folder / 'nothing'], 'nothing'),
                            ([folder, folder], 'and 2')):
        result = run(rows, '--headless', *arguments)
        assert result.returncode == 1 and said in result.stderr, result


def main(rows, *xvfb_run):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for i in range(50):
            (folder / f'{i}.txt').write_text(f'file {i}\nand more\n' * 50)
        (folder / 'empty').mkdir()
        (folder / 'binary').write_bytes(b'\xff\0\xfe')

        if xvfb_run:
            check_jumps(*xvfb_run, '-a', '-s', '-screen 0 800x600x24 -noreset', rows, folder, n_rows=200000)
        else:
            check_jumps(rows, '--headless', folder, n_rows=50000)
            check_errors(rows, folder)


if __name__ == '__main__':
    main(*sys.argv[1:])
