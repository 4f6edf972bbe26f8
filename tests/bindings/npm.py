"""Gets the packages from npm with which the types are checked"""

import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys


def cache_folder():
    given = os.environ.get('PRIO_SCHED_CACHE')
    if given:
        return pathlib.Path(given)
    return pathlib.Path(os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache') / 'prio-sched'


def node_modules(types):
    """Returns the folder of the packages that are named in `types`."""
    files = [types / name for name in ('package.json', 'package-lock.json')]
    version = hashlib.sha256(b''.join(file.read_bytes() for file in files)).hexdigest()[:16]
    folder = cache_folder() / f'npm-{version}'
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(f'{folder}.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            new = folder.with_name(f'{folder.name}.new')
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir()
            for file in files:
                shutil.copy(file, new)
            command = ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund']
            if subprocess.run(command, cwd=new, stdout=subprocess.DEVNULL).returncode != 0:
                sys.exit('npm could not get the packages for check-types*.py: it needs its registry, once')
            new.rename(folder)
    return folder / 'node_modules'
