"""cases.py: reads the tests' sources: each test with its place, its command, and the names that it uses

It is used by tests/find.  A test in C is registered by g_test_add () or a similar function, with the functions of its file
that it uses; in Python a method test_…, in JavaScript a test (…), in Vala a function check_…; and a file that is one test.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import ast
import collections
import functools
import pathlib
import re
import shlex

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ('library', 'library/model', 'bindings', 'programs', 'repository')
# These call all functions, so they say little about each.
BROAD = re.compile('hostile|misuse|stress|crossings|check-types|conformance|wrong|bad-input')
LANGUAGES = {'.c': 'C', '.py': 'Python', '.js': 'GJS', '.vala': 'Vala'}


def read(path):
    return path.read_text(encoding='utf-8')


def blank(match):
    return re.sub(r'[^\n]', ' ', match[0])


def without_comments(text):
    """Replaces comments by blanks of the same length, so that lines can be counted."""
    return re.sub(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/|//[^\n]*',
                  lambda match: match[0] if match[0][0] == '"' else blank(match), text, flags=re.DOTALL)


def line_at(text, position):
    return text.count('\n', 0, position) + 1


@functools.lru_cache(None)
def names_in(text):
    """Returns how often each name occurs; a name after a dot counts with the dot, too."""
    found = collections.Counter(re.findall(r'[A-Za-z_]\w+', text))
    found.update(re.findall(r'\.[A-Za-z_]\w+', text))
    return found


def camel(name):
    return re.sub(r'_(\w)', lambda match: match[1].upper(), name)


def snake(name):
    return re.sub(r'(?<=[a-z0-9])(?=[A-Z])', '_', name).lower()


@functools.lru_cache(None)
def stem(word):
    word = word.lower()
    for end in ('ings', 'ing', 'ies', 'ed', 'es', 's', 'e', 'y'):
        if word.endswith(end) and len(word) - len(end) >= 3:
            word = word[:-len(end)]
            break
    return word


def stems(text):
    """Returns the stems of words, and of the words in names."""
    return {stem(word) for word in re.findall(r'[A-Za-z]{2,}', re.sub(r'(?<=[a-z])(?=[A-Z])', ' ', text).replace('_', ' '))}


class Case:
    def __init__(self, path, line, title, run, comment='', about='', code=''):
        self.path, self.line, self.title, self.run, self.comment = path, line, title, run, comment
        self.language = LANGUAGES.get(path.suffix, '')
        self.is_whole = False
        self.is_broad = bool(BROAD.search(f'{path.name} {title}'))
        # The names in its body; and the names in functions that it uses, of its file and of headers.
        self.own, self.near, self.far = names_in(code), collections.Counter(), collections.Counter()
        self.fields = [(8, stems(f'{title} {path.stem}')), (4, stems(comment)), (2, stems(about)), (1, stems(code))]

    def __str__(self):
        place = f'{self.path.relative_to(ROOT)}:{self.line}'
        shown = '' if self.title in self.run else f'  “{self.title}”'
        return f'{place}{shown}  {self.run}'


def reached(names, functions):
    """Returns the names in `functions`, a text for each name, when they are used, directly and by one another."""
    found, todo, seen = collections.Counter(), list(names), set(names)
    while todo:
        text = functions.get(todo.pop())
        if text is not None:
            named = names_in(text)
            found += named
            todo += named.keys() - seen
            seen |= named.keys()
    return found


# meson.build: which test runs which file

def arguments(text, start):
    """Returns the text between the parenthesis before `start` and the matching one."""
    depth = 1
    for match in re.compile(r"'(?:\\.|[^'\\])*'|[()\[\]]").finditer(text, start):
        depth += {'(': 1, '[': 1, ')': -1, ']': -1}.get(match[0], 0)
        if depth == 0:
            return text[start:match.start()]
    return text[start:]


@functools.lru_cache(None)
def meson_tests(folder):
    """Returns the names of the tests in the meson.build of a folder, by the files that they run."""
    variables, tests = {}, collections.defaultdict(list)
    for build in (ROOT / 'tests/meson.build', folder / 'meson.build'):
        text = re.sub(r'(?m)^\s*#.*', '', read(build))
        for match in re.finditer(r'(\w+) = (?:executable|files) ?\(', text):
            variables[match[1]] = re.findall(r"'([^']*\.\w+)'", arguments(text, match.end()))
        for match in re.finditer(r'\btest\s?\(', text):
            given = arguments(text, match.end())
            name = re.match(r"\s*'([^']*)'\s*,", given)
            if not name:
                continue
            files = re.findall(r"'([^']*\.\w+)'", given)
            for word in set(re.findall(r'\b\w+\b', given)) & variables.keys():
                files += variables[word]
            for file in files:
                tests[file.rpartition('/')[2]].append(name[1])
    return tests


def meson_run(path):
    """Returns the command that runs the whole file."""
    names = meson_tests(path.parent).get(path.name)
    name = names[0] if names else re.sub('^test-', '', path.stem) if path.suffix == '.c' else path.name
    return f'meson test -C build {shlex.quote(name)}'


# C

C_FUNCTION = re.compile(r'^(\w+) \([^;{}]*?\)\n\{\n(.*?)^\}', re.MULTILINE | re.DOTALL)
C_MACRO = re.compile(r'^#define (\w+)(?:\(([^)]*)\))?((?:.*\\\n)*.*)', re.MULTILINE)


@functools.lru_cache(None)
def c_parts(path):
    """Returns the text, and the text of each function and macro."""
    text = without_comments(read(path))
    parts = {match[1]: match[2] for match in C_FUNCTION.finditer(text)}
    parts.update({match[1]: match[3] for match in C_MACRO.finditer(text)})
    return text, parts


@functools.lru_cache(None)
def c_headers(path):
    """Returns the functions of the included headers beside it, direct and indirect."""
    parts = {}
    for name in re.findall(r'^#include "([\w./-]+)"', read(path), re.MULTILINE):
        header = path.parent / name
        if header.is_file():
            parts.update(c_headers(header))
            parts.update(c_parts(header)[1])
    return parts


def comment_before(text, position):
    """Returns the comment that ends right before the definition at `position`."""
    match = re.search(r'/\*((?:(?!\*/).)*)\*/\n(?:[\w *]+\n)?\Z', text[max(0, position - 2000):position], re.DOTALL)
    return match[1] if match else ''


def heading(text):
    match = re.match(r'(?:#!.*\n)?(?:/\*|//|"""|#)(.*)', text)
    return match[1] if match else ''


def c_registrations(parts):
    """Returns the functions that register tests, g_test_add () and similar ones, and the macros and functions that call
    them, with their prefix.
    """
    adds = {'g_test_add': '', 'g_test_add_func': '', 'g_test_add_data_func': ''}
    for name, body in parts.items():
        match = re.search(r'g_test_add\w* \(\s*("[^"]*")?\s*(\w+),', body)
        if match and name != 'main' and not re.search(r'g_test_init', body):
            adds[name] = (match[1] or '').strip('"')
    return adds


def c_path(given, before, prefix):
    """Returns the path of a test from its first argument: a string, or a variable with a format, of which the beginning is known."""
    if given.startswith('"'):
        return prefix + ''.join(re.findall(r'"([^"]*)"', given))
    formats = re.findall(rf'\b{re.escape(given)} = g_strdup_printf \("([^"]*)"', before)
    return re.sub(r'/?%.*', '', formats[-1]) if formats else None


def c_cases(path):
    original = read(path)
    text, parts = c_parts(path)
    headers = c_headers(path)
    adds = c_registrations({**headers, **parts})
    places = {match[1]: match for match in C_FUNCTION.finditer(text)}
    about = heading(original)
    program = f'build/tests/{path.parent.relative_to(ROOT / "tests")}/{path.stem}'
    cases = []
    for match in re.finditer(r'\b(\w+) \(', places['main'][0] if 'main' in places else ''):
        if match[1] not in adds:
            continue
        main = places['main'][0]
        given = [part.strip() for part in re.split(r',(?![^(]*\))', arguments(main, match.end()))]
        function = next((part for part in given[1:] if part in places and re.search(r'test|check', part)), None) or \
            next((part for part in given[1:] if part in places), None)
        test_path = c_path(given[0], main[:match.start()], adds[match[1]])
        if function is None or test_path is None:
            continue
        at = places[function].start()
        run = meson_run(path) if path.parent.name == 'programs' else f'{program} -p {shlex.quote(test_path)}'
        case = Case(path, line_at(text, at), test_path, run, comment_before(original, at), about, places[function][2])
        # Including its set-up function.
        used = set(case.own) | names_in(' '.join(given) + parts.get(match[1], headers.get(match[1], ''))).keys()
        case.near = reached(used, {name: part for name, part in parts.items() if name not in ('main', function)})
        case.far = reached(used | case.near.keys(), headers)
        cases.append(case)
    return cases


# The bindings

def python_cases(path):
    text = read(path)
    module = ast.parse(text)
    lines = text.splitlines()

    def code(node):
        return '\n'.join(lines[node.lineno - 1:node.end_lineno])

    def named(node):
        return {part.attr if isinstance(part, ast.Attribute) else part.id for part in ast.walk(node)
                if isinstance(part, (ast.Attribute, ast.Name))}

    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    about = (ast.get_docstring(module) or '').partition('\n')[0]
    helpers = {node.name: code(node) for node in module.body if isinstance(node, functions)}
    alone = f'meson devenv -C build python3 ../{path.relative_to(ROOT)}' if 'sys.argv' not in text else None
    cases = []
    for kind in module.body:
        methods = [node for node in getattr(kind, 'body', []) if isinstance(node, functions)]
        if not isinstance(kind, ast.ClassDef) or not any(node.name.startswith('test_') for node in methods):
            continue
        shared = {**helpers, **{node.name: code(node) for node in methods if not node.name.startswith('test_')}}
        for node in methods:
            if not node.name.startswith('test_'):
                continue
            title = f'{kind.name}.{node.name}'
            doc = ' '.join(ast.get_docstring(part) or '' for part in (node, kind))
            case = Case(path, node.lineno, title, f'{alone} {title}' if alone else meson_run(path), doc, about, code(node))
            case.near = reached(named(node) | {'setUp', 'tearDown'}, shared)
            cases.append(case)
    return cases


JS_TEST = re.compile(r'^( *)(?:test|exactly|testExactly)\((?:([\'"`])(.*?)\2|name), (?!body)', re.MULTILINE)


def js_cases(path):
    original = read(path)
    text = re.sub(r'(?m)^\s*//[^\n]*', blank, original)
    top = [match.start() for match in re.finditer(r'(?m)^[A-Za-z]', text)] + [len(text)]
    helpers = {}
    for start, end in zip(top, top[1:]):
        match = re.match(r'(?:async )?(?:function\*? |const |let |var |class )(\w+)', text[start:end])
        if match:
            helpers[match[1]] = text[start:end]
    cases = []
    for match in JS_TEST.finditer(text):
        end = re.compile(rf'^{match[1]}\S', re.MULTILINE).search(text, match.end())
        code = text[match.start():end.start() if end else len(text)]
        before = re.search(r'((?:^ *//.*\n)+)\Z', original[:match.start()], re.MULTILINE)
        case = Case(path, line_at(text, match.start()), match[3] or 'each of a list', meson_run(path), before[1] if before else '',
                    heading(original), code)
        case.near = reached(case.own.keys(), helpers)
        cases.append(case)
    return cases


def vala_cases(path):
    original = read(path)
    text = without_comments(original)
    functions = {match[1]: match for match in re.finditer(r'^[\w<>* ]+ (\w+) \([^;]*?\{\n(.*?)^\}', text, re.MULTILINE | re.DOTALL)}
    bodies = {name: match[2] for name, match in functions.items()}
    cases = []
    for name, match in functions.items():
        if name.startswith('check_'):
            before = re.search(r'((?:^//.*\n)+)\Z', original[:match.start()], re.MULTILINE)
            case = Case(path, line_at(text, match.start()), name, meson_run(path), before[1] if before else '', heading(original), match[2])
            case.near = reached(case.own.keys(), {key: body for key, body in bodies.items() if not key.startswith('check_')})
            cases.append(case)
    return cases


READERS = {'.c': c_cases, '.py': python_cases, '.js': js_cases, '.vala': vala_cases}


@functools.lru_cache(None)
def all_cases():
    cases = []
    for folder in FOLDERS:
        for path in sorted((ROOT / 'tests' / folder).iterdir()):
            found = READERS[path.suffix](path) if path.suffix in READERS else []
            # A file that is one test: a check, random programs, vectors.
            if not found and path.suffix in READERS and meson_tests(path.parent).get(path.name):
                text = read(path)
                about = re.match(r'[^\n]*\n(?:\n?.+\n){0,6}', text)[0]
                code = without_comments(text) if path.suffix == '.c' else '' if path.name == 'check-find.py' else text
                found = [Case(path, 1, heading(text).strip() or path.name, meson_run(path), about, '', code)]
                found[0].is_whole = True
            cases += found
    return cases
