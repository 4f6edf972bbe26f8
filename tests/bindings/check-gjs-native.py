"""check-gjs-native.py: checks that the overrides for GJS use the native part if they can, and run without it otherwise

    check-gjs-native.py GJS OVERRIDES LIBRARY BINDING NATIVE OTHER GAIN

OVERRIDES is the folder of the overrides, LIBRARY has the library and its typelib, BINDING the binding's own library
and its typelib, NATIVE the native part and its typelib, and OTHER a native part that was made for another SpiderMonkey.  GAIN is "speed" or "state".

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = '''
imports.gi.versions.PrioSched = '1';
const {GLib, PrioSched} = imports.gi;
const {scheduler} = PrioSched.web;
const loop = new GLib.MainLoop(null, false);
scheduler.postTask(async () => {
    await scheduler.yield();
    print(PrioSched.nativePart);
}).finally(() => loop.quit());
loop.run();
'''

# Code that the debugger stops continues later with its own jobs and state.
DEBUGGED = '''
imports.gi.versions.PrioSched = '1';
const {GLib, PrioSched} = imports.gi;
const {scheduler} = PrioSched.web;
const loop = new GLib.MainLoop(null, false);
scheduler.postTask(async () => {
    await null;
    debugger;
    await new Promise(resolve => setTimeout(resolve, 1));
    const log = [];
    const visible = scheduler.postTask(() => log.push('visible'));
    await scheduler.yield();
    log.push('here');
    await visible;
    print(`${PrioSched.nativePart}: ${log.join()}`);
}, {priority: 'background'}).finally(() => loop.quit());
loop.run();
'''
COMMANDS = 'cont\np Promise.resolve(7).then(value => value)\nbt\ncont\nquit\n'

EXITS = '''
imports.gi.versions.PrioSched = '1';
const {GLib, PrioSched} = imports.gi;
const {scheduler} = PrioSched.web;
const loop = new GLib.MainLoop(null, false);
scheduler.postTask(() => {
    %s
});
scheduler.postTask(() => {
    print('after');
    loop.quit();
});
loop.run();
'''


class Checker:
    def __init__(self, place, gjs, overrides, library, binding, native, other):
        self.place, self.gjs, self.overrides = pathlib.Path(place), gjs, overrides
        self.library, self.binding, self.native, self.other = library, binding, native, other

    def write(self, name, text):
        path = self.place / name
        path.write_text(text)
        return str(path)

    def run(self, program, *options, typelibs=None, libraries=None, overrides=None, stdin='', **more):
        environment = os.environ | {
            'GJS_PATH': str(overrides or self.overrides),
            'GI_TYPELIB_PATH': f'{typelibs or self.native}:{self.binding}:{self.library}',
            'LD_LIBRARY_PATH': f'{libraries or self.native}:{self.binding}:{self.library}',
            'HOME': str(self.place),
        } | more
        result = subprocess.run([self.gjs, *options, program], capture_output=True, text=True, timeout=60, env=environment,
                                input=stdin, check=False)
        return result.returncode, result.stdout, result.stderr

    # Expects at most one warning, and that the program continues without the native part.
    def expect_pure(self, what, warnings, **how):
        status, said, complaints = self.run(self.write('program.js', PROGRAM), **how)
        count = complaints.count('WARNING') + complaints.count('CRITICAL')
        assert (status, said, count) == (0, 'none\n', warnings), f'{what}: {status} {said}{complaints}'
        return complaints

    # A library for another SpiderMonkey need not be loadable.
    def check_other_engine(self):
        place = self.place / 'other-engine'
        place.mkdir()
        gir = (pathlib.Path(self.native) / 'PrioSchedGjsEngine-1.gir').read_text()
        made_for = re.search(r'<constant name="MADE_FOR"\s+value="(\d+)"', gir)
        assert made_for is not None, 'the typelib does not say which SpiderMonkey the native part is for'
        (place / 'PrioSchedGjsEngine-1.gir').write_text(gir[:made_for.start(1)] + '78' + gir[made_for.end(1):])
        subprocess.run(['g-ir-compiler', '--includedir', self.library, '--output', place / 'PrioSchedGjsEngine-1.typelib',
                        place / 'PrioSchedGjsEngine-1.gir'], check=True)
        (place / 'libprio-sched-gjs-engine-1.so.1').write_text('for another SpiderMonkey')

        complaints = self.expect_pure('it was made for another SpiderMonkey, and cannot be loaded', 1, typelibs=place, libraries=place)
        wanted = f'The native part of PrioSched was built for SpiderMonkey 78, and this is {made_for[1]}: GJS goes on without it'
        assert wanted in complaints and 'libprio-sched-gjs-engine' not in complaints, complaints

    def check(self, gain):
        status, said, complaints = self.run(self.write('program.js', PROGRAM))
        assert (status, said, complaints) == (0, f'{gain}\n', ''), f'{status} {said}{complaints}'

        empty = self.place / 'empty'
        empty.mkdir()
        self.expect_pure('it is switched off', 0, PRIO_SCHED_NATIVE='0')
        self.expect_pure('it is not installed', 0, typelibs=empty, libraries=empty)
        self.expect_pure('only its typelib is installed', 1, libraries=empty)
        self.expect_pure('it was made for another SpiderMonkey', 1, libraries=self.other)

        self.check_other_engine()

        newer = self.place / 'newer'
        shutil.copytree(pathlib.Path(self.overrides) / 'overrides', newer / 'overrides')
        script = newer / 'overrides' / '_priosched' / 'native.js'
        script.write_text(script.read_text().replace('INTERFACE = ', 'INTERFACE = 1000 + '))
        self.expect_pure('the overrides are newer', 0, overrides=newer)

        status, said, complaints = self.run(self.write('debugged.js', DEBUGGED), '--debugger', stdin=COMMANDS)
        wanted = 'state: visible,here' if gain == 'state' else f'{gain}: '
        assert status == 0 and wanted in said, f'{status} {said}{complaints}'

        # As without it: the program ends with the status, and an exception does not end it.
        for body in ('imports.system.exit(3);', 'throw new Error("mine");', 'throw undefined;'):
            path = self.write('exits.js', EXITS % body)
            with_it, without = self.run(path), self.run(path, PRIO_SCHED_NATIVE='0')
            assert with_it[:2] == without[:2], f'{body}: {with_it} {without}'


def main(gjs, overrides, library, binding, native, other, gain):
    with tempfile.TemporaryDirectory() as place:
        Checker(place, gjs, overrides, library, binding, native, other).check(gain)


main(*sys.argv[1:])
