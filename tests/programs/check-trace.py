"""Checks the trace that PRIO_SCHED_TRACE and prio_trace_start () write.

    check-trace.py TRACED [INDEXER]

TRACED is traced.c, INDEXER the example.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import collections
import fcntl
import json
import os
import pathlib
import re
import resource
import struct
import subprocess
import sys
import tempfile
import termios

PRIORITIES = {'background', 'user-visible', 'user-blocking'}
NUMBER, TEXT = (int, float), str
# Required members of an event of each phase, by the format's description ("Trace Event Format", Google).
COMMON = {'ph': TEXT, 'pid': int}
PHASES = {
    'X': {'name': TEXT, 'cat': TEXT, 'ts': NUMBER, 'dur': NUMBER, 'tid': int, 'args': dict},
    'i': {'name': TEXT, 'cat': TEXT, 'ts': NUMBER, 'tid': int, 's': TEXT, 'args': dict},
    's': {'name': TEXT, 'cat': TEXT, 'ts': NUMBER, 'tid': int, 'id': TEXT},
    'f': {'name': TEXT, 'cat': TEXT, 'ts': NUMBER, 'tid': int, 'id': TEXT, 'bp': TEXT},
    'b': {'name': TEXT, 'cat': TEXT, 'ts': NUMBER, 'id': TEXT},
    'e': {'name': TEXT, 'cat': TEXT, 'ts': NUMBER, 'id': TEXT},
    'M': {'name': TEXT, 'args': dict},
}


def check_schema(events):
    for event in events:
        assert isinstance(event, dict) and event.get('ph') in PHASES, event
        for key, kind in (COMMON | PHASES[event['ph']]).items():
            assert isinstance(event.get(key), kind), (key, event)
        assert event.get('dur', 0) >= 0 and event.get('ts', 0) >= 0, event
        if event['ph'] == 'i':
            assert event['s'] in 'gpt', event
        if event.get('cat') in ('run', 'post', 'due', 'again', 'abort'):
            assert event['args']['priority'] in PRIORITIES, event


def check_nesting(events):
    """Checks that slices of a thread are nested or disjoint, and that each turn that begins also ends."""
    threads, turns = collections.defaultdict(list), collections.Counter()
    for event in events:
        if event['ph'] == 'X':
            threads[event['pid'], event['tid']].append(event)
        elif event['ph'] in 'be':
            turns[event['id']] += 1 if event['ph'] == 'b' else -1
    for slices in threads.values():
        ends = []
        for event in sorted(slices, key=lambda event: (event['ts'], -event['dur'])):
            while ends and ends[-1] <= event['ts']:
                ends.pop()
            ends.append(event['ts'] + event['dur'])
            assert ends == sorted(ends, reverse=True), event
    assert not any(turns.values()), turns


def check_flows(events):
    """Checks that an arrow leads to each run, from an earlier time."""
    starts = {event['id']: event['ts'] for event in events if event['ph'] == 's'}
    ends = {event['id']: event['ts'] for event in events if event['ph'] == 'f'}
    assert len(starts) == sum(event['ph'] == 's' for event in events)
    assert set(ends) <= set(starts), set(ends) - set(starts)
    assert all(starts[name] <= time for name, time in ends.items())
    return ends


def check(path, complete=True):
    text = pathlib.Path(path).read_bytes().decode('utf-8')
    if not complete:
        assert not text.endswith(']\n'), text[-100:]
        text = text[:text.rindex(',\n')] + ']'
    events = json.loads(text)
    check_schema(events)
    if complete:
        check_nesting(events)
    return events


def run(*command, code=0, **kwargs):
    kwargs['env'] = os.environ | {'LC_ALL': 'C.UTF-8', 'G_DEBUG': ''} | kwargs.get('env', {})
    result = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, errors='replace', timeout=120, check=False, **kwargs)
    assert result.returncode == code, (command, result.returncode, result.stdout, result.stderr)
    return result


def runs(events, end=None, **args):
    return [event for event in events if event.get('cat') == 'run' and end in (None, event['args']['end']) and
            event['args']['kind'] != "library's own" and all(event['args'].get(key) == value for key, value in args.items())]


def check_counts(events, printed):
    """Compares the trace with the program's own counts."""
    ended, yielded, aborted = (int(line) for line in printed.split())
    assert len(runs(events, 'done')) == ended, (len(runs(events, 'done')), ended)
    assert len(runs(events, 'yielded')) == yielded
    assert sum(event.get('cat') == 'abort' for event in events) == aborted
    assert sum(event.get('cat') == 'post' for event in events) >= ended + aborted
    assert len(check_flows(events)) == ended + yielded


def bucket_start(time):
    """Returns the start, in µs, of the histogram's step that contains time."""
    if time < 4:
        return time
    power = time.bit_length() - 1
    return time >> power - 2 << power - 2


def check_statistics(events, printed):
    """Compares the library's statistics with the trace: the counts, and the times, which are measured for each task during a trace."""
    lines = re.findall(r'^statistics (\S+) (.*)', printed, re.MULTILINE)
    assert {name for name, numbers in lines} == PRIORITIES, printed
    for priority, numbers in lines:
        numbers = [float(number) for number in numbers.split()]
        ran = [event for event in runs(events, priority=priority) if event['args']['kind'] != 'idle callback']
        aborts = [event for event in events if event.get('cat') == 'abort' and event['args']['priority'] == priority and
                  event['args']['kind'] != 'idle callback' and not event['args']['running']]
        assert numbers[:3] == [len(ran), sum(event['args'].get('continuation', False) for event in ran), len(aborts)], (priority, numbers)
        for told, times in ((numbers[3:8], [event['args']['waited'] for event in ran]), (numbers[8:], [event['dur'] for event in ran])):
            times.sort()
            assert told[:3] == [len(times), sum(times) / 1000, max(times, default=0) / 1000], (priority, told, times)
            for number, percent in zip(told[3:], (50, 99)):
                wanted = times[-(-len(times) * percent // 100) - 1] if times else 0
                assert abs(number - bucket_start(wanted) / 1000) <= 0.0005, (priority, percent, number, wanted)


def check_each(traced, folder):
    path = folder / 'each.json'
    result = run(traced, 'each', env={'PRIO_SCHED_TRACE': str(path)})
    assert not result.stderr, result.stderr
    events = check(path)
    check_counts(events, result.stdout)
    names = collections.Counter(event['name'] for event in runs(events))
    assert names['a "name"\\ of \ufffd größe\n'] == names['follows'] == names['late'] == 1, names
    assert names['closure'] == 203, names
    [change] = [event for event in events if event.get('cat') == 'priority']
    assert change['args']['from'] == 'background' and change['args']['to'] == 'user-blocking', change
    [late] = [event for event in events if event.get('cat') == 'due']
    assert late['name'] == 'late', late
    follows = runs(events, priority='user-blocking')
    assert {'follows'} <= {event['name'] for event in follows}, follows
    told = {(event['name'], event['args'].get('name')) for event in events if event['ph'] == 'M'}
    assert ('process_name', 'traced') in told and ('thread_name', 'traced') in told, told
    assert any(event.get('cat') == 'slice' for event in events)
    # An existing file is replaced, and nothing of a longer trace remains.
    run(traced, 'many', env={'PRIO_SCHED_TRACE': str(path)})
    assert len(runs(check(path))) == 10000
    result = run(traced, 'each', env={'PRIO_SCHED_TRACE': str(path)})
    check_counts(check(path), result.stdout)


def check_each_statistics(traced, folder):
    path = folder / 'statistics.json'
    printed = run(traced, 'statistics', env={'PRIO_SCHED_TRACE': str(path)}).stdout
    check_statistics(check(path), printed)
    # Without a trace the counts are the same.
    bare = run(traced, 'statistics').stdout
    counts = re.compile(r'^statistics (\S+ \d+ \d+ \d+ \d+) ', re.MULTILINE)
    assert counts.findall(bare) == counts.findall(printed) and len(counts.findall(bare)) == 3, (bare, printed)


def check_results(traced, folder):
    path = folder / 'results.json'
    run(traced, 'results', env={'PRIO_SCHED_TRACE': str(path)})
    events = check(path)
    ends = {event['name']: event['args']['end'] for event in runs(events)}
    assert ends == {name: name for name in ('done', 'failed', 'aborted', 'deferred')} | {'closure': 'done'}, ends
    paused, resumed = (event for event in events if event.get('cat') == 'pause')
    assert (paused['name'], resumed['name']) == ('paused', 'resumed'), (paused, resumed)
    assert paused['args'] == resumed['args'] == {'scheduler': '1'}, (paused, resumed)
    [closure] = [event for event in runs(events) if event['name'] == 'closure']
    assert paused['ts'] <= closure['ts'] - closure['args']['waited'] <= resumed['ts'] <= closure['ts'], closure


def check_threads(traced, folder):
    path = folder / 'threads.json'
    result = run(traced, 'threads', env={'PRIO_SCHED_TRACE': str(path)})
    events = check(path)
    check_counts(events, result.stdout)
    assert len({event['tid'] for event in runs(events)}) == 4
    assert sum(event['ph'] == 'M' and event['name'] == 'thread_name' and event['args']['name'] == 'worker' for event in events) == 4


def check_fork(traced, folder):
    path = folder / 'fork.json'
    result = run(traced, 'fork', env={'PRIO_SCHED_TRACE': str(path)})
    events = check(path)
    check_counts(events, result.stdout)
    assert len({event['pid'] for event in events}) == 1
    # Both processes write into one pipe.
    reader, writer = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 1 << 20)
    result = run(traced, 'fork', env={'PRIO_SCHED_TRACE': f'/dev/fd/{writer}'}, pass_fds=[writer])
    os.close(writer)
    read_pipe(reader, path)
    os.close(reader)
    events = check(path)
    processes = collections.Counter(event['pid'] for event in runs(events))
    assert sorted(processes.values()) == [200, 412], processes
    parent = max(processes, key=processes.get)
    check_counts([event for event in events if event['pid'] == parent], result.stdout)


def check_failures(traced, folder):
    # If a file cannot be opened, one warning names the file.
    path = folder / 'no-folder' / 'trace.json'
    result = run(traced, 'each', env={'PRIO_SCHED_TRACE': str(path)})
    assert result.stderr.count('WARNING') == 1 and str(path) in result.stderr, result.stderr
    assert result.stdout.split() == ['204', '2', '1'], result.stdout
    # The disk is full.
    result = run(traced, 'many', env={'PRIO_SCHED_TRACE': '/dev/full'})
    assert result.stderr.count('WARNING') == result.stderr.count('The trace ends early: No space left') == 1, result.stderr
    assert result.stdout.split()[0] == '10000', result.stdout
    # The file's size is limited.
    path = folder / 'limited.json'
    limit = 100_000
    result = run(traced, 'many', env={'PRIO_SCHED_TRACE': str(path)},
                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert result.stderr.count('WARNING') == result.stderr.count('The trace ends early: File too large') == 1, result.stderr
    assert 0 < path.stat().st_size <= limit and check(path, complete=False)
    # A pipe has no reader.
    path = folder / 'pipe'
    os.mkfifo(path)
    result = run(traced, 'each', env={'PRIO_SCHED_TRACE': str(path)})
    assert result.stderr.count('WARNING') == 1 and str(path) in result.stderr and 'nobody reads it' in result.stderr, result.stderr
    # A slice whose start or end was not traced is left out.
    path = folder / 'inside.json'
    with path.open('w') as file:
        run(traced, 'inside', file.fileno(), pass_fds=[file.fileno()])
    slices = [event for event in check(path) if event.get('cat') == 'slice']
    assert len(slices) >= 2, slices


def check_crash(traced, folder):
    """Checks that events are written soon, so that they survive a crash."""
    path = folder / 'crash.json'
    with subprocess.Popen([traced, 'crash'], env=os.environ | {'PRIO_SCHED_TRACE': str(path)}) as program:
        while not path.exists() or path.read_bytes().count(b'"cat":"run"') < 10000:
            assert program.poll() is None, program.returncode
        program.kill()
    assert len(runs(check(path, complete=False))) == 10000


def check_file(traced, folder):
    """Checks that a new file is readable for its owner only, and contains no addresses."""
    path = folder / 'mine.json'
    run(traced, 'each', env={'PRIO_SCHED_TRACE': str(path)}, umask=0)
    assert path.stat().st_mode & 0o777 == 0o600, oct(path.stat().st_mode)
    assert '0x' not in path.read_text(encoding='utf-8')
    signals = {event['args']['signal'] for event in check(path) if 'signal' in event.get('args', {})}
    assert len(signals) == 2, signals


def read_pipe(fd, path):
    """Writes the content of the pipe into path."""
    os.set_blocking(fd, False)
    path.write_bytes(os.read(fd, 1 << 20))


def check_pipes(traced, folder):
    """Checks that a pipe with a reader gets the whole trace, through its name, or through the descriptor of a shell's >(…)."""
    path = folder / 'pipe'
    os.mkfifo(path)
    named, (reader, writer) = os.open(path, os.O_RDWR), os.pipe()
    for name, fd, passed in ((path, named, []), (f'/dev/fd/{writer}', reader, [writer])):
        fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, 1 << 20)
        printed = run(traced, 'each', env={'PRIO_SCHED_TRACE': str(name)}, pass_fds=passed).stdout
        read_pipe(fd, folder / 'read.json')
        check_counts(check(folder / 'read.json'), printed)
    for fd in named, reader, writer:
        os.close(fd)


def check_descriptor(traced, folder):
    """Checks a trace into a descriptor of a pipe, or of a file, which keeps its content."""
    path = folder / 'read.json'
    reader, writer = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 1 << 20)
    printed = run(traced, 'descriptor', writer, pass_fds=[writer]).stdout
    os.close(writer)
    read_pipe(reader, path)
    check_counts(check(path), printed)
    assert not os.read(reader, 1)
    os.close(reader)

    path.write_text('before\n')
    with path.open('a') as file:
        printed = run(traced, 'descriptor', file.fileno(), pass_fds=[file.fileno()]).stdout
    text = path.read_text(encoding='utf-8')
    assert text.startswith('before\n[\n')
    path.write_text(text.removeprefix('before\n'), encoding='utf-8')
    check_counts(check(path), printed)
    # One descriptor does not exist, and the other is open only for reading.
    with path.open() as file:
        for fd, passed in ((999, []), (file.fileno(), [file.fileno()])):
            assert f'descriptor {fd}' in run(traced, 'descriptor', fd, pass_fds=passed, code=1).stdout


def check_bad_descriptors(traced, folder):
    """Checks a descriptor that cannot be written any more: there is one warning, and the program continues."""
    reader, writer = os.pipe()
    os.close(reader)
    full = os.open('/dev/full', os.O_WRONLY)
    for fd, told in ((writer, 'Broken pipe'), (full, 'No space left on device')):
        result = run(traced, 'descriptor', fd, pass_fds=[fd])
        assert result.stdout.split() == ['204', '2', '1'], result
        assert result.stderr.count('WARNING') == result.stderr.count(f'The trace ends early: {told}') == 1, result.stderr
        os.close(fd)


def check_reader_goes(traced, folder):
    """Checks that a reader that closes in the middle of the trace ends the trace, and not the program."""
    reader, writer = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
    with subprocess.Popen([traced, 'many'], env=os.environ | {'PRIO_SCHED_TRACE': f'/dev/fd/{writer}', 'G_DEBUG': ''},
                          pass_fds=[writer], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        os.close(writer)
        # Waits until the pipe has data, but not room for all.
        while struct.unpack('i', fcntl.ioctl(reader, termios.FIONREAD, bytes(4)))[0] == 0:
            assert program.poll() is None, program.returncode
        os.close(reader)
        printed, told = program.communicate(timeout=60)
    assert program.returncode == 0 and printed.split()[0] == '10000', (program.returncode, printed)
    assert told.count('WARNING') == told.count('Broken pipe') == 1, told


def check_descriptors_of_others(traced, folder):
    """Checks that a file behind the number of a descriptor keeps its content: the number may be another program's."""
    kept = folder / 'kept'
    kept.write_text('kept')
    with open(kept, 'r+', encoding='utf-8') as file:
        for name in f'/dev/fd/{file.fileno()}', f'/proc/self/fd/{file.fileno()}', f'/dev/../dev/fd/{file.fileno()}':
            result = run(traced, 'each', env={'PRIO_SCHED_TRACE': name}, pass_fds=[file.fileno()])
            assert result.stderr.count('cannot be written') == 1 and name in result.stderr, result
            assert kept.read_text() == 'kept', name


def check_reader_stops(traced, folder):
    """Checks that a reader that stops reading does not hold up a program, in whatever way it got the pipe: its data are whole lines."""
    path = folder / 'pipe'
    os.mkfifo(path)
    (reader, writer), named = os.pipe(), os.open(path, os.O_RDWR)
    for name, fd, passed in ((f'/dev/fd/{writer}', reader, [writer]), (path, named, []), (f'/proc/{os.getpid()}/fd/{writer}', reader, [])):
        result = run(traced, 'many', env={'PRIO_SCHED_TRACE': str(name)}, pass_fds=passed)
        assert result.stdout.split()[0] == '10000' and not result.stderr, result
        read_pipe(fd, folder / 'read.json')
        events = check(folder / 'read.json', complete=False)
        assert events and len(runs(events)) < 10000, len(events)
    for fd in named, reader, writer:
        os.close(fd)
    # A blocking descriptor, and a nonblocking one.
    for blocking in True, False:
        reader, writer = os.pipe()
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 8192)
        os.set_blocking(writer, blocking)
        result = run(traced, 'descriptor', writer, pass_fds=[writer])
        assert result.stdout.split() == ['204', '2', '1'] and not result.stderr, result
        read_pipe(reader, folder / 'read.json')
        assert 0 < len(check(folder / 'read.json', complete=False)) < 200
        os.close(reader)
        os.close(writer)


def check_closed_descriptors(traced, folder):
    """Checks that a program that closes all descriptors, as a daemon does, ends the trace: it does not go into a file that gets its descriptor's number."""
    trace, other = folder / 'closed.json', folder / 'other'
    result = run(traced, 'closes', other, env={'PRIO_SCHED_TRACE': str(trace)})
    assert result.stdout.split() == ['400', '0', '0'], result
    assert result.stderr.count('WARNING') == result.stderr.count('Bad file descriptor') == 1, result.stderr
    assert not other.read_bytes(), other.read_bytes()[:200]
    assert len(runs(check(trace, complete=False))) == 200


def check_in_use(traced, folder):
    """Checks that another process does not write into a file in use."""
    path, go = folder / 'in-use.json', folder / 'go'
    with subprocess.Popen([traced, 'wait', go], env=os.environ | {'PRIO_SCHED_TRACE': str(path)}, stdout=subprocess.PIPE, text=True) as first:
        while not path.exists() or not path.stat().st_size:
            assert first.poll() is None
        assert 'another process writes a trace to it' in run(traced, 'each', env={'PRIO_SCHED_TRACE': str(path)}).stderr
        go.touch()
        printed = first.communicate(timeout=60)[0]
    assert first.returncode == 0 and printed.split()[0] == '1', printed


def check_indexer(indexer, folder):
    """Compares the example's own numbers with the trace."""
    root = folder / 'files'
    for i in range(40):
        path = root / f'f{i % 4}' / f'{i}.txt'
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'word{i} ' * 40000)
    path = folder / 'indexer.json'
    result = run(indexer, '--statistics', '--query', 'word1', '--interval', '1', root, env={'PRIO_SCHED_TRACE': str(path)})
    events = check(path)
    check_flows(events)
    printed = dict(re.findall(r'^(user-blocking|user-visible|background) +(\d+)', result.stdout, re.MULTILINE))
    for priority in PRIORITIES:
        assert len(runs(events, 'done', priority=priority)) == int(printed[priority]), (priority, printed)
    assert len(runs(events, 'done', priority='background')) == 45, printed
    check_statistics(events, result.stdout)
    # Waits are the example's, up to the microseconds between its clock and the library's.
    assert any(event['args']['waited'] > 0 for event in runs(events))


def main(traced, indexer=None):
    for test in (check_each, check_each_statistics, check_results, check_threads, check_fork, check_failures, check_crash, check_file, check_pipes,
                 check_descriptor, check_bad_descriptors, check_reader_goes, check_reader_stops, check_descriptors_of_others,
                 check_closed_descriptors, check_in_use):
        with tempfile.TemporaryDirectory() as folder:
            test(traced, pathlib.Path(folder))
        print(f'{test.__name__}: ok')
    if indexer:
        with tempfile.TemporaryDirectory() as folder:
            check_indexer(indexer, pathlib.Path(folder))


if __name__ == '__main__':
    main(*sys.argv[1:])
