"""check-project.py: checks the project's descriptions: README, the DOAP file, and the gallery's manifest for Flatpak

    check-project.py SOURCE NAME LICENSE

README's links and commands have targets.  Facts that are stated twice in the repository must agree.  The Flatpak itself cannot be
built without the network.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import json
import os
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

DOAP = '{http://usefulinc.com/ns/doap#}'
FOAF = '{http://xmlns.com/foaf/0.1/}'
RDF = '{http://www.w3.org/1999/02/22-rdf-syntax-ns#}'
# Keys of a module, as flatpak-builder knows them.
MODULE = {'name', 'buildsystem', 'config-opts', 'sources', 'cleanup'}
VALUES = {'feature': {'enabled', 'disabled', 'auto'}, 'boolean': {'true', 'false'}}


def find(path, pattern):
    return re.search(pattern, path.read_text(), re.MULTILINE).group(1)


def check_readme(source):
    """Checks README; returns how many links and commands it has."""
    text = (source / 'README.md').read_text()
    targets = re.findall(r'\]\(([^):#]+)\)', text) + re.findall('`((?:examples|tests)/[^ `]+)', text)
    for target in targets:
        # examples/indexer is the program built from examples/indexer.c.
        there = (source / target).exists() or (source / f'{target}.c').exists()
        assert there, f'README leads to {target}, which is not there'
    commands = re.findall(r'^```sh\n(.*?)^```$', text, re.MULTILINE | re.DOTALL)
    for command in commands:
        assert os.access(source / command.split()[0], os.X_OK), f'{command.strip()} of README is not a program'
    assert len(targets) > 20 and len(commands) > 1, 'where are the others?'
    return len(targets), len(commands)


def check_doap(source, name, licence):
    url = find(source / 'prio-sched.wrap', '^url = (.*)$')
    manual = source / 'introspection/prio-sched.toml.in'
    project = ElementTree.parse(source / f'{name}.doap').getroot()
    assert project.tag == f'{DOAP}Project', project.tag

    said = {
        'name': project.findtext(f'{DOAP}name'),
        'description': project.findtext(f'{DOAP}shortdesc'),
        'authors': project.findtext(f'{DOAP}maintainer/{FOAF}Group/{FOAF}name'),
        'license': project.find(f'{DOAP}license').get(f'{RDF}resource').rsplit('/', 1)[1],
        'homepage': project.find(f'{DOAP}homepage').get(f'{RDF}resource'),
        'repository': project.find(f'{DOAP}repository/{DOAP}GitRepository/{DOAP}location').get(f'{RDF}resource'),
    }
    expected = {
        'name': name,
        'description': find(manual, '^description = "(.*)"$'),
        'authors': find(manual, '^authors = "(.*)"$'),
        'license': licence,
        'homepage': url.removesuffix('.git'),
        'repository': url,
    }
    assert said == expected, (said, expected)
    assert find(manual, '^website_url = "(.*)"$') == expected['homepage'], manual
    assert find(manual, '^browse_url = "(.*)"$') == expected['repository'], manual


def check_module(module, options):
    """Checks a module of a Flatpak; returns its options."""
    assert module['buildsystem'] == 'meson' and set(module) <= MODULE, module
    given = dict(re.fullmatch('-D(.*)=(.*)', option).groups() for option in module['config-opts'])
    for option, value in given.items():
        assert option in options, f'there is no option {option} for a Flatpak'
        assert value in VALUES[options[option]], f'{option} of a Flatpak cannot be {value}'
    return given


def check_pasted(source, options):
    """Checks the module that people paste; returns it."""
    [block] = re.findall(r'^```json\n(.*?)^```$', (source / 'introspection/manual/getting-it.md').read_text(), re.MULTILINE | re.DOTALL)
    module = json.loads(block)
    wrap = source / 'prio-sched.wrap'
    assert module['sources'] == [{'type': 'git', 'url': find(wrap, '^url = (.*)$'), 'tag': find(wrap, '^revision = (.*)$')}], module
    return module


def check_manifest(source, name):
    options = dict(re.findall(r"^option\('(\w+)', type: '(\w+)'", (source / 'meson_options.txt').read_text(), re.MULTILINE))
    pasted = check_pasted(source, options)
    [path] = (source / 'examples/desktop').glob('*.json')
    manifest = json.loads(path.read_text())
    application = manifest['id']
    assert path.stem == application, path
    entry = source / 'examples/desktop' / f'{application}.desktop.in'
    program = find(entry, r'^Exec=@libexecdir@/(\S+)')
    assert manifest['command'] == f'/app/libexec/{name}-1/{program}', manifest['command']
    assert find(entry, '^Icon=(.*)$') == application, entry

    [module] = manifest['modules']
    given = check_module(module, options)
    # The module is the pasted one with the gallery.
    gallery = {'gtk': 'enabled', 'examples': 'enabled', 'install_examples': 'true'}
    assert given == check_module(pasted, options) | gallery, given
    assert {**module, 'config-opts': [], 'sources': []} == {**pasted, 'config-opts': [], 'sources': []}, module
    # The only source is the tree, at the manifest's path.
    [place] = module['sources']
    assert place['type'] == 'dir' and (path.parent / place['path'] / 'meson.build').is_file(), place
    return len(given)


def main(source, name, licence):
    source = pathlib.Path(source)
    n_links, n_commands = check_readme(source)
    check_doap(source, name, licence)
    print(f'README with {n_links} links and {n_commands} commands; {name}.doap; a manifest with {check_manifest(source, name)} options')


main(*sys.argv[1:])
