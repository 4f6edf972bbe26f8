"""Finds the main contexts and loops of asyncio that a thread runs, calls functions in them, and handles interrupts."""

import asyncio
import collections
import sys
import threading

from gi.repository import GLib

from .._native import main_depth

get_running_loop = asyncio._get_running_loop
SLICE = 0.004  # how long work that is done in slices runs before the main loop has its turn, in seconds


class _Local(threading.local):
    queue = None      # the calls that wait in the running run_in_turn (), or None if this thread is not running it
    depth = 0         # main_depth () in the running run_in_turn ()
    abortable = None  # the Abortable that runs a step of its coroutine, or None
    cancels = None    # the cancellations that wait in the running cancel_in_turn (), or None if this thread is not running it


local = _Local()


def run_in_turn(call):
    """Calls call (), or leaves it to the run_in_turn () that is running in this thread, so that a chain of calls does not nest.

    If one of these calls runs a nested main loop, run_in_turn () there also calls the calls that wait outside.

    Exceptions are reported, and KeyboardInterrupt or SystemExit is raised after the last call.
    """
    outer, depth = (local.queue, local.depth), main_depth()
    if local.queue is not None and local.depth == depth:
        local.queue.append(call)
        return

    queue = local.queue or collections.deque()
    queue.append(call)
    local.queue, local.depth = queue, depth
    call = interrupt = None  # a traceback may lead to this frame, which should not keep the call
    try:
        while queue:
            try:
                queue.popleft()()
            except (KeyboardInterrupt, SystemExit) as error:
                interrupt = error
            except BaseException:
                sys.excepthook(*sys.exc_info())
    finally:
        local.queue, local.depth = outer
    if interrupt is not None:
        raise interrupt


class _Runs(threading.local):
    """Lists the calls of run() of this thread that have not returned, the innermost last."""

    def __init__(self):
        self.stack = []


runs = _Runs()


def interrupt(error):
    """Makes the innermost run (), or else the running EventLoop, raise error, a KeyboardInterrupt or SystemExit of a task.

    If there is neither, raises error here.  In a thread other than the main one, where PyGObject would end the process, error is
    passed to threading.excepthook () instead, which ignores SystemExit.
    """
    innermost = runs.stack[-1] if runs.stack else get_running_loop()
    if hasattr(innermost, 'interrupt'):
        innermost.interrupt(error)
    elif threading.current_thread() is threading.main_thread():
        raise error
    else:
        threading.excepthook(threading.ExceptHookArgs((type(error), error, error.__traceback__, threading.current_thread())))


def call_in(context, call):
    """Calls call () once, soon, on the thread that runs context.  Any thread may call this."""
    source = GLib.Idle(priority=GLib.PRIORITY_HIGH)
    source.set_callback(lambda *_: _call(call))  # returns None, so GLib removes the source
    source.attach(context)


def _call(call):
    try:
        call()
    except (KeyboardInterrupt, SystemExit) as error:
        interrupt(error)


def own_context():
    """Returns the thread-default main context of this thread or, without one, the global default one."""
    return GLib.MainContext.get_thread_default() or GLib.MainContext.default()


def is_run_here(context):
    """Returns whether this thread must not wait for a main context, because the thread runs the context, or is going to.

    While no thread runs the main thread's own context, the main thread is going to run that context.
    """
    if context.is_owner():
        return True
    if not context.acquire():
        return False
    context.release()
    return hash(context) == hash(own_context()) and threading.current_thread() is threading.main_thread()


def context_to_run():
    """Returns the main context for run () or an EventLoop in this thread.

    This is the thread-default one or else the global default one.  If another thread runs the global default one, a thread
    other than the main thread gets a new main context.
    """
    own = GLib.MainContext.get_thread_default()
    if own is not None:
        return own
    default = GLib.MainContext.default()
    if threading.current_thread() is threading.main_thread() or default.is_owner():
        return default
    if default.acquire():
        default.release()
        return default
    return GLib.MainContext.new()


def loop_of(context):
    """Returns the loop of asyncio that PyGObject has made for a main context, or None if there is none or it is closed."""
    policy = getattr(sys.modules.get('gi.events'), 'GLibEventLoopPolicy', None)
    if policy is not None and not hasattr(policy, '_loops'):
        # PyGObject before 3.52 keeps its loops in the event loop policy.
        current = asyncio.get_event_loop_policy()
        policy = current if isinstance(current, policy) else None
    loop = getattr(policy, '_loops', {}).get(hash(context))
    return loop if loop is not None and not loop.is_closed() else None


def _is_run_elsewhere(context_id):
    """Returns whether another thread runs the main context whose hash () is context_id.

    Only the global default context and this thread's can be asked; for any other, this assumes that a thread runs it.
    """
    for context in (GLib.MainContext.default(), GLib.MainContext.get_thread_default()):
        if context is not None and hash(context) == context_id:
            if context.is_owner():
                return False
            if context.acquire():
                context.release()
                return False
            return True
    return True


def check_loop(loop, context_id):
    """Raises RuntimeError if an asyncio loop would wait for ever for a result from the main context whose hash () is context_id.

    This is so if loop runs on another main context, and no other thread runs that main context.  A future without a
    scheduler has the context_id 0, and any loop may wait for it.
    """
    if context_id == 0 or getattr(loop, '_prio_sched_checked', None) == context_id:
        return
    own = getattr(loop, '_context', None)
    if (own is None or hash(own) != context_id) and not _is_run_elsewhere(context_id):
        raise RuntimeError(f"{loop!r} does not run the scheduler's main context, and no other thread does: run asyncio "
                           'on GLib, by PrioSched.run(), Gio.Application.run() or gi.events.GLibEventLoop')
    if own is not None:
        loop._prio_sched_checked = context_id


# The modules and names of PyGObject's functions that run between callbacks.  PyGObject only prints an exception that is raised
# in them, so KeyboardInterrupt must not be raised there.
_AT_REST = {('gi._ossighelper', 'signal_notify'), ('gi.events', 'prepare'), ('gi.events', 'check')}


def is_at_rest(frame):
    """Returns whether frame, which a Unix signal has interrupted, belongs to the waiting main loop, and not to a callback.

    Code in modules of gi, this package included, counts as the main loop, even if a callback has called it.  In a callback,
    KeyboardInterrupt can be raised; elsewhere it would be lost.
    """
    if frame.f_globals.get('__name__', '').startswith('gi.'):
        return True
    while frame is not None and (frame.f_globals.get('__name__'), frame.f_code.co_name) not in _AT_REST:
        frame = frame.f_back
    return frame is not None
