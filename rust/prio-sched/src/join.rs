// SPDX-License-Identifier: LGPL-2.1-or-later
use std::any::Any;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::Arc;
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use futures_core::future::FusedFuture;
use glib::prelude::*;
use glib::translate::*;

use crate::options::whole_milliseconds;
use crate::wait::Cancelling;
use crate::{ffi, Scheduler};

pub(crate) trait Abort: Send + Sync {
    /// Marks the future, and posts a task that ends it.  Any thread may call it, with any locks held.
    fn abort(self: Arc<Self>);
    /// Ends the future, unless it is being polled.  Called on the home's thread, where the program's code may run.
    fn end(self: Arc<Self>);
    fn is_finished(&self) -> bool;
}

/// The functions of a future that its handle calls.
pub(crate) trait Join<T>: Abort {
    fn poll_join(&self, context: &mut Context<'_>) -> Poll<Result<T, JoinError>>;
    fn detach(&self);
    /// Returns the scheduler on whose thread the future ends, if the scheduler still lives and is known.
    fn scheduler(&self) -> Option<Scheduler>;
    fn to_abort(self: Arc<Self>) -> Arc<dyn Abort>;
}

/// The reason why a future has no result. It becomes a [`glib::Error`] with `?`: [`gio::IOErrorEnum::Cancelled`], or
/// [`gio::IOErrorEnum::Failed`] after a panic, [`gio::IOErrorEnum::TimedOut`], or [`gio::IOErrorEnum::WouldBlock`].
#[derive(Debug)]
#[non_exhaustive]
pub enum JoinError {
    /// The future was aborted by its signal, its group or its handle, or its thread or worker has ended.
    Aborted,
    /// The future has panicked: see [`JoinError::into_panic`].
    Panicked(Panic),
    /// The time of [`JoinHandle::wait`] has passed.
    TimedOut,
    /// [`JoinHandle::wait`] would never have ended.
    WouldBlock,
}

/// The payload of a future's panic.
pub struct Panic(Box<dyn Any + Send + 'static>);

// SAFETY: a shared reference gives no access to the payload.
unsafe impl Sync for Panic {}

impl Panic {
    /// Returns the payload, as [`std::thread::JoinHandle::join`] does.
    pub fn into_inner(self) -> Box<dyn Any + Send + 'static> {
        self.0
    }
}

impl fmt::Debug for Panic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Panic")
    }
}

impl JoinError {
    pub(crate) fn panicked(payload: Box<dyn Any + Send + 'static>) -> Self {
        Self::Panicked(Panic(payload))
    }

    /// Returns whether the future was aborted.
    pub fn is_aborted(&self) -> bool {
        matches!(self, Self::Aborted)
    }

    /// Returns whether the future has panicked.
    pub fn is_panic(&self) -> bool {
        matches!(self, Self::Panicked(_))
    }

    /// Returns the payload of the future's panic, for [`std::panic::resume_unwind`].
    ///
    /// # Panics
    ///
    /// If the future has not panicked.
    pub fn into_panic(self) -> Box<dyn Any + Send + 'static> {
        self.try_into_panic().expect("it has not panicked")
    }

    /// Returns the payload of the future's panic, or the error itself if the future has not panicked.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send + 'static>, Self> {
        match self {
            Self::Panicked(panic) => Ok(panic.into_inner()),
            other => Err(other),
        }
    }
}

impl From<JoinError> for glib::Error {
    fn from(error: JoinError) -> Self {
        let code = match error {
            JoinError::Aborted => gio::IOErrorEnum::Cancelled,
            JoinError::Panicked(_) => gio::IOErrorEnum::Failed,
            JoinError::TimedOut => gio::IOErrorEnum::TimedOut,
            JoinError::WouldBlock => gio::IOErrorEnum::WouldBlock,
        };
        Self::new(code, &error.to_string())
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Aborted => "the task was aborted",
            Self::Panicked(_) => "the task has panicked",
            Self::TimedOut => "the task has not ended in time",
            Self::WouldBlock => "the main loop cannot end the task while this thread waits: it runs here, or waits for this thread",
        })
    }
}

impl std::error::Error for JoinError {}

/// The handle of a spawned future: await it for the result.
///
/// Dropping the handle detaches the future, which continues without it, as with [`glib::JoinHandle`]. A widget's signal handler may drop the
/// handle, if the future itself shows its result.
///
/// ```
/// # use prio_sched::{Priority, Scheduler};
/// let scheduler = Scheduler::default();
/// let handle = scheduler.spawn_local(Priority::UserVisible, async { 6 * 7 });
/// assert_eq!(scheduler.context().block_on(handle).unwrap(), 42);
///
/// let handle = scheduler.spawn_local(Priority::UserVisible, std::future::pending::<()>());
/// handle.abort();
/// assert!(scheduler.context().block_on(handle).unwrap_err().is_aborted());
/// ```
pub struct JoinHandle<T> {
    task: Arc<dyn Join<T>>,
    is_over: bool,
    /// The result may belong to one thread, so the handle is not Send by default.
    local: PhantomData<*const ()>,
}

// SAFETY: a handle only takes the result, and otherwise makes only calls that any thread may make.
unsafe impl<T: Send> Send for JoinHandle<T> {}
unsafe impl<T: Send> Sync for JoinHandle<T> {}

/// Stands for a future that could not be spawned.
struct Never;

impl Abort for Never {
    fn abort(self: Arc<Self>) {}

    fn end(self: Arc<Self>) {}

    fn is_finished(&self) -> bool {
        true
    }
}

impl<T> Join<T> for Never {
    fn poll_join(&self, _: &mut Context<'_>) -> Poll<Result<T, JoinError>> {
        Poll::Ready(Err(JoinError::Aborted))
    }

    fn detach(&self) {}

    fn scheduler(&self) -> Option<Scheduler> {
        None
    }

    fn to_abort(self: Arc<Self>) -> Arc<dyn Abort> {
        self
    }
}

/// Wakes a thread that waits for a main loop. The thread waits in the library, which notices a deadlock. If the scheduler was freed
/// before it could spawn the future, the thread is parked.
struct Blocked {
    task: Option<Cancelling>,
    thread: Thread,
    is_woken: AtomicBool,
}

impl Blocked {
    fn new(scheduler: Option<Scheduler>) -> Arc<Self> {
        let task = scheduler.map(|scheduler| Cancelling::new(unsafe { ffi::prio_task_new(scheduler.as_ptr(), ptr::null()) }));
        Arc::new(Self { task, thread: thread::current(), is_woken: AtomicBool::new(false) })
    }

    /// Waits for a wake, or until the time has passed; may also return without a reason.
    fn wait(&self, left: Option<Duration>) -> Result<(), JoinError> {
        let Some(task) = &self.task else {
            left.map_or_else(thread::park, thread::park_timeout);
            return Ok(());
        };
        let timeout = left.map_or(-1, |left| i64::try_from(whole_milliseconds(left)).unwrap_or(i64::MAX));
        let mut error = ptr::null_mut();
        unsafe { ffi::prio_task_wait(task.as_ptr(), timeout, ptr::null_mut(), &mut error) };
        let error: Option<glib::Error> = unsafe { from_glib_full(error) };
        let would_block = error.is_some_and(|error| error.matches(gio::IOErrorEnum::WouldBlock));
        if would_block { Err(JoinError::WouldBlock) } else { Ok(()) }
    }
}

impl Wake for Blocked {
    fn wake(self: Arc<Self>) {
        if !self.is_woken.swap(true, Relaxed) {
            match &self.task {
                Some(task) => unsafe { ffi::prio_task_return_boolean(task.as_ptr(), true.into_glib()) },
                None => self.thread.unpark(),
            }
        }
    }
}

impl<T> JoinHandle<T> {
    pub(crate) fn new(task: Arc<dyn Join<T>>) -> Self {
        Self { task, is_over: false, local: PhantomData }
    }

    pub(crate) fn scheduler(&self) -> Option<Scheduler> {
        self.task.scheduler()
    }

    /// Returns the handle of a future that was rejected.
    pub(crate) fn aborted() -> Self {
        Self::new(Arc::new(Never))
    }

    /// Aborts the future: it is not polled any more, and a task drops it soon. Until then it is not finished.
    ///
    /// The caller may hold a lock that the future takes when it is dropped, because it is dropped later.
    pub fn abort(&self) {
        self.task.clone().to_abort().abort();
    }

    /// Returns a handle that can only abort the future, on any thread.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle(self.task.clone().to_abort())
    }

    /// Returns whether the future has its result, or has ended after an abort.
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }

    /// Blocks this thread until the future has its result, for at most `timeout` if it is not `None`. This way a thread gets
    /// an answer from the main loop.
    ///
    /// Fails with [`JoinError::TimedOut`] when the time has passed; the future continues, and the handle can wait again. On the thread that runs
    /// the main context the wait would never end, so it fails at once with [`JoinError::WouldBlock`], as it does if that thread waits for this
    /// one.
    ///
    /// ```
    /// # use prio_sched::{Priority, Scheduler};
    /// # let scheduler = Scheduler::default();
    /// let asking = scheduler.clone();
    /// let thread = std::thread::spawn(move || {
    ///     let mut may_overwrite = asking.spawn(Priority::UserBlocking, async { true }); // a dialog
    ///     may_overwrite.wait(None).unwrap()
    /// });
    /// # while !thread.is_finished() {
    /// #     scheduler.context().iteration(false);
    /// # }
    /// # assert!(thread.join().unwrap());
    /// ```
    ///
    /// # Panics
    ///
    /// After the handle has returned its result.
    #[doc(alias = "prio_task_wait")]
    pub fn wait(&mut self, timeout: impl Into<Option<Duration>>) -> Result<T, JoinError> {
        let until = timeout.into().and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            let blocked = Blocked::new(self.task.scheduler());
            if let Poll::Ready(result) = Pin::new(&mut *self).poll(&mut Context::from_waker(&blocked.clone().into())) {
                return result;
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Err(JoinError::TimedOut);
            }
            blocked.wait(left)?;
        }
    }

    /// Drops the handle; the future continues without it.
    pub fn detach(self) {}
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        self.task.detach();
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    /// # Panics
    ///
    /// In the handle's own future, which would wait for itself, and after the handle has returned its result.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = self.task.poll_join(context);
        self.is_over = polled.is_ready();
        polled
    }
}

impl<T> FusedFuture for JoinHandle<T> {
    fn is_terminated(&self) -> bool {
        self.is_over
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("JoinHandle").field("is_finished", &self.is_finished()).finish()
    }
}

/// Aborts a future that has been spawned: [`JoinHandle::abort_handle`].
#[derive(Clone)]
pub struct AbortHandle(Arc<dyn Abort>);

impl AbortHandle {
    /// Aborts the future: [`JoinHandle::abort`].
    pub fn abort(&self) {
        self.0.clone().abort();
    }

    /// Returns whether the future has its result, or has ended after an abort.
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AbortHandle").field("is_finished", &self.is_finished()).finish()
    }
}
