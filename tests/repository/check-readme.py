"""Runs the examples of README, against an installed library.

    check-readme.py SOURCE-FOLDER [BUILD-FOLDER PYTHON GJS]

The library is built from scratch, as a user would, and installed into an empty prefix.  Each
C program of README is compiled with the flags of pkg-config and run, and must print what
README says.  (check-subproject.py builds it with the library as a subproject.)
The links and the commands of README must exist, and `examples/run` must work.  The interpreters that are
given run the examples in their language, in the environment of this script, and valac
compiles those in Vala against the build.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, text=True, stdout=subprocess.PIPE,
                          **options).stdout


def blocks(text, language):
    return re.findall(rf'^```{language}\n(.*?)^```$', text, re.MULTILINE | re.DOTALL)


def install(source, work):
    prefix = work / 'prefix'
    run('meson', 'setup', work / 'build', source, f'--prefix={prefix}', '--libdir=lib', '-Dtests=disabled',
        '-Dexamples=disabled', '-Dintrospection=disabled')
    run('meson', 'install', '-C', work / 'build')
    return prefix


def check_program(program, expected, prefix, work):
    environment = os.environ | {'PKG_CONFIG_PATH': str(prefix / 'lib/pkgconfig'),
                                'LD_LIBRARY_PATH': str(prefix / 'lib')}
    (work / 'program.c').write_text(program)
    flags = run('pkg-config', '--cflags', '--libs', 'prio-sched-1', env=environment).split()
    run('cc', '-Wall', '-Wextra', '-Wno-unused-parameter', '-Werror', work / 'program.c', '-o', work / 'program', *flags)
    printed = run(work / 'program', env=environment)
    assert printed == expected, f'README says {expected!r}, the program {printed!r}'


def check_links(text, source):
    for target in re.findall(r'\]\(([^):#]+)\)', text) + re.findall('`((?:examples|tests)/[^ `]+)', text):
        # examples/indexer is the program that examples/indexer.c makes.
        there = (source / target).exists() or (source / f'{target}.c').exists()
        assert there, f'README leads to {target}, which is not there'


def check_commands(text, source):
    for command in blocks(text, 'sh'):
        script = source / command.split()[0]
        assert os.access(script, os.X_OK), f'{command.strip()} of README is no program'
    # tests/run is what runs this.
    printed = run(source / 'examples/run', '--interval', '5', source / 'prio-sched', stdin=subprocess.DEVNULL)
    assert 'user-blocking' in printed, printed


def check_scripts(text, expected, interpreters, work):
    for (language, all_expected), interpreter in zip(expected.items(), interpreters):
        scripts = blocks(text, language)
        assert len(scripts) == len(all_expected), f'README has {len(scripts)} examples in {language}'
        for script, script_expected in zip(scripts, all_expected):
            (work / 'script').write_text(script)
            printed = run(interpreter, work / 'script')
            assert printed == script_expected, f'README says {script_expected!r}, {interpreter} {printed!r}'


def check_vala(program, expected, source, build, work):
    (work / 'script.vala').write_text(program)
    run('valac', f'--vapidir={build}/introspection', '--pkg=gio-2.0', '--pkg=prio-sched-1', '--Xcc=-w', '-o', work / 'vala',
        work / 'script.vala', env=os.environ | {'PKG_CONFIG_PATH': f'{build}/meson-uninstalled'})
    printed = run(work / 'vala')
    assert printed == expected, f'README says {expected!r}, Vala {printed!r}'


def main(source, build=None, *interpreters):
    text = (source / 'README.md').read_text()
    (program,), (expected, both_expected, vala_expected) = blocks(text, 'c'), blocks(text, 'text')
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        check_links(text, source)
        check_program(program, expected, install(source, work), work)
        check_scripts(text, {'python': [both_expected], 'js': [both_expected]}, interpreters, work)
        if build is not None:
            check_vala(blocks(text, 'vala')[0], vala_expected, source, build, work)
    check_commands(text, source)


if __name__ == '__main__':
    main(pathlib.Path(sys.argv[1]).resolve(), *sys.argv[2:])
