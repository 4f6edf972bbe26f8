"""Makes the manual's table of names: each operation in each language, in names.md.

    make-names.py [--update] GIR VAPI

Reads C's names from the GIR, Vala's from VAPI, and the others from the types and sources in this tree.  Fails without --update if the table is
not up to date.  Fails with it, too, if ROWS gives a name that does not exist, or a name that the program finds by itself.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import argparse
import ast
import importlib.util
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
CORE = '{http://www.gtk.org/introspection/core/1.0}'
C = '{http://www.gtk.org/introspection/c/1.0}identifier'
LANGUAGES = {'c': 'C', 'vala': 'Vala', 'python': 'Python', 'gjs': 'JavaScript', 'web': '`PrioSched.web`', 'rust': 'Rust'}
BEGIN, END = '<!-- Made by make-names.py. -->\n\n', '\n<!-- The end of the table. -->\n'

# A purpose, the function in the GIR, and names that do not follow from it.  The asynchronous methods of C have forms to await, a keyword cannot be
# a name, the web has its own names, and Rust has the names of futures.  None means that the language has no such function.
ROWS = [
    ('the scheduler of the main loop', 'Scheduler.get_default', {'web': 'scheduler', 'rust': 'Scheduler.default'}),
    ('post a function without a result', 'Scheduler.post', {'web': None, 'rust': 'Scheduler.post'}),
    ('post a task', 'Scheduler.post_task', {'rust': 'Scheduler.spawn_local'}),
    ('post a task in steps', 'Scheduler.post_steps', {'python': 'Scheduler.post_task', 'web': None, 'rust': 'Scheduler.slices'}),
    ('yield', 'Scheduler.yield_async', {'python': 'Scheduler.yield_', 'gjs': 'Scheduler.yield', 'web': 'Scheduler.yield', 'rust': 'yield_now'}),
    ('wait', 'Scheduler.sleep_async', {'python': 'Scheduler.sleep', 'gjs': 'Scheduler.sleep', 'web': None, 'rust': 'Scheduler.sleep'}),
    ('whether it is time to yield', 'Scheduler.should_yield', {}),
    ('iterate in slices', None, {'gjs': 'Scheduler.slices', 'web': 'Extras.slices'}),
    ('iterate, and yield when it is time', None, {'python': 'Scheduler.each', 'gjs': 'Scheduler.each', 'web': 'Extras.each',
                                                 'rust': 'Scheduler.in_slices'}),
    ('run only the latest', None, {'python': 'Scheduler.latest', 'gjs': 'Scheduler.latest', 'web': 'Extras.latest'}),
    ('the task signal of the running task', 'SchedulingState.get_cancellable', {
        'python': 'Scheduler.current_signal', 'gjs': 'Scheduler.current_signal', 'web': 'Extras.currentTaskSignal'}),
    ('run a function in a thread', 'Scheduler.run_in_thread', {'gjs': None}),
    ('run a function in a worker', 'Worker.run', {'gjs': None}),
    ('run a function before the next task', 'Scheduler.queue_microtask', {'web': 'queueMicrotask'}),
    ('run a function when there is nothing else to do', 'Scheduler.request_idle_callback', {'web': 'requestIdleCallback'}),
    ('how many tasks are pending', 'Scheduler.count_pending', {}),
    ('stop running tasks for a while', 'Scheduler.pause', {}),
    ('how long tasks run at a time', 'Scheduler.get_time_slice', {}),
    ('a controller of tasks', 'TaskController.new', {}),
    ('the task signal to post tasks with', 'TaskController.get_signal', {}),
    ('abort the tasks of a task signal', 'TaskController.abort', {}),
    ('change their priority', 'TaskController.set_priority', {}),
    ('whether a task signal is aborted', 'TaskSignal.is_aborted', {}),
    ('why it is aborted', 'TaskSignal.dup_reason', {}),
    ('a task signal that others abort', 'TaskSignal.new_any', {'python': 'TaskSignal.any', 'gjs': 'TaskSignal.any', 'web': 'TaskSignal.any'}),
    ('a task signal that is aborted after a time', 'TaskSignal.new_timeout', {'web': 'AbortSignal.timeout'}),
    ('cancel one task', 'Task.cancel', {'python': 'Future.cancel', 'gjs': None, 'rust': 'JoinHandle.abort'}),
    ('a group with a limit', 'TaskGroup.new', {}),
    ('post a task of a group', 'TaskGroup.post_task', {'rust': 'TaskGroup.spawn_local'}),
    ('ask for the next item when a task of a group ends', 'Feed.new', {'python': 'TaskGroup.feed', 'gjs': 'TaskGroup.feed'}),
    ('load the visible rows of a list', 'Feed.new_for_model', {'python': 'TaskGroup.feed_model', 'gjs': 'TaskGroup.feed_model'}),
    ('how many tasks a group has', 'TaskGroup.get_n_tasks', {}),
    ('wait for the tasks of a group', 'TaskGroup.wait_async', {'python': 'TaskGroup.drained', 'gjs': 'TaskGroup.drained'}),
    ('abort the tasks of a group', 'TaskGroup.abort', {}),
    ('cancel tasks of a group that have not started', 'TaskGroup.cancel_pending', {}),
    ('count tasks, and their times', 'Scheduler.get_statistics', {}),
    ('report tasks that take long', 'Scheduler.add_long_task_func', {}),
]


def names_of_gir(path):
    """Returns {Class.name: C's name}."""
    names = {}
    for owner in ElementTree.parse(path).getroot().find(f'{CORE}namespace'):
        for function in owner:
            if function.get(C) and function.get('moved-to') is None:
                names[f'{owner.get("name")}.{function.get("name")}'] = function.get(C)
    return names


def names_of_vapi(path):
    names, owner = set(), None
    for line in pathlib.Path(path).read_text(encoding='utf-8').splitlines():
        if opening := re.match(r'\t+public (?:abstract |sealed )?(?:class|struct|interface) (\w+)', line):
            owner = opening[1]
        elif member := re.match(r'\t\tpublic .*?([\w.]+) (?:\(|{)', line):
            name = member[1].removeprefix('@')
            names.add(f'{owner}.new' if name == owner else f'{owner}.{name}' if '.' not in name else f'{name.replace(".", ".new_", 1)}')
            names.add(f'{owner}.{name.split(".")[-1]}')
    return names


def names_of_python():
    names = set()
    for node in ast.parse((TOP / 'introspection/python/gi-stubs/repository/PrioSched.pyi').read_text(encoding='utf-8')).body:
        if isinstance(node, ast.ClassDef):
            names.update(f'{node.name}.{member.name}'.replace('.__init__', '.new') for member in node.body if isinstance(member, ast.FunctionDef))
    return names


def names_of_typescript(path, prefix=''):
    spec = importlib.util.spec_from_file_location('references', HERE / 'make-references.py')
    references = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(references)
    names, text = set(), path.read_text(encoding='utf-8')
    for kind, owners, _, declaration, _ in references.declarations(text[text.index('namespace PrioSched {'):]):
        if kind != 'member' or (prefix and owners[1:2] != (prefix,)):
            continue
        owner = owners[-1] if owners[-1] != prefix else ''
        for name in re.findall(r"^ *(?:(?:static|get|set|const|function|readonly) )*(?:\['(\w+)'\]|(\w+))", declaration, re.MULTILINE):
            names.add('.'.join(filter(None, (owner, (name[0] or name[1]).replace('constructor', 'new')))))
    return names


def names_of_rust():
    """Returns {Class.name: C's name or None}."""
    names, owner, alias = {}, '', None
    for path in sorted((TOP / 'rust/prio-sched/src').glob('*.rs')):
        for line in path.read_text(encoding='utf-8').splitlines():
            if opening := re.match(r'impl(?:<.*?>)? (?:Default for )?(\w+)', line):
                owner = opening[1]
            elif said := re.match(r' *#\[doc\(alias = "(prio_\w+)"\)\]', line):
                alias = said[1]
            elif function := re.match(r'( *)(?:pub )?(?:async )?fn (\w+)', line):
                if 'pub ' in line or function[2] == 'default':
                    names[f'{owner}.{function[2]}' if function[1] else function[2]] = alias
                alias = None
    return names


def camel(name):
    return re.sub(r'_(.)', lambda letter: letter[1].upper(), name)


class Names:
    def __init__(self, gir, vapi):
        types = TOP / 'introspection/gjs'
        self.gir, self.rust = names_of_gir(gir), names_of_rust()
        if gone := [function for _, function, _ in ROWS if function and function not in self.gir]:
            raise SystemExit(f'the GIR has no {", ".join(gone)}')
        self.known = {'vala': names_of_vapi(vapi), 'python': names_of_python(), 'rust': set(self.rust),
                      'gjs': names_of_typescript(types / 'priosched-1.d.ts') | names_of_typescript(types / 'priosched-1-inside.d.ts'), 'web': names_of_typescript(types / 'priosched-1-web.d.ts', 'web')}

    def candidates(self, language, function):
        """Names that follow from the function's, the best first."""
        owner, name = function.split('.')
        if language == 'c':
            return [function]
        if language == 'rust':
            return [known for known, alias in self.rust.items() if alias == self.gir[function]]
        noun = re.sub(r'^(?:get|set|is|dup)_', '', name)
        if language == 'web':
            owners = ('Extras', 'Scheduler') if owner == 'Scheduler' else (owner, owner.replace('Task', 'Abort'))
            return [f'{owner}.{camel(each)}' for owner in owners for each in (noun, name)]
        if language == 'vala' or name.startswith(('set_', 'is_')) and f'{owner}.{name}' in self.known[language] and noun == 'priority':
            return [function]
        return [f'{owner}.{noun}', function]

    def name(self, language, function, given):
        """Returns the name of a function in a language, or None."""
        if language in given:
            name = given[language]
            if name is not None and name not in self.known[language]:
                raise SystemExit(f'{LANGUAGES[language]} has no {name}')
            found = function and next((each for each in self.candidates(language, function) if each in self.known[language]), None)
            if found == name and name is not None:
                raise SystemExit(f'{name} follows from {function}: ROWS need not give it')
            return name
        if function is None:
            return None
        if language == 'c':
            return self.gir[function]
        return next((each for each in self.candidates(language, function) if each in self.known[language]), None)

    def row(self, what, function, given):
        cells = [what]
        for language in LANGUAGES:
            name = self.name(language, function, given)
            if name is not None and language == 'rust':
                name = name.replace('.', '::')
            if name is not None and language in ('python', 'gjs', 'web'):
                name = re.sub(r'^(\w+)\.new$', r'new \1' if language != 'python' else r'\1', name).replace('Extras.', 'extras.')
            if name is not None and language == 'vala':
                name = re.sub(r'^(\w+)\.new$', r'new \1', name)
            cells.append('–' if name is None else f'`{name}`')
        return f'| {" | ".join(cells)} |'

    def table(self):
        head = [f'| to | {" | ".join(LANGUAGES.values())} |', f'|{" --- |" * (len(LANGUAGES) + 1)}']
        return '\n'.join([*head, *(self.row(*row) for row in ROWS)]) + '\n'


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--update', action='store_true')
    parser.add_argument('gir')
    parser.add_argument('vapi')
    arguments = parser.parse_args()
    path = HERE / 'names.md'
    text = path.read_text(encoding='utf-8')
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    made = before + BEGIN + Names(arguments.gir, arguments.vapi).table() + END + after
    if arguments.update:
        path.write_text(made, encoding='utf-8')
    elif made != text:
        sys.exit(f'the table of names is out of date: {" ".join(sys.argv[:1])} --update {arguments.gir} {arguments.vapi}')


if __name__ == '__main__':
    main()
