// SPDX-License-Identifier: LGPL-2.1-or-later
use std::any::Any;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

pub(crate) trait Abort: Send + Sync {
    fn abort(self: Arc<Self>);
    fn is_finished(&self) -> bool;
}

pub(crate) trait Join<T>: Abort {
    fn poll_join(&self, context: &mut Context<'_>) -> Poll<Result<T, JoinError>>;
    fn detach(&self);
    fn to_abort(self: Arc<Self>) -> Arc<dyn Abort>;
}

/// Why a future has no result.
#[non_exhaustive]
pub enum JoinError {
    /// Its signal, its group or its handle was aborted, or its thread or worker has ended.
    Aborted,
    /// It has panicked, with this payload, as [`std::thread::JoinHandle::join`] returns it.
    Panicked(Box<dyn Any + Send + 'static>),
}

impl JoinError {
    /// Whether it was aborted.
    pub fn is_aborted(&self) -> bool {
        matches!(self, Self::Aborted)
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Aborted => "Aborted",
            Self::Panicked(_) => "Panicked(..)",
        })
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

/// A future that has been spawned: await it for its result.
///
/// Dropping the handle detaches the future, which goes on without it, as with [`glib::JoinHandle`]. A handler of a widget drops it: what is to
/// be shown is then set at the end of the future.
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
    /// The result may be of one thread.
    local: PhantomData<*const ()>,
}

impl<T> JoinHandle<T> {
    pub(crate) fn new(task: Arc<dyn Join<T>>) -> Self {
        Self { task, local: PhantomData }
    }

    /// Aborts it: the future is dropped at once, or at its next await if this is called from within it.
    pub fn abort(&self) {
        self.task.clone().to_abort().abort();
    }

    /// A handle that can do no more than abort it, on any thread.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle(self.task.clone().to_abort())
    }

    /// Whether it has its result, or was aborted.
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }

    /// Lets it go on without its handle, as dropping the handle does.
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
    /// In the future whose handle this is, which would wait for itself, and after it has given its result.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.task.poll_join(context)
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
    /// Aborts it: the future is dropped at once, or, on another thread, soon.
    pub fn abort(&self) {
        self.0.clone().abort();
    }

    /// Whether it has its result, or was aborted.
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AbortHandle").field("is_finished", &self.is_finished()).finish()
    }
}
