"""Has gi-docgen make the manual.  Then makes its front page of the first guide, adds the guides to each sidebar, and writes the search.

    make-manual.py OUTPUT GUIDES GI-DOCGEN ARGUMENT…

GUIDES are the names of the guides' files, with commas between them.

gi-docgen's front page lists classes; here it is reference.html.  Guides link to each other's .md files, so that the links also work
where the files are read.  gi-docgen's search knows names only; search.js, beside this file, takes its place.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import html
import json
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
HEADING = re.compile(r'<h([123])(?: id="([^"]*)")?>(.*?)</h\1>', re.DOTALL)
PARAGRAPH = re.compile(r'<p>(.*?)</p>', re.DOTALL)
# The part of a page that is not the sidebar or the table of contents.
MAIN = re.compile(r'<section id="main".*?(?=<div id="toc"|<section id="search"|\Z)', re.DOTALL)
LINK = re.compile(r'\[(\w+)@(?:[A-Z]\w*\.)*?([\w.:]+)\]')
# Newer versions of gi-docgen put this before the title of a guide.
TITLE = re.compile(r'<h4 id="title".*?</h4>\s*', re.DOTALL)
END_OF_SIDEBAR = re.compile(r'<div class="section generator">|</nav>')
GUIDE, REFERENCE, SYMBOL = range(3)
# Files of symbols, by their types in gi-docgen's index.
FILES = {
    'alias': 'alias.{name}', 'bitfield': 'flags.{name}', 'callback': 'callback.{name}', 'class': 'class.{name}', 'constant': 'const.{name}',
    'ctor': 'ctor.{type_name}.{name}', 'domain': 'error.{name}', 'enum': 'enum.{name}', 'function': 'func.{name}',
    'function_macro': 'func.{name}', 'interface': 'iface.{name}', 'method': 'method.{type_name}.{name}',
    'property': 'property.{type_name}.{name}', 'record': 'struct.{name}', 'signal': 'signal.{type_name}.{name}',
    'type_func': 'type_func.{type_name}.{name}', 'vfunc': 'vfunc.{type_name}.{name}',
}
# gi-docgen hides the sidebar on narrow screens.
STYLE = '''
@media (max-width: 700px) {
  .sidebar { display: block; width: 100%; height: auto; position: static; }
  .sidebar .section .links { columns: 2; }
}
'''
MOST = 120


def plain(markup):
    return ' '.join(html.unescape(re.sub(r'<[^>]+>', ' ', markup)).replace('¶', ' ').split())


def first_sentence(markup):
    paragraph = PARAGRAPH.search(markup)
    text = re.split(r'(?<=[.?!]) ', plain(paragraph[1]))[0] if paragraph else ''
    return text if len(text) <= MOST else text[:MOST].rsplit(' ', 1)[0] + ' …'


def sections(path):
    """Yields an entry of the search for each section of a guide or a reference."""
    page = MAIN.search(path.read_text(encoding='utf-8'))[0]
    kind = REFERENCE if path.stem.startswith('reference-') else GUIDE
    headings = [match for match in HEADING.finditer(page) if match[2]]
    title = plain(headings[0][3])
    for match, following in zip(headings, [*headings[1:], None]):
        text = page[match.end():following.start() if following else None]
        href = path.name if match is headings[0] else f'{path.name}#{match[2]}'
        yield [kind, plain(match[3]), '' if match is headings[0] else title, href, first_sentence(text), plain(text)]


def file_of(symbol):
    return FILES[symbol['type']].format_map(symbol) + '.html' if symbol['type'] in FILES else None


def entry_of(symbol, path):
    """Returns the search's entry for a symbol that has a page."""
    name = symbol.get('ident') or symbol.get('ctype') or symbol['name']
    return [SYMBOL, name, symbol.get('type_name', ''), path.name, symbol['summary'], plain(MAIN.search(path.read_text(encoding='utf-8'))[0])]


def write_search(folder, guides):
    """Replaces gi-docgen's search, and removes symbols without a page from its index, which Devhelp reads."""
    path = folder / 'index.json'
    index = json.loads(path.read_text(encoding='utf-8'))
    for symbol in index['symbols']:
        symbol['summary'] = LINK.sub(lambda link: link[2] + ('()' if link[1] in ('method', 'func', 'ctor') else ''), symbol.get('summary') or '')
    index['symbols'] = [symbol for symbol in index['symbols'] if file_of(symbol) is None or (folder / file_of(symbol)).exists()]
    path.write_text(json.dumps(index), encoding='utf-8')
    entries = [entry for guide in guides for entry in sections(folder / guide)]
    entries += [entry_of(symbol, folder / file_of(symbol)) for symbol in index['symbols'] if file_of(symbol) is not None]
    # A script, since a browser does not let a page from a local folder read other files.
    (folder / 'search-data.js').write_text(f'window.searchData = {json.dumps(entries, ensure_ascii=False)};\n', encoding='utf-8')
    shutil.copy(HERE / 'search.js', folder)


def write_pages(folder, guides):
    """Corrects the links of all pages, and adds the guides to each sidebar."""
    titles = {guide: plain(re.search(r'<h1[^>]*>(.*?)</h1>', (folder / guide).read_text(encoding='utf-8'), re.DOTALL)[1]) for guide in guides}
    to_guide = re.compile(f'href="({"|".join(re.escape(guide.removesuffix(".html")) for guide in guides)})\\.md')
    for path in folder.glob('*.html'):
        text = to_guide.sub(r'href="\1.html', path.read_text(encoding='utf-8'))
        text = re.sub(r'href="index\.html(?=[#"])', 'href="reference.html', text)
        text = re.sub(r'(?<=<h3><a href=")reference\.html', 'index.html', text, count=1)
        links = ''.join(f'    <a href="{guide}"{" class=current" if guide == path.name else ""}>{html.escape(titles[guide])}</a>\n' for guide in guides)
        section = f'<div class="section">\n  <h5>Guides</h5>\n  <div class="links">\n{links}    <a href="reference.html">Reference for C</a>\n  </div>\n</div>\n'
        text = END_OF_SIDEBAR.sub(lambda end: section + end[0], text, count=1)
        path.write_text(TITLE.sub('', text) if path.name in guides and '<h1 ' in text else text, encoding='utf-8')


def main(output, order, *command):
    subprocess.run(command, check=True)
    folder, guides = pathlib.Path(output), [f'{pathlib.Path(name).stem}.html' for name in order.split(',')]
    write_search(folder, guides)
    (folder / 'index.html').rename(folder / 'reference.html')
    write_pages(folder, guides)
    shutil.copy(folder / guides[0], folder / 'index.html')
    with (folder / 'style.css').open('a', encoding='utf-8') as style:
        style.write(STYLE)


if __name__ == '__main__':
    main(*sys.argv[1:])
