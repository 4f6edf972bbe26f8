// SPDX-License-Identifier: LGPL-2.1-or-later
use std::any::Any;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::future::FusedFuture;

pub(crate) trait Abort: Send + Sync {
    /// Marks it, on any thread and under any locks, and posts a task that ends it.
    fn abort(self: Arc<Self>);
    /// Ends it, unless it is being polled.  Called on its thread, while the program's code may run.
    fn end(self: Arc<Self>);
    fn is_finished(&self) -> bool;
}

/// A result for which a handle waits; the handle makes the calls.
pub(crate) trait Join<T>: Abort {
    fn poll_join(&self, context: &mut Context<'_>) -> Poll<Result<T, JoinError>>;
    fn detach(&self);
    fn to_abort(self: Arc<Self>) -> Arc<dyn Abort>;
}

/// The reason why a future has no result. It becomes a [`glib::Error`] with `?`: [`gio::IOErrorEnum::Cancelled`], or
/// [`gio::IOErrorEnum::Failed`] after a panic.
#[derive(Debug)]
#[non_exhaustive]
pub enum JoinError {
    /// Its signal, its group or its handle was aborted, or its thread or worker has ended.
    Aborted,
    /// It has panicked: see [`JoinError::into_panic`].
    Panicked(Panic),
}

/// The payload of a future's panic.
pub struct Panic(Box<dyn Any + Send + 'static>);

// SAFETY: a shared reference gives no access to it.
unsafe impl Sync for Panic {}

impl Panic {
    /// The payload, as [`std::thread::JoinHandle::join`] returns it.
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

    /// Returns whether it was aborted.
    pub fn is_aborted(&self) -> bool {
        matches!(self, Self::Aborted)
    }

    /// Returns whether it has panicked.
    pub fn is_panic(&self) -> bool {
        matches!(self, Self::Panicked(_))
    }

    /// Returns the payload of its panic, for [`std::panic::resume_unwind`].
    ///
    /// # Panics
    ///
    /// If it has not panicked.
    pub fn into_panic(self) -> Box<dyn Any + Send + 'static> {
        self.try_into_panic().expect("it has not panicked")
    }

    /// Returns the payload of its panic, or the error itself if it has not panicked.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send + 'static>, Self> {
        match self {
            Self::Panicked(panic) => Ok(panic.into_inner()),
            other => Err(other),
        }
    }
}

impl From<JoinError> for glib::Error {
    fn from(error: JoinError) -> Self {
        let code = if error.is_aborted() { gio::IOErrorEnum::Cancelled } else { gio::IOErrorEnum::Failed };
        Self::new(code, &error.to_string())
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Aborted => "the task was aborted",
            Self::Panicked(_) => "the task has panicked",
        })
    }
}

impl std::error::Error for JoinError {}

/// The handle of a spawned future: await it for the result.
///
/// Dropping the handle detaches the future, which continues without it, as with [`glib::JoinHandle`]. A widget's signal handler drops it: the
/// future itself then shows its result.
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
    /// The result may belong to one thread.
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

    fn to_abort(self: Arc<Self>) -> Arc<dyn Abort> {
        self
    }
}

impl<T> JoinHandle<T> {
    pub(crate) fn new(task: Arc<dyn Join<T>>) -> Self {
        Self { task, is_over: false, local: PhantomData }
    }

    /// Returns the handle of a future that was rejected.
    pub(crate) fn aborted() -> Self {
        Self::new(Arc::new(Never))
    }

    /// Aborts it: it is not polled any more, and a task drops it soon. Until then it is not finished.
    ///
    /// So the caller may hold a lock that the future takes when it is dropped.
    pub fn abort(&self) {
        self.task.clone().to_abort().abort();
    }

    /// Returns a handle that can only abort it, on any thread.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle(self.task.clone().to_abort())
    }

    /// Returns whether it has its result, or has ended after an abort.
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }

    /// Lets it continue without its handle, like dropping the handle.
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
    /// In the handle's own future, which would wait for itself, and after it has returned its result.
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
    /// Aborts it: [`JoinHandle::abort`].
    pub fn abort(&self) {
        self.0.clone().abort();
    }

    /// Returns whether it has its result, or has ended after an abort.
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AbortHandle").field("is_finished", &self.is_finished()).finish()
    }
}
