"""Has gi-docgen make the manual.  Then adds the guides to their sidebar, and their sections to the index that its search looks in.

    make-manual.py OUTPUT GUIDES GI-DOCGEN ARGUMENT…

gi-docgen's search knows pages by their titles, and shows the Markdown that they begin with.

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
LINK = re.compile(r'\[(\w+)@(?:[A-Z]\w*\.)*?([\w.:]+)\]')
# Newer versions of gi-docgen put this before the title of a guide.
TITLE = re.compile(r'<h4 id="title".*?</h4>\s*', re.DOTALL)
# In the sidebar of a guide, after what is there of the library.
END_OF_SIDEBAR = re.compile(r'<div class="section generator">|</nav>')
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


def add_sidebar(path, pages, text):
    """Adds the guides in their order, with this one among them."""
    links = '\n'.join(f'    <a href="{page["href"]}"{" class=current" if page["href"] == path.name else ""}>{html.escape(page["name"])}</a>' for page in pages)
    guides = f'<div class="section">\n  <h5>Guides</h5>\n  <div class="links">\n{links}\n  </div>\n</div>\n'
    text = END_OF_SIDEBAR.sub(lambda end: guides + end[0], text, count=1)
    path.write_text(TITLE.sub('', text) if '<h1 ' in text else text, encoding='utf-8')


def main(output, order, *command):
    """Makes the manual; order are the names of the guides' files, with commas between them."""
    subprocess.run(command, check=True)
    path = pathlib.Path(output) / 'index.json'
    index = json.loads(path.read_text(encoding='utf-8'))
    for symbol in index['symbols']:
        symbol['summary'] = LINK.sub(lambda link: link[2] + (' ()' if link[1] in ('method', 'func', 'ctor') else ''), symbol.get('summary') or '')
    names = [f'{pathlib.Path(name).stem}.html' for name in order.split(',')]
    pages = sorted((symbol for symbol in index['symbols'] if symbol['type'] == 'content'), key=lambda page: names.index(page['href']))
    for page in pages:
        text = (path.parent / page['href']).read_text(encoding='utf-8')
        for level, anchor, heading, said in sections(text):
            if level == 1:
                page['summary'] = said
            else:
                index['symbols'].append({'type': 'content', 'name': f'{heading} · {page["name"]}', 'href': f'{page["href"]}#{anchor}', 'summary': said})
        add_sidebar(path.parent / page['href'], pages, text)
    path.write_text(json.dumps(index), encoding='utf-8')


if __name__ == '__main__':
    main(*sys.argv[1:])
