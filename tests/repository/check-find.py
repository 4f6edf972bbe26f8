"""Checks that every public function has a test that names it, and that tests/find knows the tests.

    check-find.py SOURCE

SOURCE is the project's folder.  Prints each public function that no test names, each C test that tests/find does not map,
and each of the questions below that it answers in another way.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import re
import subprocess
import sys

# Questions, and a result that must be among the first five.
ANSWERS = {
    'prio_task_group_cancel_pending': 'build/tests/library/test-group-ends -p /group/cancel-pending-leaves-new-tasks',
    # The function is used in a callback of the test.
    'prio_scheduler_yield_finish': '-p /scheduler/yield/',
    # The function is used through a macro of the header.
    'prio_error_quark': 'build/tests/library/test-',
    'Scheduler.run_in_thread': 'tests/bindings/binding_threads.py',
    'requestIdleCallback': 'meson test -C build web',
    'PrioTaskGroup': 'build/tests/library/test-group',
    'prio-turn': 'build/tests/library/test-',
    'run-queue-expiry': '-p ',
    'priority change': 'build/tests/library/test-order -p /scheduler/order/priority-change-does-not-depend-on-length',
    'abort queued': 'build/tests/library/test-abort -p /abort/queued-tasks-leave-at-once',
    'random programs': 'tests/library/model/model.py',
    'pictures': 'tests/programs/check-pictures.py',
    'layers': 'meson test -C build layers',
    'steps Vala': 'tests/bindings/test-vala.vala',
    'test-order': '-p /scheduler/order/by-priority-then-age',
}
PLANTED = '/* prio_commented () */\nPRIO_AVAILABLE_IN_ALL\nPrioTask *prio_scheduler_plant (PrioScheduler *self);\n'


def load(path):
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader('find', str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('find', loader))
    loader.exec_module(module)
    return module


def unmapped(cases):
    """Returns the test functions of each file in C that belong to no case."""
    for path in sorted({case.path for case in cases.all_cases() if case.path.suffix == '.c'}):
        lines = {case.line for case in cases.all_cases() if case.path == path}
        text, _ = cases.c_parts(path)
        for match in re.finditer(r'^(test_\w+) \((?:Fixture|void|gconstpointer)', text, re.MULTILINE):
            if cases.line_at(text, match.start()) not in lines and 'g_test_add' in text:
                yield f'{path}: {match[1]}'


def ask(find, question):
    """Returns the answer to a question, split as a shell does."""
    with contextlib.redirect_stdout(io.StringIO()) as answer:
        find.find(question.split(), 20)
    return answer.getvalue()


def main(source):
    program = pathlib.Path(source) / 'tests/find'
    find = load(program)
    planted = find.FUNCTION.findall(find.without_comments(PLANTED))
    assert find.without_test(planted) == planted == ['prio_scheduler_plant'], planted

    wrong = [f'{name}: no test names it' for name in find.without_test(find.public_functions())]
    wrong += [f'{name} is not mapped' for name in unmapped(sys.modules['cases'])]
    for question, wanted in ANSWERS.items():
        answer = ask(find, question)
        if wanted not in '\n'.join(answer.splitlines()[:6]):
            wrong.append(f'{question}: {wanted} is not among the first of\n{answer}')
    nothing = subprocess.run([sys.executable, program, 'prio_scheduler_pots'], text=True, stdout=subprocess.PIPE)
    if nothing.returncode != 1 or not re.search(r'^No test.*\nNear:.* prio_scheduler_post\b', nothing.stdout):
        wrong.append(f'prio_scheduler_pots: {nothing.stdout}')

    print('\n'.join(wrong))
    print(f'{len(find.public_functions())} functions, {len(find.all_cases())} tests, {len(wrong)} wrong')
    return 1 if wrong or len(find.public_functions()) < 150 or len(find.all_cases()) < 1000 else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
