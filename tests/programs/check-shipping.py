"""Checks that a program in JavaScript can bring a copy of the library along, as the manual's page says.

    check-shipping.py SOURCE BUILD GJS

The copy is made by the page's commands, and used by its examples, without environment variables.  A missing part of it,
or of an installed library, is named in a sentence.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import shipping

# The rest of each program: it works, and has loaded one library.
PROGRAM = '''
const {GLib} = imports.gi;
const loop = new GLib.MainLoop(null, false);
const controller = new TaskController({priority: 'background'});
scheduler.postTask(async () => {
    await scheduler.yield();
    return PrioSched.Scheduler.get_default().post_task(() => 'works');
}, {signal: controller.signal}).then(print).finally(() => loop.quit());
loop.run();
const [, maps] = GLib.file_get_contents('/proc/self/maps');
print([...new Set(new TextDecoder().decode(maps).match(/\\S+libprio-sched-1\\S+/g))].join(' and '));
'''
PLAIN = "import PrioSched from 'gi://PrioSched?version=1';\nprint(Object.keys(PrioSched.web));\n"


def run(gjs, program, text, **environment):
    """Returns the program's output; it is a module if its name ends in .mjs."""
    program.write_text(text)
    how = [gjs, '-m'] if program.suffix == '.mjs' else [gjs]
    result = subprocess.run([*how, program.name], cwd=program.parent, env=shipping.plain_environment() | environment,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=20)
    return result.stdout


def expect(said, *wanted):
    for text in wanted:
        assert text in said, f'{text!r} is not in:\n{said}'


def script_example(source):
    """Returns the manual's example for scripts (as opposed to modules), changed to run outside GNOME Shell."""
    script = shipping.example(source, 'js', 'PrioSchedCopy')
    extension = 'imports.misc.extensionUtils.getCurrentExtension()'
    assert extension in script
    return "imports.searchPath.unshift('.');\n" + script.replace(extension, "{imports, dir: imports.gi.Gio.File.new_for_path('.')}")


def check_copy(source, gjs, extension):
    """Checks a module, a script, and two copies in one process."""
    module = shipping.example(source, 'js', './prio-sched/prio-sched.js')
    library = extension / 'prio-sched/libprio-sched-1.so.1'
    said = run(gjs, extension / 'program.mjs', module + PROGRAM)
    assert said == f'works\n{library}\n', said

    # The Shell gives an extension the path of its folder.
    said = run(gjs, extension / 'program.js', script_example(source) + PROGRAM)
    assert said == f'works\n{library}\n', said

    shutil.copytree(extension / 'prio-sched', extension / 'another', dirs_exist_ok=True)
    both = f"{module}\nimport Another from './another/prio-sched.js';\nprint(PrioSched === Another);\n"
    said = run(gjs, extension / 'both.mjs', both + PROGRAM)
    assert said == f'true\nworks\n{library}\n', said
    said = run(gjs, extension / 'both.mjs', both, PRIO_SCHED_DEBUG='1')
    assert f'the copy in {extension}/prio-sched is used' in said and f'and not the copy in {extension}/another' in said, said


def check_extension(source, gjs, extension):
    """Checks that the page's extension is enabled, disabled, and enabled again, in a stand-in for the Shell, without output."""
    text = shipping.example(source, 'js', 'extends')
    theirs = "import {Extension} from 'resource:///org/gnome/shell/extensions/extension.js';\n"
    assert theirs in text
    said = run(gjs, extension / 'extension.mjs', text.replace(theirs, 'class Extension {}\n') + '''
import GLib from 'gi://GLib';
const loop = new GLib.MainLoop(null, false), mine = new MyExtension();
mine.enable();
mine.disable();
mine.enable();
GLib.timeout_add(GLib.PRIORITY_DEFAULT, 1, () => {
    if (mine._last !== 'b')
        return true;
    mine.disable();
    GLib.idle_add(GLib.PRIORITY_LOW, () => loop.quit());
    return false;
});
loop.run();
print('ended');
''')
    assert said == 'ended\n', said


def check_native_part(source, build, gjs, extension):
    """Checks the copy with and without the native part."""
    program = shipping.example(source, 'js', './prio-sched/prio-sched.js') + 'print(PrioSched.nativePart);\n'
    assert run(gjs, extension / 'native.mjs', program) in ('speed\n', 'state\n')
    for path in extension.glob('prio-sched/*ngine-1.*'):
        path.unlink()
    assert run(gjs, extension / 'native.mjs', program) == 'none\n'
    check_copy(source, gjs, extension)


def check_incomplete(source, gjs, extension):
    module = shipping.example(source, 'js', './prio-sched/prio-sched.js')
    for names, wanted in {
        ('PrioSched-1.typelib',): 'is not complete: it has no PrioSched-1.typelib\n',
        ('libprio-sched-1.so.1',): 'is not complete: it has no libprio-sched-1.so.1\n',
        ('PrioSchedGjs-1.typelib',): 'cannot be used: it has no PrioSchedGjs-1.typelib\n',
        ('libprio-sched-gjs-1.so.1',): 'cannot be used: it has no libprio-sched-gjs-1.so.1\n',
        ('overrides',): 'is not complete: it has no overrides/PrioSched.js\n',
        ('overrides', 'PrioSched-1.typelib'): 'it has no PrioSched-1.typelib, and no overrides/PrioSched.js\n',
        ('overrides/_priosched/core/tasks.js',): 'cannot be used: it has no overrides/_priosched/core/tasks.js\n',
        ('overrides/_priosched',): 'cannot be used: it has no overrides/_priosched/',
        ('overrides', 'PrioSched-1.typelib', 'libprio-sched-1.so.1'): 'prio-sched cannot be loaded: ',
    }.items():
        folder = extension / f'without-{"-".join(names).replace("/", "-")}'
        shutil.copytree(extension / 'prio-sched', folder / 'prio-sched')
        for name in names:
            path = folder / 'prio-sched' / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        expect(run(gjs, folder / 'program.mjs', module + PROGRAM), wanted)


def spoil(library, change):
    """Changes the bytes of a library."""
    library.write_bytes(change(library.read_bytes()))


def newer(data):
    """Returns a library that needs a future version of the C library."""
    return re.sub(rb'GLIBC_2\.\d\d\b', b'GLIBC_2.99', data)


def check_unusable(source, gjs, extension):
    """Checks that a copy that cannot be loaded does not affect copies of other extensions."""
    loop = 'const loop = new GLib.MainLoop(null, false);\n'
    program = f"""
const {{GLib}} = imports.gi;
{loop}
import('./unusable/prio-sched.js').catch(error => print(error.message)).then(() => import('./prio-sched/prio-sched.js'))
    .then(({{default: PrioSched, scheduler, TaskController}}) => {{
        {PROGRAM.replace(loop, '').replace('loop.run();', '')}
    }}).catch(error => {{
        print(error);
        loop.quit();
    }});
loop.run();
"""
    library = extension / 'prio-sched/libprio-sched-1.so.1'
    for name, change, wanted in (
        ('processor', lambda data: data[:18] + b'\xf3\x00' + data[20:], 'is for another kind of processor'),
        ('c-library', newer, 'needs a newer C library: glibc 2.99'),
        ('nothing', lambda data: b'nothing', 'is not a library'),
    ):
        place = extension / 'unusable'
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(extension / 'prio-sched', place)
        spoil(place / 'libprio-sched-1.so.1', change)
        said = run(gjs, extension / f'unusable-{name}.mjs', program)
        expect(said, f'The copy of prio-sched in {place} cannot be used: its libprio-sched-1.so.1 {wanted}',
               str(library), 'works')
        assert f'{place}/libprio' not in said, said


def damage(path, how):
    """Damages an override."""
    if how == 'missing':
        path.unlink()
    else:
        text = path.read_text()
        path.write_text({'empty': '', 'syntax': text + 'function (', 'throws': text + 'throw new Error("damaged");'}[how])


def users(source, place):
    """Returns a module and a script that use the copies of two extensions one after the other, the damaged one first."""
    use = """
    await PrioSched.web.scheduler.postTask(() => PrioSched.web.scheduler.yield());
    print(name, 'works');
"""
    module = f"""
import GLib from 'gi://GLib';
const loop = new GLib.MainLoop(null, false);
async function main() {{
    for (const name of ['damaged', 'whole']) {{
        try {{
            const {{default: PrioSched}} = await import(`./${{name}}/prio-sched/prio-sched.js`);
            {use}
        }} catch (error) {{
            print(name, error.message);
        }}
    }}
}}
main().finally(() => loop.quit());
loop.run();
"""
    extension = 'imports.misc.extensionUtils.getCurrentExtension()'
    example = shipping.example(source, 'js', 'PrioSchedCopy')
    script = f"""
const {{Gio, GLib}} = imports.gi;
const loop = new GLib.MainLoop(null, false);
imports.searchPath.unshift({str(place)!r});
async function main() {{
    for (const name of ['damaged', 'whole']) {{
        try {{
            const own = {{imports: imports[name], dir: Gio.File.new_for_path({str(place)!r}).get_child(name)}};
            {example.replace(extension, 'own')}
            {use}
        }} catch (error) {{
            print(name, error.message);
        }}
    }}
}}
main().finally(() => loop.quit());
loop.run();
"""
    return {'users.mjs': module, 'users.js': script}


def check_damaged_overrides(source, gjs, extension, place):
    """Checks that a copy with a damaged override reports it, and does not affect another extension's complete copy."""
    copies = place / 'copies'
    for name in ('damaged', 'whole'):
        shutil.copytree(extension / 'prio-sched', copies / name / 'prio-sched', dirs_exist_ok=True)
    overrides = copies / 'damaged/prio-sched/overrides'
    for path in (overrides / f'{name}.js' for name in ('PrioSched', 'PrioSchedCopy', '_priosched/library/react', '_priosched/web/web')):
        for how, wanted in {'missing': path.name, 'empty': path.name, 'syntax': 'function statement requires a name',
                            'throws': 'damaged'}.items():
            if path.name == 'react.js' and how != 'missing':
                continue
            text = path.read_text()
            damage(path, how)
            for program, code in users(source, copies).items():
                said = run(gjs, copies / program, code)
                first, second = said.splitlines()
                assert first.startswith('damaged '), said
                # GJS itself reports the override that checks the others.
                if path.name != 'PrioSchedCopy.js' or program == 'users.mjs':
                    expect(first, f'The copy of prio-sched in {overrides.parent} ', wanted)
                assert second == 'whole works', f'{path.name} {how}:\n{said}'
            path.write_text(text)


def check_damaged_script(source, gjs, extension, place):
    """Checks that code that imported a damaged copy itself has the namespace without its overrides, and gets these from a complete copy."""
    copies = place / 'plain'
    for name in ('damaged', 'whole'):
        shutil.copytree(extension / 'prio-sched', copies / name / 'prio-sched')
    damage(copies / 'damaged/prio-sched/overrides/_priosched/library/groups.js', 'missing')
    plain = f"""
const repository = imports.gi.GIRepository.Repository.dup_default?.() ?? imports.gi.GIRepository.Repository;
repository.prepend_search_path('{copies}/damaged/prio-sched');
repository.prepend_library_path('{copies}/damaged/prio-sched');
imports.overrides.searchPath.unshift('{copies}/damaged/prio-sched/overrides');
print(typeof imports.gi.PrioSched.web);
"""
    said = run(gjs, copies / 'plain.js', plain + users(source, copies)['users.js'])
    assert said.splitlines()[0] == 'undefined' and said.splitlines()[-1] == 'whole works', said


def check_mixed(source, gjs, extension, place):
    """Checks that the overrides of two versions are not mixed, and that the message names the ones that exist."""
    copies = place / 'mixed'
    for name in ('damaged', 'whole'):
        shutil.copytree(extension / 'prio-sched', copies / name / 'prio-sched')
    overrides = copies / 'damaged/prio-sched/overrides'
    damage(overrides / '_priosched/web/web.js', 'throws')
    for path in overrides.rglob('*.js'):
        path.write_text('// Another version\n' + path.read_text())
    expect(run(gjs, copies / 'users.mjs', users(source, copies)['users.mjs']),
           f'whole The copy of prio-sched in {copies}/whole/prio-sched cannot be used: parts of another copy, which cannot be loaded, '
           f'are used in this process, such as {overrides}/')


def found_by(build):
    """Returns the folders of a build that have the typelibs and the libraries."""
    return ':'.join(os.path.join(build, name) for name in ('prio-sched', 'introspection/gjs/binding'))


def check_optional(source, build, gjs, place):
    """Checks the page's lines for code that uses the library if it is installed, and the plain module otherwise."""
    shutil.copy(os.path.join(source, 'introspection/gjs/prio-sched-plain.js'), place)
    program = shipping.example(source, 'js', 'prio-sched-plain.js') + '''
const loop = new imports.gi.GLib.MainLoop(null, false);
scheduler.postTask(() => print('goes on', scheduler !== plain.scheduler)).finally(() => loop.quit());
imports.gi.GLib.timeout_add_seconds(0, 5, () => loop.quit());
loop.run();
'''
    installed = {'GJS_PATH': os.path.join(source, 'introspection/gjs'), 'GI_TYPELIB_PATH': found_by(build),
                 'LD_LIBRARY_PATH': found_by(build)}
    expect(run(gjs, place / 'optional.mjs', program, **installed), 'goes on true\n')
    expect(run(gjs, place / 'without.mjs', program), 'goes on false\n')


def check_installed(source, build, gjs, place):
    """Checks incomplete installations."""
    overrides = {'GJS_PATH': os.path.join(source, 'introspection/gjs')}
    typelib = {'GI_TYPELIB_PATH': found_by(build)}
    library = {'LD_LIBRARY_PATH': typelib['GI_TYPELIB_PATH']}
    shutil.copy(os.path.join(source, 'introspection/gjs/prio-sched.js'), place)
    resources = {'G_RESOURCE_OVERLAYS': f'/org/example={place}'}
    module = "import PrioSched, {scheduler, TaskController} from './prio-sched.js';\n" + PROGRAM

    expect(run(gjs, place / 'all.mjs', module, **overrides, **typelib, **library), 'works\n')
    expect(run(gjs, place / 'resource.mjs', module.replace('./', 'resource:///org/example/'),
               **overrides, **typelib, **library, **resources), 'works\n')
    expect(run(gjs, place / 'no-typelib.mjs', PLAIN, **overrides, **library), 'PrioSched', 'ypelib file for namespace')
    expect(run(gjs, place / 'no-overrides.mjs', module, **typelib, **library),
           'The typelib of prio-sched is here, and its overrides for GJS are not: there is no PrioSched.js in ')
    expect(run(gjs, place / 'no-library.mjs', PLAIN, **overrides, **typelib),
           'The typelib of PrioSched is here, and its library cannot be loaded: ')


def check_other_folder(source, build, place):
    """Checks that a copy replaces a copy, and no folder with other files."""
    command = [os.path.join(source, 'introspection/gjs/make-copy'), build, place / 'copy']
    subprocess.run(command, check=True)
    subprocess.run(command, check=True)
    (place / 'copy/SHA256SUMS').unlink()
    (place / 'copy/photo').touch()
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 1 and 'has other files' in done.stderr, done
    assert (place / 'copy/photo').exists()


def main(source, build, gjs):
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder).resolve()
        extension = place / 'extension'
        extension.mkdir()
        shipping.copy(source, build, extension)
        check_other_folder(source, build, place)
        subprocess.run(['sha256sum', '--check', '--quiet', 'SHA256SUMS'], cwd=extension / 'prio-sched', check=True)
        check_copy(source, gjs, extension)
        check_extension(source, gjs, extension)
        check_incomplete(source, gjs, extension)
        check_unusable(source, gjs, extension)
        check_damaged_overrides(source, gjs, extension, place)
        check_damaged_script(source, gjs, extension, place)
        check_mixed(source, gjs, extension, place)
        check_optional(source, build, gjs, place)
        if os.path.exists(os.path.join(build, 'introspection/gjs/native')):
            check_native_part(source, build, gjs, extension)
        check_installed(source, build, gjs, place)


if __name__ == '__main__':
    main(*sys.argv[1:])
