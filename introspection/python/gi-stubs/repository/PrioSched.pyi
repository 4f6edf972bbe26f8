"""Types of PrioSched in Python, for mypy and editors."""

import asyncio
import contextvars
import enum
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterable, Iterator
from typing import Any, Generic, Literal, Optional, ParamSpec, Protocol, TypeVar, Union, overload

from gi.repository import Gio, GLib, GObject

MAJOR_VERSION: int
MINOR_VERSION: int
"""The minor version of the library."""
MICRO_VERSION: int

TIMEOUT_IMMEDIATE: int
"""The timeout of React's level immediate, in milliseconds: it has passed from the start."""
TIMEOUT_USER_BLOCKING: int
"""The timeout of React's level user-blocking, in milliseconds."""
TIMEOUT_NORMAL: int
"""The timeout of React's level normal, in milliseconds."""
TIMEOUT_LOW: int
"""The timeout of React's level low, in milliseconds."""
TIMEOUT_IDLE: int
"""The timeout of React's level idle: 0, for none."""

_T = TypeVar('_T')
_R = TypeVar('_R', covariant=True)
_P = ParamSpec('_P')
_F = TypeVar('_F', bound=Callable[..., Any])
_Callback = Callable[[], Union[Awaitable[_T], _T]]

class TaskPriority(enum.IntEnum):
    """How urgent a task is."""
    UNSET = 0
    """No priority, for an optional priority."""
    BACKGROUND = 1
    """Work that no user waits for: logs, caches, indexes."""
    USER_VISIBLE = 2
    """Work that the user can see, but does not wait for; the default."""
    USER_BLOCKING = 3
    """Work that the user waits for."""
    value_nick: str

class TaskState(enum.IntEnum):
    """The stages in the life of a task."""
    PENDING = 0
    """The task waits for its turn, or for the end of its delay."""
    RUNNING = 1
    """The task has started, and has no result."""
    FULFILLED = 2
    """The task has a result."""
    FAILED = 3
    """The task has ended with an error."""
    ABORTED = 4
    """An abort has ended the task."""
    value_nick: str

class YieldFlags(enum.IntFlag):
    """Flags of a yield, for the options that its continuation inherits."""
    NONE = 0
    """The continuation inherits the signal and the priority."""
    DROP_SIGNAL = 1
    """The continuation does not inherit the signal."""
    DROP_PRIORITY = 2
    """The continuation does not inherit the priority."""
    KEEP_PRIORITY = 4
    """The continuation inherits the priority, even if a signal or a priority is given."""

class Error(enum.IntEnum):
    """The codes of the library's errors, for GLib.Error.matches()."""
    NOT_ALLOWED = 0
    """A signal's priority cannot be changed while its change is being announced."""
    CLOSED = 1
    """The main context, the channel or the worker has ended."""
    DROPPED = 2
    """The result of the task was deferred, and the task was dropped without a result."""
    @staticmethod
    def quark() -> int: ...

def error_quark() -> int: ...
def trace_start(fd: int) -> bool:
    """Writes a trace in the Chrome trace event format to a duplicate of a file descriptor. Perfetto shows it. Raises
    GLib.Error with Gio.IOErrorEnum.BUSY if this process writes a trace already.
    """
def trace_stop() -> None:
    """Ends the trace of trace_start()."""

# The error of an abort without a reason.  A program may derive classes of reasons from this class.
class AbortError(GLib.Error):
    def __init__(self, message: str = 'Operation was cancelled') -> None:
        """Creates an error with a message, such as a reason for abort()."""

_Priority = Union[TaskPriority, Literal['background', 'user-visible', 'user-blocking']]

# Describes a Gio.Cancellable.  Without stubs of PyGObject, Gio.Cancellable is Any, and accepts a controller, too.
class _Signal(Protocol):
    def cancel(self) -> None: ...
    def is_cancelled(self) -> bool: ...

class Future(Generic[_T]):
    name: Optional[str]
    """The name of the work for repr() and reports, or None."""
    def cancel(self, msg: Optional[Any] = None) -> bool: ...
    def get_loop(self) -> asyncio.AbstractEventLoop:
        """Returns the running event loop of asyncio or, if none runs, this thread's. Raises RuntimeError if there is none."""
    def done(self) -> bool: ...
    def cancelled(self) -> bool: ...
    def result(self, timeout: Optional[float] = None) -> _T:
        """Returns the result, or raises the exception.

        In a thread that runs neither the main context of the task nor a loop of asyncio, it first waits until the task is done.

        timeout  seconds, as in concurrent.futures, after which TimeoutError is raised; the task continues
        """
    def exception(self) -> Optional[BaseException]: ...
    def add_done_callback(self, callback: Callable[[Any], object], *, context: Optional[contextvars.Context] = None) -> None:
        """Calls callback(future) soon after the future is done, on the calling thread, in the given context or a copy of
        the current one.
        """
    def remove_done_callback(self, callback: Callable[[Any], object]) -> int: ...
    def __await__(self) -> Generator[Any, Any, _T]: ...

class PostedTask(Future[_T]):
    name: Optional[str]
    """The name of the task for repr() and reports, or None."""
    @property
    def state(self) -> TaskState: ...
    @property
    def priority(self) -> TaskPriority: ...
    def get_name(self) -> Optional[str]:
        """Returns the name of the task, or None."""

class Task(GObject.Object):
    """The library's own task, which other languages post; in Python, post_task() returns a PostedTask."""
    @staticmethod
    def new(scheduler: Scheduler, options: Optional[TaskOptions] = None) -> Task:
        """Creates a task that is in no queue, and gets its result from its creator. An abort of its signal ends it at
        once.
        """
    def cancel(self) -> None:
        """Cancels this task alone: it ends with Gio.IOErrorEnum.CANCELLED. A task that has ended stays as it is."""
    def dup_name(self) -> Optional[str]:
        """Returns the name of the task, or None."""
    def get_state(self) -> TaskState:
        """Returns the current state of the task."""
    def get_return_on_abort(self) -> bool:
        """Returns whether an abort ends the task at once."""
    def set_return_on_abort(self, return_on_abort: bool) -> None:
        """Sets whether an abort ends the task at once."""
    def get_progress(self) -> float:
        """Returns the progress of the task, from 0 to 1."""
    def set_progress(self, progress: float) -> None:
        """Sets the progress of the task, from 0 to 1; notify::progress reports it."""
    def set_name(self, name: Optional[str]) -> None:
        """Sets the name of the task in reports and traces."""
    def get_error(self) -> Optional[GLib.Error]:
        """Returns the error with which the task has ended, or None."""
    def get_priority(self) -> TaskPriority:
        """Returns the current priority of the task."""
    def get_cancellable(self) -> Optional[Gio.Cancellable]:
        """Returns the signal of the task, or None."""
    def defer(self) -> None:
        """Lets the result be returned after the function of the task has ended."""
    def then(self, callback: Optional[Callable[[Any, Task], object]]) -> None: ...
    def wait_async(self, cancellable: Optional[Gio.Cancellable], callback: Callable[[Any, Gio.AsyncResult], object]) -> None:
        """Calls the callback when the task has ended, or when the cancellable ends the wait."""
    def wait_finish(self, result: Gio.AsyncResult) -> bool:
        """Finishes wait_async(); call it in the callback. Returns True, or raises the error of the task or of the cancelled wait."""
    def propagate_boolean(self) -> bool:
        """Returns the boolean that is the result of an ended task, or raises the error of the task."""
    def propagate_int(self) -> int:
        """Returns the integer that is the result of an ended task, or raises the error of the task."""
    def propagate_value(self) -> tuple[bool, Any]:
        """Returns True and the result of an ended task, or raises the error of the task."""
    def return_boolean(self, result: bool) -> None:
        """Ends the task with a boolean as its result."""
    def return_error(self, error: GLib.Error) -> None:
        """Ends the task with an error."""
    def return_error_if_aborted(self) -> bool:
        """Ends the task with the reason of the abort if its signal has been aborted. Returns whether it has."""
    def return_int(self, result: int) -> None:
        """Ends the task with an integer as its result."""
    def return_value(self, result: Any = None) -> None:
        """Ends the task with any value as its result."""

class TaskOptions(GObject.GBoxed):
    """The options of Scheduler.post_full() and Task.new(). Create them without arguments, and set the fields."""
    priority: TaskPriority
    """The priority of the task, which then does not follow its signal."""
    size: int
    signal: Optional[TaskSignal]
    """A task signal that may abort the task and sets its priority."""
    cancellable: Optional[Gio.Cancellable]
    """A cancellable that may abort the task, instead of a task signal."""
    delay: int
    """How long the task waits before it is queued, in milliseconds."""
    name: Optional[str]
    """The name of the task in reports and traces."""
    source_tag: Any
    """A tag that identifies the function that posts the task, as for Gio.AsyncResult.is_tagged()."""
    source_object: Optional[GObject.Object]
    """The object that is the source of the result, for Gio.AsyncResult.get_source_object()."""
    timeout: int
    """Milliseconds after which the task runs first; 0 for none."""
    takes_turns: bool
    """Whether its continuations wait behind tasks of the same priority."""

class YieldOptions(GObject.GBoxed):
    """The options of Scheduler.yield_async() and sleep_async(). Create them without arguments, and set the fields."""
    priority: TaskPriority
    """The priority of the continuation instead of the task's."""
    size: int
    signal: Optional[TaskSignal]
    """A task signal of the continuation instead of the task's."""
    cancellable: Optional[Gio.Cancellable]
    """A cancellable of the continuation instead of the task's."""
    state: Optional[SchedulingState]
    """The state that the continuation has instead of the current one."""
    flags: YieldFlags
    """Flags for the options that the continuation inherits."""
    name: Optional[str]
    """The name of the continuation in reports and traces."""
    takes_turns: bool
    """Whether the continuation waits behind queued tasks of the same priority."""

class IdleDeadline(GObject.GBoxed):
    @staticmethod
    def dup_current() -> Optional[IdleDeadline]: ...
    @property
    def did_timeout(self) -> bool: ...
    def get_time_remaining(self) -> float:
        """Returns how many milliseconds the callback may take."""
    def copy(self) -> IdleDeadline:
        """Returns a copy of the deadline, which is valid after the callback."""

# The result of calls that raise TypeError: with a coroutine function for a thread, or an asynchronous generator for a
# task.  So a type checker reports code that awaits or uses the result.  It cannot report a call whose result is dropped.
class _Refused: ...

# No function returns this.  A function that returns Any matches the signature with this type, so that the next
# signature does not refuse the function.
class _Unknown: ...

# A run of a job.  Awaiting a run that a later run has aborted gives None.
class _Run(Protocol[_R]):
    def done(self) -> bool: ...
    def __await__(self) -> Generator[Any, Any, Optional[_R]]: ...

class _Latest(Protocol[_P, _R]):
    """The function that latest() returns. Each call starts the job as a task, and aborts the previous run; awaiting an
    aborted run gives None.
    """
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _Run[_R]: ...
    def abort(self) -> None:
        """Aborts the current run, if any."""

LONG_TASK_THRESHOLD: int
"""The web's threshold for long tasks, in milliseconds: 50."""

class Scheduler(GObject.Object):
    """Runs prioritized tasks in a main context."""
    @staticmethod
    def get_default() -> Scheduler:
        """Returns the scheduler of the default main context, in which GTK runs."""
    @staticmethod
    def ref_thread_default() -> Scheduler:
        """Returns the scheduler of the calling thread's default main context. Any thread may call this."""
    @staticmethod
    def list_all() -> list[Scheduler]:
        """Returns all live schedulers, of any main context, the oldest first."""
    @staticmethod
    def new(context: Optional[GLib.MainContext]) -> Scheduler:
        """Creates another scheduler for a main context, with its own queues; None stands for the default main context.
        """
    @overload
    def post_task(self, callback: Callable[[], Generator[Any, Any, _T]], priority: Optional[_Priority] = None,
                  signal: Optional[_Signal] = None, delay: int = 0, name: Optional[str] = None,
                  progress: Optional[Callable[[Any], object]] = None, timeout: Optional[int] = None,
                  takes_turns: bool = False) -> PostedTask[_T]: ...
    @overload
    def post_task(self, callback: Callable[[], Iterator[Any]], priority: Optional[_Priority] = None,
                  signal: Optional[_Signal] = None, delay: int = 0, name: Optional[str] = None,
                  progress: Optional[Callable[[Any], object]] = None, timeout: Optional[int] = None,
                  takes_turns: bool = False) -> PostedTask[Any]: ...
    @overload
    def post_task(self, callback: Callable[[], AsyncIterator[Any]], priority: Optional[_Priority] = None,  # type: ignore
                  signal: Optional[_Signal] = None, delay: int = 0, name: Optional[str] = None,
                  progress: Optional[Callable[[Any], object]] = None, timeout: Optional[int] = None,
                  takes_turns: bool = False) -> _Refused: ...
    @overload
    def post_task(self, callback: Callable[[], Awaitable[_T]], priority: Optional[_Priority] = None,
                  signal: Optional[_Signal] = None, delay: int = 0, name: Optional[str] = None,
                  progress: Optional[Callable[[Any], object]] = None, timeout: Optional[int] = None,
                  takes_turns: bool = False) -> PostedTask[_T]: ...
    @overload
    def post_task(self, callback: Callable[[], _T], priority: Optional[_Priority] = None,
                  signal: Optional[_Signal] = None, delay: int = 0, name: Optional[str] = None,
                  progress: Optional[Callable[[Any], object]] = None, timeout: Optional[int] = None,
                  takes_turns: bool = False) -> PostedTask[_T]: ...
    def post(self, priority: TaskPriority, func: Callable[[], bool]) -> None:
        """Posts a function without a result, which is called again as long as it returns True. This is the cheapest
        way to post. Any thread may post.
        """
    def post_full(self, options: Optional[TaskOptions], func: Callable[[], bool]) -> bool:
        """Posts a function without a result, with options, which is called again as long as it returns True. Returns
        False if the signal is aborted already.
        """
    @overload
    def yield_async(self, callback: Callable[[Scheduler, Gio.AsyncResult], object]) -> None:
        """Calls the callback when more urgent work has run. To await a yield, use yield_() instead."""
    @overload
    def yield_async(self, options: Optional[YieldOptions], callback: Callable[[Scheduler, Gio.AsyncResult], object]) -> None: ...
    def yield_finish(self, result: Gio.AsyncResult) -> bool:
        """Finishes yield_async(); call it in the callback. Returns True, or raises the reason of the abort."""
    def sleep_async(self, delay: int, options: Optional[YieldOptions],
                    callback: Callable[[Scheduler, Gio.AsyncResult], object]) -> None:
        """Calls the callback after a delay. To await a delay, use sleep() instead."""
    def sleep_finish(self, result: Gio.AsyncResult) -> bool:
        """Finishes sleep_async(); call it in the callback. Returns True, or raises the reason of the abort."""
    def yield_(self, signal: Union[_Signal, Literal['inherit'], None] = None,
               priority: Union[_Priority, Literal['inherit'], None] = None,
               takes_turns: bool = False) -> Future[None]: ...
    def sleep(self, delay: int, signal: Union[_Signal, Literal['inherit'], None] = None,
              priority: Union[_Priority, Literal['inherit'], None] = None) -> Future[None]: ...
    def each(self, items: Union[Iterable[_T], AsyncIterable[_T]]) -> AsyncIterator[_T]: ...
    @overload
    def latest(self, job: Callable[_P, Generator[Any, Any, _T]], priority: _Priority = 'user-visible',
               signal: Optional[_Signal] = None) -> _Latest[_P, _T]: ...
    @overload
    def latest(self, job: Callable[_P, Awaitable[_T]], priority: _Priority = 'user-visible',
               signal: Optional[_Signal] = None) -> _Latest[_P, _T]: ...
    @overload
    def latest(self, job: Callable[_P, _T], priority: _Priority = 'user-visible',
               signal: Optional[_Signal] = None) -> _Latest[_P, _T]: ...
    def adopt(self, awaitable: Awaitable[_T]) -> Coroutine[Any, Any, _T]: ...
    @overload
    def run_in_thread(self, func: Callable[..., _Unknown], *args: Any, priority: Optional[_Priority] = None,
                      signal: Optional[_Signal] = None, name: Optional[str] = None) -> Future[Any]: ...
    @overload
    def run_in_thread(self, func: Callable[..., Coroutine[Any, Any, Any]], *args: Any, priority: Optional[_Priority] = None,  # type: ignore
                      signal: Optional[_Signal] = None, name: Optional[str] = None) -> _Refused: ...
    @overload
    def run_in_thread(self, func: Callable[..., _T], *args: Any, priority: Optional[_Priority] = None,
                      signal: Optional[_Signal] = None, name: Optional[str] = None) -> Future[_T]: ...
    def queue_microtask(self, callback: _Callback[Any]) -> None: ...
    def request_idle_callback(self, callback: Callable[[IdleDeadline], object], timeout: Optional[int] = None) -> int: ...
    def cancel_idle_callback(self, id: int) -> None:
        """Removes the callback of request_idle_callback(). An unknown number has no effect."""
    def get_context(self) -> GLib.MainContext:
        """Returns the main context in which the tasks run."""
    def follow_frame_clock(self, frame_clock: GObject.Object) -> None:
        """Learns from a frame clock when frames are due, so that tasks end in time for them. PrioSched finds the
        clocks of GTK 4 by itself.
        """
    def unfollow_frame_clock(self, frame_clock: GObject.Object) -> None:
        """Stops following a frame clock, after follow_frame_clock()."""
    def get_next_frame(self) -> int:
        """Returns when the next frame is due, in microseconds of GLib.get_monotonic_time(), or 0 if none is."""
    def set_next_frame(self, next_frame: int) -> None: ...
    def did_timeout(self) -> bool: ...
    def get_current_priority(self) -> TaskPriority: ...
    @overload
    def run_with_priority(self, priority: _Priority, func: Callable[..., _Unknown], *args: Any) -> Any: ...
    @overload
    def run_with_priority(self, priority: _Priority, func: Callable[..., Coroutine[Any, Any, Any]], *args: Any) -> _Refused: ...  # type: ignore
    @overload
    def run_with_priority(self, priority: _Priority, func: Callable[..., _T], *args: Any) -> _T: ...
    def wrap_callback(self, func: _F) -> _F: ...
    def schedule_callback(self, level: Literal['immediate', 'user-blocking', 'normal', 'low', 'idle'],
                          callback: Callable[[bool], Any], timeout: Optional[int] = None, delay: int = 0,
                          signal: Optional[_Signal] = None, name: Optional[str] = None) -> PostedTask[Any]: ...
    def cancel_callback(self, task: PostedTask[Any]) -> bool: ...
    def get_first_task(self) -> Union[PostedTask[Any], Task, None]: ...
    def force_frame_rate(self, fps: int) -> None: ...
    def request_paint(self) -> None: ...
    @property
    def current_signal(self) -> Optional[TaskSignal]: ...
    def should_yield(self) -> bool:
        """Returns whether input, a frame or more urgent work is waiting, or the time slice is over. If so, the running
        task should yield or return.
        """
    def count_pending(self) -> int: ...
    time_slice: float
    """How long tasks run before every other source has its turn, in milliseconds, or -1 if the slice adapts to frames."""
    task_share: float
    """The least share of time that slow frames and other code's idle sources leave to tasks, up to 0.9; 0 lets the library decide."""
    starvation_limit: int
    """How long a task waits behind yields of its priority before it has a turn, in milliseconds; 0 means for ever."""
    def get_time_slice(self) -> float:
        """Returns how long tasks run before every other source has its turn, in milliseconds, or -1 if the slice adapts to frames."""
    def set_time_slice(self, time_slice: float) -> None: ...
    def get_starvation_limit(self) -> int:
        """Returns how long a task waits behind continuations of its priority, in milliseconds; 0 means for ever."""
    def set_starvation_limit(self, starvation_limit: int) -> None: ...
    def get_task_share(self) -> float:
        """Returns the least share of time that slow frames and other code's idle sources leave to tasks; 0 lets the library decide."""
    def set_task_share(self, share: float) -> None: ...
    def get_lends_priority(self) -> bool:
        """Returns whether a waiting task lends its priority to the task that it waits for."""
    def set_lends_priority(self, lends_priority: bool) -> None:
        """Sets whether a waiting task lends its priority to the task that it waits for."""
    def start_statistics(self) -> None:
        """Starts to count tasks and to measure their times, from 0."""
    def stop_statistics(self) -> None:
        """Stops counting. The numbers are kept until the next start_statistics()."""
    def get_statistics(self) -> Statistics:
        """Returns the numbers and times of tasks since start_statistics(), and the tasks that wait now."""
    def add_long_task_func(self, threshold: int, func: Callable[[Optional[str], int, float], object]) -> int:
        """Calls func(name, priority, duration) when a task or a source has blocked the main loop for threshold
        milliseconds. The duration is in milliseconds; the priority is 0 for a source. Returns a number for
        remove_long_task_func().
        """
    def remove_long_task_func(self, id: int) -> None:
        """Removes a function that add_long_task_func() has added."""
    def pause(self) -> None:
        """Keeps tasks from running, until resume(). Tasks can be posted meanwhile, and delays continue. Any thread may
        call it.
        """
    def resume(self) -> None:
        """Lets tasks run again, after pause(). Any thread may call this."""
    def get_paused(self) -> bool:
        """Returns whether pause() keeps tasks from running."""

class TaskSignal(Gio.Cancellable):
    @staticmethod
    def any(signals: Iterable[_Signal], priority: Union[_Priority, TaskSignal] = 'user-visible') -> TaskSignal: ...
    @staticmethod
    def any_following(signals: Iterable[_Signal], priority_source: TaskSignal) -> TaskSignal: ...
    @staticmethod
    def new_aborted(reason: Optional[BaseException] = None) -> TaskSignal: ...
    @staticmethod
    def new_timeout(delay: int) -> TaskSignal: ...
    @property
    def priority(self) -> TaskPriority:
        """The current priority of the signal, and of tasks posted with the signal but without a priority."""
    @property
    def aborted(self) -> bool:
        """Whether the signal has been aborted."""
    @property
    def reason(self) -> Optional[BaseException]: ...
    def cancel(self) -> None:
        """Aborts the signal, as Gio.Cancellable.cancel() does, with PrioSched.AbortError as the reason."""
    def is_cancelled(self) -> bool:
        """Returns whether the signal has been aborted, as Gio.Cancellable does: for a dependent signal a little later
        than is_aborted().
        """
    def has_fixed_priority(self) -> bool: ...
    def is_aborted(self) -> bool: ...
    def get_priority(self) -> TaskPriority:
        """Returns the current priority of the signal."""
    def dup_reason(self) -> Optional[GLib.Error]:
        """Returns the error with which the signal was aborted, or None."""
    def count_pending(self) -> int:
        """Returns how many tasks that were posted with the signal are queued or delayed. Takes time for each of them."""
    def connect(self, *args: Any) -> int: ...
    def connect_after(self, *args: Any) -> int: ...
    def connect_data(self, *args: Any, **kwargs: Any) -> int: ...
    def connect_object(self, *args: Any) -> int: ...
    def connect_object_after(self, *args: Any) -> int: ...
    def disconnect(self, handler: int) -> None:
        """Disconnects a handler. The handler itself may call it, unlike the method of `Gio.Cancellable`."""

# This is a GObject.Object, but does not derive from it here: without stubs of PyGObject, GObject.Object is Any, and the
# class would match a signal.
class TaskController:
    @staticmethod
    def new(priority: TaskPriority) -> TaskController:
        """Creates a controller whose signal has the given priority, as the constructor does."""
    def get_signal(self) -> TaskSignal:
        """Returns the controller's signal, for posts and for any call of GIO."""
    def __init__(self, priority: _Priority = 'user-visible') -> None:
        """Creates a controller whose signal has the given priority."""
    @property
    def signal(self) -> TaskSignal:
        """The controller's signal, for posts and for any call of GIO."""
    @property
    def priority(self) -> TaskPriority: ...
    def set_priority(self, priority: _Priority) -> None: ...
    def abort(self, reason: Optional[BaseException] = None) -> None: ...

class ChannelPace(enum.IntEnum):
    """How often a channel calls its callback."""
    EACH = 0
    """Each value has a call."""
    TURN = 1
    """There is at most one call in a turn of the main loop."""
    FRAME = 2
    """There is at most one call in a frame."""
    value_nick: str

class Channel(Generic[_T]):
    def __init__(self, callback: Callable[[_T], object], capacity: int = 1,
                 pace: Union[ChannelPace, Literal['each', 'turn', 'frame']] = 'each', scheduler: Optional[Scheduler] = None,
                 priority: Optional[_Priority] = None, signal: Optional[_Signal] = None, name: Optional[str] = None) -> None:
        """Creates a channel whose callback(value) runs on the main loop. If callback returns a task, the value
        keeps its place until the task is done. Any thread may give values.
        """
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    @property
    def closed(self) -> bool: ...
    def replace(self, value: _T) -> bool: ...
    def offer(self, value: _T) -> bool: ...
    def give(self, value: _T, timeout: Optional[float] = None) -> None: ...
    def give_async(self, value: _T) -> Future[None]: ...
    def close(self) -> None: ...
    def __enter__(self) -> Channel[_T]: ...
    def __exit__(self, *args: Any) -> None: ...

class WorkerStop(enum.IntEnum):
    """How a stopping worker ends its queued tasks."""
    ABORT = 0
    """They fail with Error.CLOSED."""
    FINISH = 1
    """They run first."""
    value_nick: str

class Worker(GObject.Object):
    def __init__(self, name: Optional[str] = None) -> None:
        """Starts a thread that runs tasks."""
    @staticmethod
    def new(name: Optional[str]) -> Worker:
        """Starts a thread that runs tasks, as the constructor does."""
    @property
    def name(self) -> Optional[str]: ...
    @property
    def scheduler(self) -> Scheduler: ...
    def get_scheduler(self) -> Scheduler:
        """Returns the scheduler whose tasks run in the thread."""
    @overload
    def run(self, scheduler: Scheduler, func: Callable[..., _Unknown], *args: Any, priority: Optional[_Priority] = None,
            signal: Optional[_Signal] = None, name: Optional[str] = None) -> Future[Any]: ...
    @overload
    def run(self, scheduler: Scheduler, func: Callable[..., Coroutine[Any, Any, Any]], *args: Any,  # type: ignore
            priority: Optional[_Priority] = None, signal: Optional[_Signal] = None,
            name: Optional[str] = None) -> _Refused: ...
    @overload
    def run(self, scheduler: Scheduler, func: Callable[..., _T], *args: Any, priority: Optional[_Priority] = None,
            signal: Optional[_Signal] = None, name: Optional[str] = None) -> Future[_T]: ...
    def stop(self, how: Union[WorkerStop, Literal['abort', 'finish']] = 'abort') -> None: ...
    def join(self) -> None: ...
    def __enter__(self) -> Worker: ...
    def __exit__(self, *args: Any) -> None: ...
    async def __aenter__(self) -> Worker: ...
    async def __aexit__(self, *args: Any) -> None: ...

class TaskGroupWait(enum.IntEnum):
    """The event that ends a wait with TaskGroup.wait_async()."""
    DRAINED = 0
    """No task is queued or running."""
    ALL = 1
    """All tasks have returned, or the first has failed."""
    ANY = 2
    """The first task has returned, or all have failed."""
    FIRST = 3
    """The first task has completed."""
    value_nick: str

class TaskGroup(GObject.Object):
    def __init__(self, scheduler: Optional[Scheduler] = None, limit: Optional[int] = None,
                 priority: _Priority = 'user-visible') -> None:
        """Creates a group, whose tasks a scheduler runs."""
    @staticmethod
    def new(scheduler: Scheduler, limit: int, priority: TaskPriority) -> TaskGroup:
        """Creates a group, as the constructor does; the limit is at least 1."""
    limit: Optional[int]
    """The most tasks that run at a time, or None for no limit."""
    @property
    def n_tasks(self) -> int: ...
    @property
    def priority(self) -> TaskPriority: ...
    @property
    def signal(self) -> TaskSignal: ...
    def set_limit(self, limit: Optional[int]) -> None:
        """Sets the most tasks that run at a time, or None for no limit. Running tasks continue."""
    def set_priority(self, priority: _Priority) -> None: ...
    @overload
    def post_task(self, callback: Callable[[], Generator[Any, Any, _T]], priority: Optional[_Priority] = None,
                  signal: Optional[_Signal] = None, delay: int = 0, name: Optional[str] = None,
                  progress: Optional[Callable[[Any], object]] = None, timeout: Optional[int] = None,
                  takes_turns: bool = False) -> PostedTask[_T]: ...
    @overload
    def post_task(self, callback: Callable[[], Iterator[Any]], priority: Optional[_Priority] = None,
                  signal: Optional[_Signal] = None, delay: int = 0, name: Optional[str] = None,
                  progress: Optional[Callable[[Any], object]] = None, timeout: Optional[int] = None,
                  takes_turns: bool = False) -> PostedTask[Any]: ...
    @overload
    def post_task(self, callback: Callable[[], AsyncIterator[Any]], priority: Optional[_Priority] = None,  # type: ignore
                  signal: Optional[_Signal] = None, delay: int = 0, name: Optional[str] = None,
                  progress: Optional[Callable[[Any], object]] = None, timeout: Optional[int] = None,
                  takes_turns: bool = False) -> _Refused: ...
    @overload
    def post_task(self, callback: Callable[[], Awaitable[_T]], priority: Optional[_Priority] = None,
                  signal: Optional[_Signal] = None, delay: int = 0, name: Optional[str] = None,
                  progress: Optional[Callable[[Any], object]] = None, timeout: Optional[int] = None,
                  takes_turns: bool = False) -> PostedTask[_T]: ...
    @overload
    def post_task(self, callback: Callable[[], _T], priority: Optional[_Priority] = None,
                  signal: Optional[_Signal] = None, delay: int = 0, name: Optional[str] = None,
                  progress: Optional[Callable[[Any], object]] = None, timeout: Optional[int] = None,
                  takes_turns: bool = False) -> PostedTask[_T]: ...
    def feed(self, callback: Callable[[_T], Any], items: Iterable[_T], priority: Optional[_Priority] = None,
             signal: Optional[_Signal] = None, name: Optional[str] = None) -> PostedTask[None]: ...
    def feed_model(self, callback: Callable[[Any, int], Any], model: Gio.ListModel, name: Optional[str] = None) -> Feed: ...
    def feed_view(self, callback: Callable[[Any, int], Any], view: Any, name: Optional[str] = None) -> Feed: ...
    def abort(self, reason: Optional[BaseException] = None) -> None: ...
    def cancel_pending(self) -> None: ...
    async def __aenter__(self) -> TaskGroup: ...
    async def __aexit__(self, *args: Any) -> bool: ...
    def drained(self, signal: Optional[_Signal] = None) -> PostedTask[None]: ...
    def all(self, signal: Optional[_Signal] = None) -> PostedTask[None]: ...
    def any(self, signal: Optional[_Signal] = None) -> PostedTask[Any]: ...
    def first(self, signal: Optional[_Signal] = None) -> PostedTask[Any]: ...
    def wait_async(self, until: TaskGroupWait, cancellable: Optional[Gio.Cancellable],
                   callback: Callable[[TaskGroup, Gio.AsyncResult], object]) -> None:
        """Calls the callback at the end of a wait. To await it, use drained(), all(), any() or first() instead."""
    def wait_finish(self, result: Gio.AsyncResult) -> tuple[bool, Optional[Task]]:
        """Finishes wait_async(); call it in the callback. Returns True and, after a wait for any or the first task, the task
        that ended the wait, or else None. Raises the error of the task, or the reason of an abort.
        """
    def get_limit(self) -> int:
        """Returns the most tasks that run at a time."""
    def dup_scheduler(self) -> Optional[Scheduler]:
        """Returns the scheduler that runs the tasks, or None once it is gone."""
    def get_n_tasks(self) -> int:
        """Returns the number of tasks that are queued or running."""
    def get_priority(self) -> TaskPriority:
        """Returns the priority of tasks that were posted without one."""
    def get_signal(self) -> TaskSignal:
        """Returns the signal that the next abort() aborts."""

class Feed(GObject.Object):
    @staticmethod
    def new(group: TaskGroup, func: Callable[[TaskGroup], Optional[Task]]) -> Feed:
        """Creates a feed that calls func(group) for the next task whenever the group has a free place. It ends when
        func returns None.
        """
    @staticmethod
    def new_for_model(group: TaskGroup, model: Gio.ListModel,
                      func: Callable[[TaskGroup, Any, int, TaskSignal], Optional[Task]]) -> Feed:
        """Creates a feed that calls func(group, item, position, signal) for each row in view or near it. Programs
        usually call TaskGroup.feed_model().
        """
    def get_task(self) -> Task:
        """Returns the task that ends with the feed."""
    def set_view(self, first: int, n_rows: int) -> None:
        """Sets the rows in view. The call is cheap: make it at each scroll."""

class TaskTimes:
    """How long tasks have waited or run, in milliseconds."""
    total: float
    """The sum of the times."""
    longest: float
    """The longest time."""
    median: float
    """The time that half of the tasks need at most."""
    percentile_99: float
    """The time that 99 of 100 tasks need at most."""

class TaskStatistics:
    """The numbers and times of the tasks of one priority."""
    n_queued: int
    """How many tasks wait for their turn now."""
    n_delayed: int
    """How many tasks wait for the end of their delay now."""
    n_run: int
    """How often tasks have run, to their end or to a yield."""
    n_continued: int
    """How many of these runs continued after a yield."""
    n_aborted: int
    """How many tasks were aborted while they waited."""
    waiting: TaskTimes
    """How long tasks have waited in a queue before each run."""
    running: TaskTimes
    """How long the runs took."""

class Statistics:
    """The numbers and times of a scheduler's tasks, by priority."""
    size: int
    collecting: bool
    """Whether the scheduler is counting."""
    background: TaskStatistics
    """The tasks of the priority background."""
    user_visible: TaskStatistics
    """The tasks of the priority user-visible."""
    user_blocking: TaskStatistics
    """The tasks of the priority user-blocking."""

class SchedulingState(GObject.GBoxed):
    """The state that a task runs in: its signal and its priority."""
    @staticmethod
    def get_current() -> Optional[SchedulingState]: ...
    def dup_scheduler(self) -> Optional[Scheduler]:
        """Returns the scheduler of the task, or None once it is gone."""
    def get_cancellable(self) -> Optional[Gio.Cancellable]:
        """Returns the signal of the task, or None."""
    def get_priority(self) -> int:
        """Returns the priority of the task."""
    def run(self, func: Callable[[], object]) -> None: ...
    def resume_async(self, callback: Callable[[Any, Gio.AsyncResult], object]) -> None:
        """Calls the callback in a continuation of the task."""
    def resume_finish(self, result: Gio.AsyncResult) -> bool:
        """Finishes resume_async(); call it in the callback. Returns True, or raises the reason of the abort."""

# Needs PyGObject's event loop, in 3.50 and later.
class EventLoop(asyncio.SelectorEventLoop):
    def __init__(self, main_context: Optional[GLib.MainContext] = None) -> None:
        """Creates an event loop of asyncio that runs a main context of GLib, by default the thread-default one."""

def run(coroutine: Awaitable[_T]) -> _T: ...

class testing:
    """The clock of a test: delays, timeouts, slices and frames follow the time that it sets, and nothing sleeps."""
    class Clock:
        def __enter__(self) -> testing.Clock: ...
        def __exit__(self, *exception: object) -> None: ...
        @property
        def elapsed(self) -> float: ...
        @property
        def time(self) -> int: ...
        def advance(self, milliseconds: float) -> None: ...
        def advance_async(self, milliseconds: float) -> Future[None]: ...
        def spend(self, milliseconds: float) -> None: ...
        def run_until_idle(self) -> None: ...
        def step(self) -> bool: ...
        @property
        def queued(self) -> list[str]: ...
        @property
        def delayed(self) -> list[str]: ...
    @staticmethod
    def clock() -> Iterator[testing.Clock]: ...
