"""check-types.py: checks that the stubs match the library, and that mypy accepts programs that use it

    check-types.py MYPY STUBS PROGRAM…

PyGObject itself is not checked: for mypy, everything in it has type Any.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import ast
import os
import subprocess
import sys
import tempfile

import gi

gi.require_version('PrioSched', '1')
from gi.repository import PrioSched  # noqa: E402

# What mypy has to find wrong.
WRONG = '''
from gi.repository import PrioSched
scheduler = PrioSched.Scheduler.get_default()
async def main() -> None:
    text: str = await scheduler.post_task(lambda: 5)
    scheduler.post_task(lambda: 5, 'urgent')
    scheduler.post_task(5)
    PrioSched.TaskController('background').signal.priority = 3
'''


def run_mypy(mypy, stubs, programs):
    with tempfile.TemporaryDirectory() as path:
        os.makedirs(os.path.join(path, 'gi', 'repository'))
        with open(os.path.join(path, 'gi', '__init__.pyi'), 'w') as file:
            file.write('def require_version(namespace: str, version: str) -> None: ...\n')
        with open(os.path.join(path, 'gi', 'repository', '__init__.pyi'), 'w') as file:
            file.write('from typing import Any\nGio: Any\nGLib: Any\nGObject: Any\nGtk: Any\n')
        os.symlink(os.path.join(stubs, 'repository', 'PrioSched.pyi'), os.path.join(path, 'gi', 'repository', 'PrioSched.pyi'))
        wrong = os.path.join(path, 'wrong.py')
        with open(wrong, 'w') as file:
            file.write(WRONG)
        command = [mypy, '--strict', '--allow-subclassing-any', '--no-warn-return-any', '--allow-any-generics',
                   '--cache-dir', os.path.join(path, 'cache')]
        environment = os.environ | {'MYPYPATH': path}
        right = subprocess.run([*command, *programs], env=environment)
        found = subprocess.run([*command, wrong], env=environment, capture_output=True, text=True)
        errors = [line for line in found.stdout.splitlines() if 'wrong.py' in line and 'error:' in line]
        for line in (5, 6, 7, 8):
            assert any(f'wrong.py:{line}:' in error for error in errors), (line, found.stdout)
        return right.returncode


def check_names(stubs):
    """Everything in the stubs exists."""
    with open(os.path.join(stubs, 'repository', 'PrioSched.pyi')) as file:
        tree = ast.parse(file.read())
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) or isinstance(node, ast.ClassDef) and not node.name.startswith('_'):
            if node.name == 'IdleDeadline':
                continue  # what callbacks are given, under the name of the type that it wraps
            thing = getattr(PrioSched, node.name)
            for member in getattr(node, 'body', ()):
                if isinstance(node, ast.ClassDef) and isinstance(member, ast.FunctionDef):
                    assert hasattr(thing, member.name), f'{node.name}.{member.name} is not there'


check_names(sys.argv[2])
sys.exit(run_mypy(*sys.argv[1:3], sys.argv[3:]))
