"""Tests a library that is installed below a folder, for check-installed.py, check-packages.py and check-tarball.py.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import fnmatch
import glob
import os
import re
import subprocess
import sys

BLOCK = re.compile(r'^```(\w+)\n(.*?)^```$', re.MULTILINE | re.DOTALL)
LANGUAGES = ('c', 'python', 'js', 'vala')

WEB_MODULE = '''
import GLib from 'gi://GLib';
import {scheduler} from 'file://PREFIX/share/prio-sched-1/prio-sched.js';
const loop = new GLib.MainLoop(null, false);
scheduler.postTask(() => 'works').then(word => print(word)).finally(() => loop.quit());
loop.run();
'''

MODULE = '''
import GLib from 'gi://GLib';
import PrioSched from 'gi://PrioSched?version=1';
const loop = new GLib.MainLoop(null, false);
PrioSched.web.install(globalThis);
scheduler.postTask(() => 'works').then(word => print(word)).finally(() => loop.quit());
loop.run();
'''


def run(*command, **kwargs):
    """Runs a command, and returns its output; a failure ends the test."""
    result = subprocess.run(command, capture_output=True, text=True, **kwargs)
    if result.returncode != 0:
        sys.exit(f'{" ".join(map(str, command))}\n{result.stdout[-3000:]}{result.stderr[-3000:]}')
    return result.stdout


def ignored(source):
    """Makes shutil.copytree () leave out files that git ignores."""
    patterns = [line.strip('/') for line in (source / '.gitignore').read_text().splitlines()] + ['.git']
    return lambda folder, names: [name for name in names if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]


def programs(text):
    """Returns the programs of a page by language, each with its output: the next block of text."""
    found, waiting = {language: [] for language in LANGUAGES}, []
    for language, block in BLOCK.findall(text):
        if language == 'text':
            for of, program in waiting:
                found[of].append((program, block))
            waiting = []
        elif language in LANGUAGES:
            waiting.append((language, block))
    assert not waiting, f'no block of text has the output of a program in {waiting[0][0]}'
    return found


def first_programs(source):
    """Returns README's program and the first program of each page about getting started, as programs () does."""
    texts = [source / 'README.md', *sorted((source / 'introspection/manual').glob('start-*.md'))]
    found = {language: [] for language in LANGUAGES}
    for text in texts:
        for language, of_page in programs(text.read_text()).items():
            found[language] += of_page[:1]
    return found


def expect_works(*command, **kwargs):
    said = run(*command, **kwargs)
    assert said == 'works\n', (command, said)


def one(pattern):
    found = glob.glob(pattern, recursive=True)
    assert found, f'{pattern} was not installed'
    return found[0]


def write(place, name, text):
    path = os.path.join(place, name)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    return path


def move(prefix):
    """Makes pkg-config find packages that have been unpacked below another prefix.  Returns the folder of the libraries."""
    lib = os.path.dirname(one(f'{prefix}/lib/**/libprio-sched-1.so'))
    for path in glob.glob(f'{lib}/pkgconfig/prio-sched*.pc'):
        with open(path, 'r+', encoding='utf-8') as file:
            moved = re.sub('^prefix=.*', f'prefix={prefix}', file.read(), flags=re.M)
            file.seek(0)
            file.truncate()
            file.write(moved)
    return lib


def environment_of(prefix, lib):
    """Returns an environment that finds everything in prefix, as README says, and nothing in a build folder."""
    plain = {name: value for name, value in os.environ.items()
             if name not in ('GI_TYPELIB_PATH', 'PYTHONPATH', 'GJS_PATH', 'LD_LIBRARY_PATH')}
    return plain | {
        'LD_LIBRARY_PATH': lib,
        'PKG_CONFIG_PATH': os.path.join(lib, 'pkgconfig'),
        'GI_TYPELIB_PATH': os.path.join(lib, 'girepository-1.0'),
        'PYTHONPATH': one(f'{prefix}/lib/**/gi/overrides/PrioSched.py').partition('/gi/overrides/')[0],
        'XDG_DATA_DIRS': f'{prefix}/share:/usr/local/share:/usr/share',
    }


def run_c(program, environment, place):
    flags = run('pkg-config', '--cflags', '--libs', 'prio-sched-1', env=environment).split()
    binary = os.path.join(place, 'program')
    run('cc', '-Wall', '-Wextra', '-Wno-unused-parameter', '-Werror', '-o', binary, write(place, 'program.c', program), *flags, env=environment)
    return run(binary, env=environment)


def run_vala(program, environment, place):
    flags = run('pkg-config', '--cflags', '--libs', 'prio-sched-1', env=environment).split()
    binary = os.path.join(place, 'program-in-vala')
    run('valac', '--pkg=prio-sched-1', '--Xcc=-w', *(f'--Xcc={flag}' for flag in flags), '-o', binary,
        write(place, 'program.vala', program), env=environment)
    return run(binary, env=environment)


def check_first_programs(source, environment, python, gjs, place):
    """Checks that the first programs print their output in the pages, and that there is one in each language."""
    runners = {
        'c': lambda program: run_c(program, environment, place),
        'vala': lambda program: run_vala(program, environment, place),
        'python': lambda program: run(python, write(place, 'program.py', program), env=environment),
        'js': lambda program: run(gjs, write(place, 'program.js', program), env=environment),
    }
    for language, found in first_programs(source).items():
        assert found, f'no page has a program in {language}'
        for program, expected in found:
            printed = runners[language](program)
            assert printed == expected, f'the page says {expected!r}, its program in {language} {printed!r}'


def check_programs(source, prefix, environment, python, gjs, place):
    """Builds and runs a program in each language, and in JavaScript two modules."""
    check_first_programs(source, environment, python, gjs, place)
    expect_works(gjs, '-m', write(place, 'module.js', MODULE), env=environment)
    expect_works(gjs, '-m', write(place, 'web-module.js', WEB_MODULE.replace('PREFIX', prefix)), env=environment)
    one(f'{prefix}/share/prio-sched-1/priosched-1.d.ts')
    one(f'{prefix}/share/gir-1.0/PrioSched-1.gir')
    one(f'{prefix}/lib/**/gi-stubs/repository/PrioSched.pyi')


def check_inspector(lib, environment, python):
    """Checks that the module which GTK loads finds all that it needs."""
    module = one(f'{lib}/gtk-4.0/*/inspector/libprio-sched-inspector.so')
    run(python, '-c', f'import ctypes, os; ctypes.CDLL({module!r}, os.RTLD_NOW).g_io_module_load', env=environment)
