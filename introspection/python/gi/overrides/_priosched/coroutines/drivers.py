"""Runs the coroutines of PrioSched as asyncio tasks if asyncio's loop is running, and otherwise with a Driver."""

import asyncio
import collections.abc
import functools
import sys
import threading
import types

from gi.module import get_introspection_module

from ..futures.contexts import call_in, get_running_loop, local, own_context, run_in_turn
from ..futures.future import CancelledError, Future, cancel_in_turn, direct_loop, raising, wake_up
from .._native import DriverBase, running
from ..futures.reasons import reason_of, without_own_frames
from .aborts import Abortable, told_at
from .generators import set_hook

PrioSched = get_introspection_module('PrioSched')


def is_awaitable(value):
    return isinstance(value, types.CoroutineType) or hasattr(value, '__await__')


async def _as_coroutine(awaitable):
    return await awaitable


def to_coroutine(awaitable):
    return awaitable if isinstance(awaitable, types.CoroutineType) else _as_coroutine(awaitable)


class Driver(DriverBase, Abortable):
    """Runs a coroutine in a context until the coroutine ends, if no loop of asyncio is running."""

    is_cancelled = False  # whether the coroutine was cancelled, and has not got the CancelledError yet

    def _find_main_context(self):
        self.main_context = own_context()

    @staticmethod
    def _begin_thread():
        """Sets this thread's hook for asynchronous generators, before the first driver of the thread runs."""
        set_hook(close_generator)

    def _step_elsewhere(self):
        """Continues the coroutine later, on the driver's thread, because another thread has settled the awaited future."""
        self._call_later(self._go_on_if_done)

    def _go_on_if_done(self):
        """Continues the coroutine if the future that it awaits is done.  By now, an abort may have made it await another one."""
        if self.waits_for is not None and self.waits_for.done():
            self.step()

    def _call_later(self, call):
        """Calls call () later, in the main context that runs the driver."""
        state = self.state  # read once, because the driver may end in another thread
        if state is None or not state.table.call_soon(call):
            call_in(self.main_context or own_context(), call)

    def go_on_after(self, future):
        """Continues the coroutine later, because future has been cancelled, unless another event has continued the coroutine by then."""
        self._call_later(lambda: self.go_on_from(future))

    def go_on_from(self, future):
        """Continues the coroutine if it still awaits future."""
        if self.waits_for is future:
            self.step()

    def _step(self, exception):
        if self.watch is not None:
            self.notice()
        if exception is None:
            exception = self.take_abort()
        self.is_cancelled = False
        if self.pending is not None:
            exception, self.pending = self.pending, None
        self.waits_for = None
        outer = running.context, local.abortable
        running.context, local.abortable = self.context, self
        has_ended, value, error = True, None, None
        try:
            waits_for = self.context.run(self._go_on, exception)
            has_ended = False
        except StopIteration as end:
            value = end.value
        except BaseException as caught:  # raised by the coroutine
            error = without_own_frames(caught)
        finally:
            running.context, local.abortable = outer
            outer = None  # a traceback may refer to this frame, which should not keep the outer task's signal

        # These calls are outside the try statement, so that exceptions that they raise do not get the caught one as their __context__.
        if has_ended:
            self._end(value, error)
        else:
            self._stand(waits_for)

    def _go_on(self, exception):
        return self.coroutine.send(None) if exception is None else self.coroutine.throw(exception)

    def _stand(self, waits_for):
        """Makes the coroutine await waits_for, which it has yielded."""
        if waits_for is None:
            # A bare yield, as in asyncio.sleep (0), becomes a yield of this library.
            waits_for = self.context.run(_yield, self.state)
        self.waits_for = waits_for
        if waits_for is self.future and waits_for is not None:
            self.step(RuntimeError(f'{waits_for!r} cannot await itself'))
        elif isinstance(waits_for, Future):
            waits_for._wait(self)
        elif getattr(waits_for, '_asyncio_future_blocking', False) and _may_wake_up(waits_for):
            # Asyncio's own tasks treat an awaited future in the same way.
            waits_for._asyncio_future_blocking = False
            waits_for.add_done_callback(self)
        else:
            self.step(RuntimeError(f'{waits_for!r} cannot be awaited here: no loop of asyncio is running'))
            return
        if self.must_be_told():
            self.abort()
        elif self.pending is not None and self.waits_for is not None and _cancel(self.waits_for, self.pending):
            self.pending = None

    def _end(self, value, exception):
        self.stop_watching()
        self.ended = True
        exception = self.outcome_of(exception)
        if self.pending is not None and exception is None:
            value, exception, self.pending = None, self.pending, None
        self.value, self.error = value, exception
        # Tracebacks refer to the frames of this object's methods, and so to this object, which should not keep the signal.
        self.state = self.context = None
        if self.future is not None:
            self.future._retrieved = isinstance(exception, (KeyboardInterrupt, SystemExit))
            self.future._callback = None
            self.future._settle(value, exception)
            if isinstance(exception, (KeyboardInterrupt, SystemExit)):
                raise exception

    def attach(self, future):
        self.future = future
        if self.waits_for is future:
            self.refuse_itself()

    def refuse_itself(self):
        """Raises an error at the await of a coroutine that awaits its own future."""
        self.throw_in(RuntimeError(f'{self.future!r} cannot await itself'))

    def throw_in(self, error):
        """Raises error at the coroutine's await, and lets the coroutine continue."""
        self.waits_for.remove_done_callback(self)
        run_in_turn(lambda: self.step(error))

    def own_main_context(self):
        """Returns the main context that runs the driver, or None if the driver's scheduler has been freed."""
        if self.state is None:
            return self.main_context
        scheduler = self.state.table.scheduler()
        return scheduler.get_context() if scheduler is not None else None

    def runs_in(self, context):
        """Returns whether the driver belongs to this thread, and runs in the main context `context`."""
        own = self.own_main_context()
        return self.thread == threading.get_ident() and own is not None and hash(own) == hash(context)

    def close(self, error):
        """Closes the coroutine, as when it is garbage collected, and settles its future with error, or with an error that it raises."""
        if self.waits_for is not None:
            self.waits_for.remove_done_callback(self)
        try:
            self.context.run(self.coroutine.close)
        except BaseException as caught:  # the coroutine ignores GeneratorExit, or raises another exception
            error = caught
        self._end(None, error)

    def abort(self, passed_on=None):
        """Delivers the abort at the coroutine's await, unless the coroutine has ended, has got the abort or is in a yield."""
        waits_for = self.waits_for
        if self.ended or self.told or waits_for is None or self.is_yielding(waits_for):
            return
        self.hear()
        waits_for.remove_done_callback(self)
        if isinstance(waits_for, Future):
            waits_for._is_left()
        else:
            waits_for.cancel()
        error = told_at(waits_for, reason_of(self.state.signal))
        run_in_turn(lambda: self.step(error))

    def is_to_be_cancelled(self):
        return self.is_cancelled

    def cancel_coroutine(self, msg):
        self.is_cancelled = True
        error = CancelledError() if msg is None else CancelledError(msg)
        if self.waits_for is None or not _cancel(self.waits_for, error):
            self.pending = error


def _may_wake_up(future):
    """Returns whether an asyncio future can end here: its loop is running or belongs to a main context, or the future has no loop."""
    loop = future.get_loop() if hasattr(future, 'get_loop') else None
    return loop is None or loop.is_running() or hasattr(loop, '_context')


def _cancel(waits_for, error):
    return waits_for.cancel(msg=error.args[0] if error.args else None)


def _yield(state):
    table = state.table if state is not None else None
    return table.yield_now() if table is not None else PrioSched.Scheduler.ref_thread_default().yield_()


class _Shell(Abortable, collections.abc.Coroutine):
    """Wraps a coroutine with a signal, for an asyncio task.

    An abort cancels the asyncio task, unless the coroutine awaits a future of this library: then that await raises the reason.
    """

    def __init__(self, coroutine, state):
        self.coroutine = coroutine
        self.state = state
        self.task = None
        self.reason = None     # the reason of the abort for which the asyncio task is being cancelled, or None
        # How many of the task's cancellations, as task.cancelling () counts them, come from aborts, and how many others had reached
        # the coroutine before the abort.
        self.n_aborts = self.n_heard = 0
        self.__name__ = getattr(coroutine, '__name__', type(coroutine).__name__)
        self.__qualname__ = getattr(coroutine, '__qualname__', self.__name__)

    def __getattr__(self, name):
        # Gives debuggers the attributes of the coroutine: cr_frame, cr_await and so on.
        return getattr(self.coroutine, name)

    def send(self, value):
        self.reason = None
        if self.watch is not None:
            self.notice()
        error, self.waits_for = self.take_abort(), None
        return self._go_on(self.coroutine.send, value) if error is None else self._go_on(self.coroutine.throw, error)

    def throw(self, *exception):
        error = exception[1] if len(exception) > 1 and exception[1] is not None else exception[0]
        reason, self.reason = self.reason, None
        if self.watch is not None:
            self.notice()
        waits_for, self.waits_for = self.waits_for, None
        if reason is not None and isinstance(error, CancelledError):
            error = told_at(waits_for, reason)
            if error is reason:
                self.task.uncancel()
                self.n_aborts = 0
        elif isinstance(error, CancelledError) and not self.told:
            self.n_heard = self.task.cancelling()
        try:
            return self._go_on(self.coroutine.throw, error)
        finally:
            error = exception = reason = None  # avoids a reference cycle: the traceback of the error refers to this frame

    def _go_on(self, method, value):
        outer, local.abortable = local.abortable, self
        try:
            waits_for = method(value)
        finally:
            local.abortable = outer
            outer = value = None
        return self._stand(waits_for)

    def close(self):
        self.coroutine.close()

    def is_to_be_cancelled(self):
        return self.task is not None and self.task.cancelling() > self.n_heard

    def ends_by_abort(self):
        # A scope such as asyncio.timeout () takes back its own cancellation with task.uncancel (), and not the abort's.  So if
        # only cancellations that n_aborts and n_heard count are left, the abort is the cause.
        return self.told_first or (self.told and self.task.cancelling() <= self.n_aborts + self.n_heard)

    def __await__(self):
        return self.coroutine.__await__()

    def _stand(self, waits_for):
        self.waits_for = waits_for
        if self.n_heard > 0 and not self.told:
            self.n_heard = min(self.n_heard, self.task.cancelling())
        if self.must_be_told():
            self.hear()
            if waits_for is not None and not isinstance(waits_for, Future):
                waits_for.cancel()
            return self._go_on(self.coroutine.throw, told_at(waits_for, reason_of(self.state.signal)))
        return waits_for

    def abort(self, passed_on=None):
        waits_for = self.waits_for
        if self.told or self.task is None or self.task.done() or self.is_yielding(waits_for):
            return
        self.hear()
        reason = reason_of(self.state.signal)
        wakeup = waits_for._take_wakeup(self.task) if isinstance(waits_for, Future) else None
        if wakeup is None:
            self.reason = reason
            self.n_aborts = 1
            cancel_in_turn(self.task, str(reason), passed_on)
        else:
            # The coroutine awaits a future of this library.  Only this await ends; the task that the future belongs to continues.
            waits_for._is_left()
            callback, context = wakeup
            error = raising(reason)
            loop = self.task.get_loop()
            if loop is direct_loop():
                run_in_turn(functools.partial(wake_up, callback, context, error))
            else:
                loop.call_soon(callback, error, context=context)
            context = wakeup = None  # a traceback may lead to this frame


# Loops of asyncio that run () is closing: no new coroutine may start in them.
closing_loops = set()


class CoroutineTask:
    """Adds to asyncio.Task the outcome of a coroutine of this library, with the attributes of a Driver that other modules use.

    The attributes have names that asyncio.Task does not use.
    """

    shell = None          # the _Shell of a coroutine with a signal
    future = None
    thread = None         # the thread in which the task runs
    ended = False
    value = error = None  # the outcome of the coroutine

    @property
    def told(self):
        """Whether an abort of the task's signal has reached the task's coroutine."""
        return self.shell is not None and self.shell.told

    def coroutine_ended(self):
        """Takes over the outcome of the coroutine, which has ended, and settles its future.  Later calls do nothing."""
        if self.ended:
            return
        self.ended = True
        if self.shell is not None:
            self.shell.stop_watching()
        error = None
        try:
            self.value = self.result()
        except BaseException as caught:
            error = without_own_frames(caught)
        if self.shell is not None:
            error = self.shell.outcome_of(error)
            self.shell.task = self.shell.state = None  # a traceback may refer to the shell, and should not keep the task and the signal
        self.error = error
        future = self.future
        if future is not None:
            future._retrieved = isinstance(self.error, (KeyboardInterrupt, SystemExit))
            future._callback = None
            future._settle(self.value, self.error)

    def attach(self, future):
        self.future = future
        self.add_done_callback(type(self).coroutine_ended)
        wakeup = future._take_wakeup(self)
        if wakeup is not None:
            callback, context = wakeup
            error = RuntimeError(f'{future!r} cannot await itself')
            self.get_loop().call_soon(callback, raising(error), context=context)

    def start_watching(self):
        if self.shell is not None:
            self.shell.start_watching()

    def note_cancellation(self):
        if self.shell is not None:
            self.shell.note_cancellation()

    def cancel_coroutine(self, msg):
        loop = self.get_loop()
        if self.thread != threading.get_ident() and loop.is_running():
            loop.call_soon_threadsafe(self.cancel, msg)
        else:
            self.cancel(msg)

    def throw_in(self, error):
        """Raises error at the await of this task or, if it awaits another asyncio task, at the await of that task.

        If a future of asyncio is awaited there, such as the future of gather (), it is cancelled, and so ends at once.
        """
        task, waits_for = self, self._fut_waiter
        while isinstance(waits_for, asyncio.Task):
            task, waits_for = waits_for, waits_for._fut_waiter
        wakeup = waits_for._take_wakeup(task) if isinstance(waits_for, Future) else None
        if wakeup is not None:
            callback, context = wakeup
            task.get_loop().call_soon(callback, raising(error), context=context)
        elif isinstance(waits_for, asyncio.Future):
            asyncio.Future.cancel(waits_for, *error.args)


class _Ended:
    """Takes the place of the asyncio task if KeyboardInterrupt or SystemExit has ended the coroutine at once, or if it could not start."""

    ended = True
    told = False
    value = None

    def __init__(self, error):
        self.error = error


class _Task(CoroutineTask, asyncio.Task):

    def __init__(self, coroutine, **options):
        try:
            super().__init__(coroutine, **options)
        except (KeyboardInterrupt, SystemExit):
            # The coroutine's first step has raised the error here, so asyncio must not report it as never retrieved.
            self._log_traceback = False
            raise
        finally:
            options.clear()
            self = None  # a traceback may lead to this frame, which should not keep the context


def _begin_task(loop, coroutine, context, name):
    """Makes an asyncio task, and runs its first step at once."""
    if sys.version_info >= (3, 12):
        try:
            return _Task(coroutine, loop=loop, name=name, context=context, eager_start=True)
        finally:
            context = None  # a traceback may lead to this frame

    steps = []
    loop.call_soon = lambda step, context=None: steps.append(step)
    try:
        task = _Task(coroutine, loop=loop, name=name, context=context)
    finally:
        del loop.call_soon
    current = asyncio.current_task(loop)
    if current is not None:
        asyncio.tasks._leave_task(loop, current)
    try:
        context.run(steps[0])
    finally:
        if current is not None:
            asyncio.tasks._enter_task(loop, current)
    return task


def start(coroutine, context, state=None, name=None):
    """Runs coroutine in context, up to its first wait.  Returns the Driver or the asyncio task that runs it, or an _Ended."""
    loop = get_running_loop()
    if loop is None:
        return Driver(coroutine, context, state)
    set_hook(close_generator)
    if closing_loops and loop in closing_loops:
        coroutine.close()
        return _Ended(CancelledError('PrioSched.run() has ended'))

    shell = _Shell(coroutine, state) if state is not None and state.signal is not None else None
    outer, running.context = running.context, context
    try:
        task = _begin_task(loop, shell or coroutine, context, name)
    except (KeyboardInterrupt, SystemExit) as error:
        return _Ended(error)
    finally:
        running.context = outer
        context = outer = state = None  # a traceback may lead to this frame
    if shell is not None:
        shell.task = task
        task.shell = shell
    if task.done():
        task.coroutine_ended()
    else:
        task.thread = threading.get_ident()
    try:
        return task
    finally:
        task = None  # it keeps the context


def close_generator(generator, context):
    """Closes an asynchronous generator, whose cleanup may await, in context."""
    start_alone(to_coroutine(generator.aclose()), context, Future())


def start_alone(coroutine, context, future):
    """Starts coroutine in context.  future gets its result, at once or when it has ended.  Returns the same as start ()."""
    run = start(coroutine, context)
    if run.ended:
        future._settle(run.value, run.error)
        if isinstance(run.error, (KeyboardInterrupt, SystemExit)):
            future._retrieved = True
            raise run.error
    else:
        run.attach(future)
    return run
