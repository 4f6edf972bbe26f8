"""check-installed.py: checks that the installed library can be found and used

    check-installed.py BUILD SOURCE PYTHON GJS

The commands of getting-it.md for a build from source set up another build, in which all targets are known, and install BUILD
into an empty prefix.  Without the build folder, the first programs of README and of the pages about getting started are
built against the prefix with pkg-config, in C and Vala, or interpreted, in Python and JavaScript.  They must print the output in the
pages.  Python and GJS run the conformance vectors.  A copy of the examples, such as a package has, runs beside it.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

from installed import check_inspector, environment_of, move, run


def check_examples(source, environment, place):
    examples, folder = os.path.join(place, 'documentation/examples'), os.path.join(place, 'folder')
    shutil.copytree(os.path.join(source, 'examples'), examples)
    os.mkdir(folder)
    pathlib.Path(folder, 'first').write_text('some words')
    said = run('sh', os.path.join(examples, 'run'), '--query', 'words', '--interval', '1', folder, env=environment)
    assert '1 files, ' in said, said


def install(build, source, place, stage):
    """Runs the commands of the page, except that BUILD is compiled already, and that it is installed below a folder."""
    page = pathlib.Path(source, 'introspection/manual/getting-it.md').read_text()
    setup, compile_it, install_it, cache = re.search('^meson setup build-usr .*?(?=^```$)', page, re.MULTILINE | re.DOTALL)[0].splitlines()
    assert cache == 'ldconfig', cache
    fresh = os.path.join(place, 'fresh')
    run('sh', '-c', setup.replace('build-usr', fresh), cwd=source)
    run('sh', '-c', f'{compile_it.replace("build-usr", fresh)} -n')
    run('sh', '-c', f'{install_it.replace("build-usr", build)} --no-rebuild', env=os.environ | {'DESTDIR': stage})


def check(build, source, python, gjs, place):
    stage, prefix = os.path.join(place, 'stage'), os.path.join(place, 'prefix')
    install(build, source, place, stage)
    options = json.loads(run('meson', 'introspect', build, '--buildoptions'))
    shutil.move(stage + next(option['value'] for option in options if option['name'] == 'prefix'), prefix)
    lib = move(prefix)
    environment = environment_of(prefix, lib)

    # The vectors mostly wait for delays.
    vectors = os.path.join(source, 'tests/library/model/conformance-vectors.json')
    with concurrent.futures.ThreadPoolExecutor() as pool:
        conformance = [pool.submit(run, runner, os.path.join(source, 'tests/bindings', script), vectors, env=environment)
                       for runner, script in ((python, 'conformance.py'), (gjs, 'conformance.js'))]
        # As Debian tests the packages.
        run(python, os.path.join(source, 'debian/tests/programs'), prefix, python, gjs, env=environment)
        for printed in conformance:
            print(printed.result().strip().split('\n')[-1])
    check_examples(source, environment, place)
    if os.path.exists(f'{build}/gtk/inspector'):
        check_inspector(lib, environment, python)


with tempfile.TemporaryDirectory() as place:
    check(*sys.argv[1:], place)
