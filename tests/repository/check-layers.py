"""Checks that each module of the library uses only modules of its layer or of lower layers.

    check-layers.py [--plant FROM TO | --self-test] LAYERS SOURCES OBJECTS…

LAYERS names the layers and their modules (prio-sched/layers), SOURCES is the folder of the library's sources, which may
have a folder for each layer, and OBJECTS are its object files, or archives of them.  It examines

  - which object refers to a symbol of which other,
  - which header each source, and each header, includes,
  - the calls of a header's inline functions: in objects, these would belong to the file that includes the header,
  - whether any module other than clock reads a clock: a test that replaces that module controls the time.

It prints each layer with its modules and the number of their uses of lower layers, and each upward use with its cause.
--plant adds an upward use, and --self-test does that in each of the three ways and checks that it is found.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys


READS_A_CLOCK = re.compile(r'\b((?:clock_gettime|g_get_monotonic_time|g_get_real_time|g_source_get_time|time|gettimeofday) \()')


class Layers:
    """Keeps the layers, from the lowest; `rank` is the height of a module: modules in braces have the same height."""

    def __init__(self, text):
        self.modules = {}
        self.layer = {}
        self.rank = {}
        self.twice = []
        rank = 0
        for line in text.splitlines():
            line = line.split('#')[0].strip()
            if not line:
                continue
            name, modules = line.split(':')
            self.modules[name] = []
            within = False
            for module in modules.split():
                if module in '{}':
                    within = module == '{'
                    rank += 1
                    continue
                rank += not within
                if module in self.layer:
                    self.twice.append(module)
                self.modules[name].append(module)
                self.layer[module] = name
                self.rank[module] = rank

    def is_upwards(self, user, used):
        return self.rank[used] > self.rank[user]


def module_of(path):
    """Returns the module of a source, header or object, or None if it does not belong to the library."""
    name = pathlib.PurePath(path).name
    match = re.search(r'(?:^|_)prio-([a-z-]+?)(?:-private)?\.(?:c|h|h\.in|c\.o|c\.obj)$', name)
    return match.group(1) if match else None


def read_objects(paths):
    """Returns the symbols that each module defines, {symbol: module}, and needs, {module: {symbol}}."""
    defined, needed = {}, collections.defaultdict(set)
    for line in subprocess.run(['nm', '-A', '-P', *paths], check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines():
        # FILE: SYMBOL TYPE …, or ARCHIVE[MEMBER]: SYMBOL TYPE …
        match = re.match(r'(?:.*\[(.*)\]|(.*?)): (\S+) (\S)', line)
        module = module_of(match.group(1) or match.group(2))
        symbol, kind = match.group(3), match.group(4)
        if module is None:
            continue
        needed[module]
        if kind in 'Uvw':
            needed[module].add(symbol)
        elif kind.isupper():
            defined[symbol] = module
    return defined, needed


def without_comments(text):
    return re.sub(r'/\*.*?\*/', ' ', text, flags=re.DOTALL)


def read_sources(folder):
    """Returns {path: text} of the sources and headers of the library, without comments."""
    return {path: without_comments(path.read_text(encoding='utf-8'))
            for pattern in ('*.c', '*.h') for path in sorted(folder.rglob(pattern))}


def calls(defined, needed):
    for module, symbols in needed.items():
        for symbol in symbols:
            if symbol in defined:
                yield module, defined[symbol], f'{symbol} ()'


def includes(texts):
    for path, text in texts.items():
        for name in re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', text, flags=re.MULTILINE):
            used = module_of(name)
            if used not in (None, 'version'):
                yield module_of(path), used, f'{path.name} includes {pathlib.PurePath(name).name}'


def calls_in_headers(texts, defined):
    for path, text in texts.items():
        if path.suffix != '.h':
            continue
        for body in re.findall(r'^\{\n(.*?)^\}', text, flags=re.MULTILINE | re.DOTALL):
            for symbol in set(re.findall(r'\b(prio_\w+)\s*\(', body)):
                if symbol in defined:
                    yield module_of(path), defined[symbol], f'{symbol} (), in {path.name}'


def check_names(layers, texts, objects):
    """Yields errors in the list of modules itself."""
    found = {module_of(path): path for path in texts}
    for module in layers.twice:
        yield f'{module} is listed twice'
    for module in sorted(set(found) | objects):
        if module not in layers.layer:
            yield f'{module} is in no layer'
    for module in layers.layer:
        if module not in found and module not in objects:
            yield f'{module} is listed, and there is no such module'
    for path in texts:
        folder = path.parent.name
        module = module_of(path)
        if folder in layers.modules and module in layers.layer and layers.layer[module] != folder:
            yield f'{path.name} is in the folder {folder}, and is listed in {layers.layer[module]}'


def check_clocks(texts):
    for path, text in texts.items():
        if module_of(path) != 'clock':
            for call in READS_A_CLOCK.findall(text):
                yield f'{path.name} calls {call}), which only prio-clock-private.h may'


def report(layers, uses, wrong):
    """Prints the layers and uses; returns the upward uses: {(user, used): {cause}}."""
    downwards = collections.Counter()
    upwards = collections.defaultdict(set)
    for user, used, what in sorted(set(uses)):
        if user not in layers.layer or used not in layers.layer:
            continue
        if layers.is_upwards(user, used):
            upwards[user, used].add(what)
        elif layers.layer[user] != layers.layer[used]:
            downwards[layers.layer[user]] += 1

    for layer, modules in reversed(layers.modules.items()):
        print(f'{layer}: {" ".join(modules)}: {downwards[layer]} downwards')
    for line in wrong:
        print(line)
    for (user, used), whats in upwards.items():
        print(f'upwards: {layers.layer[user]}/{user} → {layers.layer[used]}/{used}: {", ".join(sorted(whats))}')
    print(f'{len(upwards)} {"arrow" if len(upwards) == 1 else "arrows"} upwards')
    return upwards


def check(layers, texts, defined, needed):
    uses = [*calls(defined, needed), *includes(texts), *calls_in_headers(texts, defined)]
    wrong = [*check_names(layers, texts, set(needed)), *check_clocks(texts)]
    return report(layers, uses, wrong), wrong


def self_test(layers, texts, defined, needed):
    """Plants a use of a task in the loop, in each of the ways, and a use that follows from a folder."""
    symbol = next(symbol for symbol, module in sorted(defined.items()) if module == 'task-settle')
    header = next(path for path in texts if path.name == 'prio-loop-private.h')
    expected = {('loop', 'task-settle')}

    planted, _ = check(layers, texts, defined, {**needed, 'loop': needed['loop'] | {symbol}})
    assert set(planted) == expected, planted
    planted, _ = check(layers, {**texts, header: texts[header] + f'static inline void\nf (void)\n{{\n  {symbol} ();\n}}\n'},
                       defined, needed)
    assert set(planted) == expected, planted
    planted, _ = check(layers, {**texts, header: texts[header] + '#include "task/prio-task-impl-private.h"\n'}, defined, needed)
    assert set(planted) == {('loop', 'task-impl')}, planted
    _, wrong = check(layers, {**texts, header.parent / 'task' / 'prio-heap.c': '', header.parent / 'prio-new.c': ''}, defined,
                     needed)
    assert len(wrong) == 2, wrong
    _, wrong = check(layers, {**texts, header: texts[header] + 'now = g_get_monotonic_time ();'}, defined, needed)
    assert len(wrong) == 1, wrong
    planted, wrong = check(layers, texts, defined, needed)
    assert not planted and not wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--plant', nargs=2, metavar=('FROM', 'TO'))
    parser.add_argument('--self-test', action='store_true')
    parser.add_argument('layers', type=pathlib.Path)
    parser.add_argument('sources', type=pathlib.Path)
    parser.add_argument('objects', nargs='+')
    args = parser.parse_args()

    layers = Layers(args.layers.read_text(encoding='utf-8'))
    texts = read_sources(args.sources)
    defined, needed = read_objects(args.objects)
    assert len(defined) > 100 and len(texts) > 50, 'nothing is found'

    if args.self_test:
        self_test(layers, texts, defined, needed)
        return 0
    if args.plant:
        user, used = args.plant
        defined['planted'] = used
        needed[user] |= {'planted'}
    upwards, wrong = check(layers, texts, defined, needed)
    return 1 if upwards or wrong else 0


if __name__ == '__main__':
    sys.exit(main())
