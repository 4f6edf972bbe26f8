"""Counts the size of the library, and how much its folders use each other and GLib.

    check-counts.py SOURCE

SOURCE is the project's folder.  It prints, of prio-sched:

  - the lines of code of each folder, without comments and blank lines, and all lines,
  - the fields of PrioLoop, the files outside loop/ that name one, and the files that name a part that belongs to another file,
  - the stations of the options of each way to post: the functions between a public function and its queue that take, test or
    copy an option,
  - the files that use private members of GLib,
  - the includes in rooms beside the engine that name a room of the engine.

It fails if there are more lines than LINES and ALL_LINES allow, if a closed room includes a room of the
engine, if an include has `..`, if PrioLoop has more than 25 fields, if a file outside loop/ names one, or a part that belongs to
another file, or if prio_scheduler_post_full () has more stations than its bound.  It also fails if it misses planted errors, or finds
nothing to count.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import collections
import pathlib
import re
import sys

COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
# A function begins at the left margin, with its return type in the line before or in the same line.
FUNCTION = re.compile(r'^(?P<type>(?:[\w *]+\n)?[\w *]*?)(?P<name>\w+) \((?P<parameters>[^;{}]*?)\)\n\{\n(?P<body>.*?)^\}',
                      re.DOTALL | re.MULTILINE)
# A call, or the operation that is sent to another thread.
CALL = re.compile(r'\b(\w+) \(|\.apply = (\w+)')
# The fields of PrioTaskOptions, variables made of them, and the records that contain them; but not fields of PrioLoop.
OPTION = re.compile(r'\b(?<!loop->)(?:options|priority|timeout|signal|delay|name|source_object|source_tag|takes_turns'
                    r'|expiry|due|registration|PrioOp|PrioTimedOp|PrioPost|PostJobOp|PostTaskOp)\b')
PRIVATE = {
    'the callback of a source': r'->callback_(?:funcs|data)\b',
    'the context of a source': r'\bsource->context\b',
    'frozen notifications': r'"GObject-notify-queue"',
    'fields of GObject': r'->(?:ref_count|qdata)\b',
}
MOST_FIELDS = 25
# The modules that may name members of a record in PrioLoop, in addition to loop, which makes and frees all.
OWNERS = {
    'users': (), 'store': (), 'sources': ('loop-source', 'lane'), 'releases': ('loop-end',), 'between': ('dispatch', 'checkpoint', 'loop-end'),
    'run_queues': ('run-queue', 'observer', 'loop-end'), 'aborted': ('run-queue-group',), 'current': ('current',), 'frames': ('frames',),
    'input': ('yield', 'dispatch', 'loop-source', 'time'), 'watched': ('observer',),
}
# Rooms that are built on the engine, and do not count as part of it; and rooms that see only engine/open/.
BESIDE = ('public headers', 'above', 'watch', 'bindings')
CLOSED = re.compile(r'watch/|bindings/|above/|base/')
PART = re.compile(rf'\bloop->({"|".join(OWNERS)})\.(\w+)')
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
# The most lines: of code, and of all of prio-sched/ with comments and blank lines.
LINES = {'engine/ with base/': 14100, 'prio-sched/': 19610}
ALL_LINES = 31290
# The most stations, and the most modules that have them.
BOUNDS = {'prio_scheduler_post_full': (40, 12)}
WAYS = ('prio_scheduler_post', 'prio_scheduler_post_full', 'prio_scheduler_post_task', 'prio_task_group_post_task')


def without_comments(text):
    return COMMENT_OR_STRING.sub(lambda match: '\n' * match[0].count('\n') if match[0].startswith('/') else match[0], text)


def lines_of_code(text):
    return sum(1 for line in text.splitlines() if line.strip())


def fields_of(struct, text):
    body = re.search(rf'^struct {struct}\n\{{\n(.*?)^\}};', text, re.DOTALL | re.MULTILINE)[1]
    for declaration in body.split(';')[:-1]:
        function = re.search(r'\(\*(\w+)\)', declaration)
        yield from [function[1]] if function else re.findall(r'(\w+)\s*(?:\[[^]]*\])?\s*(?:,|$)', declaration.replace('PRIO_CACHE_ALIGNED', ''))


class Calls:
    """Finds the functions of all files, and the functions that they call."""

    def __init__(self, texts):
        self.of_file = collections.defaultdict(dict)
        self.shared = {}
        for path, text in texts.items():
            for match in FUNCTION.finditer(text):
                function = (match['name'], path)
                self.of_file[path][match['name']] = function, match
                if path.suffix == '.h' or 'static' not in match['type']:
                    self.shared[match['name']] = function, match

    def stations(self, name):
        """Returns the functions that handle an option, from the function name to queue/."""
        seen, ahead, stations = set(), [self.shared[name]], []
        while ahead:
            (function, match) = ahead.pop()
            if function in seen:
                continue
            seen.add(function)
            if OPTION.search(match['parameters'] + match['body']):
                stations.append(function)
            path = function[1]
            if path.parts[0] != 'queue':
                called = [self.of_file[path].get(call or operation) or self.shared.get(call or operation)
                          for call, operation in CALL.findall(match['body'])]
                ahead += [found for found in called if found]
        return stations


def count_lines(texts):
    lines = collections.Counter()
    for path, text in texts.items():
        lines[path.parts[0] if len(path.parts) > 1 else 'public headers'] += lines_of_code(text)
    for folder, number in sorted(lines.items()):
        print(f'{number:6} lines of code: {folder}')
    numbers = {'engine/ with base/': sum(number for folder, number in lines.items() if folder not in BESIDE), 'prio-sched/': lines.total()}
    for what, number in numbers.items():
        print(f'{number:6} lines of code: {what}, of at most {LINES[what]}')
    return lines.total() if all(number <= LINES[what] for what, number in numbers.items()) else 0


def count_all_lines(texts):
    number = sum(text.count('\n') for text in texts)
    print(f'{number:6} lines: prio-sched/ with comments and blank lines, of at most {ALL_LINES}')
    return number if number <= ALL_LINES else 0


def includes_of_engine(texts):
    """Yields where a closed room includes the engine: (path, name)."""
    rooms = {path.parts[0] for path in texts if len(path.parts) > 1} - {*BESIDE, 'base', 'open'}
    return [(path, name) for path, text in texts.items() for name in INCLUDE.findall(text)
            if '..' in name or (CLOSED.match(str(path)) and name.split('/')[0] in {*rooms, 'engine'})]


def count_includes(texts):
    wrong = includes_of_engine(texts)
    print(f'{len(wrong):6} includes of the engine where it is closed:', *(f'\n       {path}: {name}' for path, name in wrong))
    return not wrong


def count_fields(texts):
    fields = [*fields_of('_PrioLoop', texts[pathlib.PurePath('loop/prio-loop-private.h')])]
    named = re.compile(rf'\bloop->({"|".join(fields)})\b')
    outside = {path: sorted({*named.findall(text)}) for path, text in texts.items() if path.parts[0] != 'loop' and named.search(text)}
    print(f'{len(fields):6} fields of PrioLoop, and {len(outside)} files outside loop/ name one:')
    for path, names in outside.items():
        print(f'       {path}: {" ".join(names)}')
    foreign = [(path, *found) for path, text in texts.items() for found in PART.findall(text)
               if re.sub(r'(?:-private)?\.[ch]$', '', path.name.removeprefix('prio-')) not in (*OWNERS[found[0]], 'loop')]
    print(f'{len(foreign):6} times a part of one is named that is another file\'s:', *(f'\n       {path}: {part}.{name}' for path, part, name in foreign))
    return len(fields) if len(fields) <= MOST_FIELDS and not outside and not foreign else 0


def count_stations(texts):
    """Returns whether each way keeps its bound."""
    calls = Calls(texts)
    keep = True
    for way in WAYS:
        stations = calls.stations(way)
        modules = {re.sub(r'(?:-private)?\.[ch]$', '', str(path)) for _, path in stations}
        print(f'{len(stations):6} stations of the options of {way} (), in {len(modules)} modules')
        bound = BOUNDS.get(way)
        if not stations or (bound and (len(stations) > bound[0] or len(modules) > bound[1])):
            print(f'There are none, or more than {bound}:', *sorted(f'\n       {path}: {name}' for name, path in stations))
            keep = False
    return keep


def count_private(texts):
    found = {what: [str(path) for path, text in texts.items() if re.search(pattern, text)] for what, pattern in PRIVATE.items()}
    print(f'{len({path for paths in found.values() for path in paths}):6} files use private parts of GLib:')
    for what, paths in found.items():
        print(f'       {what}: {" ".join(paths) or "none"}')


def check_planted():
    planted = {'watch/prio-a.c': '#include "loop/prio-b.h"\n', 'watch/prio-b.c': '#include "base/prio-c.h"\n', 'loop/prio-b.h': ''}
    found = includes_of_engine({pathlib.PurePath(path): text for path, text in planted.items()})
    assert found == [(pathlib.PurePath('watch/prio-a.c'), 'loop/prio-b.h')], found

    posts = {'post/prio-a.c': 'static void\nkeep (gint64 due)\n{\n}\n\n'
                              'static void\nop_post (const PrioOp *op)\n{\n  keep (op->due);\n  forget ();\n}\n\n'
                              'void\npost (int priority)\n{\n  PrioOp op = { .apply = op_post };\n  append (priority);\n}\n',
             'queue/prio-b.c': 'void\nappend (int priority)\n{\n  deeper (priority);\n}\n',
             'queue/prio-c.c': 'void\ndeeper (int priority)\n{\n}\n\nvoid\nforget (void)\n{\n}\n'}
    stations = Calls({pathlib.PurePath(path): text for path, text in posts.items()}).stations('post')
    assert {name for name, _ in stations} == {'post', 'op_post', 'keep', 'append'}, stations

    fields = [*fields_of('_A', 'struct _A\n{\n  int a, *b;\n  void (*c) (int d, int e);\n  PRIO_CACHE_ALIGNED B f[2];\n};\n')]
    assert fields == ['a', 'b', 'c', 'f'], fields
    assert lines_of_code(without_comments('a /* b\n c */\n\n// d\ne = "/* f";\n')) == 2


def main(source):
    check_planted()
    folder = pathlib.Path(source) / 'prio-sched'
    files = {pathlib.PurePath(str(path.relative_to(folder)).removeprefix('engine/')): path.read_text(encoding='utf-8')
             for path in sorted(folder.rglob('*')) if path.name.endswith(('.c', '.h', '.h.in'))}
    texts = {path: without_comments(text) for path, text in files.items()}
    counted = [count_lines(texts), count_all_lines(files.values()), count_fields(texts), count_stations(texts), count_includes(texts)]
    count_private(texts)
    return 0 if all(counted) else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
