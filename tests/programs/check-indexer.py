"""Checks that the indexer example finds words, reports unreadable files, and takes commands.

    check-indexer.py INDEXER

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import gzip
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading


def make_folder(root):
    for name, text in (('a/one.txt', 'apple Pear'), ('b/two.txt', 'pear ' * 5000), ('b/c/three', 'größe plum')):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with gzip.open(root / 'a/four.gz', 'wt') as file:
        file.write('pear zipped')
    (root / 'broken.gz').write_bytes(b'\x1f\x8b no gzip')
    (root / 'binary').write_bytes(b'\0\1\2')
    (root / 'circle').symlink_to(root)


def run(indexer, *arguments, text=''):
    return subprocess.run([indexer, *arguments], input=text, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=120, env=os.environ | {'LC_ALL': 'C.UTF-8'}, check=False)


def check_index(indexer, root, *options):
    result = run(indexer, '--query', 'pear', '--interval', '1', *options, str(root))
    assert result.returncode == 0, result.stderr
    assert '4 files, ' in result.stdout and ' 5 words' in result.stdout, result.stdout
    assert '1 not text, 1 unreadable, 0 aborted' in result.stdout, result.stdout
    assert 'broken.gz: ' in result.stderr, result.stderr
    for row in ('user-blocking', 'user-visible', 'background'):
        assert re.search(rf'^{row} +[1-9]', result.stdout, re.MULTILINE), result.stdout
    # GLib's idle sources have two more columns.
    n_columns = 3 if '--plain' in options else 5
    assert re.search(rf'^user-blocking +[0-9]+( +[0-9.]+ ms){{{n_columns}}}$', result.stdout, re.MULTILINE), result.stdout


def check_commands(indexer):
    """Checks a folder that takes a while: a command to index a subfolder first, and the end."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for i in range(50):
            for j in range(40):
                path = root / f'f{i}/{j}'
                path.parent.mkdir(exist_ok=True)
                path.write_text(f'word{i} ' * 20000)
        with subprocess.Popen([indexer, str(root)], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              env=os.environ | {'LC_ALL': 'C.UTF-8'}) as process:
            watchdog = threading.Timer(120, process.kill)
            watchdog.start()
            lines = []
            asked = quitted = False
            process.stdin.write('nothing-like-it\n')
            process.stdin.flush()
            for line in process.stdout:
                lines.append(line)
                if line.startswith('nothing-like-it:') and not asked:
                    asked = True
                    process.stdin.write('f49/\nno-such-folder/\n')
                    process.stdin.flush()
                elif line.startswith('no-such-folder/:') and not quitted:
                    quitted = True
                    process.stdin.write('quit\n')
                    process.stdin.flush()
            watchdog.cancel()
        printed = ''.join(lines)
        assert process.returncode == 0, printed
        assert 'no-such-folder/: no such folder' in printed, printed
        assert re.search(r'[1-9]\d* aborted', printed), printed


def main(indexer):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        make_folder(root)
        check_index(indexer, root)
        check_index(indexer, root, '--plain')

    result = run(indexer, '/no/such/folder')
    assert result.returncode == 1 and '/no/such/folder' in result.stderr
    result = run(indexer, '--interval', '0', '/')
    assert result.returncode == 1 and 'interval' in result.stderr
    check_commands(indexer)


if __name__ == '__main__':
    main(sys.argv[1])
