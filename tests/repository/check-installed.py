"""check-installed.py: checks that the installed library can be found and used

    check-installed.py BUILD SOURCE PYTHON GJS

Installs into an empty prefix.  Without the build folder, README's programs are built against the prefix with pkg-config, in C and
Vala, or interpreted, in Python and JavaScript, and must print the output in README; and Python and GJS run the conformance
vectors.  A copy of the examples, such as a package has, runs beside it.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import concurrent.futures
import json
import os
import pathlib
import shutil
import sys
import tempfile

from installed import check_inspector, check_programs, environment_of, move, run


def check_examples(source, environment, place):
    examples, folder = os.path.join(place, 'documentation/examples'), os.path.join(place, 'folder')
    shutil.copytree(os.path.join(source, 'examples'), examples)
    os.mkdir(folder)
    pathlib.Path(folder, 'first').write_text('some words')
    said = run('sh', os.path.join(examples, 'run'), '--query', 'words', '--interval', '1', folder, env=environment)
    assert '1 files, ' in said, said


def check(build, source, python, gjs, place):
    stage, prefix = os.path.join(place, 'stage'), os.path.join(place, 'prefix')
    run('meson', 'install', '-C', build, '--no-rebuild', '--quiet', '--destdir', stage)
    options = json.loads(run('meson', 'introspect', build, '--buildoptions'))
    shutil.move(stage + next(option['value'] for option in options if option['name'] == 'prefix'), prefix)
    lib = move(prefix)
    environment = environment_of(prefix, lib)

    # They mostly wait for delays.
    vectors = os.path.join(source, 'tests/library/model/conformance-vectors.json')
    with concurrent.futures.ThreadPoolExecutor() as pool:
        conformance = [pool.submit(run, runner, os.path.join(source, 'tests/bindings', script), vectors, env=environment)
                       for runner, script in ((python, 'conformance.py'), (gjs, 'conformance.js'))]
        check_programs(pathlib.Path(source, 'README.md').read_text(), prefix, environment, python, gjs, place)
        for printed in conformance:
            print(printed.result().strip().split('\n')[-1])
    check_examples(source, environment, place)
    if os.path.exists(f'{build}/gtk/inspector'):
        check_inspector(lib, environment, python)


with tempfile.TemporaryDirectory() as place:
    check(*sys.argv[1:], place)
