"""Runs the programs in README and in the manual's guides.

    check-guides.py README FOLDER BUILD-FOLDER PYTHON GJS [PAGE…]

Each program in README and in the guides of FOLDER is compiled against the build, or interpreted, with warnings as errors, and must print the
next block of text; several programs before one block print the same text.  C without a main () is only compiled.  Links to other
guides and to pictures must have targets.  Programs with a window, in C or in blocks called py and javascript, run for some seconds on a
separate display, without a warning.  The page about shipping has another test, and the page about libdex runs if libdex is installed.
Pages are run side by side.  With names of pages, such as from-libdex.md, only these are run.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r'^```(\w+)\n(.*?)^```$', re.MULTILINE | re.DOTALL)
LINK = re.compile(r'\]\(([^):]+)\)')
LANGUAGES = ('c', 'python', 'js', 'vala')
WITH_WINDOW = ('py', 'javascript')
SECONDS = 4
COMPLAINT = re.compile('Traceback|Error|CRITICAL|WARNING.*PrioSched')
OWN_TEST = ('shipping.md',)
# Pages that make-references.py writes: gi-docgen finds broken links in them.
GENERATED = ('reference-python.html', 'reference-javascript.html')
# Packages that a page needs and that some systems do not have.
NEEDS = {'from-libdex.md': 'libdex-1 >= 1.2', 'loading-many-rows.md': 'gtk4', 'filtering.md': 'gtk4'}


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=60, **options)
    assert done.returncode == 0, f'{command[0]} ended with {done.returncode}:\n{done.stdout}'
    return done.stdout


def has(package):
    return package is None or subprocess.run(['pkg-config', '--exists', package], check=False).returncode == 0


class Runner:
    def __init__(self, build, python, gjs, work):
        self.work, self.build = work, build
        self.interpreters = {'python': python, 'js': gjs}
        self.environment = os.environ | {'PKG_CONFIG_PATH': f'{build}/meson-uninstalled', 'G_DEBUG': 'fatal-warnings',
                                         'LD_LIBRARY_PATH': f'{build}/prio-sched:{build}/dex:{build}/react:{build}/gtk:{os.environ.get("LD_LIBRARY_PATH", "")}'}

    def flags(self, program):
        ours = next((name for name in ('prio-sched-dex', 'prio-sched-react', 'prio-sched-gtk') if f'<{name}.h>' in program), 'prio-sched') + '-1'
        package = 'gtk4' if '<gtk/' in program or ours == 'prio-sched-gtk-1' else 'gio-2.0'
        return run('pkg-config', '--cflags', '--libs', ours, package, env=self.environment).split()

    def run_c(self, program):
        source, binary = self.work / 'program.c', self.work / 'program'
        source.write_text(program)
        whole = 'main (' in program
        run('cc', '-Wall', '-Wextra', '-Werror', '-Wno-unused-parameter', *([] if whole else ['-c', '-Wno-unused-function']), source,
            '-o', binary, *self.flags(program))
        if whole and '<prio-sched-gtk.h>' in program:
            self.run_window(binary)
            return None
        return run(binary, env=self.environment) if whole else None

    def run_vala(self, program):
        source, binary = self.work / 'program.vala', self.work / 'program'
        source.write_text(program)
        run('valac', f'--vapidir={self.build}/introspection/vala/vapi', '--pkg=gio-2.0', '--pkg=prio-sched-1', '--Xcc=-w', '-o', binary, source,
            env=self.environment)
        return run(binary, env=self.environment)

    def run_window_in(self, language, program):
        source = self.work / f'program.{"mjs" if language == "javascript" else "py"}'
        source.write_text(program)
        self.run_window(*([self.interpreters['js'], '-m'] if language == 'javascript' else [self.interpreters['python']]), source)

    def run_window(self, *command):
        if shutil.which('xvfb-run') is None or not has('gtk4'):
            return
        display = {'GDK_BACKEND': 'x11', 'GSK_RENDERER': 'cairo', 'GTK_A11Y': 'none', 'GSETTINGS_BACKEND': 'memory'}
        # The status of xvfb-run may differ: it could not remove its own folder.
        done = subprocess.run(['xvfb-run', '-a', 'sh', '-c', 'timeout "$0" "$@"; echo "status $?"', str(SECONDS), *command],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False,
                              env=self.environment | {'G_DEBUG': ''} | display)
        assert 'status 124' in done.stdout and not COMPLAINT.search(done.stdout), done.stdout

    def run(self, language, program):
        if language in self.interpreters:
            source = self.work / 'program'
            source.write_text(program)
            return run(self.interpreters[language], source, env=os.environ | {'G_DEBUG': ''})
        return self.run_c(program) if language == 'c' else self.run_vala(program)


def check_page(text, runner):
    """Runs the programs of a page.  Returns their number."""
    printed, n_programs = [], 0
    for language, block in BLOCK.findall(text):
        if language == 'text':
            assert printed, 'a block of text follows no program'
            for what in printed:
                assert what == block, f'the page says {block!r}, the program {what!r}'
            printed = []
        elif language in WITH_WINDOW:
            n_programs += 1
            runner.run_window_in(language, block)
        elif language in LANGUAGES:
            n_programs += 1
            result = runner.run(language, block)
            printed += [] if result is None else [result]
    assert not printed, f'no block of text says that a program prints {printed[0]!r}'
    return n_programs


def check_links(page, text):
    for target in LINK.findall(BLOCK.sub('', text)):
        name, _, anchor = target.partition('#')
        if name in GENERATED:
            continue
        path = page.parent / name if name else page
        assert path.exists(), f'{page.name} leads to {target}, which is not there'
        headings = re.findall(r'^#+ (.+)$', path.read_text(), re.MULTILINE) if path.suffix == '.md' else []
        anchors = [re.sub(r'[^a-z0-9]+', '-', heading.lower()).strip('-') for heading in headings]
        assert not anchor or anchor in anchors, f'{page.name} leads to {target}, and {path.name} has only {anchors}'


def check(page, runner):
    """Returns messages about a page, and whether there are errors."""
    text = page.read_text()
    try:
        check_links(page, text)
        if page.name in OWN_TEST or not has(NEEDS.get(page.name)):
            return f'{page.name}: not run here', False
        return f'{page.name}: {check_page(text, runner)} programs', False
    except AssertionError as error:
        return f'{page.name}: {error}', True


def main(readme, folder, build, python, gjs, *only):
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        def check_apart(page):
            place = pathlib.Path(work, page.stem)
            place.mkdir()
            return check(page, Runner(build, python, gjs, place))

        pages = [pathlib.Path(folder, name) for name in only] or [pathlib.Path(readme), *sorted(pathlib.Path(folder).glob('*.md'))]
        results = list(pool.map(check_apart, pages))
    print(*(said for said, _ in results), sep='\n')
    return any(wrong for _, wrong in results)


sys.exit(main(*sys.argv[1:]))
