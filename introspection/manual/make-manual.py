"""Has gi-docgen make the manual, and then adds the sections of its guides to the index that the manual's search looks in.

    make-manual.py OUTPUT GI-DOCGEN ARGUMENT…

gi-docgen knows its pages by their titles, and shows the Markdown that they begin with.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import html
import json
import pathlib
import re
import subprocess
import sys

HEADING = re.compile(r'<h([123])(?: id="([^"]*)")?>(.*?)</h\1>', re.DOTALL)
PARAGRAPH = re.compile(r'<p>(.*?)</p>', re.DOTALL)
MOST = 120


def plain(markup):
    return ' '.join(html.unescape(re.sub(r'<[^>]+>', '', markup)).split()).removesuffix('¶').strip()


def first_sentence(markup):
    paragraph = PARAGRAPH.search(markup)
    text = re.split(r'(?<=[.?!]) ', plain(paragraph[1]))[0] if paragraph else ''
    return text if len(text) <= MOST else text[:MOST].rsplit(' ', 1)[0] + ' …'


def sections(page):
    """Yields the level, anchor and text of each heading of a page, and the first sentence below it."""
    headings = [match for match in HEADING.finditer(page) if match[2]]
    for match, following in zip(headings, [*headings[1:], None]):
        yield int(match[1]), match[2], plain(match[3]), first_sentence(page[match.end():following.start() if following else None])


def main(output, *command):
    subprocess.run(command, check=True)
    path = pathlib.Path(output) / 'index.json'
    index = json.loads(path.read_text(encoding='utf-8'))
    added = []
    for page in (symbol for symbol in index['symbols'] if symbol['type'] == 'content'):
        text = (path.parent / page['href']).read_text(encoding='utf-8')
        for level, anchor, heading, said in sections(text):
            if level == 1:
                page['summary'] = said
            else:
                added.append({'type': 'content', 'name': f'{heading} · {page["name"]}', 'href': f'{page["href"]}#{anchor}', 'summary': said})
    index['symbols'] += added
    path.write_text(json.dumps(index), encoding='utf-8')


if __name__ == '__main__':
    main(*sys.argv[1:])
