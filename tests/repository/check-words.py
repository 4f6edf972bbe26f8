"""Checks words: terms are the field's and not the library's old ones, and phrases are English.

    check-words.py SOURCE

SOURCE is the project's folder.  It looks at code, comments and documents, and prints each old word with its replacement.  In
comments and documents it also finds references that only the authors can follow: the number of a point in an unpublished list.

It also reads comments, docstrings and messages like a newcomer: it refuses phrases that need a second reading, and comments that
continue another one.  The comment of a function in C, and the docstring of a function in Python, begin with a verb; in tests in C
the first helper may instead have the rule that the test checks.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import ast
import pathlib
import re
import sys

FOLDERS = ('prio-sched', 'introspection', 'examples', 'tests', 'react', 'dex', 'gtk', 'monitor', 'rust')
SUFFIXES = ('.c', '.h', '.cpp', '.py', '.js', '.ts', '.pyi', '.vala', '.rs', '.md', '.build')
SCRIPTS = ('find', 'install-dependencies', 'run', 'run-32', 'run-long', 'run-on', 'run-cargo', 'draw-pictures', 'screenshot')

WORDS = {
    r'[Hh]ubs?': 'signal node',
    r'[Bb]onds?': 'registration',
    r'(?<![.-])[Cc]ores?(?!/|::|\.\w)': 'run queue',  # but a folder may have that name: core/tasks.js, _priosched.core.tasks; so may a crate
    r'at home|home thread': 'on the owner thread',
    r'bias(?:ed)?': 'owner lock',
    r'inbox': 'mailbox',
    r'bur(?:y|ied)|graves?|exhumed?': 'deferred release',
    r'condemned|reap(?:ed|s)?': 'aborted list',
    r'(?<!cancel )tokens?': 'task id',
    r'_refused?|refused?_': 'reject, abort',
    r'lingers?': 'spins',
    r'attend(?:s|ed)?|heed(?:s|ed)?': 'process pending',
    r'gathering': 'generation',
    r'heirs?': 'inherited continuation',
    r'guests?': 'foreign follower',
    r'owe[ds]?': 'awaiting, pending',
    r'withdraw|discharge|admit': 'dequeue, release, enqueue',
    r'seats?': 'id task',
    r'scouts?': 'probe',
}
# Phrases that are not English, and their replacements.
PHRASES = {
    r'(?<![Tt]here )\b(?:is|are|was|were)\s+no\s+(?!longer\b|more\b|such\b)[a-zA-Z]': 'is not a …',
    r'\b(?:is|are|was|were|be|been)\s+told\b|\btold\s+of\b': 'hears of, is called with, is reported',
    r'(?<=[.:] )Who(?:ever)? (?!is\b|holds\b|has\b)[a-z]+s\b': 'the code that …',
}
# Phrases to read twice: pronouns for things, and references to the text above, which may move.
TWICE = {
    r'^The same\b': 'say it again: what is above may move',
    r'^What\b|(?<=[a-z)][.] {2})What\b|(?<=[a-z)][.] )What\b': 'a noun',
    r'\b[Oo]ne (?:that|which|who|whose)\b': 'the noun again, or “a … that”',
    r'\b[Tt]hose (?:that|of|which|who|whose)\b': 'the noun again',
    r'\b[Tt]hat of\b': 'the noun again, or “’s”',
    r'\b(?:hears?|heard) of\b': 'is called, gets, notices',
}
# Messages of tests may be shorter.  In {what} it is a name.
TWICE_IN_TEXT = {
    **TWICE,
    r'(?<![“"@`{\[])\b[Ww]hat\b(?! if\b)': 'a noun',
    r'\b(?:[Nn]obody|[Ww]hoever)\b': 'the code or the thread that is meant',
    r'\bof (?:its|their) own\b': 'its own …',
}
# Comments are also refused if they have words of our own for common ones, or an amount without a name.
TWICE_IN_COMMENTS = {
    **TWICE_IN_TEXT,
    r'\b(?:go|goes|went|gone|going) on\b': 'continues',
    r'\b[Tt]old\b': 'is called, gets, reports',
    r'(?<! for)\bso (?:many|often)\b(?!(?: \w+)* (?:that|as)\b)': 'the number',
    r'(?:(?<=[.)] )|(?<=[.)]  ))(?:Any thread(?:, outside)?|Owner thread|Inside|Outside|In a dispatch|Under the lock)\.': 'a sentence that names the function',
    r'(?:in|out)side (?:any|the) loop': 'has entered the loop, has entered no loop',
}
# README and the guides are also refused words that a reader who does not know the project stumbles over.
IN_GUIDES = {
    r'(?<!\w)[Ww]hat (?:is|are|was|were|has|had|have|waits?|runs?|follows?|belongs?|stands?|begins?|comes?|goes|ends?|nobody|somebody|cannot|can|it|they'
    r'|a|an|the|you|that|others?|settles|makes?|resolves|tells?|arrives|gives?|each|one)\b(?![^.|]*\?)': 'a noun',
    r'\b(?:[Nn]obody|[Ss]omebody|[Ww]hoever)\b': 'no code, the caller',
    r'\b(?:go(?:es|ing)?|went) on\b': 'continues, resumes',
    r'\bgo(?:es)? (?:before|first)\b': 'runs before',
    r'\b[Bb]eg(?:in|ins|an|un|inning)\b': 'start',
    r'\b[Bb]eside\b': 'next to, compared with',
    r'(?<=[.|] )Where (?:it|they|there|that|the|a|several)\b[^.|?]{0,60}\b(?:is|are)\b|\b(?:is|are) there(?= if|[.,;:|])': 'if it is installed',
    r'\b(?:tells?|says?|hears?|learns?|knows?) (?:of|it|that|so|how|when|what|which|whether|why|no|nobody|us|where|the rest)\b': 'reports, prints, is notified',
    r"\bof (?:its|their|your|our|one's) own\b": 'its own …',
    r'\bso (?:many|much|long|few)\b|\bhow far it is\b|\bthis far\b': 'a number, a limit, the progress',
    r'\b[Mm]end(?:s|ed|ing)?\b|\bhands? (?:on|over|it)\b|\buses? it up\b|\bused up\b': 'fix, pass on, cannot be used again',
    r"\bof (?:GIO|GTK|GLib|asyncio|React|Python)['’]s(?=[ .,:;|])": 'the name without “’s”',
    r', (?:since|as) (?:it|its|an?|the|they|this|there|otherwise|that|only|others)\b': 'because',
    r'\balso (?:if|when|while|where|deep)\b': 'even if',
    r'\bthe same(?= *[|.;,])': 'say it again',
    r"\bas one types\b|\bone's own\b|\bone turns\b": 'the user',
    r'\bthat there (?:is|are)\b|\ball that (?:is|the|has|are)\b': 'a noun',
    r'\bnor (?:is|does|are|do)\b|\b(?:has|have) not(?=[.,:;|])|\bknows no\b': 'neither does, does not have',
    r'(?<![Tt]ask )(?<!GObject )(?<!the )\b[Aa] signal\b(?! handler)': 'a task signal',
}
CODE = re.compile(r'^```.*?^```$|`[^`\n]*`|(?<=\])\([^)]*\)|(?<=\])(?=\[)|“[^”]*”|"[^"\n]*"', re.MULTILINE | re.DOTALL)
# A comment of C above a function that continues the one before, or is continued.  Lines of other comments may begin so.
PART = re.compile(r'(?:[Aa]nd|[Oo]r|[Bb]ut) |[^*]*,\s*\*/$')
# A comment after code that continues in the next line's, or continues the previous line's.  Headings end with a colon.
PART_OF_LINE = re.compile(r'(?:[Aa]nd|[Bb]ut) |[^*]*(?:[,;]|\band)\s*\*/$')
# In gtk-doc, a parameter, or code after a comment in an example, that has been joined to the line before.
JOINED = re.compile(r'^ \* \S.* (@[\w.]+: )|^ \*  *(?:.* )?(//[^/\n]*[;{}])$', re.MULTILINE)
VERB = re.compile(r'[A-Z][a-z]+(?:-[a-z]+)?s\b')
NO_VERB = {'Always', 'As', 'Entries', 'Functions', 'Has', 'Is', 'Its', 'Jobs', 'Operations', 'Others', 'Perhaps', 'Sources', 'Tasks', 'This', 'Threads', 'Unless', 'Was'}
# Descriptions of the caller, or of the time of the call, for callbacks; and signatures of functions that JavaScript calls.
CALLED = re.compile(r'Call(?:ed|s)? |Destroy notify|Function of |Operation: |\w+ \([^)]*\)(?::| →|$)')
# A comment in the first column, and the head of the function whose body follows.
FUNCTION = re.compile(r'\n(?:[^\n;{}#=]*\n)?(\w+) \([^;{}]*\)[^;{}()\n]*\n\{')
DECORATION = re.compile(r'\n[ \t]*(?:\*|#|//)?[ \t]*')
STUMBLED = re.compile('|'.join(f'({phrase})' for phrase in PHRASES))
OLD = re.compile('|'.join(f'((?<![A-Za-z])(?:{word})(?![A-Za-z]))' for word in WORDS))
# (A7), seed 002; but C11, X11, a percentile (P95) and the key F1 are real names.
TAG = re.compile(r'(?<![\w#&%+=./-])(?!X11|C11|C99|P\d\d)[A-Z]\d{1,2}(?!\w|\.\d| key)|\bseed 0\d\d\b|\bdesign\.md\b')
COMMENT = {
    **dict.fromkeys(('.c', '.h', '.cpp', '.js', '.ts', '.vala'), r'(?P<comment>/\*.*?\*/|//[^\n]*)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''),
    # A lifetime has one quote.
    '.rs': r'(?P<comment>//[^\n]*)|"(?:\\.|[^"\\])*"',
    **dict.fromkeys(('.py', '.pyi', '.build', ''), r'(?P<comment>""".*?"""|#[^\n]*)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''),
}
# The conformance vectors have their own format; this file names the old words.
EXCEPTED = {'conformance-vectors.md', 'check-words.py'}


def old_words(text):
    """Yields the number of the line, the old word and the new one."""
    for number, line in enumerate(text.splitlines(), 1):
        for match in OLD.finditer(line):
            yield number, match.group(), list(WORDS.values())[match.lastindex - 1]


def phrases(text, is_test=False):
    """Yields the number of the line, the phrase and a better one.  A line may begin in the middle of a sentence.

    In tests only the first phrase counts: what is below is for people who use the library, or work on it.
    """
    for match in STUMBLED.finditer(re.sub(r'\n[\s*/#]*', lambda space: ' ' * len(space.group()), text)):
        if not is_test or match.lastindex == 1:
            yield text.count('\n', 0, match.start()) + 1, match.group(), list(PHRASES.values())[match.lastindex - 1]


def tags(suffix, text):
    """Yields the number of the line and the reference, in the comments of code, or all of a document."""
    parts = [(0, text)]
    if suffix in COMMENT:
        parts = [(match.start(), match['comment']) for match in re.finditer(COMMENT[suffix], text, re.DOTALL) if match['comment']]
    for start, part in parts:
        for match in TAG.finditer(part):
            yield text.count('\n', 0, start + match.start()) + 1, match.group()


def sentences(suffix, text):
    """Yields where a comment, a docstring or a message begins, and its words.  Examples in documentation are left out."""
    for match in re.finditer(COMMENT[suffix], text, re.DOTALL):
        part = match['comment'] or (match.group()[1:-1] if match.group().count(' ') > 2 else '')
        part = re.sub(r'```.*?```', lambda example: re.sub(r'[^\n]', ' ', example.group()), part, flags=re.DOTALL)
        part = re.sub(r'^(?:/\*+|//|#|""")[\s*]*', lambda begin: '\n' * begin.group().count('\n'), part)
        if part.strip():
            yield match.start(), DECORATION.sub('\n', part)


def read_twice(suffix, text):
    """Yields the number of the line, the phrase and a better one, in comments, docstrings and messages."""
    for start, part in sentences(suffix, text):
        flat = part.lstrip('\n').replace('\n', ' ')
        is_message = text[start] in '"\'`' and not text.startswith('"""', start)
        if text.startswith('/*', start) and (PART if text[start - 1:start] in ('', '\n') else PART_OF_LINE).match(flat):
            yield text.count('\n', 0, start) + 1, flat[:20], 'a whole sentence'
        if text.startswith('/**', start):
            for match in JOINED.finditer(text[start:text.index('*/', start)]):
                yield text.count('\n', 0, start + match.start()) + 1, (match[1] or match[2])[:20], 'it in a line of its own'
        for phrase, better in (TWICE_IN_TEXT if is_message else TWICE_IN_COMMENTS).items():
            for match in re.finditer(phrase, flat):
                yield text.count('\n', 0, start) + 1, match.group(), better


def read_twice_in_guide(text):
    """Yields the number of the line, the phrase and a better one, in a guide outside code and quotations."""
    prose = CODE.sub(lambda code: re.sub(r'[^\n]', '_', code.group()), text)
    for phrase, better in IN_GUIDES.items():
        for match in re.finditer(phrase, prose):
            yield prose.count('\n', 0, match.start()) + 1, match.group(), better


def begins_with_verb(words):
    first = VERB.match(words)
    return CALLED.match(words) or (first and first.group() not in NO_VERB)


def without_verb(text):
    """Yields the number of the line and the first words of each comment of a function in C that does not begin with a verb."""
    for match in re.finditer(COMMENT['.c'], text, re.DOTALL):
        if not match['comment'] or text[match.start() - 1:match.start()] not in ('', '\n') or not FUNCTION.match(text, match.end()):
            continue
        words = DECORATION.sub('\n', match['comment'].removeprefix('/**').removeprefix('/*').removesuffix('*/').strip())
        if match['comment'].startswith('/**'):
            words = words.partition('\n\n')[2]
        if not begins_with_verb(words.strip()):
            yield text.count('\n', 0, match.start()) + 1, ' '.join(words.split()[:4])


def without_verb_in_python(text):
    """Yields the line and the first words of each docstring of a Python function that does not begin with a verb.  A property is a noun."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and 'property' not in map(ast.unparse, node.decorator_list):
            words = ast.get_docstring(node)
            if words and not begins_with_verb(words):
                yield node.lineno, ' '.join(words.split()[:4])


def files_of(source):
    yield from source.glob('*.md')
    yield source / 'NEWS'
    for folder in FOLDERS:
        yield from (path for path in sorted((source / folder).rglob('*'))
                    if (path.suffix in SUFFIXES or path.name in SCRIPTS) and path.name not in EXCEPTED)


def main(source):
    planted = [word for _, word, _ in old_words('/* At home in its hub: */\nprio_loop_bury (heirs);\ncore/a.js, _p.core.a, the core.\n')]
    assert planted == ['hub', 'bury', 'heirs', 'core'], planted

    planted = {'.c': '/* On X11, C11 (A7) and U+F1.\n * R3: P95 of seed 002. */\nchar *s = "B1 // B2";', '.md': 'J11, as §2.4 says.',
               '.py': "'#B1'  # design.md\n\"\"\"P2.\"\"\"\nB1 = 'B2'"}
    found = {suffix: [tag for _, tag in tags(suffix, text)] for suffix, text in planted.items()}
    assert found == {'.c': ['A7', 'R3', 'seed 002'], '.md': ['J11'], '.py': ['design.md', 'P2']}, found

    planted = 'There is no task.  It is\n * no task, and is no longer one, as it has been told.'
    assert [phrase for _, phrase, _ in phrases(planted)] == ['is    no t', 'been told']

    planted = '/* The same: one\n * that has those of that of it. */\nint a; /* hears of it: what if? */\nf ("A one that is");\ng ("one that");'
    assert [phrase for _, phrase, _ in read_twice('.c', planted)] == ['The same', 'one that', 'those of', 'that of', 'hears of', 'one that']
    assert [phrase for _, phrase, _ in read_twice('.c', '/* Knows what nobody\n * has of its own.\n * ```c\n * what\n * ``` */')] == ['what', 'nobody', 'of its own']
    planted = '"""It goes on."""\nf("it goes on so often", "for {what}, and [what]")\n# Told so many times, for so many that come.\n'
    assert [phrase for _, phrase, _ in read_twice('.py', planted)] == ['goes on', 'Told', 'so many'], list(read_twice('.py', planted))
    planted = '/* and tasks, */\nint a; /* and this, */\n/* Tasks, */\n/* A sentence, and more. */\n'
    assert [phrase for _, phrase, _ in read_twice('.c', planted)] == ['and tasks, */', 'and this, */', 'Tasks, */'], list(read_twice('.c', planted))
    planted = 'int a; /* Tasks; and */\nint b; /* Calls it.  Any thread. */\nint c; /* Inside, all: */\n'
    assert [phrase for _, phrase, _ in read_twice('.c', planted)] == ['Tasks; and */', 'Any thread.'], list(read_twice('.c', planted))
    planted = '/**\n * f: @a: b\n * @c: as @d: e\n *\n * ```c\n * // Adds. if (f) {\n *   f (); // adds\n * }\n * ```\n */'
    assert [phrase for _, phrase, _ in read_twice('.c', planted)] == ['@a: ', '@d: ', '// Adds. if (f) {'], list(read_twice('.c', planted))
    planted = ('/* The size. */\nstatic int\nsize (int a,\n      int b)\n{\n}\n\n/* Tasks run. */\nint\nrun (void)\n{\n}\n\n/**\n * f: (skip)\n * @a: b\n *\n * Size of it.\n */\nint\nf (int a)\n{\n}\n'
               '/* Returns it. */\nint\ng (void)\n{\n}\n/* A record. */\nstruct h\n{\n};\n/* Called then. */\nint\nh (void)\n{\n}\n/* A prototype. */\nint i (void);\n')
    assert [words for _, words in without_verb(planted)] == ['The size.', 'Tasks run.', 'Size of it.'], list(without_verb(planted))

    planted = 'def f():\n    """What it is."""\n\ndef g():\n    """Returns it."""\n\n@property\ndef h():\n    """The size."""\n'
    assert [words for _, words in without_verb_in_python(planted)] == ['What it is.'], list(without_verb_in_python(planted))

    planted = 'It goes on.\n```c\nbegin ();\n```\nWhat waits, since it is “used up”, has not.  A task signal, [beside](beside.md), a signal.'
    assert sorted(phrase for _, phrase, _ in read_twice_in_guide(planted)) == [', since it', 'What waits', 'a signal', 'beside', 'goes on', 'has not'], \
        list(read_twice_in_guide(planted))

    files = list(files_of(pathlib.Path(source)))
    found = 0
    for path in files:
        text = path.read_text(encoding='utf-8')
        for number, word, better in old_words(text):
            print(f'{path}:{number}: “{word}”: the field says {better}')
            found += 1
        for number, phrase, better in phrases(text, 'tests' in path.relative_to(source).parts):
            print(f'{path}:{number}: “{phrase}”: say “{better}”')
            found += 1
        if path.suffix in COMMENT and 'manual' not in path.parts:
            for number, phrase, better in read_twice(path.suffix, text):
                print(f'{path}:{number}: “{phrase}” has to be read twice: say {better}')
                found += 1
        if path.name == 'README.md' and path.parent == pathlib.Path(source) or (path.suffix == '.md' and 'manual' in path.parts):
            for number, phrase, better in read_twice_in_guide(text):
                print(f'{path}:{number}: “{phrase}” has to be read twice: say {better}')
                found += 1
        functions = ()
        if path.suffix in ('.c', '.h', '.cpp') and 'tests' not in path.parts:
            functions = without_verb(text)
        elif path.suffix == '.py':
            functions = without_verb_in_python(text)
        for number, words in functions:
            print(f'{path}:{number}: “{words} …”: the comment of a function begins with a verb: “Returns …”, “Adds …”')
            found += 1
        for number, tag in tags(path.suffix if path.name != 'NEWS' else '.md', text):
            print(f'{path}:{number}: “{tag}”: say in words what it refers to, since nobody outside can look it up')
            found += 1
    print(f'{found} old words, phrases and references in {len(files)} files')
    return 1 if found or len(files) < 100 else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
