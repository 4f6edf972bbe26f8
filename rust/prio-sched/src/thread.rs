// SPDX-License-Identifier: LGPL-2.1-or-later
use std::fmt;
use std::future::Future;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::pin::Pin;
use std::ptr;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::future::FusedFuture;
use glib::ffi::gpointer;
use glib::translate::*;

use crate::executor::{drop_quietly, is_in_future};
use crate::wait::{Cancelling, Slot};
use crate::{ffi, JoinError, Priority, Scheduler, TaskOptions};

glib::wrapper! {
    /// A separate thread for code that must not run on several threads at a time, such as a database.
    ///
    /// ```
    /// # use prio_sched::{Scheduler, Stop, Worker};
    /// let scheduler = Scheduler::default();
    /// let database = Worker::new("database");
    /// let row = database.run(&scheduler, || "a row");
    /// assert_eq!(scheduler.context().block_on(row).unwrap(), "a row");
    /// database.stop(Stop::Finish);
    /// database.join();
    /// ```
    #[doc(alias = "PrioWorker")]
    pub struct Worker(Object<ffi::PrioWorker, ffi::PrioWorkerClass>);

    match fn {
        type_ => || ffi::prio_worker_get_type(),
    }
}

// SAFETY: PrioWorker can be used from any thread.
unsafe impl Send for Worker {}
unsafe impl Sync for Worker {}

/// How a worker ends its tasks, in [`Worker::stop`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Tasks that have not started are aborted.
    Abort,
    /// All tasks run.
    Finish,
}

impl Worker {
    /// Starts a thread, whose name is for debuggers.
    ///
    /// # Panics
    ///
    /// If the name contains a NUL byte.
    #[doc(alias = "prio_worker_new")]
    pub fn new(name: &str) -> Self {
        assert!(!name.contains('\0'), "the name {name:?} has a NUL byte");
        unsafe { from_glib_full(ffi::prio_worker_new(name.to_glib_none().0)) }
    }

    /// Returns the scheduler of the worker's thread, for posts and spawns. Once the worker has ended, its scheduler
    /// rejects these.
    ///
    /// ```
    /// # use prio_sched::{Priority, Scheduler, Stop, Worker};
    /// let worker = Worker::new("feeds");
    /// let feeds = worker.scheduler().spawn(Priority::Background, async { "on the thread of the worker" });
    /// assert_eq!(Scheduler::default().context().block_on(feeds).unwrap(), "on the thread of the worker");
    /// # worker.stop(Stop::Finish);
    /// # worker.join();
    /// ```
    #[doc(alias = "prio_worker_get_scheduler")]
    pub fn scheduler(&self) -> Scheduler {
        unsafe { from_glib_none(ffi::prio_worker_get_scheduler(self.to_glib_none().0)) }
    }

    /// Runs a closure in the worker's thread, and brings the result to the main context of `scheduler`.
    #[doc(alias = "prio_worker_run")]
    pub fn run<T: Send + 'static, F: FnOnce() -> T + Send + 'static>(&self, scheduler: &Scheduler, func: F) -> RunInThread<T> {
        RunInThread::under_current(scheduler, Some(self), func)
    }

    /// Stops the worker. Its thread ends when running functions have returned and `how` has been applied to the rest.
    #[doc(alias = "prio_worker_stop")]
    pub fn stop(&self, how: Stop) {
        let how = match how {
            Stop::Abort => ffi::PRIO_WORKER_STOP_ABORT,
            Stop::Finish => ffi::PRIO_WORKER_STOP_FINISH,
        };
        unsafe { ffi::prio_worker_stop(self.to_glib_none().0, how) }
    }

    /// Blocks until the worker's thread has ended, after [`Worker::stop`].
    #[doc(alias = "prio_worker_join")]
    pub fn join(&self) {
        unsafe { ffi::prio_worker_join(self.to_glib_none().0) }
    }
}

/// The result of [`Scheduler::run_in_thread`], [`Worker::run`] and
/// [`TaskGroup::run_in_thread`](crate::TaskGroup::run_in_thread): await it for the result of the closure.
///
/// It fails if the closure has panicked, or was aborted before it started.
#[must_use = "the closure is dropped with it unless it runs already"]
pub struct RunInThread<T> {
    slot: Arc<Slot<Result<T, JoinError>>>,
    was_polled: bool,
    is_over: bool,
    _task: Option<Cancelling>,
}

/// A closure that a thread calls, and the slot for its result.
struct Call<T, F: Send + 'static> {
    func: Option<F>,
    slot: Arc<Slot<Result<T, JoinError>>>,
    scheduler: Scheduler,
}

impl<T, F: Send + 'static> Drop for Call<T, F> {
    /// If the closure has run, its result is in the slot already.  Otherwise this may be called within an abort, whose
    /// caller may hold a lock; so a task drops the closure.
    fn drop(&mut self) {
        self.slot.put(Err(JoinError::Aborted));
        if let Some(func) = self.func.take() {
            self.scheduler.post_once(Priority::UserBlocking, || drop(func));
        }
    }
}

impl<T: Send + 'static> RunInThread<T> {
    /// Creates a call. `begin` passes the function, its data and their destroy notify to the library, which returns a
    /// task, or NULL.
    pub(crate) fn new<F: FnOnce() -> T + Send + 'static>(
        scheduler: &Scheduler,
        func: F,
        begin: impl FnOnce(ffi::PrioTaskFunc, gpointer, glib::ffi::GDestroyNotify) -> *mut ffi::PrioTask,
    ) -> Self {
        unsafe extern "C" fn work<T, F: FnOnce() -> T + Send + 'static>(_: *mut ffi::PrioTask, data: gpointer) {
            // SAFETY: this function is called once, and no other code has the data.
            let call = unsafe { &mut *(data as *mut Call<T, F>) };
            if let Some(func) = call.func.take() {
                let result = catch_unwind(AssertUnwindSafe(func));
                call.slot.put(result.map_err(JoinError::panicked));
            }
        }
        unsafe extern "C" fn release<C>(data: gpointer) {
            drop_quietly(unsafe { Box::from_raw(data as *mut C) });
        }

        let slot = Slot::new();
        let call = Box::new(Call { func: Some(func), slot: slot.clone(), scheduler: scheduler.clone() });
        let task = begin(Some(work::<T, F>), Box::into_raw(call) as gpointer, Some(release::<Call<T, F>>));
        Self { slot, was_polled: false, is_over: false, _task: (!task.is_null()).then(|| Cancelling::new(task)) }
    }

    /// Runs `func` with the priority and the signal of the future that is being polled.
    pub(crate) fn under_current<F: FnOnce() -> T + Send + 'static>(scheduler: &Scheduler, worker: Option<&Worker>, func: F) -> Self {
        let options = TaskOptions::current();
        let with = options.to_ffi();
        let worker = worker.map_or(ptr::null_mut(), |worker| worker.to_glib_none().0);
        Self::new(scheduler, func, |work, data, release| unsafe {
            let scheduler = scheduler.to_glib_none().0;
            ffi::prio_scheduler_run_in_thread_full(scheduler, worker, with.priority, with.cancellable, with.name, work, data, release)
        })
    }
}

impl<T> Future for RunInThread<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // If the result is there before the first poll, yields once: otherwise a loop that awaits fast threads would never yield.
        if !std::mem::replace(&mut self.was_polled, true) && self.slot.has_come() && is_in_future() {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let polled = self.slot.poll(context);
        self.is_over = polled.is_ready();
        polled
    }
}

impl<T> FusedFuture for RunInThread<T> {
    fn is_terminated(&self) -> bool {
        self.is_over
    }
}

impl<T> fmt::Debug for RunInThread<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("RunInThread")
    }
}
