"""mutants.py: shows that the tests can fail: plants one defect after another, and runs the tests

    mutants.py [--jobs N] [NUMBER…]
    mutants.py --check

Works on copies of the tree, one for each processor, or N of them.  A defect is caught if a C test, the vectors, some thousand
random programs, or a test listed with it, fails or does not end.  For a defect in a binding only the listed tests run.
Nearly all must be caught (WANTED).  A defect that does not build is not caught, because no test has run.

--check builds nothing.  It fails if a source no longer has the text that a defect replaces, or if a test is missing.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import asyncio
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

WANTED = 79
# All C tests run, the slow tests last, without tests that need another environment.
SLOW = ['crossing', 'frames', 'turns', 'deferred', 'faults', 'ends', 'loop']
OTHERS = ['dex', 'dex-fibers', 'race', 'stress']

# File, of prio-sched/ or with its folder; the text; its replacement; further tests that may find the defect.
MUTANTS = [
    ('ready.c', 'prio_heap_rekey (&group->queues[effective], &queue->ready, queue->head->order);', ';'),
    ('ready.c', 'other->key = key_of (prio_ready_oldest (ready, effective), &other->tie);', 'other->key = 0;'),
    ('ready.c', 'ready->mask &= ~(1u << effective);', ';'),
    ('queue-private.h', '2 * (priority - PRIO_TASK_PRIORITY_BACKGROUND) + (continuation ? 1 : 0)', '2 * (priority - PRIO_TASK_PRIORITY_BACKGROUND)'),
    ('queue-private.h', 'next->prev = entry->prev;', ';'),
    ('queue-private.h', 'queue->tail = (PrioJob *) entry->prev;', 'queue->tail = NULL;'),
    ('run-queue.c', 'entry->job.order = prio_loop_next_order (run_queue->loop);', 'entry->job.order = run_queue->loop->next_order;'),
    ('run-queue.c', 'if (was_head && prio_ready_contains (queue))', 'if (FALSE && was_head)'),
    ('run-queue.c', 'entry->follows->n_foreign++;', ';'),
    ('run-queue.c', 'prio_loop_defer_release (entry->run_queue->loop, entry->job.notify, entry->job.data);\n  prio_run_queue_release_entry',
     'prio_run_queue_release_entry'),
    ('run-queue-group.c', 'if (group->n_foreign > 0)\n    return;', ''),
    ('run-queue-group.c', 'prio_entry_move (entry, PRIO_ENTRY_ABORTED);', ';'),
    ('run-queue-group.c', 'group->queues[i].effective = prio_effective (priority, i == 1);', 'group->queues[i].effective = prio_effective (priority, FALSE);'),
    ('run-queue-group.c', 'prio_run_queue_make_ready (group->run_queue, &group->queues[i]);', ';'),
    ('registration.c', 'if (of_node->group.run_queue == run_queue && !of_node->group.aborted)', 'if (!of_node->group.aborted)'),
    ('signal-travel.c', 'node->change->next = priority;\n      return;', 'node->change->next = priority;'),
    ('signal-travel.c', 'if (prio_edge_is (edge, PRIO_EDGE_ABORT) && !edge->dependent->reached', 'if (!edge->dependent->reached'),
    ('signal-travel.c', ' || __atomic_load_n (&n_on_the_way, __ATOMIC_ACQUIRE) > 0;', ';'),
    ('signal-travel.c', 'node->change = NULL;', ';'),
    ('signal-travel.c', 'target_send (&self, prio_registration_follow, FALSE);', ';'),
    ('dispatch.c', 'return prio_ready_is_alone (&loop->ready, queue, effective) && !loop->between.any &&',
     'return prio_ready_is_alone (&loop->ready, queue, effective) &&'),
    ('ready-private.h', 'return ready->only[effective] == queue && ready->mask >> effective == 1;',
     'return ready->only[effective] == queue;'),
    ('dispatch.c', 'if (again && !prio_entry_is_aborted (entry))', 'if (again)'),
    ('dispatch.c', '/* After the checkpoint, `ran` settles the result and removes the abort steps (§2.4.2 of the WICG draft). */\n      if (prio_loop_has_microtasks (loop))\n        prio_loop_checkpoint (loop);', ''),
    ('dispatch.c', 'if (now >= prio_loop_end_of_time (batch->loop, batch->start, batch->look))\n    batch->over = TRUE;', ''),
    ('dispatch.c', 'is_still_next (loop, queue, effective) && !prio_stopwatch_is_late (&batch->watch));', 'is_still_next (loop, queue, effective));'),
    ('dispatch.c', 'is_still_next (loop, queue, effective) &&\n         !prio_stopwatch_is_late (&batch->watch));', 'is_still_next (loop, queue, effective));'),
    ('stopwatch-private.h', '&& !prio_stopwatch_is_late (watch)', ''),
    ('clock-private.h', ' ^ (glong) ((gulong) now.tv_sec << 30)', ''),
    ('loop-source.c', 'loop->sources.checked = now;', 'loop->sources.checked = 0;'),
    ('dispatch.c', '.priority = entry->follows != NULL ? PRIO_TASK_PRIORITY_UNSET : entry->priority,', '.priority = PRIO_TASK_PRIORITY_USER_VISIBLE,'),
    ('loop.c', 'prio_mailbox_wake (&loop->mailbox);\n  if (!loop->sources.awake)\n    g_main_context_wakeup (loop->context);', 'prio_mailbox_wake (&loop->mailbox);'),
    ('clock-private.h', 'delay > G_MAXINT64 / 1000 ? G_MAXINT64 : (gint64) delay * 1000', '(gint64) (delay * 1000)'),
    ('scheduler-post.c', '(self->node != NULL && prio_signal_node_is_aborted (self->node)) || ', ''),
    ('task-settle.c', 'if (self->has_result || prio_task_is_completed (self) || state == PRIO_ENTRY_DROPPED)', 'if (FALSE)'),
    ('current.c', 'if (state != NULL && state->depth == g_main_depth ())', 'if (state != NULL)'),
    ('scheduler.c', 'if (prio_loop_enter (loop) || (prio_loop_is_owner (loop) && prio_loop_enter (loop)))', 'if (prio_loop_enter (loop))'),
    ('task-go-on.c', 'slice->is_called = TRUE;\n  task->next = NULL;', 'slice->is_called = TRUE;'),
    ('task-go-on.c', 'if (!slice->is_called)\n    end (task);', ''),
    ('task-go-on.c', 'run_queue->outer != NULL ? run_queue->outer : run_queue', 'run_queue'),
    ('task-cancel.c', 'prio_task_abort (self);\n          return;', 'break;'),
    ('task-settle.c', 'if (G_UNLIKELY (self->next != NULL))', 'if (self->next != NULL && FALSE)'),
    ('scheduler-steps.c', 'more = more && prio_task_may_go_on (task, &yields);', 'more = more && (prio_task_may_go_on (task, &yields) || TRUE);'),
    ('task-go-on.c', '*should_yield = prio_loop_should_yield (run_queue->loop, run_queue, prio_thread.state);', '*should_yield = FALSE;'),
    ('scheduler-steps.c', 'run, g_atomic_rc_box_acquire (steps), steps_unref', 'run, steps, steps_unref'),
    ('task-progress.c', 'self->tells_progress = FALSE;\n', ''),
    ('member.c', 'self->n_begun--;', ';'),
    ('statistics.c', 'count->n_continued += task->continuation;', ''),
    ('run-queue-expiry.c', 'entry->expiry < first->expiry || (entry->expiry == first->expiry && entry->job.order < first->job.order)', 'entry->job.order < first->job.order'),
    ('timeout.c', 'handle->timer->priority = PRIO_TASK_PRIORITY_USER_BLOCKING;', 'handle->timer->priority = PRIO_TASK_PRIORITY_BACKGROUND;'),
    ('mailbox.c', 'if (taken->len <= MAX_KEPT)', 'if (TRUE)'),
    ('scheduler-thread.c', 'if (work->is_nested)\n    set_nested (FALSE);\n  work->is_nested = FALSE;', 'work->is_nested = FALSE;'),
    ('yield.c', 'if (entry->run_queue->ready.paused)\n    return FALSE;', ''),
    ('task-group-wait.c', 'first->order < second->order ? -1 : 1', 'first->order > second->order ? -1 : 1'),
    ('heap.c', 'heap->row[end].node->index = end | IN_ROW;', ';'),
    ('slab.c', 'chunk->listed = FALSE;', ';'),
    ('number.c', 'if (queue->tail == job)\n    queue->tail = before;', ''),
    ('microtasks.c', 'microtasks->ring[(microtasks->head + i) & (microtasks->allocated - 1)];', 'microtasks->ring[i];'),
    ('checkpoint.c', 'prio_thread.state = outer;', ';'),
    ('turn.c', '!urgent && now - turn->background_since >= MAX_WAIT / 2', '!urgent && now - turn->background_since >= MAX_WAIT * 2'),
    ('idle.c', 'idle->timeout->turn = PRIO_ENTRY_GOES_ON;', ';'),
    ('pin.c', ' || node->may_time_out);', ');'),
    ('task-defer.c', '.task = g_object_ref (self), .dropper', '.task = self, .dropper'),
    ('scheduler-pause.c', 'prio_scheduler_submit_change (self, op_set_paused, "paused");',
     'prio_loop_submit (self->run_queue->loop, &(PrioOp) { .apply = op_set_paused, .target = self->run_queue });'),
    ('task-group-post.c', 'g_object_notify (G_OBJECT (self), "signal");', ';'),
    ('lending.c', 'g_ptr_array_add (self->marked, to);', ';'),
    ('lending.c', 'first->waiter->rank < node->rank', 'TRUE'),
    ('count.c', 'return part == run_queue || part->outer == run_queue;', 'return part == run_queue;'),
    ('scheduling-state-carry.c', 'prio_scheduling_state_run (state, call_wrapped, self);', 'call_wrapped (self);'),
    ('trace.c', '.priority_changed = priority_changed,', '.priority_changed = FALSE ? priority_changed : NULL,', 'trace'),
    ('observer.c', '->was_job = TRUE;', '->was_job = FALSE;'),
    ('observer.c', 'prio_thread.observed = task->outer;\n  task->runs = FALSE;', 'task->runs = FALSE;'),
    ('task-cancel.c', 'prio_entry_get_state (&self->entry) == PRIO_ENTRY_DONE;', 'FALSE;'),
    ('task-settle.c', ' && G_LIKELY (!prio_entry_is_aborted (entry)))', ')'),
    ('loop.c', 'return prio_thread.dispatches == &loop->lock || is_own_context (loop);', 'return TRUE;'),
    ('turn-private.h', 'turn->input_pending |= turn->held;', ';'),
    ('introspection/python/gi/overrides/_priosched/tasks/threads.py', 'self._cancellable.cancel()', 'pass', 'binding_threads.py'),
    ('introspection/python/gi/overrides/_priosched/extras/groups.py', 'if not self._waits:', 'if self._waits:', 'groups.py'),
    ('introspection/gjs/overrides/_priosched/library/steps.js', "        this.#last = {};\n        try", "        try", 'steps.js'),
    ('introspection/gjs/overrides/_priosched/library/groups.js', 'if (--this.#group[WAITING].n === 0)', 'if (--this.#group[WAITING].n <= 1)', 'groups.js'),
]


async def end(process):
    """Ends a process and its group. run () has made it the leader of a session, so the group has no others."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(process.wait(), 10)


async def run(*command, cwd, timeout):
    process = await asyncio.create_subprocess_exec(*command, cwd=cwd, start_new_session=True, stdin=subprocess.DEVNULL,
                                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        return await asyncio.wait_for(process.wait(), timeout)
    except asyncio.TimeoutError:
        return -1
    finally:
        await end(process)


def c_tests(source):
    names = {path.stem.removeprefix('test-') for path in (source / 'tests/library').glob('test-*.c')}
    return [*sorted(names - {*SLOW, *OTHERS}), *SLOW]


def is_binding(name):
    return '/' in name


def find(tree, name):
    path, = [tree / name] if is_binding(name) else (tree / 'prio-sched').rglob(f'prio-{name}')
    return path


async def build(tree):
    targets = ['tests/conformance', *(f'tests/library/test-{name}' for name in c_tests(tree))]
    return await run('ninja', '-C', 'build', *targets, cwd=tree, timeout=600)


async def is_caught_in_c(tree):
    cwd = tree / 'build'
    for name in c_tests(tree):
        if await run(cwd / f'tests/library/test-{name}', cwd=cwd, timeout=60) != 0:
            return f'test-{name}'
    model = tree / 'tests/library/model'
    if await run(cwd / 'tests/conformance', model / 'conformance-vectors.json', cwd=cwd, timeout=60) != 0:
        return 'conformance'
    if await run(sys.executable, model / 'model.py', '--programs', '6000', '--seed', '1', cwd / 'tests/conformance', cwd=cwd, timeout=300) != 0:
        return 'random programs'
    return None


async def is_caught_beside(tree, tests):
    for test in tests:
        # This builds the programs that the test needs.
        if await run('meson', 'test', '-C', 'build', test, cwd=tree, timeout=900) != 0:
            return test
    return None


async def is_caught(tree, name, tests):
    """Returns the name of a failed test, or None."""
    caught = None
    if not is_binding(name):
        if await build(tree) != 0:
            return None
        caught = await is_caught_in_c(tree)
    return caught or await is_caught_beside(tree, tests)


async def plant(tree, number):
    """Plants a defect; returns whether it is caught."""
    name, there, planted, *tests = MUTANTS[number]
    path = find(tree, name)
    text = path.read_text()
    path.write_text(text.replace(there, planted, 1))
    caught = await is_caught(tree, name, tests)
    path.write_text(text)
    print(f'{number}: {name}: {"caught by " + caught if caught else "NOT CAUGHT: " + planted}', flush=True)
    return caught is not None


async def prepare(source, tree):
    shutil.copytree(source, tree, ignore=shutil.ignore_patterns('build*', '.git'))
    # Without debug information, so that a compiler cache shares each file between the copies.
    await run('meson', 'setup', 'build', '-Ddebug=false', '-Doptimization=0', '-Dexamples=disabled', '-Dgtk=disabled', cwd=tree, timeout=300)
    assert await build(tree) == 0, 'it does not build'


async def work(tree, left):
    n_caught = 0
    while left:
        n_caught += await plant(tree, left.pop(0))
    return n_caught


async def main(jobs, numbers):
    source = pathlib.Path(__file__).resolve().parents[2]
    with tempfile.TemporaryDirectory() as place:
        trees = [pathlib.Path(place) / str(job) for job in range(jobs)]
        for tree in trees:
            await prepare(source, tree)
        beside = sorted({test for number in numbers for test in MUTANTS[number][3:]})
        caught = await is_caught_in_c(trees[0]) or await is_caught_beside(trees[0], beside)
        assert caught is None, f'without any defect: {caught}'

        left = list(numbers)
        n_caught = sum(await asyncio.gather(*(work(tree, left) for tree in trees)))
    print(f'{n_caught} of {len(numbers)} caught')
    return 0 if n_caught >= min(WANTED, len(numbers)) else 1


def check():
    source = pathlib.Path(__file__).resolve().parents[2]
    wrong = [f'{number}: {name} has changed: {there}' for number, (name, there, *_) in enumerate(MUTANTS)
             if there not in find(source, name).read_text()]
    wrong += [f'{number}: changes nothing' for number, (_, there, planted, *_) in enumerate(MUTANTS) if there == planted]
    files = {path.name for path in (source / 'tests').glob('*/*')}
    wrong += [f'there is no test {name}' for name in [*SLOW, *OTHERS] if f'test-{name}.c' not in files]
    wrong += [f'there is no test {name}' for _, _, _, *names in MUTANTS for name in names if not {name, f'check-{name}.py'} & files]
    print('\n'.join([*wrong, f'{len(MUTANTS)} defects, {len(wrong)} that cannot be planted or found']))
    return 1 if wrong or len(MUTANTS) < WANTED else 0


def read_arguments(arguments):
    jobs = os.cpu_count()
    if arguments[:1] == ['--jobs']:
        jobs = int(arguments[1])
        arguments = arguments[2:]
    return jobs, [int(number) for number in arguments] or range(len(MUTANTS))


if sys.argv[1:] == ['--check']:
    sys.exit(check())
os.environ['MALLOC_PERTURB_'] = '165'
os.environ['PYTHONDONTWRITEBYTECODE'] = '1'
sys.exit(asyncio.run(main(*read_arguments(sys.argv[1:]))))
