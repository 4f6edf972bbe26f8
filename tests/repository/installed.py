"""What is tried of a library that is installed below a folder: check-installed.py and check-packages.py use it.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import glob
import os
import re
import subprocess
import sys

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
    """What a command prints; if it fails, that is the end of the test."""
    result = subprocess.run(command, capture_output=True, text=True, **{'timeout': 280, **kwargs})
    if result.returncode != 0:
        sys.exit(f'{" ".join(map(str, command))}\n{result.stdout[-3000:]}{result.stderr[-3000:]}')
    return result.stdout


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
    """Has pkg-config find what has been unpacked below another prefix.  Returns the folder of the libraries."""
    lib = os.path.dirname(one(f'{prefix}/lib/**/libprio-sched-1.so'))
    for path in glob.glob(f'{lib}/pkgconfig/prio-sched*.pc'):
        with open(path, 'r+', encoding='utf-8') as file:
            moved = re.sub('^prefix=.*', f'prefix={prefix}', file.read(), flags=re.M)
            file.seek(0)
            file.truncate()
            file.write(moved)
    return lib


def environment_of(prefix, lib):
    """An environment in which all is found there, as README says, and nothing in a build folder."""
    plain = {name: value for name, value in os.environ.items()
             if name not in ('GI_TYPELIB_PATH', 'PYTHONPATH', 'GJS_PATH', 'LD_LIBRARY_PATH')}
    return plain | {
        'LD_LIBRARY_PATH': lib,
        'PKG_CONFIG_PATH': os.path.join(lib, 'pkgconfig'),
        'GI_TYPELIB_PATH': os.path.join(lib, 'girepository-1.0'),
        'PYTHONPATH': one(f'{prefix}/lib/**/gi/overrides/PrioSched.py').partition('/gi/overrides/')[0],
        'XDG_DATA_DIRS': f'{prefix}/share:/usr/local/share:/usr/share',
    }


def check_programs(prefix, lib, environment, python, gjs, place):
    """In each language a program is built and run."""
    flags = run('pkg-config', '--cflags', '--libs', 'prio-sched-1', env=environment).split()
    program = os.path.join(place, 'program')
    run('cc', '-Wall', '-Werror', '-o', program, write(place, 'program.c', C), *flags, env=environment)
    expect_works(program, env=environment)

    flags = [f'--Xcc={flag}' for flag in flags]
    run('valac', '--pkg=prio-sched-1', '--Xcc=-w', *flags, '-o', program,
        write(place, 'program.vala', VALA), env=environment)
    expect_works(program, env=environment)

    expect_works(python, '-c', PYTHON, env=environment)
    expect_works(gjs, '-m', write(place, 'module.js', MODULE), env=environment)
    expect_works(gjs, '-m', write(place, 'web-module.js', WEB_MODULE.replace('PREFIX', prefix)), env=environment)
    one(f'{prefix}/share/prio-sched-1/priosched-1.d.ts')
    one(f'{prefix}/share/gir-1.0/PrioSched-1.gir')
    one(f'{prefix}/lib/**/gi-stubs/repository/PrioSched.pyi')


def check_inspector(lib, environment, python):
    """What GTK loads finds all that it needs."""
    module = one(f'{lib}/gtk-4.0/*/inspector/libprio-sched-inspector.so')
    run(python, '-c', f'import ctypes, os; ctypes.CDLL({module!r}, os.RTLD_NOW).g_io_module_load', env=environment)
