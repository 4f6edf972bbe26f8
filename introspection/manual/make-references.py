"""Makes the manual's references of Python and JavaScript, from the types and the docstrings that people's editors show.

    make-references.py GIR PYI OVERRIDES FOLDER D.TS…

GIR has the functions of C: what the overrides do not document is theirs, and a link leads there.  OVERRIDES is the folder of the
overrides for Python.  Writes reference-python.md and reference-javascript.md into FOLDER.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import ast
import pathlib
import re
import sys
import textwrap
import xml.etree.ElementTree as ElementTree

CORE = '{http://www.gtk.org/introspection/core/1.0}'
MOST = 90  # columns of a signature
KINDS = {'method': 'method', 'function': 'func', 'constructor': 'ctor'}
PYTHON = """Title: Reference for Python

# Reference for Python

All of `PrioSched` in Python, by class. The guides to it are [getting started in Python](start-python.html) and [Python, in detail](python.html); the
[cookbook](cookbook.html) has examples.

`_Priority` is a [enum@PrioSched.TaskPriority], or its name: `'background'`, `'user-visible'` or `'user-blocking'`. Another value raises `ValueError`. `_Signal` is a
[class@PrioSched.TaskSignal] or any other `Gio.Cancellable`; something else raises `TypeError`. Times are in milliseconds. A post with an aborted signal raises the
reason where it is awaited: `PrioSched.AbortError`, unless the program gave another. The reason of a timeout is `GLib.Error`, with `Gio.IOErrorEnum.TIMED_OUT`. `_T` is the type of
a result.
"""
JAVASCRIPT = """Title: Reference for JavaScript

# Reference for JavaScript

All of `PrioSched` in GJS, by class, with the types of TypeScript. The guides to it are [getting started in JavaScript](start-javascript.html) and
[JavaScript, in detail](javascript.html); the [cookbook](cookbook.html) has examples.

A wrong argument throws a `TypeError` or a `RangeError` that names it. Times are in milliseconds. A post with an aborted signal rejects with the reason: an
error for which `error instanceof PrioSched.AbortError` holds, unless the program gave another. It does not hold for a timeout.
"""


def functions_of_gir(path):
    """Returns {(class or None, name): link}."""
    links = {}
    namespace = ElementTree.parse(path).getroot().find(f'{CORE}namespace')
    for owner in [namespace, *namespace]:
        of = None if owner is namespace else owner.get('name')
        for kind, link in KINDS.items():
            for function in owner.findall(f'{CORE}{kind}'):
                if function.get('introspectable') != '0' and function.find(f'{CORE}doc') is not None:
                    name = function.get('name')
                    links[of, name] = f'[{link}@PrioSched.{of}.{name}]' if of else f'[func@PrioSched.{name}]'
    return links


def hidden(toml):
    """Returns the names without a page in the manual."""
    found = set()
    for block in toml.split('[[object]]')[1:]:
        owner = re.search(r'^(?:name|pattern) = "(.*)"', block, re.MULTILINE)[1]
        inner = re.findall(r'^ +(?:name|pattern) = "(.*)"', block, re.MULTILINE)
        found.update((owner, name) for name in inner or ['.*'])
    return found


def is_hidden(of, name, patterns):
    return any(re.fullmatch(owner, of or '') and re.fullmatch(inner, name) for owner, inner in patterns)


def docstrings(folder):
    """Returns {(class or None, name): docstring}, of all modules of the overrides."""
    found = {}
    for path in sorted(folder.rglob('*.py')):
        for node in ast.parse(path.read_text(encoding='utf-8')).body:
            for of, each in ([(node.name, inner) for inner in node.body] if isinstance(node, ast.ClassDef) else []) + [(None, node)]:
                if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and ast.get_docstring(each):
                    found.setdefault((of, each.name), ast.get_docstring(each))
    return found


def paragraphs(doc):
    """Returns a docstring as Markdown: a paragraph whose lines have two spaces between a name and its meaning is a list."""
    for part in doc.split('\n\n'):
        rows = re.findall(r'^([\w*][\w, *]*?) {2,}(\S.*(?:\n {2,}\S.*)*)$', part, re.MULTILINE)
        if rows and len('\n'.join('  '.join(row) for row in rows)) > 0.8 * len(part):
            yield '\n'.join(f'- `{name}`: {" ".join(meaning.split())}' for name, meaning in rows)
        else:
            yield part
        yield ''


def python_signature(function):
    arguments = ast.unparse(function.args)
    arguments = re.sub(r'^(self|cls)(, )?', '', arguments)
    result = ast.unparse(function.returns) if function.returns else 'None'
    prefix = 'async def ' if isinstance(function, ast.AsyncFunctionDef) else ''
    line = f'{prefix}{function.name}({arguments}) -> {result}'
    if len(line) <= MOST:
        return line
    # An argument may have commas in brackets.
    parts = re.split(r', (?![^\[]*\])(?=[\w*]+(?::|=|,|$))', arguments)
    return f'{prefix}{function.name}(\n' + ''.join(f'    {part},\n' for part in parts) + f') -> {result}'


class Python:
    def __init__(self, links, patterns, docs):
        self.links, self.patterns, self.docs = links, patterns, docs

    def doc_of(self, of, name):
        doc = self.docs.get((of, name)) or (self.docs.get((None, name)) if of else None)
        if doc:
            return '\n'.join(paragraphs(doc))
        link = self.links.get((of, name))
        return f'As {link} in C.\n' if link else ''

    def functions(self, of, nodes, depth):
        signatures, undocumented = {}, []
        for node in nodes:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and (not node.name.startswith('_') or node.name == '__init__'):
                signatures.setdefault(node.name, []).append(node)
        for name, overloads in signatures.items():
            if is_hidden(of, name, self.patterns):
                continue
            is_property = any(isinstance(d, ast.Name) and d.id == 'property' for d in overloads[0].decorator_list)
            shown = of if name == '__init__' else name
            lines = [python_signature(node).replace('__init__', of or '') for node in overloads]
            if is_property:
                lines = [f'{name}: {ast.unparse(overloads[0].returns)}']
            doc = self.doc_of(of, name)
            if not doc:
                undocumented += dict.fromkeys(lines)
                continue
            yield '\n'.join([f'{"#" * depth} `{shown}{"" if is_property else " ()"}`', '', '```', *dict.fromkeys(lines), '```', '', doc])
        if undocumented:
            yield '\n'.join(['Without a text of their own:', '', '```', *undocumented, '```', ''])

    def page(self, module):
        yield PYTHON
        for node in module.body:
            if isinstance(node, ast.ClassDef) and (node.name == '_Latest' or not node.name.startswith('_')) and not is_hidden(node.name, '', self.patterns):
                parts = list(self.functions(node.name, node.body, 3))
                fields = [ast.unparse(field) for field in node.body if isinstance(field, (ast.AnnAssign, ast.Assign))]
                if parts or fields:
                    yield f'## {node.name}\n'
                    bases = [base for base in map(ast.unparse, node.bases) if not base.startswith(('enum', 'Generic', 'Protocol', 'GObject'))]
                    if bases:
                        yield f'It is a `{bases[0]}`, and has what that has.\n'
                    if fields:
                        yield '```\n' + '\n'.join(fields) + '\n```\n'
                    yield from parts
        yield '## Functions\n'
        yield from self.functions(None, module.body, 3)
        yield 'Next: [Python, in detail](python.html), [cookbook](cookbook.html).\n'


# Only for the compiler.
UNTOLD = re.compile(r'SignalSignatures|ConstructorProps|EventMap|^Runner|^PostResult')
OPENING = re.compile(r'(?:export )?(?:abstract )?(class|interface|namespace|enum) ([\w$]+)[^{]*\{$')
NAME = re.compile(r'(?:(?:static|readonly|function|const|get|set|type|abstract) )*([\w$]+|\[[^\]]*\])')


def declarations(text):
    """Yields declarations of TypeScript: the kind ("member", or a block's), the names of the blocks around it, its own, the text, and
    the comment before it."""
    owners, comment, statement = [], [], []
    lines = iter(text.splitlines())
    for line in lines:
        bare = line.strip()
        if not statement and bare.startswith('/**'):
            comment = [bare]
            while not comment[-1].endswith('*/'):
                comment.append(next(lines).strip())
            continue
        if not bare or not statement and (bare.startswith('//') or bare.endswith('{}')):
            continue
        opening = not statement and OPENING.match(bare)
        if opening:
            yield opening[1], tuple(owners), opening[2], bare.removesuffix('{').strip(), comment
            owners.append(opening[2])
            comment = []
        elif not statement and bare == '}':
            if not owners:  # the module's
                return
            owners.pop()
            comment = []
        else:
            statement.append(line)
            whole = '\n'.join(statement)
            if bare[-1] in ';,' and all(whole.count(a) == whole.count(b) for a, b in ('()', '{}', '[]')):
                name = NAME.match(statement[0].strip())
                yield 'member', tuple(owners), name and name[1], textwrap.dedent(whole).rstrip(';,'), comment
                statement, comment = [], []


def sentence(comment):
    lines = [line.removeprefix('/**').removesuffix('*/').strip().removeprefix('*').strip() for line in comment]
    text = ' '.join(line for line in lines if line)
    return text[:1].upper() + text[1:]


def javascript(paths):
    yield JAVASCRIPT
    blocks = {}
    for path in paths:
        text = path.read_text(encoding='utf-8')
        for kind, owners, name, text, comment in declarations(text[text.index('namespace PrioSched {'):]):
            owner = '.'.join(owners[1:])
            if kind == 'member':
                blocks.setdefault(owner, (None, []))[1].append((name, text, sentence(comment)))
            elif owners:
                key = f'{owner}.{name}' if owner else name
                said, members = blocks.get(key, (None, []))
                base = re.search(r' extends ([\w.]+)', text)
                also = f'It has what `{base[1]}` has, too.' if base and not base[1].startswith('GObject') else ''
                blocks[key] = ' '.join(filter(None, (sentence(comment), also))) or said, members
    # Names outside of blocks come last, as functions.
    for owner, (said, members) in sorted(blocks.items(), key=lambda block: not block[0]):
        if UNTOLD.search(owner):
            continue
        documented = [member for member in members if member[2]]
        others = [text for _, text, doc in members if not doc and '$gtype' not in text]
        if not documented and not others and not said:
            continue
        yield f'## {owner or "Functions and constants"}\n'
        if said:
            yield f'{said}\n'
        for name, text, doc in documented:
            yield '\n'.join([f'### `{name}`', '', '```', text, '```', '', doc, ''])
        if others:
            yield '\n'.join([*(['Without a text of their own:', ''] if documented else []), '```', *others, '```', ''])
    yield 'Next: [JavaScript, in detail](javascript.html), [cookbook](cookbook.html).\n'


def main(gir, pyi, overrides, folder, *types):
    toml = pathlib.Path(__file__).parent.parent / 'prio-sched.toml.in'
    links, patterns = functions_of_gir(gir), hidden(toml.read_text(encoding='utf-8'))
    pages = {'python': Python(links, patterns, docstrings(pathlib.Path(overrides))).page(ast.parse(pathlib.Path(pyi).read_text(encoding='utf-8'))),
             'javascript': javascript([pathlib.Path(path) for path in types])}
    for name, parts in pages.items():
        (pathlib.Path(folder) / f'reference-{name}.md').write_text('\n'.join(parts), encoding='utf-8')


if __name__ == '__main__':
    main(*sys.argv[1:])
