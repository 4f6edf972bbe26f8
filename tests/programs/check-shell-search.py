"""check-shell-search.py: searches with the extension for files in a real GNOME Shell

    check-shell-search.py EXTENSION

Starts a headless Shell with EXTENSION, a folder of some thousand files, and an extension (shell-search.js) that types
into the overview.  The latter delays the reading of one folder, so that the order of events can be checked.

For Shell 43, whose extensions are not ES modules, the modules are rewritten.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import json
import os
import re
import shutil
import subprocess
import tempfile

import patience
import shell

HERE = os.path.dirname(os.path.abspath(__file__))
UUID = 'search@prio-sched.example.org'
PATIENCE = 150  # seconds, on a busy machine
N_FILES, N_FOLDERS = 1500, 20

ENDED = re.compile('shell-search: (?:done|failed)')
COMPLAINT = re.compile('.*(?:JS ERROR|PrioSched-CRITICAL|PrioSched-WARNING|shell-search: failed|file-search).*')

MODULE = """import * as Main from 'resource:///org/gnome/shell/ui/main.js';
import {Extension} from 'resource:///org/gnome/shell/extensions/extension.js';
%s
export default class extends Extension {
    enable() { start(); }
    disable() {}
}
"""
SCRIPT = """const Main = imports.ui.main;
%s
function init() {
    return {enable: () => start(), disable: () => {}};
}
"""

EXTENSION_43 = """class Extension {
    constructor({uuid}) { this.uuid = uuid; }
    getSettings() { return imports.misc.extensionUtils.getSettings(); }
}"""
# Parts of the extension's modules, and their replacements in a script.
LEGACY = [
    (r"import (\w+) from 'gi://(\w+)\?version=(\d)';", r"imports.gi.versions.\2 = '\3';\nconst \1 = imports.gi.\2;"),
    (r"import (\w+) from 'gi://(\w+)';", r'const \1 = imports.gi.\2;'),
    (r"import {Extension} from 'resource:.*';", EXTENSION_43),
    (r"import \* as (\w+) from 'resource:///org/gnome/shell/(\w+)/(\w+)\.js';", r'const \1 = imports.\2.\3;'),
    (r"import ({.*}) from './(\w+)\.js';", r'const \1 = imports.misc.extensionUtils.getCurrentExtension().imports.\2;'),
    (r'export default class (\w+) (.*)', r'function init(metadata) { return new \1(metadata); }\n\nclass \1 \2'),
    (r'export class (\w+)', r'var \1 = class \1'),
    (r'export function', 'function'),
]
CONTROLLER = 'Main.overview.searchController'
RESULTS_43 = 'Main.overview._overview._controls._searchController._searchResults'


def rewrite(text):
    for pattern, script in LEGACY:
        text = re.sub(f'^{pattern}', script, text, flags=re.MULTILINE)
    for name, former in (('addProvider', '_registerProvider'), ('removeProvider', '_unregisterProvider')):
        text = text.replace(f'{CONTROLLER}.{name}', f'{RESULTS_43}.{former}')
    assert not re.search(r'^(import|export) ', text, flags=re.MULTILINE), text
    return text


def install(extension, extensions, version):
    with open(os.path.join(extension, 'metadata.json')) as file:
        metadata = json.load(file)
    folder = os.path.join(extensions, metadata['uuid'])
    shutil.copytree(extension, folder)
    subprocess.run(['glib-compile-schemas', '--strict', os.path.join(folder, 'schemas')], check=True)
    if version >= 45:
        assert str(version) in metadata['shell-version'], version
        return
    metadata['shell-version'] = [str(version)]
    with open(os.path.join(folder, 'metadata.json'), 'w') as file:
        json.dump(metadata, file)
    for name in os.listdir(folder):
        if name.endswith('.js'):
            with open(os.path.join(folder, name), 'r+') as file:
                text = rewrite(file.read())
                file.seek(0)
                file.truncate()
                file.write(text)


def add_driver(extensions, version):
    folder = os.path.join(extensions, UUID)
    os.mkdir(folder)
    with open(os.path.join(folder, 'metadata.json'), 'w') as file:
        json.dump({'uuid': UUID, 'name': 'Search', 'description': 'Searches', 'shell-version': [str(version)]}, file)
    with open(os.path.join(HERE, 'shell-search.js')) as file:
        body = file.read()
    with open(os.path.join(folder, 'extension.js'), 'w') as file:
        file.write((MODULE if version >= 45 else SCRIPT) % body)


def write(*names, data):
    path = os.path.join(*[os.fsencode(name) for name in names])
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def make_files(folder):
    """Makes files; returns how many of them are found before `deep/in/held` is read, which comes last."""
    text = ' '.join(f'word{i}' for i in range(300))
    for i in range(N_FILES):
        write(folder, 'many', str(i % N_FOLDERS), f'{i}.txt', data=f'{text} file{i}')
    found = {
        'a.txt': 'one quokka', 'b.txt': 'two QUOKKAS', 'c.txt': 'echidna', 'd.txt': 'platypus',
        'accents.txt': 'Zürich', 'cjk.txt': '深い森の中', b'caf\xe9 wombat.txt': 'bilby',
        'latin1.txt': b'gr\xfcn',
        'huge.txt': b'thylacine' + b' x' * (1 << 15) + b' dugong ' + b' y' * (1 << 20) + b' moa',
        'no-text.txt': b'dodo\0dodo', 'picture.png': 'dodo', 'empty': '',
    }
    for name, data in found.items():
        write(folder, name, data=data)
    write(folder, 'deep', 'in', 'held', 'held.txt', data='numbat echidna')
    write(folder, '.hidden', 'quagga.txt', data='quagga')
    write(folder, '.quagga.txt', data='quagga')
    outside = folder + '-outside'
    write(outside, 'aurochs.txt', data='aurochs')
    for name, target in (('loop', folder), ('many/loop', '..'), ('nowhere', 'nowhere'), ('outside', outside)):
        os.symlink(target, os.path.join(folder, name))
    os.mkfifo(os.path.join(folder, 'pipe.txt'))
    write(folder, 'closed', 'file.txt', data='closed')
    os.chmod(os.path.join(folder, 'closed'), 0)
    return N_FILES + len(found)


def add_apps(place, environment):
    """Adds an app that opens text, and a stand-in for the file manager."""
    opened = environment['FILE_SEARCH_OPENED'] = os.path.join(place, 'opened')
    program = os.path.join(place, 'opener')
    write(program, data=f'#!/bin/sh\nprintf %s "$1" >{opened}\n')
    os.chmod(program, 0o700)
    for name, entry in (('opener', f'Exec={program} %f\nMimeType=text/plain;\n'),
                        ('org.gnome.Nautilus', 'Exec=true\n')):
        write(environment['XDG_DATA_HOME'], 'applications', f'{name}.desktop',
              data=f'[Desktop Entry]\nType=Application\nName={name}\n{entry}')
    write(environment['XDG_CONFIG_HOME'], 'mimeapps.list', data='[Default Applications]\ntext/plain=opener.desktop\n')


def main(arguments):
    version = shell.version()
    with tempfile.TemporaryDirectory() as place:
        environment, extensions = shell.set_up(place, UUID, dict(os.environ))
        folder = environment['FILE_SEARCH_FOLDER'] = os.path.join(place, 'files')
        environment['FILE_SEARCH_FILES'] = str(make_files(folder))
        add_apps(place, environment)
        with open(os.path.join(environment['XDG_CONFIG_HOME'], 'glib-2.0', 'settings', 'keyfile'), 'a') as file:
            file.write(f"[org/gnome/shell/extensions/file-search-prio-sched]\nfolders=['{folder}']\n")
        install(arguments[0], extensions, version)
        add_driver(extensions, version)
        with shell.running(place, environment) as (process, said):
            patience.wait_for('the end', lambda: ENDED.search(said()) or process.poll() is not None, seconds=PATIENCE)
            print('\n'.join(re.findall(r'shell-search: ((?!…).*)', said())))
            complaints = COMPLAINT.findall(said())
            assert process.poll() is None and not complaints, complaints or 'the Shell has ended'
        os.chmod(os.path.join(folder, 'closed'), 0o700)


shell.on_a_bus(main)
