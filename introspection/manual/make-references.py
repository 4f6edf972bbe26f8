"""Writes the manual's references of Python and JavaScript, from the types and the docstrings that editors show.

    make-references.py PYI OVERRIDES FOLDER D.TS…

OVERRIDES is the folder of the overrides for Python.  Writes reference-python.md and reference-javascript.md into FOLDER; if that is -, it
only checks the texts.  An entry has the docstring in PYI or else in OVERRIDES, or the comment in D.TS.  entries.md, beside this file, has
the meanings of parameters, and examples; both references use them.

Fails if a public entry has no sentence, or if the text of an entry has a name of C.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import ast
import pathlib
import re
import sys
import textwrap

HERE = pathlib.Path(__file__).parent
PYTHON = """Title: Reference for Python

# Reference for Python

All of `PrioSched` in Python, by class. The guides to it are [getting started in Python](start-python.md) and [Python, in detail](python.md); the
[cookbook](cookbook.md) has more examples.

These rules hold for all entries:

- A *priority* is a member of `TaskPriority` or its name: `'background'`, `'user-visible'` or `'user-blocking'`. Another value raises `ValueError`.
- A *signal* is a `TaskSignal` or any other `Gio.Cancellable`. Another value raises `TypeError`, and so does an argument of a wrong type.
- Times are in milliseconds, unless the entry says otherwise.
- An `await` of aborted work raises the reason of the abort: `PrioSched.AbortError`, unless the program gave another exception. The reason of a timeout is
  `GLib.Error`, with `Gio.IOErrorEnum.TIMED_OUT`.
- The functions of a scheduler belong to the thread of its main context, unless the entry says that any thread may call them.
"""
JAVASCRIPT = """Title: Reference for JavaScript

# Reference for JavaScript

All of `PrioSched` in GJS, by class, with the types of TypeScript. The guides to it are [getting started in JavaScript](start-javascript.md) and
[JavaScript, in detail](javascript.md); the [cookbook](cookbook.md) has more examples.

These rules hold for all entries:

- A wrong argument throws a `TypeError` or a `RangeError` that names it.
- Times are in milliseconds, unless the entry says otherwise.
- A promise of aborted work is rejected with the reason of the abort: an error for which `error instanceof PrioSched.AbortError` holds, unless the
  program gave another reason. It does not hold for a timeout.
- A property with two words has two names: `time_slice` and `timeSlice` are the same.
- `Nick` is the name of a priority: `'background'`, `'user-visible'` or `'user-blocking'`.
"""
# The order of the classes: others follow in the order of the types.
FIRST = (
    'Scheduler', '', 'PostTaskOptions', 'TimedTaskOptions', 'StepsOptions', 'YieldTaskOptions', 'Latest', 'PostedTask', 'Future', 'TaskController', 'TaskSignal',
    'AbortError', 'TaskGroup', 'TaskGroupOptions', 'FeedOptions', 'WaitOptions', 'Feed', 'Channel', 'ChannelOptions', 'ChannelPace', 'Worker', 'WorkerStop',
    'testing', 'testing.Clock', 'web', 'web.Scheduler', 'web.SchedulerPostTaskOptions', 'web.TaskController', 'web.TaskSignal', 'web.AbortController',
    'web.AbortSignal', 'web.Extras',
)
# Names that only bindings, the compiler or GObject use, in addition to those that the manual hides.
INSIDE = re.compile(r'(?:.*\.)?(?:_(?!Latest\b|_init__$)\w*|\$\w+|size|reserved|value_nick|quark|error_quark|connect(?:_\w+)?|then|new_any\w*|runner_\w+|testing_\w+'
                    r'|idle_deadline_dup_current|scheduling_state_ref_current|ref_current|MICRO_VERSION|MAJOR_VERSION|\w+Class)'
                    r'|(?:.*\.)?(?:SignalSignatures|ConstructorProps|\w*EventMap|FeedRowFunc|TaskFunc|TypeError)(?:\..*)?|(?:.*\.)?protected'
                    r'|(?:Runner|PostResult)\b.*|web\.(?:\w*Options|DOMException|Event|EventTarget|EventInit|EventListener|IdleRequestCallback|AnySignal)(?<!PostTaskOptions)(?<!YieldOptions)(?:\..*)?')
NAME_OF_C = re.compile(r'\bprio_\w+|\bPrio(?!Sched)[A-Z]\w+|\bg_\w+|\bG_[A-Z]\w+|\[\w+@|\bin C\b')
# A name with its arguments, as comments in this project write it.
CALL = re.compile(r'\b([a-z]\w*(?:\.\w+)*) \((\)|\d+\)|\*?[a-z_]+(?:, \*?[a-z_]+…?)*\)|…\))')


def hidden():
    """Returns the names without a page in the manual, as pairs of patterns."""
    found = set()
    toml = (HERE.parent / 'prio-sched.toml.in').read_text(encoding='utf-8')
    for block in toml.split('[[object]]')[1:]:
        owner = re.search(r'^(?:name|pattern) = "(.*)"', block, re.MULTILINE)[1]
        inner = re.findall(r'^ +(?:name|pattern) = "(.*)"', block, re.MULTILINE)
        found.update((owner, name) for name in inner or ['.*'])
    return found


HIDDEN = hidden()


def is_hidden(of, name):
    full = f'{of}.{name}' if of and name else of or name
    return INSIDE.fullmatch(full) is not None or any(re.fullmatch(owner, of) and re.fullmatch(inner, name) for owner, inner in HIDDEN)


class Entries:
    """The texts that both references use, from entries.md: meanings of parameters, and examples."""

    def __init__(self, text):
        parameters, _, examples = text.partition('\n## Examples')
        self.meanings = dict(re.findall(r'^- `([\w.]+)`: (.*)$', parameters, re.MULTILINE))
        self.examples = {}
        for part in examples.split('\n### ')[1:]:
            name, _, blocks = part.partition('\n')
            waiting = {}
            for language, code in re.findall(r'^```(\w+)\n(.*?)^```$', blocks, re.MULTILINE | re.DOTALL):
                if language != 'text':
                    waiting[language] = code
                else:
                    self.examples.update({(of, name): f'```{of}\n{program}```\n\n```text\n{code}```\n' for of, program in waiting.items()})
                    waiting = {}
        self.used = set()

    def meaning(self, full, parameter):
        names = f'{full}.{parameter}'.split('.')
        return next(filter(None, (self.meanings.get('.'.join(names[n:])) for n in range(len(names)))), None)

    def example(self, language, full):
        self.used.add((language, full))
        example = self.examples.get((language, full))
        return f'For example:\n\n{example}' if example else ''


class Reference:
    """A reference in one language.  Collects the errors in its texts."""

    language, title = '', ''

    def __init__(self, entries):
        self.entries, self.errors, self.n_entries = entries, [], 0

    def checked(self, full, text):
        """Returns the text of an entry, with names in its language's style."""
        self.n_entries += 1
        text = CALL.sub(r'\1(\2', text)
        if not re.match(r'[A-Z0-9`\'“][^.]*[.:]', text.replace('\n', ' ')):
            self.errors.append(f'{self.title}: {full} has no sentence: {text[:60]!r}')
        for name in NAME_OF_C.findall(re.sub(r'```.*?```', '', text, flags=re.DOTALL)):
            self.errors.append(f'{self.title}: the text of {full} has a name of C: {name}')
        return text

    def entry(self, full, shown, signatures, text, parameters, depth=3):
        """Writes an entry; parameters are pairs of a name and a meaning."""
        lines = [f'- {name}: {meaning}' for name, meaning in parameters]
        first, _, rest = self.checked(full, text).partition('\n\n')
        return '\n\n'.join(filter(None, [f'{"#" * depth} `{shown}`', f'```\n{chr(10).join(signatures)}\n```', first, '\n'.join(lines), rest.strip(),
                                         self.entries.example(self.language, full)])) + '\n'

    def row(self, full, shown, kind, text):
        """Writes the entry of a value or a field, with its type if there is one."""
        return f'- `{shown}`{kind and f" ({kind})"}: {" ".join(self.checked(full, text).split())}'


def in_order(owners):
    """Returns the classes in their order in the reference."""
    return sorted(owners, key=lambda owner: FIRST.index(owner) if owner in FIRST else len(FIRST))


def docstrings(folder):
    """Returns {(class or '', name): docstring}, of all modules of the overrides."""
    found = {}
    for path in sorted(folder.rglob('*.py')):
        for node in ast.parse(path.read_text(encoding='utf-8')).body:
            for of, each in ([(node.name, inner) for inner in node.body] if isinstance(node, ast.ClassDef) else []) + [('', node)]:
                if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and ast.get_docstring(each):
                    found.setdefault((of, each.name), ast.get_docstring(each))
    return found


# A paragraph whose lines have two spaces between a name and its meaning is a list of parameters.
MEANING = re.compile(r'^([\w*][\w, *]*?) {2,}(\S.*(?:\n {2,}\S.*)*)$', re.MULTILINE)


def split_parameters(doc):
    """Returns a docstring without its parameters, and {parameter: meaning}."""
    kept, meanings = [], {}
    for part in doc.split('\n\n'):
        rows = MEANING.findall(part)
        if rows and len('\n'.join('  '.join(row) for row in rows)) > 0.8 * len(part):
            for names, meaning in rows:
                meanings.update((name.strip(), ' '.join(meaning.split())) for name in names.split(','))
        else:
            kept.append(part)
    return '\n\n'.join(kept), meanings


TYPES = (
    (r'asyncio\.AbstractEventLoop', 'event loop'), (r'contextvars\.', ''), (r'Callable\[.*\]|_Callback\[.*\]|_F', 'function'), (r'_Priority', 'priority'), (r'_Signal', 'signal'),
    (r'(?:Awaitable|Coroutine)\[.*\]', 'awaitable'), (r'AsyncIterator\[.*\]', 'asynchronous iterator'),
    (r'(?:Async)?Iterable\[.*\]', 'iterable'), (r'Any|_T|_R|object', 'any value'), (r'_?(.*)\[(?:_[TPR]|Any).*\]', r'\1'),
)


def type_in_words(node):
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) in ('Optional', 'Union', 'Literal'):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        words = [ast.unparse(part) if ast.unparse(node.value) == 'Literal' else type_in_words(part) for part in parts]
        return ' or '.join(dict.fromkeys(words + (['None'] if ast.unparse(node.value) == 'Optional' else [])))
    text = ast.unparse(node)
    for pattern, words in TYPES:
        if re.fullmatch(pattern, text):
            return re.sub(pattern, words, text)
    return text


class Python(Reference):
    language, title = 'python', 'Python'

    def __init__(self, entries, docs):
        super().__init__(entries)
        self.docs, self.owners = docs, {}

    def doc(self, of, name, node):
        of = of.split('.')[-1]
        own = ast.get_docstring(node) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else None
        return own or self.docs.get((of, name)) or (self.docs.get(('', name)) if of else None) or ''

    def signature(self, shown, function):
        """Returns a signature without types but that of the result, which is in words."""
        arguments = function.args
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *filter(None, (arguments.vararg, arguments.kwarg))):
            argument.annotation = None
        result = type_in_words(function.returns) if function.returns and shown == function.name else 'None'
        return f'{shown}({re.sub(r"^(self|cls)(, )?", "", ast.unparse(arguments))})' + (f' → {result}' if result != 'None' else '')

    def function(self, of, name, overloads):
        node = overloads[-1]  # the most general one
        full = f'{of}.{name}' if of else name
        doc = next(filter(None, (self.doc(of, name, each) for each in overloads)), '')
        text, meanings = split_parameters(doc)
        if any(isinstance(decorator, ast.Name) and decorator.id == 'property' for decorator in node.decorator_list):
            return self.entry(full, name, [f'{name}: {type_in_words(node.returns)}'], text, [])
        shown = of.split('.')[-1].lstrip('_') if name == '__init__' else name
        parameters = []
        for argument in (*node.args.args, *filter(None, [node.args.vararg]), *node.args.kwonlyargs):
            meaning = meanings.get(argument.arg) or meanings.get(f'*{argument.arg}') or self.entries.meaning(full, argument.arg)
            if argument.arg not in ('self', 'cls'):
                kind = f' ({type_in_words(argument.annotation)})' if argument.annotation is not None else ''
                parameters.append((f'`{argument.arg}`{kind}', CALL.sub(r'\1(\2', meaning or '')))
                if not meaning:
                    self.errors.append(f'{self.title}: the parameter {argument.arg} of {full} has no meaning in the docstring or in entries.md')
        signatures = [self.signature(shown, each) for each in overloads if '_Refused' not in ast.unparse(each) and '_Unknown' not in ast.unparse(each)]
        return self.entry(full, f'{shown}()', list(dict.fromkeys(signatures))[-1:], text, parameters)

    def members(self, of, nodes):
        """Yields the fields, and then the functions, of a class or of the module."""
        functions = {}
        for node, following in zip(nodes, [*nodes[1:], None]):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                functions.setdefault(node.name, []).append(node)
            elif isinstance(node, (ast.AnnAssign, ast.Assign)):
                name = ast.unparse(node.target if isinstance(node, ast.AnnAssign) else node.targets[0])
                if not is_hidden(of, name):
                    text = following.value.value if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant) else self.doc(of, name, node)
                    yield self.row(f'{of}.{name}', name, type_in_words(node.annotation) if isinstance(node, ast.AnnAssign) else '', text)
        yield ''
        for name, overloads in functions.items():
            if not is_hidden(of, name):
                yield self.function(of, name, overloads)

    def collect(self, of, nodes):
        self.owners[of] = None, nodes
        for node in nodes:
            if isinstance(node, ast.ClassDef) and not is_hidden(of, node.name):
                name = f'{of}.{node.name}' if of else node.name
                self.collect(name, node.body)
                self.owners[name] = node, node.body

    def page(self, module):
        yield PYTHON
        self.collect('', module.body)
        for of in in_order(self.owners):
            node, nodes = self.owners[of]
            if node is None:
                yield '## Functions\n'
            else:
                bases = [base for base in map(ast.unparse, node.bases) if not base.startswith(('enum', 'Generic', 'Protocol', 'GObject'))]
                also = f' It has everything that `{bases[0].partition("[")[0]}` has.' if bases else ''
                yield f'## {of.lstrip("_")}\n\n{self.checked(of, self.doc("", of.split(".")[-1], node))}{also}\n'
            yield from self.members(of, nodes)


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


class JavaScript(Reference):
    language, title = 'js', 'JavaScript'

    def __init__(self, entries):
        super().__init__(entries)
        self.owners = {}

    def collect(self, text):
        for kind, names, name, statement, comment in declarations(text[text.index('namespace PrioSched {'):]):
            owner = '.'.join(names[1:])
            if kind == 'member':
                members = self.owners.setdefault(owner, [[], {}])[1]
                name = (name or '').strip("[]'")
                # A property has the name with lines, and twins in camelCase.
                twin = re.sub(r'[A-Z]', lambda letter: f'_{letter[0].lower()}', name)
                known = twin if twin in members else name
                texts, said = members.setdefault(known, ([], sentence(comment)))
                members[known] = texts + [statement], said or sentence(comment)
            elif names:
                block = self.owners.setdefault(f'{owner}.{name}' if owner else name, [[], {}])
                base = re.search(r' extends ([\w.]+)', re.sub(r'<.*>', '', statement))
                also = [f'It has everything that `{base[1]}` has.'] if base and not base[1].startswith('GObject') else []
                block[0] = [sentence(comment), *also] if comment else block[0] or also

    def page(self, texts):
        yield JAVASCRIPT
        for text in texts:
            self.collect(text)
        for owner in in_order(self.owners):
            said, members = self.owners[owner]
            members = {name: member for name, member in members.items() if not is_hidden(owner, name)}
            if is_hidden(owner, '') or not (members or said):
                continue
            yield f'## {owner or "Functions and constants"}\n'
            if owner:
                yield self.checked(owner, ' '.join(said)) + '\n'
            # The values of an enumeration.
            values = {name for name, (texts, _) in members.items() if re.fullmatch(r'\w+(?: = \d+)?', texts[0].strip())}
            yield from (self.row(f'{owner}.{name}', texts[0].strip(), '', comment) for name, (texts, comment) in members.items() if name in values)
            yield ''
            for name, (texts, comment) in members.items():
                if name not in values:
                    yield self.member(owner, name, texts, comment)

    def member(self, owner, name, texts, comment):
        full = f'{owner}.{name}' if owner else name
        code = '\n'.join(texts)
        is_function = re.search(rf'(?<!get )(?<!set )\b{re.escape(name)}\'?\]?(?:<[^(]*>)?\(', code) is not None
        # A parameter follows a bracket or a comma that is in no inner bracket.
        names = re.findall(r'(?:^|[(,]\s*)(\w+)\??:', outermost(texts[-1])) if is_function else []
        parameters = [(f'`{each}`', self.entries.meaning(full, each)) for each in dict.fromkeys(names)]
        self.errors += [f'{self.title}: the parameter {each} of {full} has no meaning in entries.md' for each, meaning in parameters if not meaning]
        shown = {'constructor': f'new {owner}()', '': f'{owner}()'}.get(name, f'{name}()' if is_function else name)
        return self.entry(full, shown, texts, comment, parameters)


def outermost(text):
    """Returns the text in the first brackets, without the text in inner ones."""
    kept, depth = '(', 0
    for character in text[text.index('('):]:
        depth += (character in '([{<') - (character in ')]}' or (character == '>' and not kept.endswith('=')))
        if depth <= 0:
            break
        if depth == 1 and character not in '([{<':
            kept += character
    return kept


def main(pyi, overrides, folder, *types):
    entries = Entries((HERE / 'entries.md').read_text(encoding='utf-8'))
    python, javascript = Python(entries, docstrings(pathlib.Path(overrides))), JavaScript(entries)
    pages = {'python': '\n'.join(python.page(ast.parse(pathlib.Path(pyi).read_text(encoding='utf-8')))),
             'javascript': '\n'.join(javascript.page([pathlib.Path(path).read_text(encoding='utf-8') for path in types]))}
    errors = python.errors + javascript.errors
    errors += [f'{name} has an example in {language}, but no entry' for language, name in sorted(set(entries.examples) - entries.used)]
    print(*errors, f'{python.n_entries} entries in Python, {javascript.n_entries} in JavaScript', sep='\n', file=sys.stderr if errors else sys.stdout)
    for name, page in pages.items() if folder != '-' else ():
        (pathlib.Path(folder) / f'reference-{name}.md').write_text(re.sub(r'\n{3,}', '\n\n', page), encoding='utf-8')
    return 1 if errors else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
