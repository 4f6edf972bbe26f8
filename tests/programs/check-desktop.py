"""check-desktop.py: checks the desktop files of the installed examples, and the project's metadata

    check-desktop.py [--desktop-file-validate PROGRAM] [--appstreamcli PROGRAM] SOURCE BUILD VERSION ID…

ID is the application id of each installed example.  The validators are freedesktop.org's; this program checks that the files
agree with the programs, with each other, with po/LINGUAS, and with the repository.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import argparse
import configparser
import pathlib
import re
import subprocess
import xml.etree.ElementTree as ElementTree

LANG = '{http://www.w3.org/XML/1998/namespace}lang'
SOURCES = {'Gallery': 'gallery/gallery.c', 'LogViewer': 'log-viewer.py'}
SIZES = {'': 128, '-symbolic': 16}  # sizes that an icon is drawn for


def homepage(source):
    """Returns the project's address, which is only in one file."""
    return re.search(r'^url = (.*)\.git$', (source / 'prio-sched.wrap').read_text(), re.M).group(1)


def languages(source):
    return {line for line in (source / 'po/LINGUAS').read_text().split('\n') if line and not line.startswith('#')}


def check_entry(path, name, wanted):
    parser = configparser.ConfigParser(interpolation=None, delimiters='=')
    parser.optionxform = str
    parser.read(path, encoding='utf-8')
    entry = parser['Desktop Entry']
    assert entry['Icon'] == name, entry['Icon']
    for key in ('Name', 'Comment', 'Keywords'):
        found = {match.group(1) for match in (re.fullmatch(rf'{key}\[(.*)\]', other) for other in entry) if match}
        assert found == wanted, f'{path.name} has {key} in {sorted(found)}, and not in {sorted(wanted)}'
    return entry


def check_metainfo(path, name, source, version, wanted):
    component = ElementTree.parse(path).getroot()
    assert component.findtext('id') == name, path
    assert component.findtext('launchable') == f'{name}.desktop', path
    assert component.findtext("url[@type='homepage']") == homepage(source), path
    assert component.find('releases/release').get('version') == version, f'{path.name} does not have {version} as its last release'
    for place in ('.', 'description', 'screenshots/screenshot'):
        parent = component.find(place)
        for tag in ('name', 'summary') if place == '.' else ('p', 'caption'):
            counts = {}
            for element in parent.findall(tag):
                # Gettext 1.0 writes zh-Hans-CN.
                language = element.get(LANG) and re.sub('-(?:[A-Z][a-z]{3}-)?', '_', element.get(LANG))
                counts[language] = counts.get(language, 0) + 1
            assert not counts or counts.keys() == wanted | {None} and len(set(counts.values())) == 1, (path.name, tag, counts)
    images = [image.text for image in component.iter('image')]
    assert images, f'{path.name} has no screenshot'
    for image in images:
        assert image.startswith(homepage(source) + '/'), image
        picture = source / image[len(homepage(source)) + 1:]
        assert picture.is_file(), f'{path.name} shows {picture}, which is not there'
        assert picture.read_bytes().startswith(b'\x89PNG'), picture
    return component


def check_icons(source, name):
    for kind, size in SIZES.items():
        path = source / 'examples/desktop' / f'{name}{kind}.svg'
        root = ElementTree.parse(path).getroot()
        assert root.get('viewBox') == f'0 0 {size} {size}', path
        if kind:
            colours = {element.get('fill') for element in root.iter() if element.get('fill')}
            assert len(colours) == 1, f'{path.name} is of {sorted(colours)}: a symbolic icon has one colour'


def validate(program, *arguments):
    if program is None:
        return
    result = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    said = result.stdout + result.stderr
    assert result.returncode == 0 and not re.search('warning|error', said), said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--desktop-file-validate')
    parser.add_argument('--appstreamcli')
    parser.add_argument('source', type=pathlib.Path)
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('version')
    parser.add_argument('names', nargs='+')
    options = parser.parse_args()

    wanted = languages(options.source)
    for name in options.names:
        text = (options.source / 'examples' / SOURCES[name.rsplit('.', 1)[1]]).read_text()
        assert re.search(rf'[\'"]{re.escape(name)}[\'"]', text), f'the program is not {name}'
        entry = options.build / 'examples/desktop' / f'{name}.desktop'
        metainfo = entry.with_suffix('.metainfo.xml')
        shown = check_entry(entry, name, wanted)
        component = check_metainfo(metainfo, name, options.source, options.version, wanted)
        assert (component.findtext('name'), component.findtext('summary')) == (shown['Name'], shown['Comment']), name
        check_icons(options.source, name)
        validate(options.desktop_file_validate, entry)
        validate(options.appstreamcli, 'validate', '--no-net', metainfo)
        print(f'{name}: {len(wanted)} languages')


main()
