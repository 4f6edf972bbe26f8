"""check-types.py: checks that the stubs match the library, and that mypy, or pyright, accepts programs that use it

    check-types.py MYPY STUBS MANUAL PROGRAM…
    check-types.py --pyright TYPES STUBS MANUAL PROGRAM…

TYPES is the folder that lists npm packages, with pyright (see npm.py).  The pages in the folder MANUAL have programs, too, without
annotations.

The stubs are also installed for a Python, into PyGObject's folder and into another one, alone and beside other stubs of PyGObject,
and must be found and break nothing.
Otherwise PyGObject itself is not checked: everything in it has type Any.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import ast
import inspect
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import gi

from npm import node_modules

gi.require_version('PrioSched', '1')
from gi.repository import PrioSched  # noqa: E402

# A program that mypy has to accept.
RIGHT = '''
from collections.abc import Generator, Iterator
from typing import Any, Optional
from gi.repository import Gio, GLib, PrioSched
scheduler = PrioSched.Scheduler.get_default()
def count() -> Generator[int, None, str]:
    yield 1
    return 'result'
def wait() -> Generator[PrioSched.Future[int], int, int]:
    return (yield scheduler.run_in_thread(lambda: 5))
def numbers() -> Iterator[int]:
    yield 1
async def find(word: str, limit: int = 3) -> list[str]:
    return [word] * limit
def find_in_steps(word: str) -> Generator[float, None, int]:
    yield 0.5
    return len(word)
async def main() -> None:
    group = PrioSched.TaskGroup(limit=8)
    search = scheduler.latest(find)
    run = search('word', limit=3)
    found: Optional[list[str]] = await run
    in_steps: Optional[int] = await scheduler.latest(find_in_steps, 'background')('word')
    length: Optional[int] = await scheduler.latest(lambda: 3)()
    print(run.done(), found, in_steps, length)
    anything: Any = await scheduler.post_task(numbers)
    texts_of_it: str = await group.post_task(lambda: numbers())
    total: int = scheduler.count_pending() + group.n_tasks + group.signal.count_pending() + scheduler.count_pending()
    own: Optional[PrioSched.TaskSignal] = scheduler.current_signal
    await scheduler.post_task(numbers, signal=own)
    also: Optional[PrioSched.Scheduler] = group.dup_scheduler()
    error: Optional[GLib.Error] = group.signal.dup_reason()
    print(anything, texts_of_it, total, also, error)
    number_of_threads: int = await group.post_task(wait, progress=print, takes_turns=True)
    await scheduler.yield_(takes_turns=True)
    await group.feed(lambda text: print(len(text)), ['a', 'b'], priority='background')
    async with PrioSched.Worker('render') as worker:
        number_of_threads = await worker.run(scheduler, lambda: number_of_threads)
    texts: list[str] = [await scheduler.post_task(count, progress=print), await group.post_task(count, timeout=250)]
    number: int = await group.post_task(lambda: len(texts), priority=PrioSched.TaskPriority.BACKGROUND)
    assert number > PrioSched.TaskPriority.UNSET
    deadline: Optional[PrioSched.IdleDeadline] = PrioSched.IdleDeadline.dup_current()
    if deadline is not None and not deadline.did_timeout:
        print(deadline.get_time_remaining())
    scheduler.post(PrioSched.TaskPriority.BACKGROUND, lambda: False)
    scheduler.yield_async(lambda source, result: print(source.yield_finish(result)))
    options = PrioSched.TaskOptions()
    options.delay = 5
    scheduler.post_full(options, lambda: False)
    signal: Optional[Gio.Cancellable] = options.signal or options.cancellable
    controller = PrioSched.TaskController()
    for either in (signal, Gio.Cancellable(), controller.signal, PrioSched.TaskSignal.any([Gio.Cancellable(), controller.signal])):
        scheduler.post_task(count, signal=either)
    await scheduler.sleep(1, controller.signal)
    print(signal, PrioSched.YieldFlags.DROP_SIGNAL | PrioSched.YieldFlags.KEEP_PRIORITY)
'''

# A program in which mypy has to find errors.
WRONG = '''
from collections.abc import AsyncIterator
from gi.repository import PrioSched
scheduler = PrioSched.Scheduler.get_default()
async def main() -> None:
    text: str = await scheduler.post_task(lambda: 5)
    scheduler.post_task(lambda: 5, 'urgent')
    scheduler.post_task(5)
    PrioSched.TaskController('background').signal.priority = 3
    PrioSched.TaskGroup(limit=2).post_task(lambda: 5, takes_turns=print)
    scheduler.post_task(lambda: 5, signal=PrioSched.TaskController())
    await scheduler.sleep(5, PrioSched.TaskController())
    PrioSched.TaskGroup().drained(PrioSched.TaskController())
    PrioSched.TaskSignal.any([PrioSched.TaskController()])
    scheduler.latest(find)(5)
    found: list[str] = await scheduler.latest(find)('word')
    await scheduler.run_in_thread(main)
    after: str = await scheduler.post_task(lambda: 5)
    await scheduler.post_task(numbers)
    await PrioSched.TaskGroup().post_task(numbers)
    scheduler.post_task(numbers())
    scheduler.post_task(numbers).add_done_callback(print)
    await scheduler.post_task(lambda: numbers())
async def find(word: str) -> list[str]:
    return [word]
async def numbers() -> AsyncIterator[int]:
    yield 1
'''

# Precedes the wrong lines.
FIND = 'async def find(word: str) -> list[str]:'

# Names of other languages' bindings, or for which Python has another name.
LEFT_OUT = {
    '': {'ChannelClass', 'FeedClass', 'PostResult', 'Runner', 'SchedulerClass', 'TaskClass', 'TaskControllerClass', 'TaskGroupClass', 'TaskSignalClass', 'WorkerClass',
         'idle_deadline_dup_current', 'runner_end', 'runner_next', 'scheduling_state_ref_current',
         # PrioSched.testing calls these.
         *(f'testing_{name}' for name in ('advance', 'advance_async', 'advance_finish', 'begin', 'end', 'get_elapsed', 'get_time', 'list_delayed',
                                          'list_queued', 'run_until_idle', 'spend', 'step'))},
    'EventLoop': {'interrupt', 'running', 'shutdown_asyncgens'},  # from PyGObject and asyncio, and for run ()
    'Scheduler': {'dup_first_task', 'end_slice', 'run_in_thread_full'},
    'SchedulingState': {'new', 'ref_current'},
    'TaskGroup': {'finish_id', 'add_lender', 'post_id', 'return_id', 'wait_id'},
    'TaskOptions': {'reserved'},
    'TaskStatistics': {'reserved'},
    'TaskTimes': {'reserved'},
    'TaskSignal': {'new_any', 'new_any_following', 'pin'},
    'YieldOptions': {'reserved'},
}


def write_stubs(path, stubs):
    """Writes stubs of PyGObject in which everything else has type Any."""
    place = os.path.join(path, 'stubs', 'gi', 'repository')
    os.makedirs(place)
    with open(os.path.join(path, 'stubs', 'gi', '__init__.pyi'), 'w') as file:
        file.write('def require_version(namespace: str, version: str) -> None: ...\n')
    for name in ('__init__', 'Adw', 'Gdk', 'GdkPixbuf', 'Gio', 'GLib', 'GObject', 'Gtk'):
        with open(os.path.join(place, name + '.pyi'), 'w') as file:
            file.write('' if name == '__init__' else 'from typing import Any\ndef __getattr__(name: str) -> Any: ...\n')
    os.symlink(os.path.join(stubs, 'repository', 'PrioSched.pyi'), os.path.join(place, 'PrioSched.pyi'))


# Two expressions for which mypy finds no type: an empty list, and a function with a default that is expected to have no argument.
EMPTY, DEFAULT = re.compile(r'^( *\w+) = \[\](?= *(#.*)?$)', re.MULTILINE), re.compile(r'lambda \w+=\w+(, \w+=\w+)*:')


def without_types(program):
    return DEFAULT.sub('lambda:', EMPTY.sub(r'\1: list = []', program))


def write_manual(path, manual):
    """Writes the programs of the manual into path.  Returns their names."""
    names = []
    for page in pathlib.Path(manual).glob('*.md'):
        for program in re.findall(r'^```py(?:thon)?\n(.*?)^```$', page.read_text(), re.MULTILINE | re.DOTALL):
            names.append(f'{page.stem.replace("-", "_")}_{len(names)}.py')
            pathlib.Path(path, names[-1]).write_text(without_types(program))
    return names


def check_programs(check, stubs, manual, programs):
    """Checks programs: check (path, names, typed) returns the command that checks programs in path.  Returns whether it
    accepts the right programs.
    """
    with tempfile.TemporaryDirectory() as path:
        write_stubs(path, stubs)
        for program in programs:
            shutil.copy(program, path)
        for name, text in (('right.py', RIGHT), ('wrong.py', WRONG)):
            with open(os.path.join(path, name), 'w') as file:
                file.write(text)
        environment = os.environ | {'MYPYPATH': os.path.join(path, 'stubs')}
        environment.pop('PYTHONPATH', None)  # the overrides are in a folder gi
        right = [subprocess.run(check(path, names, typed), env=environment, cwd=path).returncode for names, typed in
                 ((['right.py', *map(os.path.basename, programs)], True), (write_manual(path, manual), False))]
        found = subprocess.run(check(path, ['wrong.py'], True), env=environment, cwd=path, capture_output=True, text=True)
        errors = [line for line in found.stdout.splitlines() if 'wrong.py' in line and ' error: ' in line]
        first, end = (WRONG.split('\n').index(line) + 1 for line in ('async def main() -> None:', FIND))
        for line in range(first + 1, end):
            assert any(f'wrong.py:{line}:' in error for error in errors), (line, found.stdout)
        return right == [0, 0]


def mypy(program):
    # Only some versions need all that the stubs ignore.
    strict = ['--strict', '--allow-subclassing-any', '--no-warn-return-any', '--allow-any-generics', '--no-warn-unused-ignores']
    return lambda path, names, typed: [program, *(strict if typed else ['--check-untyped-defs']), '--cache-dir', os.path.join(path, 'cache'),
                                       *names]


def pyright(program):
    def check(path, names, typed):
        # Strict, except for errors that come from types of other packages.
        others = [f'reportUnknown{what}Type' for what in ('Member', 'Variable', 'Argument', 'Parameter', 'Lambda')]
        others += ['reportMissingTypeArgument', 'reportMissingModuleSource', 'reportUntypedBaseClass']
        with open(os.path.join(path, 'pyrightconfig.json'), 'w') as file:
            mode = 'strict' if typed else 'standard'
            json.dump({'stubPath': 'stubs', 'include': names, 'typeCheckingMode': mode} | dict.fromkeys(others, False), file)
        return [program, '--project', path]
    return check


def names_in(nodes):
    """Returns the names that the body of a stub, or of one of its classes, declares, with their declarations."""
    names = {}
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names[node.name] = node
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = node
        elif isinstance(node, ast.Assign):
            names.update((target.id, node) for target in node.targets)
    return names


def names_of_class(thing):
    """Returns the names that the library and its overrides give a class, without the names that PyGObject gives every class;
    or the names of a module, which is a class in the stubs."""
    if inspect.ismodule(thing):
        return set(thing.__all__)
    ours = [cls for cls in thing.__mro__ if 'priosched' in cls.__module__.lower()]
    return {name for cls in ours for name in vars(cls) if not name.startswith('_')}


def find_missing(tree):
    """Yields names that the library has and the stubs lack."""
    there = names_in(tree.body)
    for name in dir(PrioSched):
        if name.startswith('_') or name in LEFT_OUT['']:
            continue
        if name not in there:
            yield name
        elif isinstance(there[name], ast.ClassDef):
            node, known = there[name], set(LEFT_OUT.get(name, ()))
            while isinstance(node, ast.ClassDef):
                known |= set(names_in(node.body))
                bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
                node = next((there[base.id] for base in bases if isinstance(base, ast.Name) and base.id in there), None)
            yield from (f'{name}.{member}' for member in sorted(names_of_class(getattr(PrioSched, name)) - known))


def check_names(stubs):
    """Checks that everything in the stubs exists, and everything that exists is in the stubs."""
    with open(os.path.join(stubs, 'repository', 'PrioSched.pyi')) as file:
        text = file.read()
    tree = ast.parse(text)
    missing = list(find_missing(tree))
    assert not missing, f'the stubs lack {", ".join(missing)}'
    for planted in ('TIMEOUT_LOW: int', 'def count_pending(self) -> int: ...', 'class TaskTimes', 'def cancel(self, msg'):
        assert planted in text, planted
        lost = text.replace(planted, planted.replace('TIMEOUT_LOW', 'other').replace('count_pending', 'other').replace('Times', 'Other')
                            .replace('cancel(', 'other('), 1)
        assert list(find_missing(ast.parse(lost))), f'it is not found that {planted} is missing'
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) or isinstance(node, ast.ClassDef) and not node.name.startswith('_'):
            if node.name == 'EventLoop' and gi.version_info < (3, 50):
                continue
            thing = getattr(PrioSched, node.name)
            for member in getattr(node, 'body', ()):
                if isinstance(node, ast.ClassDef) and isinstance(member, ast.FunctionDef):
                    assert hasattr(thing, member.name), f'{node.name}.{member.name} is not there'


# Right except for the last three lines, installed alone or beside others.
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


def install(place, stubs, apart, others):
    """Installs the stubs into place, where PyGObject is, too, unless apart is true, and perhaps other stubs."""
    pygobject = place
    if apart:
        pygobject = os.path.join(place, 'system')
        for name in ('prio-sched-types.pth', 'system.pth'):
            with open(os.path.join(place, name), 'w') as file:
                file.write('system\n' if name == 'system.pth' else pathlib.Path(stubs).with_name(name).read_text())
        os.makedirs(os.path.join(place, 'prio_sched', 'types', 'gi-stubs'))
        shutil.copy(os.path.join(stubs, 'repository', '__init__.pyi'), os.path.join(place, 'prio_sched', 'types', 'gi-stubs'))
    for name in ('gi', 'gi/repository'):
        os.makedirs(os.path.join(pygobject, name))
        with open(os.path.join(pygobject, name, '__init__.py'), 'w') as file:
            file.write('def require_version(namespace, version): pass\n')
    shutil.copytree(stubs, os.path.join(place, 'gi-stubs'))
    if others:
        with open(os.path.join(place, 'gi-stubs', '__init__.pyi'), 'w') as file:
            file.write('def require_version(namespace: str, version: str) -> None: ...\n')
        for name in ('GLib', 'Gio', 'GObject'):
            with open(os.path.join(place, 'gi-stubs', 'repository', name + '.pyi'), 'w') as file:
                file.write('def idle_add(function: object) -> int: ...\n' + ''.join(
                    f'class {base}: ...\n' for base in ('Error', 'MainContext', 'Cancellable', 'Object', 'GBoxed')))


def check_installed(command, stubs):
    """Checks installed stubs; command (python, program) is the command that checks a program."""
    for apart, others in itertools.product((False, True), repeat=2):
        with tempfile.TemporaryDirectory() as path:
            subprocess.run([sys.executable, '-m', 'venv', '--without-pip', path], check=True)
            python = os.path.join(path, 'bin', 'python')
            place = subprocess.run([python, '-c', 'import site; print(site.getsitepackages()[0])'], check=True,
                                   capture_output=True, text=True).stdout.strip()
            install(place, stubs, apart, others)
            program = os.path.join(path, 'program.py')
            with open(program, 'w') as file:
                file.write(INSTALLED)
            output = subprocess.run(command(python, program), capture_output=True, text=True, cwd=path).stdout
            lines = {int(line.split('program.py:')[1].split(':')[0]) for line in output.splitlines()
                     if 'program.py:' in line and ' error: ' in line}
            assert lines == {12, 13, 14}, (apart, others, output)


if sys.argv[1] == '--pyright':
    types, stubs, manual, *programs = sys.argv[2:]
    program = str(node_modules(pathlib.Path(types)) / '.bin' / 'pyright')
    check_installed(lambda python, name: [program, '--pythonpath', python, name], stubs)
    is_right = check_programs(pyright(program), stubs, manual, programs)
else:
    program, stubs, manual, *programs = sys.argv[1:]
    check_names(stubs)
    check_installed(lambda python, name: [program, '--python-executable', python, name], stubs)
    is_right = check_programs(mypy(program), stubs, manual, programs)
sys.exit(not is_right)
