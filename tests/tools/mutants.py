"""mutants.py: shows that the tests can fail: plants one defect after another, and runs the tests

    mutants.py [NUMBER…]

Works on a copy.  A defect is caught if the library does not build, or if a C test, the vectors or
some thousand random programs fail or do not end.  At least 43 of 45 must be caught.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

WANTED = 43
TESTS = ['order', 'signal', 'deferred', 'abort', 'rejection', 'state', 'reset', 'probe', 'task', 'runner', 'delay', 'idle', 'clock', 'ends', 'threads', 'loop',
         'ready', 'turns', 'pending', 'continue', 'steps', 'group', 'react', 'shares', 'statistics', 'longest']

# File, what is there, what is planted.
MUTANTS = [
    ('ready.c', 'prio_heap_rekey (&group->queues[effective], &queue->ready, queue->head->order);', ';'),
    ('ready.c', 'other->key = key_of (prio_ready_oldest (ready, effective), &other->tie);', 'other->key = 0;'),
    ('ready.c', 'ready->mask &= ~(1u << effective);', ';'),
    ('queue-private.h', '2 * (priority - PRIO_TASK_PRIORITY_BACKGROUND) + (continuation ? 1 : 0)', '2 * (priority - PRIO_TASK_PRIORITY_BACKGROUND)'),
    ('queue-private.h', 'next->prev = entry->prev;', ';'),
    ('queue-private.h', 'queue->tail = (PrioJob *) entry->prev;', 'queue->tail = NULL;'),
    ('run-queue.c', 'entry->job.order = run_queue->loop->next_order++;', 'entry->job.order = run_queue->loop->next_order;'),
    ('run-queue.c', 'if (was_head && prio_ready_contains (queue))', 'if (FALSE && was_head)'),
    ('run-queue.c', 'entry->follows->n_foreign++;', ';'),
    ('run-queue.c', 'if (entry->job.notify != NULL)\n    prio_loop_defer_release (entry->run_queue->loop, entry->job.notify, entry->job.data);\n  prio_run_queue_release_entry',
     'prio_run_queue_release_entry'),
    ('run-queue-group.c', 'if (group->n_foreign > 0)\n    return;', ''),
    ('run-queue.c', 'prio_entry_move (entry, PRIO_ENTRY_ABORTED);', ';'),
    ('run-queue-group.c', 'group->queues[i].effective = prio_effective (priority, i == 1);', 'group->queues[i].effective = prio_effective (priority, FALSE);'),
    ('run-queue-group.c', 'prio_run_queue_make_ready (group->run_queue, &group->queues[i]);', ';'),
    ('registration.c', 'if (of_node->group.run_queue == run_queue && !of_node->group.aborted)', 'if (!of_node->group.aborted)'),
    ('signal-travel.c', 'return current == NULL && node->priority != priority;', 'return node->priority != priority;'),
    ('signal-travel.c', 'if (prio_edge_is (edge, PRIO_EDGE_ABORT) && !edge->dependent->aborted)', 'if (!edge->dependent->aborted)'),
    ('signal-travel.c', 'node->change = NULL;', ';'),
    ('signal-travel.c', 'target_send (&self, prio_registration_follow, FALSE);', ';'),
    ('dispatch.c', 'return prio_ready_is_alone (&loop->ready, queue, effective) && !loop->has_pending;',
     'return prio_ready_is_alone (&loop->ready, queue, effective);'),
    ('ready-private.h', 'return ready->only[effective] == queue && ready->mask >> effective == 1;',
     'return ready->only[effective] == queue;'),
    ('dispatch.c', 'if (again && !prio_entry_is_aborted (entry))', 'if (again)'),
    ('dispatch.c', '/* Before the result settles and the abort steps are removed (§2.4.2). */\n      if (loop->microtasks.length > 0)\n        prio_loop_checkpoint (loop);', ''),
    ('dispatch.c', 'if (now >= prio_loop_end_of_time (batch->loop, batch->start, batch->look))\n    batch->over = TRUE;', ''),
    ('dispatch.c', '.priority = entry->follows != NULL ? PRIO_PRIORITY_UNSET : entry->priority,', '.priority = PRIO_TASK_PRIORITY_USER_VISIBLE,'),
    ('loop.c', 'prio_mailbox_wake (&loop->mailbox);\n  if (!loop->awake)\n    g_main_context_wakeup (loop->context);', 'prio_mailbox_wake (&loop->mailbox);'),
    ('loop-private.h', 'delay > G_MAXINT64 / 1000 ? G_MAXINT64 : (gint64) delay * 1000', '(gint64) (delay * 1000)'),
    ('scheduler-post.c', '(node != NULL && prio_signal_node_is_aborted (node)) || ', ''),
    ('task-settle.c', 'if (self->has_result || prio_task_is_completed (self))', 'if (FALSE)'),
    ('current.c', 'if (state != NULL && state->depth == g_main_depth ())', 'if (state != NULL)'),
    ('scheduler.c', 'if (prio_loop_enter (loop) || (prio_loop_is_owner (loop) && prio_loop_enter (loop)))', 'if (prio_loop_enter (loop))'),
    ('task-continue.c', 'next->is_called = TRUE;\n  task->next = NULL;', 'next->is_called = TRUE;'),
    ('task-continue.c', 'if (!next->is_called)\n    end (task);', ''),
    ('task-continue.c', 'run_queue->outer != NULL ? run_queue->outer : run_queue', 'run_queue'),
    ('task-cancel.c', 'prio_task_abort (self);\n          return;', 'break;'),
    ('task-settle.c', 'if (G_UNLIKELY (self->next != NULL))', 'if (self->next != NULL && FALSE)'),
    ('scheduler-steps.c', 'more = more && goes_on (task);', 'more = more && (goes_on (task) || TRUE);'),
    ('scheduler-steps.c', 'yields = more && should_yield (task);', 'yields = more && should_yield (task) && FALSE;'),
    ('scheduler-steps.c', 'g_atomic_rc_box_acquire (self), prio_steps_unref', 'self, NULL'),
    ('task-progress.c', 'self->tells_progress = FALSE;\n', ''),
    ('task-group-post.c', 'self->n_begun--;', ';'),
    ('shares-private.h', 'now - shares->since < shares->of[effective / 2].due', 'now >= shares->of[effective / 2].due'),
    ('counts.c', 'count->n_continued += n;', 'count->n_continued += 0;'),
    ('holding.c', 'holding->since > task->begun', 'FALSE'),
    ('run-queue-expiry.c', 'a->expiry != b->expiry ? a->expiry < b->expiry : a->job.order < b->job.order', 'a->job.order < b->job.order'),
]


def run(*command, cwd, timeout):
    try:
        return subprocess.run(command, cwd=cwd, timeout=timeout, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    except subprocess.TimeoutExpired:
        subprocess.run(['pkill', '-9', '-f', str(cwd)])
        return -1


def is_caught(tree):
    build = tree / 'build'
    if run('ninja', '-C', 'build', cwd=tree, timeout=300) != 0:
        return 'does not build'
    for name in TESTS:
        if run(build / f'tests/library/test-{name}', cwd=build, timeout=60) != 0:
            return f'test-{name}'
    if run(build / 'tests/conformance', tree / 'tests/library/model/conformance-vectors.json', cwd=build, timeout=60) != 0:
        return 'conformance'
    if run(sys.executable, tree / 'tests/library/model/model.py', '--programs', '6000', '--seed', '1', build / 'tests/conformance',
           cwd=build, timeout=200) != 0:
        return 'random programs'
    return None


def main(numbers):
    source = pathlib.Path(__file__).resolve().parents[2]
    with tempfile.TemporaryDirectory() as place:
        tree = pathlib.Path(place) / 'tree'
        shutil.copytree(source, tree, ignore=shutil.ignore_patterns('build*', '.git'))
        subprocess.run(['meson', 'setup', 'build', '-Dintrospection=disabled', '-Dexamples=disabled', '-Dgtk=disabled'], cwd=tree,
                       check=True, stdout=subprocess.DEVNULL)
        assert is_caught(tree) is None, f'without any defect: {is_caught(tree)}'

        n_caught = 0
        for number in numbers or range(len(MUTANTS)):
            name, there, planted = MUTANTS[number]
            path, = (tree / 'prio-sched').glob(f'*/prio-{name}')
            text = path.read_text()
            assert text.count(there) >= 1, f'{number}: {name} has changed: {there}'
            path.write_text(text.replace(there, planted, 1))
            caught = is_caught(tree)
            n_caught += caught is not None
            print(f'{number}: {name}: {"caught by " + caught if caught else "NOT CAUGHT: " + planted}', flush=True)
            path.write_text(text)
        total = len(numbers or MUTANTS)
        print(f'{n_caught} of {total} caught')
        return 0 if n_caught >= min(WANTED, total) else 1


os.environ['MALLOC_PERTURB_'] = '165'
sys.exit(main([int(number) for number in sys.argv[1:]]))
