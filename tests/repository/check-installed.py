"""check-installed.py: checks that the installed library can be found and used

    check-installed.py BUILD SOURCE PYTHON GJS

Installs into an empty prefix, builds programs against it with pkg-config, in C and Vala, and
runs the programs and the conformance vectors in Python and GJS, without the build folder.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import json
import os
import shutil
import sys
import tempfile

from installed import check_inspector, check_programs, environment_of, move, run


def check(build, source, python, gjs, place):
    stage, prefix = os.path.join(place, 'stage'), os.path.join(place, 'prefix')
    run('meson', 'install', '-C', build, '--no-rebuild', '--quiet', '--destdir', stage)
    options = json.loads(run('meson', 'introspect', build, '--buildoptions'))
    shutil.move(stage + next(option['value'] for option in options if option['name'] == 'prefix'), prefix)
    lib = move(prefix)
    environment = environment_of(prefix, lib)

    check_programs(prefix, lib, environment, python, gjs, place)
    vectors = os.path.join(source, 'tests/library/model/conformance-vectors.json')
    for runner, script in ((python, 'conformance.py'), (gjs, 'conformance.js')):
        print(run(runner, os.path.join(source, 'tests/bindings', script), vectors, env=environment).strip().split('\n')[-1])
    if os.path.exists(f'{build}/gtk/inspector'):
        check_inspector(lib, environment, python)


with tempfile.TemporaryDirectory() as place:
    check(*sys.argv[1:], place)
