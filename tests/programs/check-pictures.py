"""Checks that every picture in README, the guides or metainfo exists, is complete, and has a description; and that the
programs draw complete ones.

    check-pictures.py SOURCE

SOURCE is the project's folder.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import importlib
import pathlib
import re
import subprocess
import sys

import svg

SHOWN = re.compile(r'(!?)\[([^]]*)\]\(([^):]+\.(?:png|svg))\)|<img[^>]* alt="([^"]*)"[^>]* src="([^":]+)"')
INDEXER = '4848 files, 99.0 MB, 9 words in 1.00 s; 0 not text, 0 unreadable, 0 aborted\nuser-blocking {:10}{:11.2f} ms{:11.2f} ms{:11.2f} ms\n'
PLANTED = {
    'no SVG': '<svg', 'no viewBox': '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
    'outside': '<text x="40" y="40">too long for this picture</text>', 'overlap': '<text y="40">one</text><text x="9" y="40">two</text>',
    'is outside': '<g font-size="90"><text y="60">x</text></g>', 'is not known': '<ellipse/>', 'no <title>': '', 'the path has': '<path d="M0 0 c1 2"/>',
}


def pictures_of(page):
    """Yields the path and the description of each picture of a page in Markdown."""
    for is_shown, alt, path, other_alt, other_path in SHOWN.findall(page.read_text()):
        yield page.parent / (path or other_path), alt or other_alt if is_shown or other_path else 'a link'


def screenshots_of(source, metainfo):
    """Yields the path of each screenshot: the end of its address is a path in this repository."""
    for address in re.findall(r'<image[^>]*>\s*([^<\s]+)\s*</image>', metainfo.read_text()):
        parts = address.split('/')
        paths = [source.joinpath(*parts[i:]) for i in range(1, len(parts))]
        yield next((path for path in paths if path.is_file()), source / address), 'a screenshot'


def check_planted():
    for word, content in PLANTED.items():
        if not content.startswith('<svg'):
            content = f'<svg xmlns="http://www.w3.org/2000/svg" width="99" height="99" viewBox="0 0 99 99">{content}</svg>'
        said = list(svg.svg_faults(content))
        assert said and (word == 'no SVG' or any(word in fault for fault in said)), (word, said)
    for data in (b'', b'\x89PNG\r\n\x1a\n', b'\x89PNG\r\n\x1a\n' + bytes(12)):
        assert list(svg.png_faults(data)), data


def flood(interval):
    """Returns the output of a flood that draws a frame each interval ms."""
    frames = [f'frame {time} ms, {time // 2} tasks' for time in range(1000 + interval, 4000 + interval, interval)]
    return '\n'.join(['frame 900 ms, 0 tasks', 'frame 917 ms, 0 tasks', 'flood 1000 ms, 0 tasks', *frames])


def check_drawing(pictures):
    """Checks the pictures of a flood that is never late, of a flood that is always late, and of a log that is too short."""
    quick, slow, nothing = (INDEXER.format(*row) for row in ((545, 0.01, 0.46, 1.2), (600, 120.5, 398.12, 60000), (1, 0, 0, 0)))
    for draw, logs in ((pictures.draw_flood, [flood(2100), flood(17)]), (pictures.draw_flood, [flood(17), flood(60)]),
                       (pictures.draw_flood, [flood(2999), flood(400)]), (pictures.draw_indexer, [slow, quick]),
                       (pictures.draw_indexer, [quick, nothing]), (pictures.draw_indexer, [slow, slow])):
        drawn = draw(logs)
        assert not list(svg.svg_faults(drawn)), (list(svg.svg_faults(drawn)), drawn)
    for log in ('flood 0 ms, 0 tasks\n', 'frame 3000 ms, 0 tasks\n', ''):
        try:
            pictures.draw_flood([flood(17), log])
        except SystemExit as error:
            assert 'before 2500 ms' in str(error), error
        else:
            raise AssertionError(f'A log that is too short is drawn: {log}')


def check_names(program):
    """Checks that arguments are validated before anything is installed or built."""
    for arguments, code, said in ((['flood', 'wrong'], 2, 'wrong: no such picture'), (['--help'], 0, 'Usage: ')):
        # There is no program on the path that could install or build anything.
        result = subprocess.run(['/bin/sh', program, *arguments], env={'PATH': '/nowhere'}, capture_output=True, text=True, check=False)
        assert result.returncode == code and said in result.stdout + result.stderr, result


def main(source):
    check_planted()
    check_names(source / 'examples/draw-pictures')
    sys.path.insert(0, str(source / 'examples'))
    check_drawing(importlib.import_module('pictures'))

    found = {}
    for page in [source / 'README.md', *(source / 'introspection/manual').glob('*.md')]:
        found |= {path: (alt, page) for path, alt in pictures_of(page)}
    for metainfo in source.glob('examples/**/*.metainfo.xml*'):
        found |= {path: (alt, metainfo) for path, alt in screenshots_of(source, metainfo)}
    wrong = [f'{page.relative_to(source)}: {path.name}: {fault}' for path, (alt, page) in found.items() for fault in svg.faults(path)]
    wrong += [f'{page.relative_to(source)}: {path.name} is not described' for path, (alt, page) in found.items() if not alt.strip()]
    for line in wrong:
        print(line)
    print(f'{len(found)} pictures, {len(wrong)} wrong')
    return not found or bool(wrong)


if __name__ == '__main__':
    sys.exit(main(pathlib.Path(sys.argv[1])))
