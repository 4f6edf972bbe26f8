"""Checks that the arguments of macros have no side effects if these might be skipped, or happen at a wrong moment.

    check-checks.py SOURCE…

The arguments of g_return_if_fail(), g_return_val_if_fail(), g_assert…() and the like are not evaluated with
-DG_DISABLE_CHECKS or -DG_DISABLE_ASSERT.  They change nothing, and call only macros that check a type and functions
that are known to have no side effects.

Macros of CPython, such as Py_XSETREF(), may evaluate an argument between two steps, or twice.  A call in it may release
the interpreter's lock, and another thread then sees the first step without the second.  So their arguments call only such macros,
and functions that take a reference.

The same applies to macros of SpiderMonkey and GJS, such as JS_TRY_VAR_OR_RETURN_FALSE() and JSCLASS_HAS_RESERVED_SLOTS(): a call may
collect garbage, and a pointer that the macro has read before is not rooted.  Their arguments call only such macros.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import pathlib
import re
import sys

CHECKS = re.compile(r'\b(g_return_if_fail|g_return_val_if_fail|prio_return_if_wrong|prio_return_val_if_wrong|g_assert\w*|g_warn_if_fail)\s*\(')

# These functions have no side effects, except that prio_check_… () log an error.
QUESTIONS = {
    'PyGILState_Check', 'are_cancellables', 'check_runner_of_group', 'g_async_result_is_tagged', 'g_signal_lookup', 'g_task_is_valid', 'prio_check_callable',
    'prio_check_limit', 'prio_check_no_delay', 'prio_check_options', 'prio_check_priority', 'prio_check_scheduler', 'prio_check_share', 'prio_check_shared', 'prio_check_task', 'prio_check_task_group',
    'prio_check_task_options', 'prio_check_type', 'prio_check_yield_options', 'prio_complain_of_callback', 'prio_entry_get_state', 'prio_runner_is_owner',
    'prio_scheduler_check', 'prio_task_get_state', 'prio_task_is_completed', 'prio_task_is_valid',
}

MACROS = re.compile(r'\b(Py\w*_[A-Z][A-Z_]+)\s*\(')
TAKE_A_REFERENCE = {'Py_NewRef', 'Py_XNewRef'}

ENGINE_MACROS = re.compile(r'\b((?:JS|JSCLASS|JSFUN|JSPROP|MOZ|GJS)_[A-Z][A-Z0-9_]*)\s*\(')


def blank_comments_and_strings(text):
    """Replaces them by blanks of the same length, so that lines can be counted."""
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    return re.sub(pattern, lambda match: re.sub(r'[^\n]', ' ', match[0]), text, flags=re.DOTALL)


def argument(text, start):
    """Returns the text between the parenthesis that ends at `start` and the matching one."""
    depth = 1
    for i in range(start, len(text)):
        depth += {'(': 1, ')': -1}.get(text[i], 0)
        if depth == 0:
            return text[start:i]
    raise ValueError('a parenthesis is not closed')


def effects(expression, allowed):
    if re.search(r'\+\+|--|(?<![=!<>])=(?!=)|<<=|>>=', expression):
        yield 'it changes something'
    for name in re.findall(r'\b([A-Za-z_]\w*)\s*\(', expression):
        if not re.sub(r'^Py[A-Za-z]*_', '', name).isupper() and name not in allowed:
            yield f'it calls {name} ()'


def files_of(path):
    return sorted(file for file in path.iterdir() if file.suffix in ('.c', '.cpp', '.h')) if path.is_dir() else [path]


def main(paths):
    found = 0
    rules = {CHECKS: QUESTIONS, MACROS: TAKE_A_REFERENCE, ENGINE_MACROS: set()}
    checked = dict.fromkeys(rules, 0)
    for path in [file for path in paths for file in files_of(pathlib.Path(path))]:
        text = blank_comments_and_strings(path.read_text(encoding='utf-8'))
        for pattern, allowed in rules.items():
            for match in pattern.finditer(text):
                expression = ' '.join(argument(text, match.end()).split())
                checked[pattern] += 1
                for effect in effects(expression, allowed):
                    line = text.count('\n', 0, match.start()) + 1
                    print(f'{path}:{line}: {match[1]} ({expression}): {effect}')
                    found += 1
    return 1 if found or not all(checked.values()) else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
