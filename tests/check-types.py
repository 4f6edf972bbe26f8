"""check-types.py: checks that the stubs match the library, and that mypy, or pyright, accepts programs that use it

    check-types.py MYPY STUBS PROGRAM…
    check-types.py --pyright PYRIGHT STUBS

Installed where a Python finds them, alone and beside other stubs of PyGObject's, they are found and break nothing (P14).
Otherwise PyGObject itself is not checked: everything in it has type Any.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import ast
import os
import shutil
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


# Right but for the last three lines, installed alone or beside others.
INSTALLED = '''
import gi
gi.require_version('PrioSched', '1')
from gi.repository import GLib, PrioSched
GLib.idle_add(print)
scheduler = PrioSched.Scheduler.get_default()
async def main() -> int:
    task: PrioSched.PostedTask[int] = scheduler.post_task(lambda: 5, 'background', PrioSched.TaskSignal.new_timeout(5))
    task.cancel('enough')
    return await task
result: int = PrioSched.run(main())
text: str = PrioSched.run(main())
scheduler.post_task(lambda: 5, 'urgent')
PrioSched.nonsense
'''


def check_installed(command, stubs):
    """command (python, program) is what checks a program."""
    with tempfile.TemporaryDirectory() as path:
        subprocess.run([sys.executable, '-m', 'venv', '--without-pip', path], check=True)
        python = os.path.join(path, 'bin', 'python')
        place = subprocess.run([python, '-c', 'import site; print(site.getsitepackages()[0])'], check=True,
                               capture_output=True, text=True).stdout.strip()
        program = os.path.join(path, 'program.py')
        with open(program, 'w') as file:
            file.write(INSTALLED)
        for name in ('gi', 'gi/repository'):
            os.mkdir(os.path.join(place, name))
            with open(os.path.join(place, name, '__init__.py'), 'w') as file:
                file.write('def require_version(namespace, version): pass\n')
        shutil.copytree(stubs, os.path.join(place, 'gi-stubs'))
        for others in (False, True):
            if others:
                with open(os.path.join(place, 'gi-stubs', '__init__.pyi'), 'w') as file:
                    file.write('def require_version(namespace: str, version: str) -> None: ...\n')
                for name in ('GLib', 'Gio', 'GObject'):
                    with open(os.path.join(place, 'gi-stubs', 'repository', name + '.pyi'), 'w') as file:
                        file.write('def idle_add(function: object) -> int: ...\n' + ''.join(
                            f'class {base}: ...\n' for base in ('Error', 'MainContext', 'Cancellable', 'Object', 'GBoxed')))
            output = subprocess.run(command(python, program), capture_output=True, text=True, cwd=path).stdout
            lines = {int(line.split('program.py:')[1].split(':')[0]) for line in output.splitlines()
                     if 'program.py:' in line and ' error: ' in line}
            assert lines == {12, 13, 14}, (others, output)


if sys.argv[1] == '--pyright':
    check_installed(lambda python, program: [sys.argv[2], '--pythonpath', python, program], sys.argv[3])
    sys.exit()

check_names(sys.argv[2])
check_installed(lambda python, program: [sys.argv[1], '--python-executable', python, program], sys.argv[2])
sys.exit(run_mypy(*sys.argv[1:3], sys.argv[3:]))
