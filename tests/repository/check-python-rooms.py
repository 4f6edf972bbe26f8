"""Checks that each module of the overrides for Python imports only modules of its own room or of those below it.

    check-python-rooms.py [--self-test] OVERRIDES

OVERRIDES is the folder gi/overrides of the sources.  _priosched/rooms names the rooms of the package and their modules, from below:
a module imports only those before it, so there is no circle.  What an import in a function would hide counts, too: the package
imports itself at the top of its modules and nowhere else.  PrioSched.py, and PrioSched of gi.repository, which it makes, are above all.

It prints each room with its modules and the number of their uses of lower rooms, and each upward import.
--self-test plants an arrow in each way, and checks that it is found.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import ast
import collections
import pathlib
import sys

PACKAGE = ('gi', 'overrides', '_priosched')
TOP = 'PrioSched'
SPEEDUPS = '_speedups'


class Rooms:
    """`rank` tells how high a module is, such as 'tasks.table'; `room` in which room it is."""

    def __init__(self, text):
        self.modules, self.rank, self.room, self.twice = {}, {'': -1, SPEEDUPS: 0}, {}, []
        for line in text.splitlines():
            line = line.split('#')[0].strip()
            if line:
                room, modules = line.split(':')
                self.modules[room] = modules.split()
                self.add(room, room)
                for module in modules.split():
                    if module != room:
                        self.add(f'{room}.{module}', room)
        self.add(TOP, TOP)

    def add(self, module, room):
        if module in self.rank:
            self.twice.append(module)
        self.rank[module] = len(self.rank)
        self.room[module] = room


def module_of(path, overrides):
    """The name in the rooms of a file: '' is the package itself, and a room's own __init__.py is the room."""
    parts = path.relative_to(overrides).with_suffix('').parts
    return '.'.join(part for part in parts if part not in (PACKAGE[-1], '__init__'))


def read(overrides):
    """{module: (tree, whether it is a package)}"""
    paths = [overrides / f'{TOP}.py', *sorted((overrides / PACKAGE[-1]).rglob('*.py'))]
    return {module_of(path, overrides): (ast.parse(path.read_text(encoding='utf-8')), path.name == '__init__.py') for path in paths}


def imports_of(tree):
    """Yields each import with whether it stands in a function."""
    pending = [(tree, False)]
    while pending:
        node, within = pending.pop()
        within = within or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.Import, ast.ImportFrom)):
                yield child, within
            else:
                pending.append((child, within))


def absolute(node, module, is_package):
    """The names that node imports, each with its module, as tuples."""
    if isinstance(node, ast.Import):
        return [tuple(alias.name.split('.')) for alias in node.names]
    base = ()
    if node.level:
        own = PACKAGE[:-1] + (TOP,) if module == TOP else PACKAGE + tuple(filter(None, module.split('.')))
        base = own if is_package else own[:-1]
        base = base[:len(base) - node.level + 1]
    base += tuple((node.module or '').split('.')) if node.module else ()
    return [base + (alias.name,) for alias in node.names]


def own_module(name, known):
    """Which of ours the tuple name is, or is in, or None."""
    if name[:3] in (('gi', 'repository', TOP), ('gi', 'overrides', TOP)):
        return TOP
    if name[:len(PACKAGE)] != PACKAGE:
        return None
    inner = name[len(PACKAGE):]
    for length in range(len(inner), -1, -1):
        found = '.'.join(inner[:length])
        if found in known or found == SPEEDUPS:
            return found
    return None


def uses(modules):
    """Yields (user, used, whether in a function, line)."""
    for module, (tree, is_package) in modules.items():
        for node, within in imports_of(tree):
            for name in absolute(node, module, is_package):
                used = own_module(name, modules)
                if used is not None and used != module:
                    yield module, used, within, node.lineno


def check_names(rooms, modules):
    for module in rooms.twice:
        yield f'{module} is listed twice'
    for module in modules:
        if module not in rooms.rank:
            yield f'{module} is in no room'
    for module in rooms.rank:
        if module not in modules and module != SPEEDUPS:
            yield f'{module} is listed, and there is no such module'


def check(rooms, modules):
    """Prints all; returns the arrows upwards, and what else is wrong."""
    wrong, upwards, downwards = list(check_names(rooms, modules)), set(), collections.Counter()
    for user, used, within, line in uses(modules):
        if within:
            wrong.append(f'{user}, line {line}: {used} is imported in a function')
        if user not in rooms.rank or used not in rooms.rank:
            continue
        if rooms.rank[used] >= rooms.rank[user]:
            upwards.add((user, used))
        elif rooms.room.get(used) != rooms.room.get(user):
            downwards[rooms.room.get(user)] += 1

    for room, names in reversed(rooms.modules.items()):
        print(f'{room}: {" ".join(names)}: {downwards[room]} downwards')
    print(*wrong, *(f'upwards: {user} → {used}' for user, used in sorted(upwards)), sep='\n')
    print(f'{len(upwards)} {"arrow" if len(upwards) == 1 else "arrows"} upwards')
    return upwards, wrong


def self_test(rooms, modules):
    def planted(module, text):
        tree, is_package = modules[module]
        return check(rooms, modules | {module: (ast.Module(ast.parse(text).body + tree.body, []), is_package)})

    for module, text, used in (('futures.reasons', 'from ..tasks.table import Table', 'tasks.table'),
                               ('futures.reasons', 'from ..tasks import table', 'tasks.table'),
                               ('futures.reasons', 'from .future import Future', 'futures.future'),
                               ('futures', 'from .future import Future', 'futures.future'),
                               ('arguments', 'from .extras import react as other', 'extras.react'),
                               ('tasks.states', 'import gi.overrides._priosched.tasks.lending', 'tasks.lending'),
                               ('tasks.states', 'try:\n    from . import lending\nexcept ImportError:\n    pass', 'tasks.lending'),
                               ('extras.helpers', 'from gi.repository import PrioSched', TOP),
                               ('extras.helpers', 'from ...PrioSched import Scheduler', TOP)):
        upwards, wrong = planted(module, text)
        assert (upwards, wrong) == ({(module, used)}, []), (module, text, upwards, wrong)
    upwards, wrong = planted('extras.react', 'def f():\n    from ..tasks.table import Table')
    assert not upwards and len(wrong) == 1, wrong
    upwards, wrong = planted('coroutines.drivers', 'def f():\n    from ..tasks.table import Table')
    assert upwards and len(wrong) == 1, wrong
    _, wrong = check(rooms, modules | {'tasks.other': (ast.parse(''), False)})
    assert wrong == ['tasks.other is in no room'], wrong
    _, wrong = check(rooms, {module: content for module, content in modules.items() if module != 'tasks.lending'})
    assert wrong == ['tasks.lending is listed, and there is no such module'], wrong
    assert check(rooms, modules) == (set(), [])


def main(*args):
    overrides = pathlib.Path(args[-1])
    rooms = Rooms((overrides / PACKAGE[-1] / 'rooms').read_text(encoding='utf-8'))
    modules = read(overrides)
    assert len(modules) > 15 and len(list(uses(modules))) > 50, 'nothing is found'
    if args[0] == '--self-test':
        self_test(rooms, modules)
        return 0
    upwards, wrong = check(rooms, modules)
    return 1 if upwards or wrong else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
