"""check-types.py: checks that the stubs match the library, and that mypy, or pyright, accepts programs that use it

    check-types.py MYPY STUBS PROGRAM…
    check-types.py --pyright TYPES STUBS PROGRAM…

TYPES is the folder that names the packages of npm's, pyright among them (see npm.py).

Installed where a Python finds them, alone and beside other stubs of PyGObject's, they are found and break nothing (P14).
Otherwise PyGObject itself is not checked: everything in it has type Any.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import ast
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import gi

from npm import node_modules

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


def write_stubs(path, stubs):
    """Stubs of PyGObject in which everything but ours is Any."""
    place = os.path.join(path, 'stubs', 'gi', 'repository')
    os.makedirs(place)
    with open(os.path.join(path, 'stubs', 'gi', '__init__.pyi'), 'w') as file:
        file.write('def require_version(namespace: str, version: str) -> None: ...\n')
    for name in ('__init__', 'Adw', 'Gio', 'GLib', 'GObject', 'Gtk'):
        with open(os.path.join(place, name + '.pyi'), 'w') as file:
            file.write('' if name == '__init__' else 'from typing import Any\ndef __getattr__(name: str) -> Any: ...\n')
    os.symlink(os.path.join(stubs, 'repository', 'PrioSched.pyi'), os.path.join(place, 'PrioSched.pyi'))


def check_programs(check, stubs, programs):
    """check (path, names) gives the command that checks programs in path.  Returns whether it accepts those that are right."""
    with tempfile.TemporaryDirectory() as path:
        write_stubs(path, stubs)
        for program in programs:
            shutil.copy(program, path)
        with open(os.path.join(path, 'wrong.py'), 'w') as file:
            file.write(WRONG)
        environment = os.environ | {'MYPYPATH': os.path.join(path, 'stubs')}
        environment.pop('PYTHONPATH', None)  # where our overrides are, in a folder gi
        right = subprocess.run(check(path, [os.path.basename(program) for program in programs]), env=environment, cwd=path)
        found = subprocess.run(check(path, ['wrong.py']), env=environment, cwd=path, capture_output=True, text=True)
        errors = [line for line in found.stdout.splitlines() if 'wrong.py' in line and ' error: ' in line]
        for line in (5, 6, 7, 8):
            assert any(f'wrong.py:{line}:' in error for error in errors), (line, found.stdout)
        return right.returncode == 0


def mypy(program):
    return lambda path, names: [program, '--strict', '--allow-subclassing-any', '--no-warn-return-any', '--allow-any-generics',
                                '--cache-dir', os.path.join(path, 'cache'), *names]


def pyright(program):
    def check(path, names):
        # Strictly, but for what comes of types that are not ours.
        others = [f'reportUnknown{what}Type' for what in ('Member', 'Variable', 'Argument', 'Parameter', 'Lambda')]
        others += ['reportMissingTypeArgument', 'reportMissingModuleSource', 'reportUntypedBaseClass']
        with open(os.path.join(path, 'pyrightconfig.json'), 'w') as file:
            json.dump({'stubPath': 'stubs', 'include': names, 'typeCheckingMode': 'strict'} | dict.fromkeys(others, False), file)
        return [program, '--project', path]
    return check


def check_names(stubs):
    """Everything in the stubs exists."""
    with open(os.path.join(stubs, 'repository', 'PrioSched.pyi')) as file:
        tree = ast.parse(file.read())
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) or isinstance(node, ast.ClassDef) and not node.name.startswith('_'):
            if node.name == 'IdleDeadline':
                continue  # what callbacks are given, under the name of the type that it wraps
            if node.name == 'EventLoop' and gi.version_info < (3, 50):
                continue
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
    types, stubs, *programs = sys.argv[2:]
    program = str(node_modules(pathlib.Path(types)) / '.bin' / 'pyright')
    check_installed(lambda python, name: [program, '--pythonpath', python, name], stubs)
    is_right = check_programs(pyright(program), stubs, programs)
else:
    program, stubs, *programs = sys.argv[1:]
    check_names(stubs)
    check_installed(lambda python, name: [program, '--python-executable', python, name], stubs)
    is_right = check_programs(mypy(program), stubs, programs)
sys.exit(not is_right)
