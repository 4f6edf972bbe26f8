"""check-log-viewer.py: checks the log viewer, in windows and from inside, by typing while it reads

    check-log-viewer.py PYTHON PROGRAM TRANSLATIONS      (under xvfb-run)

TRANSLATIONS is the folder of the languages' messages.  The order of events, and not a clock, shows that typing is not late:
a pipe keeps the log from ending as long as letters are typed.  Each letter is typed after a frame with results of the
search for the letters before it, while that search still waits for more of the log.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import importlib.util
import os
import re
import sys
import tempfile
import threading

import window

N_LINES = 200_000
TYPED = 'quartz'  # the text to search; each line has some of its letters


def line(i):
    level = 'error' if i % 50 == 0 else 'Warning:' if i % 10 == 0 else 'note'
    return f'{i:06} {level} <b>&amp; {TYPED[:i % 7].title() if i % 2 else TYPED[:i % 7]}.\n'


def n_with(part, n_lines):
    return sum(part in line(i).lower() for i in range(n_lines))


def outcomes(viewer):
    """Returns the searches that --verbose prints: the text, their end, the numbers of results and of lines, and frames."""
    found = re.findall('^“(.*)”, level 0: (.*), (.*) found in (.*) lines, (.*) frames$', viewer.said(), re.MULTILINE)
    return [(part, outcome, *map(int, numbers)) for part, outcome, *numbers in found]


class Pipe:
    """Writes a log that comes in two halves."""

    def __init__(self, path):
        os.mkfifo(path)
        self.path = path
        self.go_on = threading.Event()
        threading.Thread(target=self.write, daemon=True).start()

    def write(self):
        with open(self.path, 'w') as file:
            file.writelines(map(line, range(N_LINES // 2)))
            file.flush()
            self.go_on.wait()
            file.writelines(map(line, range(N_LINES // 2, N_LINES)))


def check_typing(viewer, path):
    pipe = Pipe(path)
    with viewer(path) as program:
        program.wait_for_window('test.pipe')
        half = N_LINES // 2
        program.wait_for_title('half of the log', f' {half} of {half} lines$')
        for n in range(1, len(TYPED) + 1):
            program.type(TYPED[n - 1])
            program.wait_for_title(f'lines with {TYPED[:n]}', f' {n_with(TYPED[:n], half)} of {half} lines · 100 % searched$')
        pipe.go_on.set()
        n_found = n_with(TYPED, N_LINES)
        program.wait_for_title('all of the log', f' {n_found} of {N_LINES} lines$')
        program.wait_for('the last search', lambda: outcomes(program)[-1][:2] == (TYPED, 'complete'))
        expected = [(TYPED[:n], 'aborted', n_with(TYPED[:n], half), half) for n in range(len(TYPED))]
        found = outcomes(program)
        assert [what[:4] for what in found] == [*expected, (TYPED, 'complete', n_found, N_LINES)], (found, expected)
        assert all(frames > 0 for *_, frames in found), found

        program.key('Escape')
        program.wait_for_title('all lines', f' {N_LINES} of {N_LINES} lines$')
        program.key('Tab', 'Tab')
        program.key('ctrl+f')
        program.type('qqq')
        program.wait_for_title('no line', f' 0 of {N_LINES} lines$')
        program.wait_for('its page', lambda: 'No such lines' in program.said())
        program.close('ctrl+w')


def check_end_of_reading(viewer, path):
    """Checks that a window closes although a thread waits for more of a pipe."""
    os.mkfifo(path)
    pipe = os.open(path, os.O_RDWR)
    os.write(pipe, b'one\ntwo\n')
    with viewer(path) as program:
        program.wait_for_window('test.open')
        program.wait_for_title('what there is', ' 2 of 2 lines$')
        program.close('ctrl+w')
    os.close(pipe)


def check_file(viewer, path):
    """Checks a file while all letters are typed as fast as possible."""
    write_lines(path, N_LINES)
    with viewer(path) as program:
        program.wait_for_window('test.log')
        seen = program.title()
        program.type(TYPED)
        n_found = n_with(TYPED, N_LINES)
        program.wait_for_title('all of the log', f' {n_found} of {N_LINES} lines$')
        expected = (TYPED, 'complete', n_found, N_LINES)
        program.wait_for('the last search', lambda: expected in [what[:4] for what in outcomes(program)])
        found = outcomes(program)
        assert found[-1][0] == TYPED and all(TYPED.startswith(part) for part, *_ in found), found
        print(f'typed when it showed {seen}: {found}')
        program.close('ctrl+w')


def check_problems(viewer, folder):
    places = {'missing': 'cannot be read: No such file', 'folder': 'cannot be read: Is a directory', 'empty': 'is empty',
              'garbage': 'is not text', '<i>&': 'cannot be read: No such file'}
    os.mkdir(os.path.join(folder, 'folder'))
    open(os.path.join(folder, 'empty'), 'w').close()
    with open(os.path.join(folder, 'garbage'), 'wb') as file:
        file.write(bytes(range(256)) * 100)
    if os.geteuid() != 0:
        open(os.path.join(folder, 'closed'), 'w').close()
        os.chmod(os.path.join(folder, 'closed'), 0)
        places['closed'] = 'cannot be read: Permission denied'
    for name, what in places.items():
        with viewer(os.path.join(folder, name)) as program:
            program.wait_for_window(re.escape(name))
            program.wait_for(f'“{name}” {what}', lambda: f'“{name}” {what}' in program.said())
            program.close('ctrl+w')

    with viewer(os.path.join(folder, 'missing'), LC_ALL='xx_XX.UTF-8') as program:
        program.wait_for_window('missing')
        program.close('ctrl+w')
    with viewer(os.path.join(folder, 'missing'), LANGUAGE='de') as program:
        program.wait_for_window('missing')
        program.wait_for('German', lambda: '„missing“ kann nicht gelesen werden: ' in program.said())
        program.close('ctrl+w')


def check_journal(viewer, folder):
    """Checks a journalctl that does not work, and a missing one."""
    path = os.path.join(folder, 'journalctl')
    for script, what in (('seq 3', None), ('exit 1', 'The journal cannot be read'), ('', '“Journal” is empty'),
                         (None, '“Journal” cannot be read: No such file')):
        if script is None:
            os.remove(path)
        else:
            with open(path, 'w') as file:
                file.write(f'#!/bin/sh\n{script}\n')
            os.chmod(path, 0o755)
        with viewer('--journal', PATH=folder if script != 'seq 3' else f'{folder}:{os.environ["PATH"]}') as program:
            program.wait_for_window('Journal')
            if what:
                program.wait_for(what, lambda: what in program.said())
            else:
                program.wait_for_title('three lines', ' 3 of 3 lines$')
            program.close('ctrl+w')


def load(path):
    spec = importlib.util.spec_from_file_location('log_viewer', path)
    module = importlib.util.module_from_spec(spec)
    sys.modules['log_viewer'] = module
    spec.loader.exec_module(module)
    return module


async def read(module, source):
    log = module.Log(source, module.PrioSched.TaskController('background').signal)
    while not log.is_complete:
        await log.reading
    return log


async def found_in(log, part, level):
    return [number async for numbers, _ in log.find(part, level) for number in numbers]


def write_lines(path, n_lines):
    with open(path, 'w') as file:
        file.writelines(map(line, range(n_lines)))


def shortened(module, path):
    """Checks a file that is truncated while it is read."""
    class Shortened(module.File):
        def read(self):
            block = super().read()
            os.truncate(path, 100)
            return block
    return Shortened(path)


async def check_inside(module, folder):
    path = os.path.join(folder, 'inside.log')
    write_lines(path, N_LINES)
    log = await read(module, module.File(path))
    assert log.problem is None and len(log) == N_LINES and log.line(777) == line(777)[:-1]
    for part, level, words in (('', 1, 'warning:|error'), ('', 2, 'error'), (TYPED, 2, f'error.*{TYPED}')):
        expected = [i for i in range(N_LINES) if re.search(words, line(i).lower())]
        assert await found_in(log, part, level) == expected, (part, level)

    log = await read(module, shortened(module, path))
    assert 'has become shorter' in log.problem and 0 < len(log) < N_LINES, (log.problem, len(log))

    # A line that never ends, bytes that are not UTF-8, and an end without a new line.
    with open(path, 'wb') as file:
        file.write(b'x' * 1_000_000 + b'\n\n\xff\xc3\n' + b'y\r\nlast \xc3\xa4')
    log = await read(module, module.File(path))
    assert [log.line(i) for i in range(len(log) - 4, len(log))] == ['', '\ufffd\ufffd', 'y\r', 'last ä'], log.text[-40:]
    assert sum(len(log.line(i)) for i in range(len(log) - 4)) == 1_000_000
    assert await found_in(log, 'ä', 0) == [len(log) - 1]

    log = await read(module, module.Example(3000))
    assert len(log) == 3000 and len(log.text) == log.source.size and log.fraction() == 1
    assert module.to_markup('a<B>&\0\r', 'b>') == 'a&lt;<span background="#f9f06b" foreground="black">B&gt;</span>&amp;\ufffd'


class Impatient:
    """Wraps a scheduler so that it is always time to yield."""

    def __init__(self, scheduler):
        self.scheduler = scheduler
        self.n_yields = 0

    def __getattr__(self, name):
        return getattr(self.scheduler, name)

    def each(self, items):
        return type(self.scheduler).each(self, items)

    def should_yield(self):
        return True

    def yield_(self):
        self.n_yields += 1
        return self.scheduler.yield_()


async def check_turns(module):
    """Checks that reading and searching yield as often as requested."""
    scheduler = module.scheduler
    module.scheduler = impatient = Impatient(scheduler)
    log = await read(module, module.Example(5000))
    n_reading = impatient.n_yields
    await found_in(log, 'picture', 0)
    module.scheduler = scheduler
    n_searching = impatient.n_yields - n_reading
    print(f'{n_reading} turns while {len(log)} lines were read, {n_searching} while they were searched')
    assert n_reading >= len(log) and n_searching >= len(log) // module.STEP


def check_rows(module):
    """Checks that a million lines in a view are not a million objects."""
    class Counted(module.Row):
        n_made = 0

        def __init__(self, number):
            super().__init__(number)
            Counted.n_made += 1

    module.Row, row = Counted, module.Row
    found = module.Found('')
    factory = module.Gtk.SignalListItemFactory()
    factory.connect('setup', lambda factory, item: item.set_child(module.Gtk.Label()))
    factory.connect('bind', lambda factory, item: item.get_child().set_text(str(item.get_item().number)))
    view = module.Gtk.ListView(model=module.Gtk.NoSelection(model=found), factory=factory)
    shown = module.Gtk.Window(child=module.Gtk.ScrolledWindow(child=view), default_width=300, default_height=300)
    shown.present()
    frames = []
    view.add_tick_callback(lambda view, clock: frames.append(1) or True)
    for i in range(10):
        found.append(range(i * 100_000, (i + 1) * 100_000))
        n_frames = len(frames)
        while len(frames) < n_frames + 2:
            module.GLib.MainContext.default().iteration(True)
    n_rows = Counted.n_made
    module.Row = row
    assert found.get_n_items() == 1_000_000
    assert found.get_item(999_999).number == 999_999 and found.get_item(1_000_000) is None
    assert 0 < n_rows < 20_000, n_rows
    shown.destroy()
    print(f'{n_rows} rows were made')


def check_window(module, folder):
    """Checks the message for a truncated file; levels; and accessible names."""
    path = os.path.join(folder, 'window.log')
    write_lines(path, N_LINES)
    application = module.Adw.Application(application_id='org.example.PrioSched.LogViewer',
                                         flags=module.Gio.ApplicationFlags.NON_UNIQUE)
    application.register(None)
    shown = module.Window(application, shortened(module, path))
    shown.present()

    def iterate_until(is_done):
        while not is_done():
            module.GLib.MainContext.default().iteration(True)

    # The message may come before the last line.
    iterate_until(lambda: shown.is_told and shown.log.is_complete and shown.found.n_searched == len(shown.log))
    assert 0 < len(shown.log) < N_LINES and shown.pages.get_visible_child_name() == 'lines'
    shown.level.set_selected(2)
    n_errors = sum('error' in line(i) for i in range(len(shown.log) - 1))
    title = f' ({n_errors}|{n_errors + 1}) of {len(shown.log)} lines$'
    iterate_until(lambda: re.search(title, shown.get_title() or ''))
    for widget in shown.entry, shown.level, shown.view, shown.progress:
        assert module.Gtk.test_accessible_has_property(widget, module.Gtk.AccessibleProperty.LABEL), widget
    shown.close()


def main(python, program, translations):
    environment = os.environ | {'LC_ALL': 'C.UTF-8', 'TEXTDOMAINDIR': translations}

    def viewer(path, **variables):
        return window.Program([python, program, '--verbose', path], env=environment | variables)

    os.environ['GTK_A11Y'] = 'test'
    module = load(program)
    with tempfile.TemporaryDirectory() as folder:
        module.PrioSched.run(check_inside(module, folder))
        module.PrioSched.run(check_turns(module))
        check_rows(module)
        check_window(module, folder)
        check_typing(viewer, os.path.join(folder, 'test.pipe'))
        check_end_of_reading(viewer, os.path.join(folder, 'test.open'))
        check_file(viewer, os.path.join(folder, 'test.log'))
        check_problems(viewer, folder)
        check_journal(viewer, folder)
    window.check_ends([python, program], 'Made-up Log', environment)


main(*sys.argv[1:])
