"""check-coverage.py: reports how much of prio-sched/ the tests cover, and which lines they miss

    check-coverage.py SOURCE BUILD

SOURCE is the folder of meson.build.  BUILD has been set up with -Db_coverage=true, and its tests have been run.
Fails below 95 % of the lines or 85 % of the branches.  tests/repository/coverage.md lists the missed lines with
reasons; the script reports other missed lines.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import json
import pathlib
import subprocess
import sys

LINES, BRANCHES = 95, 85


def percent(part, whole):
    return 100 * part / whole if whole else 100


def explained(path):
    """Returns the lines that the file at path explains, as (file, code)."""
    named, file = set(), None
    for line in path.read_text().splitlines():
        if line.startswith('- `prio-'):
            file = line.split('`')[1]
        elif line.startswith('      '):
            named.add((file, line.strip()))
    return named


def main(source, build):
    source = pathlib.Path(source)
    report = subprocess.run(['gcovr', '--root', source, '--filter', f'{source.resolve()}/prio-sched/', '--json', '-',
                             pathlib.Path(build) / 'prio-sched'], check=True, capture_output=True, text=True).stdout
    named = explained(source / 'tests/repository/coverage.md')
    lines = lines_run = branches = branches_run = 0
    unexplained = []

    print(f'{"":32} lines  branches')
    for file in json.loads(report)['files']:
        name = pathlib.Path(file['file']).name
        code = (source / file['file']).read_text().splitlines()
        counted = [line for line in file['lines'] if not line['gcovr/noncode']]
        sides = [branch for line in counted for branch in line['branches']]
        run = sum(line['count'] > 0 for line in counted)
        taken = sum(branch['count'] > 0 for branch in sides)
        lines, lines_run = lines + len(counted), lines_run + run
        branches, branches_run = branches + len(sides), branches_run + taken
        if counted:
            print(f'{name:32} {percent(run, len(counted)):5.1f}  {percent(taken, len(sides)):5.1f}')
        for line in counted:
            text = code[line['line_number'] - 1].strip()
            if line['count'] == 0 and (name, text) not in named:
                unexplained.append(f'{name}:{line["line_number"]}: {text}')

    print(f'{"all":32} {percent(lines_run, lines):5.1f}  {percent(branches_run, branches):5.1f}')
    for line in unexplained:
        print(f'missed, and not in tests/repository/coverage.md: {line}')
    return percent(lines_run, lines) < LINES or percent(branches_run, branches) < BRANCHES


sys.exit(main(*sys.argv[1:]))
