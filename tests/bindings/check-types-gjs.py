"""Checks the types for TypeScript, with the compiler and with the types of GNOME's other libraries.

    check-types-gjs.py SOURCE GIR GJS

SOURCE is the project's folder.  The programs in tests/bindings/types compile, strictly, and errors in one of them are
found.  Each comment belongs to a declaration.  The types have every name that the GIR has, and GJS has every name that the
types have; names of PrioSched.web are the same in both.

TypeScript and @girs are downloaded once from npm, in the versions of tests/bindings/types/package-lock.json, into the cache
folder of tests/run-on.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

from npm import node_modules

GLIB = '{http://www.gtk.org/introspection/glib/1.0}'
MODULE, NAMESPACE = '@girs/priosched-1', 'PrioSched'

# Names that GJS defines in the classes themselves, and that the types inherit or leave out: postTask () only throws an error, and
# reserved fields have no meaning.
INHERITED = {
    # GJS also has every property under its name with dashes, and @girs does not.
    'Scheduler': {'task-share', 'next-frame', 'postTask', 'starvation-limit', 'time-slice'},
    'Error': {'code', 'domain', 'message', 'valueOf'},
    'TaskStatistics': {'reserved'},
    'TaskTimes': {'reserved'},
    'Task': {'get_source_object', 'get_user_data', 'is_tagged', 'legacy_propagate_error'},
}


def run(*command, **options):
    return subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE, **options)


# The names in the GIR: of the class and of its instances, as names.cjs prints them.

def camel(name):
    first, *rest = name.replace('-', '_').split('_')
    return first + ''.join(word.capitalize() for word in rest)


def spellings(name):
    return {name.replace('-', '_'), camel(name)}


def is_visible(element):
    return element.get('introspectable') != '0' and element.get('name') != 'reserved'


def children(element, *tags):
    return [child for child in element if child.tag.rpartition('}')[2] in tags and is_visible(child)]


def names(element, *tags):
    return {child.get('name') for child in children(element, *tags)}


def names_of_class(element):
    properties = children(element, 'property')
    result = {
        'values': names(element, 'constructor', 'function') | {'$gtype'},
        'members': names(element, 'method').union(*(spellings(p.get('name')) for p in properties)),
        'types': set(),
    }
    if element.get(GLIB + 'fundamental') or element.get('parent'):
        # A property that cannot be read is set during construction, before a handler can be connected.
        signals = names(element, 'signal') | {f'notify::{p.get("name")}' for p in properties if p.get('readable') != '0'}
        writable = [p for p in properties if p.get('writable') == '1']
        result['types'] = {'SignalSignatures', 'ConstructorProps'}
        result['nested'] = {
            'SignalSignatures': {'members': signals},
            'ConstructorProps': {'members': set().union(*(spellings(p.get('name')) for p in writable))},
        }
    return result


def names_of_record(element):
    fields = names(element, 'field')
    return {'values': names(element, 'constructor', 'function') | {'$gtype'}, 'types': set(),
            'members': names(element, 'method') | fields}


def names_of_enumeration(element):
    return {'values': {name.upper() for name in names(element, 'member')} | names(element, 'function') | {'$gtype'},
            'types': set(), 'members': set()}


def names_in_gir(gir):
    """Returns {'values', 'types', 'members', 'nested'} of the namespace."""
    space = ElementTree.parse(gir).getroot().find('{*}namespace')
    nested = {}
    for element in children(space, 'class'):
        nested[element.get('name')] = names_of_class(element)
    for element in children(space, 'record'):
        if element.get(GLIB + 'is-gtype-struct-for') is None:
            nested[element.get('name')] = names_of_record(element)
    for element in children(space, 'enumeration', 'bitfield'):
        nested[element.get('name')] = names_of_enumeration(element)
    structs = {e.get('name') for e in children(space, 'record') if e.get(GLIB + 'is-gtype-struct-for') is not None}
    return {
        'values': set(nested) | names(space, 'constant', 'function'),
        'types': structs | names(space, 'callback'),
        'members': set(),
        'nested': nested,
    }


def missing(wanted, there, path=NAMESPACE):
    """Yields the names in `wanted`, in the form that names.cjs prints, that are not in `there`."""
    for kind in ('values', 'types', 'members'):
        for name in sorted(set(wanted.get(kind, ())) - set(there.get(kind, ()))):
            yield f'{path}.{name}'
    for name, inner in wanted.get('nested', {}).items():
        if name in there.get('nested', {}):
            yield from missing(inner, there['nested'][name], f'{path}.{name}')
        elif any(inner.get(kind) for kind in ('values', 'types', 'members')):
            yield f'{path}.{name}: its names'


def signals_of_classes(described):
    """Returns the signals of the classes."""
    signals = {name: inner['nested']['SignalSignatures'] for name, inner in described['nested'].items()
               if 'SignalSignatures' in inner.get('nested', {})}
    return {'nested': {name: {'nested': {'SignalSignatures': found}} for name, found in signals.items()}}


# The checks; each yields errors.

def compile_programs(place, *options):
    return run('node_modules/.bin/tsc', '--project', '.', *options, cwd=place).stdout.splitlines()


def check_programs(place):
    yield from compile_programs(place)


def check_declarations(place):
    # The other packages have errors, too.
    yield from (line for line in compile_programs(place, '--skipLibCheck', 'false') if line.startswith('prio'))


def check_comments(place):
    # Of two comments, editors show the second: the first has been left behind.
    for file in sorted(place.glob('prio*.d.ts')):
        for found in re.finditer(r'\*/\s*(/\*\*.*)', file.read_text()):
            yield f'{file.name}: “{found[1]}” follows a comment that stands on no declaration'


def check_names(place, gir, gjs, source):
    described = run('node', source / 'tests/bindings/types/names.cjs', place / 'priosched-1.d.ts', MODULE, NAMESPACE,
                    check=True).stdout
    (place / 'names.json').write_text(described)
    in_types = json.loads(described)
    in_gjs = json.loads(run(gjs, '-m', source / 'tests/bindings/types/names.js', place / 'names.json', check=True).stdout)

    in_gir = names_in_gir(gir)
    for name in missing(in_gir, in_types):
        yield f'the types have no {name}, which is in the GIR'
    for name in missing(signals_of_classes(in_types), in_gir):
        yield f'the GIR has no {name}, which is in the types'
    for name in in_gjs['missing']:
        yield f'GJS has no {name}, which is in the types'
    added, web = in_gjs['added'], in_gjs['web']
    for name, inherited in INHERITED.items():
        added[name] = {kind: set(there) - inherited for kind, there in added[name].items()}
    values = {name: inner for name, inner in added.items()
              if name not in in_types['types'] or name in in_types['values']}
    for path, there, types in ((NAMESPACE, values, in_types), (f'{NAMESPACE}.web', web, in_types['nested']['web'])):
        for name in missing({'values': there, 'nested': there}, types, path):
            yield f'the types have no {name}, which GJS has'


def check_planted(place, *others):
    """Checks that each check finds planted errors."""
    def planted(name, former, latter, check, *arguments):
        file = place / name
        text = file.read_text()
        assert former in text, f'{name} has no “{former}”'
        file.write_text(text.replace(former, latter, 1))
        found = list(check(place, *arguments))
        file.write_text(text)
        assert found, f'“{latter}” for “{former}” in {name} was not found'

    planted('wrong.ts', "{priority: 'urgent'}", "{priority: 'background'}", check_programs)
    planted('priosched-1.d.ts', 'class TaskSignal extends Gio.Cancellable', 'class TaskSignal extends GObject.Object',
            check_programs)
    planted('priosched-1.d.ts', 'get_cancellable(): Gio.Cancellable', 'get_cancellable(): Gio.Cancelable', check_declarations)
    planted('priosched-1-react.d.ts', 'force_frame_rate(fps: number): void;', '', check_comments)
    planted('priosched-1.d.ts', 'has_fixed_priority(): boolean;', '', check_names, *others)
    planted('priosched-1.d.ts', "'notify::paused'", "'notify::stopped'", check_names, *others)
    planted('priosched-1.d.ts', "'notify::signal'", "'notify::priority': () => void; 'notify::signal'", check_names, *others)
    planted('priosched-1.d.ts', 'timeSlice: number;', '', check_names, *others)
    planted('priosched-1.d.ts', 'should_yield(): boolean;', 'should_yield(): boolean; should_not_yield(): boolean;',
            check_names, *others)
    planted('priosched-1.d.ts', 'yield(options?: YieldTaskOptions | null): Promise<void>;', '', check_names, *others)
    planted('priosched-1-web.d.ts', 'throwIfAborted(): void;', '', check_names, *others)


# Three lines with errors that TypeScript has to find.
PACKAGED = '''
import PrioSched from 'gi://PrioSched?version=1';
import {scheduler as copied} from './prio-sched/prio-sched.js';
const {scheduler, TaskController} = PrioSched.web;
const controller = new TaskController({priority: 'background'}), native = new PrioSched.TaskController();
const number: number = await scheduler.postTask(() => 5, {signal: controller.signal});
const text: string = await PrioSched.Scheduler.get_default().post_task(() => 'text', {signal: native.signal});
print(number, text, native.signal.is_cancelled());
copied.postTask(() => 5, {priority: 'background'});
// @ts-expect-error
scheduler.postTask(() => 5, {priority: 'urgent'});
// @ts-expect-error
native.set_priority('urgent');
// @ts-expect-error
copied.postTask(() => 5, {priority: 'urgent'});
'''


def check_package(place, source):
    """Checks a program that has the package by the commands of the page "Getting it", and the types of a copy."""
    tree, program = place / 'tree/introspection', place / 'packaged'
    tree.mkdir(parents=True)
    shutil.copytree(source / 'introspection/gjs', tree / 'gjs')
    # The program has the other packages, so that npm needs no registry.
    shutil.copytree((place / 'node_modules').resolve(), program / 'node_modules', symlinks=True)
    for name in ('package.json', 'package-lock.json', 'tsconfig.json'):
        shutil.copy(source / 'tests/bindings/types' / name, program)
    (program / 'prio-sched').mkdir()
    shutil.copy(source / 'introspection/gjs/prio-sched.d.ts', program / 'prio-sched')
    (program / 'program.ts').write_text(PACKAGED)
    commands = re.search('^npm pack.*?(?=^```$)', (source / 'introspection/manual/getting-it.md').read_text(), re.MULTILINE | re.DOTALL)[0]
    variables = {'program': str(program), 'npm_config_offline': 'true', 'npm_config_ignore_scripts': 'true', 'npm_config_loglevel': 'error'}
    run('sh', '-euc', commands, cwd=tree.parent, env=os.environ | variables, check=True)
    yield from run(program / 'node_modules/.bin/tsc', '--project', program, cwd=program).stdout.splitlines()


def main(source, gir, gjs):
    source = pathlib.Path(source)
    types = source / 'tests/bindings/types'
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / 'node_modules').symlink_to(node_modules(types))
        for file in [*types.glob('*.ts'), types / 'tsconfig.json', *source.glob('introspection/gjs/prio*')]:
            shutil.copy(file, place)
        found = [*check_programs(place), *check_declarations(place), *check_comments(place), *check_package(place, source), *check_names(place, gir, gjs, source)]
        print('\n'.join([*found, f'{len(found)} found in the types']))
        if not found:
            check_planted(place, gir, gjs, source)
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
