"""Checks that the manual's links have targets, and that its search finds words in headings of guides.

    check-manual.py MANUAL

MANUAL is the folder that gi-docgen has made.  A link within it must have its page and its anchor; a link to another
library's manual has its address in urlmap.js.  Other links are not checked, because the test machines have no network.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import collections
import html.parser
import json
import pathlib
import re
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.others = [], set(), collections.Counter()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if values.get('id'):
            self.anchors.add(values['id'])
        if 'data-namespace' in values:
            self.others[values['data-namespace']] += 1
            return
        for name in ('href', 'src'):
            if values.get(name):
                self.links.append(values[name])


# Words that people search for, and the page that they want.
SOUGHT = {'frame': 'faq.html', 'latest': 'reference-python.html', 'cancel': 'cookbook.html', 'typing': 'cookbook.html',
          'post_task': 'reference-python.html', 'asyncio': 'faq.html', 'limit': 'start-rust.html'}


def check_search(folder, pages):
    """Yields errors in the index of the manual's search."""
    guides = [symbol for symbol in json.loads((folder / 'index.json').read_text())['symbols'] if symbol['type'] == 'content']
    for word, page in SOUGHT.items():
        if not any(word in guide['name'].lower() and guide['href'].startswith(page) for guide in guides):
            yield f'the search for {word} does not find {page}'
    for guide in guides:
        page, _, anchor = guide['href'].partition('#')
        if page not in pages or (anchor and anchor not in pages[page].anchors):
            yield f'the search leads to {guide["href"]}, which is not there'
        if re.match(r'\s*#|.*\[\w+@', guide['summary']):
            yield f'the search shows markup: {guide["summary"]}'


def main(folder):
    pages = {path.name: Page(path) for path in sorted(folder.glob('*.html'))}
    known = set(re.findall(r"\['(\w+)', 'https://", (folder / 'urlmap.js').read_text()))
    dead, n_links = list(check_search(folder, pages)), 0
    for name, page in pages.items():
        dead += [f'{name}: {other} is not in urlmap.js' for other in page.others if other not in known]
        n_links += sum(page.others.values())
        for link in page.links:
            url = urllib.parse.urlsplit(link)
            if url.scheme:
                continue
            n_links += 1
            target = urllib.parse.unquote(url.path) or name
            if not (folder / target).exists():
                dead.append(f'{name}: {link}')
            elif url.fragment and target in pages and urllib.parse.unquote(url.fragment) not in pages[target].anchors:
                dead.append(f'{name}: {link} has no such anchor')
    print(*dead, f'{len(pages)} pages, {n_links} links, {len(dead)} dead', sep='\n')
    return bool(dead) or n_links == 0


sys.exit(main(pathlib.Path(sys.argv[1])))
