"""check-installed.py: checks that the installed library can be found and used

    check-installed.py BUILD SOURCE PYTHON GJS

Installs into an empty prefix, builds programs against it with pkg-config, in C and Vala, and
runs the programs and the conformance vectors in Python and GJS, without the build folder.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

C = '''
#include <prio-sched.h>

static gboolean
quit (gpointer loop)
{
  g_main_loop_quit (loop);
  return G_SOURCE_REMOVE;
}

int
main (void)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);

  prio_scheduler_post (prio_scheduler_get_default (), PRIO_TASK_PRIORITY_BACKGROUND, quit, loop, NULL);
  g_main_loop_run (loop);
  g_print ("works\\n");
  return 0;
}
'''

WEB_MODULE = '''
import GLib from 'gi://GLib';
import {scheduler} from 'file://PREFIX/share/prio-sched-1/prio-sched.js';
const loop = new GLib.MainLoop(null, false);
scheduler.postTask(() => 'works').then(word => print(word)).finally(() => loop.quit());
loop.run();
'''

VALA = '''
async void work (MainLoop loop) throws GLib.Error {
	yield PrioSched.Scheduler.get_default ().yield_async ();
	print ("works\\n");
	loop.quit ();
}

void main () {
	var loop = new MainLoop ();
	work.begin (loop);
	loop.run ();
}
'''

PYTHON = '''
import gi
gi.require_version('PrioSched', '1')
from gi.repository import PrioSched
print(PrioSched.run(PrioSched.Scheduler.get_default().post_task(lambda: 'works')))
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
    result = subprocess.run(command, capture_output=True, text=True, timeout=280, **kwargs)
    if result.returncode != 0:
        sys.exit(f'{" ".join(command)}\n{result.stdout[-3000:]}{result.stderr[-3000:]}')
    return result.stdout


def expect_works(*command, **kwargs):
    said = run(*command, **kwargs)
    assert said == 'works\n', (command, said)


def one(pattern):
    found = glob.glob(pattern, recursive=True)
    assert found, f'{pattern} was not installed'
    return found[0]


def check(build, source, python, gjs, place):
    stage, prefix = os.path.join(place, 'stage'), os.path.join(place, 'prefix')
    run('meson', 'install', '-C', build, '--no-rebuild', '--quiet', '--destdir', stage)
    options = json.loads(run('meson', 'introspect', build, '--buildoptions'))
    shutil.move(stage + next(option['value'] for option in options if option['name'] == 'prefix'), prefix)
    lib = os.path.dirname(one(f'{prefix}/lib/**/libprio-sched-1.so'))
    environment = {name: value for name, value in os.environ.items()
                   if name not in ('GI_TYPELIB_PATH', 'PYTHONPATH', 'GJS_PATH', 'LD_LIBRARY_PATH')}
    environment |= {
        'LD_LIBRARY_PATH': lib,
        'PKG_CONFIG_PATH': os.path.join(lib, 'pkgconfig'),
        'GI_TYPELIB_PATH': os.path.join(lib, 'girepository-1.0'),
        'PYTHONPATH': os.path.dirname(os.path.dirname(os.path.dirname(one(f'{prefix}/lib/**/gi/overrides/PrioSched.py')))),
        'GJS_PATH': os.path.join(prefix, 'share', 'gjs-1.0'),
    }
    with open(one(f'{lib}/pkgconfig/prio-sched-1.pc'), 'r+') as file:
        moved = re.sub('^prefix=.*', f'prefix={prefix}', file.read(), flags=re.M)
        file.seek(0)
        file.truncate()
        file.write(moved)

    def write(name, text):
        path = os.path.join(place, name)
        with open(path, 'w') as file:
            file.write(text)
        return path

    flags = run('pkg-config', '--cflags', '--libs', 'prio-sched-1', env=environment).split()
    program = os.path.join(place, 'program')
    run('cc', '-Wall', '-Werror', '-o', program, write('program.c', C), *flags, env=environment)
    expect_works(program, env=environment)

    flags = [f'--Xcc={flag}' for flag in flags]
    run('valac', f'--vapidir={prefix}/share/vala/vapi', '--pkg=prio-sched-1', '--Xcc=-w', *flags, '-o', program,
        write('program.vala', VALA), env=environment)
    expect_works(program, env=environment)

    expect_works(python, '-c', PYTHON, env=environment)
    expect_works(gjs, '-m', write('module.js', MODULE), env=environment)
    expect_works(gjs, '-m', write('web-module.js', WEB_MODULE.replace('PREFIX', prefix)), env=environment)
    one(f'{prefix}/share/prio-sched-1/priosched-1.d.ts')
    vectors = os.path.join(source, 'tests', 'conformance-vectors.json')
    for runner, script in ((python, 'conformance.py'), (gjs, 'conformance.js')):
        print(run(runner, os.path.join(source, 'tests', script), vectors, env=environment).strip().split('\n')[-1])
    one(f'{prefix}/share/gir-1.0/PrioSched-1.gir')
    one(f'{prefix}/lib/**/gi-stubs/repository/PrioSched.pyi')

    # What GTK loads finds all that it needs.
    if os.path.exists(f'{build}/gtk/inspector'):
        module = one(f'{lib}/gtk-4.0/*/inspector/libprio-sched-inspector.so')
        run(python, '-c', f'import ctypes, os; ctypes.CDLL({module!r}, os.RTLD_NOW).g_io_module_load', env=environment)


with tempfile.TemporaryDirectory() as place:
    check(*sys.argv[1:], place)
