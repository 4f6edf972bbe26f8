"""Checks that each module of a binding's package uses only the modules below it: no circle, and no upward use.

    check-rooms.py [--self-test] SOURCE

SOURCE is the project's folder, whose introspection/rooms names the packages, their rooms and their modules, from the lowest.  The
uses of a module are its imports: `imports.overrides.…` in JavaScript, and Python's statements, anywhere in the file.  --self-test
plants uses and modules, and checks that they are found.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import argparse
import ast
import pathlib
import re
import sys

SUFFIXES = ('.js', '.py')


class Package:
    """Represents a package; its modules have names below its folder: PrioSched, _priosched.core.tasks."""

    def __init__(self, folder):
        self.folder = pathlib.PurePath(folder)
        self.rank = {}
        self.twice = []

    def add(self, room, module):
        place = {'.': (self.folder.name,), '..': ()}.get(room, (self.folder.name, *room.split('/')))
        name = '.'.join((*place, module))
        if name in self.rank:
            self.twice.append(name)
        self.rank[name] = len(self.rank)

    def name_of(self, path):
        """Returns the name of the module in that file."""
        return '.'.join(path.relative_to(self.folder.parent).with_suffix('').parts)

    def module_in(self, name):
        """Returns the module that an import names, or that contains it, or None if it is not in the package."""
        while name and name not in self.rank:
            name = name.rpartition('.')[0]
        return name or None


def read_rooms(text):
    packages = []
    for line in text.splitlines():
        line = line.split('#')[0].strip()
        if line.startswith('['):
            packages.append(Package(line.strip('[]')))
        elif line:
            room, modules = line.split(':')
            for module in modules.split():
                packages[-1].add(room.strip(), module)
    return packages


def read_texts(source, package):
    """Returns {path: text} of the package, and of files beside it that have its name or begin with it."""
    folder = source / package.folder
    beside = [path for path in sorted(folder.parent.iterdir()) if path.is_file() and path.stem.lower().strip('_').startswith('priosched')]
    return {path.relative_to(source): path.read_text(encoding='utf-8')
            for path in [*beside, *sorted(folder.rglob('*'))] if path.suffix in SUFFIXES and path.name != '__init__.py'}


def names_in_javascript(text):
    yield from re.findall(r'\bimports\.overrides\.([\w.]+)', text)


def names_in_python(text, name):
    """Returns the imports of the module of that name, as names below gi.overrides."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name.removeprefix('gi.overrides.') for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = name.split('.')[:-node.level] if node.level else []
            start = '.'.join([*base, *([node.module] if node.module else [])]).removeprefix('gi.overrides').lstrip('.')
            yield from (f'{start}.{alias.name}'.lstrip('.') for alias in node.names)


def uses(package, texts):
    """Yields (user, used) for each import of a module of the package."""
    for path, text in texts.items():
        user = package.name_of(path)
        names = names_in_javascript(text) if path.suffix == '.js' else names_in_python(text, user)
        for used in {package.module_in(name) for name in names} - {None, user}:
            yield user, used


def check_list(package, texts):
    """Yields errors in the list of modules itself, and imports that PrioSchedCopy.js would not find."""
    found = {package.name_of(path) for path in texts}
    yield from (f'{name} is listed twice' for name in package.twice)
    yield from (f'{name} is in no room' for name in sorted(found - set(package.rank)))
    yield from (f'{name} is listed, and there is no such module' for name in package.rank if name not in found)
    for path, text in texts.items():
        if path.suffix != '.js' or path.stem == 'PrioSchedCopy':
            continue
        for name in re.findall(r'^(?!.* = imports\.overrides\.[\w.]+;$).*\bimports\.overrides\b(.*)$', text, re.MULTILINE):
            yield f'{path}: imports.overrides{name} is not a separate declaration, as PrioSchedCopy.js needs'
        for name in names_in_javascript(text):
            if name not in package.rank:
                yield f'{path}: imports.overrides.{name} is not a module'


def check(package, texts):
    """Prints all errors; returns the upward uses."""
    wrong = [*check_list(package, texts)]
    arrows = sorted({*uses(package, texts)})
    upwards = [(user, used) for user, used in arrows if package.rank.get(used, 0) > package.rank.get(user, 0)]
    print('\n'.join([*wrong, *(f'upwards: {user} → {used}' for user, used in upwards),
                     f'{package.folder}: {len(package.rank)} modules, {len(arrows)} arrows, {len(upwards)} of them upwards']))
    return upwards, wrong, len(arrows)


def self_test():
    """Checks a package in each language, with a downward and an upward use, and errors in the lists."""
    rooms = '[a/_p]\n.: native\ncore: one two # three\nweb: web\n..: Prio\n'
    folder = pathlib.PurePath('a/_p')
    for suffix, down, up, sideways in (
        ('.js', 'const {x} = imports.overrides._p.core.one;', 'const Web = imports.overrides._p.web.web;', 'var x = imports.overrides.Prio;'),
        ('.py', 'from .one import x', 'def f():\n    from ..web import web', 'import gi.overrides.Prio'),
        ('.py', 'from gi.overrides._p.core import one', 'import gi.overrides._p.web.web as w', 'from gi.overrides import Prio'),
        ('.py', 'from . import one', 'from gi.overrides._p.web.web import x', 'from ... import Prio'),
    ):
        [package] = read_rooms(rooms)
        texts = {folder / f'{name}{suffix}': '' for name in ('native', 'core/one', 'core/two', 'web/web', '../Prio')}
        texts = {pathlib.PurePath(str(path).replace('_p/../', '')): text for path, text in texts.items()}
        two = folder / f'core/two{suffix}'
        assert check(package, {**texts, two: down}) == ([], [], 1)
        assert check(package, {**texts, two: up}) == ([('_p.core.two', '_p.web.web')], [], 1)
        assert check(package, {**texts, two: sideways}) == ([('_p.core.two', 'Prio')], [], 1)
        _, wrong, _ = check(package, {path: text for path, text in texts.items() if path != two} | {folder / f'new{suffix}': ''})
        assert wrong == ['_p.new is in no room', '_p.core.two is listed, and there is no such module'], wrong

    _, wrong, _ = check(package, {**texts, folder / 'core/one.js': 'f(imports.overrides._p.native.x);'})
    assert len(wrong) == 2, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--self-test', action='store_true')
    parser.add_argument('source', type=pathlib.Path)
    args = parser.parse_args()
    if args.self_test:
        self_test()
        return 0
    packages = read_rooms((args.source / 'introspection/rooms').read_text(encoding='utf-8'))
    results = [check(package, read_texts(args.source, package)) for package in packages]
    assert results and all(n > 10 for _, _, n in results), 'nothing is found'
    return 1 if any(upwards or wrong for upwards, wrong, _ in results) else 0


if __name__ == '__main__':
    sys.exit(main())
