"""Checks that the manual's links have targets, and that its search finds the right page first.

    check-manual.py MANUAL GJS

MANUAL is the folder that gi-docgen has made.  A link within it must have its page and its anchor; a link to another
library's manual has its address in urlmap.js.  Other links are not checked, because the test machines have no network.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import collections
import html.parser
import json
import pathlib
import re
import subprocess
import sys
import tempfile
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


# Queries, and the page that each should find first.
SOUGHT = {
    'search as you type': 'start-c', 'debounce': 'from-threads', '100000 rows': 'loading-many-rows', 'GListModel': 'loading-many-rows', 'test': 'testing', 'fake clock': 'testing',
    'run until idle': 'func.testing_run_until_idle', 'unit test': 'testing', 'thread': 'threads',
    'progress from a thread': 'from-threads', 'asyncio': 'from-asyncio', 'extension': 'shipping', 'ship': 'shipping', 'flatpak': 'getting-it',
    'cargo': 'start-rust', 'venv': 'getting-it', 'freeze': 'stutter', 'what it costs': 'costs', 'g_idle_add': 'from-idle',
    'GTask': 'from-gtask', 'priority': 'priorities', 'prio_task_group_new': 'ctor.TaskGroup.new', 'prio_scheduler_post': 'method.Scheduler.post',
    'React': 'from-react', 'post_task': 'reference-python', 'exception': 'errors', 'unhandled': 'javascript',
    'never awaited': 'mistakes', 'used again': 'mistakes', 'filter': 'filtering', 'sort': 'filtering', 'pytest': 'errors',
    'limit': 'limits', 'load rows': 'loading-many-rows', 'run in thread': 'threads', 'timeout': 'cookbook', 'obsolete': 'start-python',
    'pip': 'getting-it', 'wheel': 'getting-it', 'vala string': 'start-vala', 'Rust error': 'errors', 'stop button': 'cookbook', 'database': 'cookbook',
    'progress bar': 'from-threads', 'unit test python': 'start-python', 'lag': 'stutter', 'frame': 'turns',
}


def check_search(folder, pages, gjs):
    """Yields errors in the manual's search."""
    entries = json.loads((folder / 'search-data.js').read_text().removeprefix('window.searchData = ').rstrip().rstrip(';'))
    for kind, name, title, href, summary, text in entries:
        page, _, anchor = href.partition('#')
        if page not in pages or (anchor and anchor not in pages[page].anchors):
            yield f'the search leads to {href}, which is not there'
        if re.match(r'\s*#|.*\[\w+@', summary):
            yield f'the search shows markup: {summary}'
    program = f"""{(folder / 'search.js').read_text()}
        const index = prepare({json.dumps(entries)});
        print(JSON.stringify({json.dumps(list(SOUGHT))}.map(query => findPages(index, query)[0]?.href ?? '')));"""
    with tempfile.NamedTemporaryFile('w', suffix='.js') as file:
        file.write(program)
        file.flush()
        found = json.loads(subprocess.run([gjs, file.name], capture_output=True, text=True, check=True).stdout)
    for (query, page), first in zip(SOUGHT.items(), found):
        if first.partition('#')[0] != f'{page}.html':
            yield f'the search for “{query}” finds {first} first, and not {page}.html'


def main(folder, gjs):
    pages = {path.name: Page(path) for path in sorted(folder.glob('*.html'))}
    known = set(re.findall(r"\['(\w+)', 'https://", (folder / 'urlmap.js').read_text()))
    dead, n_links = list(check_search(folder, pages, gjs)), 0
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


sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2]))
