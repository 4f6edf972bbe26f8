"""check-abi.py: checks that the binary interface is the committed one, and that the library is hardened

    check-abi.py [--update] [--lines N] LIST LIBRARY HEADER…

The list has the interface of compiled programs: each function with its types, each enumerator with its value.  A line that is
removed or changed breaks programs; an added line is a new interface.  With fewer than N lines, by default 50, a header was
not parsed.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import re
import subprocess
import sys


def interface(headers):
    lines = []
    for header in headers:
        with open(header, encoding='utf-8') as file:
            text = re.sub(r'/\*.*?\*/|^#.*?(?<!\\)$', '', file.read(), flags=re.DOTALL | re.MULTILINE)
        for declaration in re.findall(r'(?:PRIO_AVAILABLE_IN_\w+|_PRIO_EXTERN)\s+([^;{]*?\))\s*(?:G_GNUC_\w+[^;]*)?;?\s', text):
            lines.append(re.sub(r'\s*([*(),])\s*', r'\1', re.sub(r'\s+', ' ', declaration)))
        for body, name in re.findall(r'typedef enum\s*\{(.*?)\}\s*(\w+)\s*;', text, re.DOTALL):
            value = -1
            for enumerator in filter(None, (part.strip() for part in body.split(','))):
                constant, _, given = (part.strip() for part in enumerator.partition('='))
                value = eval(given, {}) if given else value + 1  # a number, or 1 << n
                lines.append(f'{name}: {constant} = {value}')
        for result, name, arguments in re.findall(r'typedef\s+([\w *]+?)\s*\(\*(\w+)\)\s*\((.*?)\);', text, re.DOTALL):
            lines.append(re.sub(r'\s+', ' ', f'callback {name}: {result} ({arguments})'))
    return sorted(set(lines))


def check_hardening(library):
    def readelf(option):
        return subprocess.run(['readelf', '-W', option, library], check=True, text=True, stdout=subprocess.PIPE).stdout
    missing = []
    if 'BIND_NOW' not in readelf('-d') or 'GNU_RELRO' not in readelf('-l'):
        missing.append('-z relro -z now')
    if re.search(r'GNU_STACK.*RWE', readelf('-l')):
        missing.append('a stack that is not executable')
    if '__stack_chk_fail' not in readelf('-s'):
        missing.append('-fstack-protector-strong')
    return missing


def main(arguments):
    update = arguments[0] == '--update'
    if update:
        arguments = arguments[1:]
    least = 50
    if arguments[0] == '--lines':
        least = int(arguments[1])
        arguments = arguments[2:]
    path, library, *headers = arguments
    found = interface(headers)
    if update:
        with open(path, 'w', encoding='utf-8') as file:
            file.write('\n'.join(found) + '\n')

    with open(path, encoding='utf-8') as file:
        wanted = file.read().splitlines()
    for line in sorted(set(wanted) - set(found)):
        print(f'gone, or changed: {line}')
    for line in sorted(set(found) - set(wanted)):
        print(f'new: {line}')
    missing = check_hardening(library)
    for what in missing:
        print(f'built without: {what}')
    return 1 if found != wanted or missing or len(found) < least else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
