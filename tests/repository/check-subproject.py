"""check-subproject.py: checks that a program that uses the library as a subproject builds only the library

    check-subproject.py MESON SOURCE

The program is README's, and prints what README says.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

# Its own warnings end this build; those of the library must not.
PROJECT = '''
project('program', 'c')
executable('program', 'program.c', dependencies: dependency('prio-sched-1'), c_args: '-w')
'''


def first_block(text, language):
    return re.search(rf'^```{language}\n(.*?)^```$', text, re.MULTILINE | re.DOTALL)[1]


def run(meson, *args, **kwargs):
    result = subprocess.run([*meson, *args], capture_output=True, text=True, **kwargs)
    if result.returncode != 0:
        sys.exit(f'{" ".join(args)}\n{result.stdout}{result.stderr}')
    return result.stdout


def main(meson, source):
    with open(os.path.join(source, 'README.md'), encoding='utf-8') as file:
        readme = file.read()
    with tempfile.TemporaryDirectory() as place:
        def write(name, text):
            with open(os.path.join(place, name), 'w') as file:
                file.write(text)

        write('meson.build', PROJECT)
        write('program.c', first_block(readme, 'c'))
        subprojects = os.path.join(place, 'subprojects')
        os.mkdir(subprojects)
        # The wrap says where it is to be had; here it is there already.
        shutil.copy(os.path.join(source, 'prio-sched.wrap'), subprojects)
        os.symlink(source, os.path.join(subprojects, 'prio-sched'))

        build = os.path.join(place, 'build')
        environment = {name: value for name, value in os.environ.items() if name not in ('CFLAGS', 'LDFLAGS')}
        run([meson], 'setup', build, place, '-Dwerror=true', '-Dprio-sched:warning_level=everything',
            '--wrap-mode=nodownload', '--force-fallback-for=prio-sched-1', env=environment)
        run([meson], 'compile', '-C', build)
        printed = run([os.path.join(build, 'program')])
        assert printed == first_block(readme, 'text'), printed

        targets = {target['name'] for target in json.loads(run([meson], 'introspect', '--targets', build))}
        expected = {'program', 'prio-sched-1', 'prio-sched-enumtypes.h', 'prio-sched-enumtypes.c'}
        translations = {name for name in targets if name.startswith('prio-sched-1-')}
        assert targets - translations == expected, targets ^ expected


main(*sys.argv[1:])
