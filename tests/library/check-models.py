"""Checks models with Spin, and that they still describe the C code.

    check-models.py SPIN CC SOURCES MODEL…
    check-models.py --update SOURCES MODEL…

SOURCES is the folder prio-sched/.  The comment at the top of a model has lines that begin with

  - @models FILE FUNCTION CHECKSUM: it models this C function.  If the function has changed, see whether the model has to change too, and
    write the new checksums with --update; comments and white space do not count;
  - @holds FLAG…: with these flags Spin visits every state, and finds no violation;
  - @holds-long FLAG…: the same, if the environment has PRIO_SCHED_LONG=1; it may take minutes;
  - @mutant FLAG…: with these, added to the first @holds, Spin finds a violation: the model would notice that defect.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

LINE = re.compile(r'^ \* @(\S+) +(.*)$', re.M)
MODELS = re.compile(r'^( \* @models (\S+) (\S+) )(\w+)$', re.M)


def checksum(text, function):
    """Returns a checksum of the function's parameters and body."""
    found = re.search(rf'^{function} \(.*?^}}$', text, re.M | re.S)
    if found is None:
        sys.exit(f'there is no function {function} ()')
    code = re.sub(r'/\*.*?\*/', '', found[0], flags=re.S)
    return hashlib.sha256(' '.join(code.split()).encode()).hexdigest()[:12]


def changed(model, sources):
    """Yields each C function that has changed since it was modelled."""
    for _, file, function, known in MODELS.findall(model.read_text()):
        if checksum((sources / file).read_text(), function) != known:
            yield function


def update(model, sources):
    text = model.read_text()
    model.write_text(MODELS.sub(lambda m: m[1] + checksum((sources / m[2]).read_text(), m[3]), text))


def violations(tools, model, flags, thorough):
    """Returns how many violations Spin finds, 0 or 1; any other number is an error."""
    spin, *cc = tools
    with tempfile.TemporaryDirectory() as folder:
        def run(*command):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            return done.stdout + done.stderr

        said = run(spin, '-a', *flags, str(model))
        said += run(*cc, '-O2' if thorough else '-O0', '-w', '-DSAFETY', '-DCOLLAPSE', '-DVECTORSZ=2048', '-DMEMLIM=6000',
                    '-o', 'pan', 'pan.c')
        said += run('./pan', '-m200000', f'-w{24 if thorough else 20}')
    errors = re.search(r'errors: (\d+)', said)
    states = re.search(r'(\d+)(?:\.\d+)?(?:e\+\d+)? states, stored', said)
    if errors is None or states is None or re.search(r'max search depth too small|out of memory|Search not completed', said) and errors[1] == '0':
        sys.exit(f'Spin has not gone through {model.name}, {flags}:\n{said}')
    print(f'# {model.name} {" ".join(flags)}: {states[0]}, {errors[1]} violations', flush=True)
    return int(errors[1])


def checks(tools, model, sources):
    """Yields the name of each check, and whether it passes."""
    lines = LINE.findall(model.read_text())
    base = [flags.split() for kind, flags in lines if kind == 'holds']
    functions = list(changed(model, sources))
    yield f'it models the code {" ".join(functions)}', not functions
    for kind, text in lines:
        flags = [word for word in text.split() if word.startswith('-D')]
        if kind == 'holds' or kind == 'holds-long' and os.environ.get('PRIO_SCHED_LONG') == '1':
            yield f'{" ".join(flags)} holds', violations(tools, model, flags, kind == 'holds-long') == 0
        elif kind == 'mutant':
            yield f'{" ".join(flags)} is caught', violations(tools, model, base[0] + flags, False) > 0


def main(arguments):
    if arguments[0] == '--update':
        for model in arguments[2:]:
            update(pathlib.Path(model), pathlib.Path(arguments[1]))
        return 0
    spin, cc, sources, *models = arguments
    n = n_failed = 0
    for model in map(pathlib.Path, models):
        for name, passed in checks([spin, *cc.split()], model.resolve(), pathlib.Path(sources)):
            n += 1
            n_failed += not passed
            print(f'{"ok" if passed else "not ok"} {n} {model.stem}: {name}', flush=True)
    print(f'1..{n}')
    return 1 if n_failed > 0 or n == 0 else 0


sys.exit(main(sys.argv[1:]))
