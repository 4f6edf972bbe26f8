// SPDX-License-Identifier: LGPL-2.1-or-later
use std::fmt;
use std::future::Future;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::pin::Pin;
use std::ptr;
use std::sync::Arc;
use std::task::{Context, Poll};

use glib::ffi::gpointer;
use glib::translate::*;

use crate::executor::drop_quietly;
use crate::wait::{Cancelling, Slot};
use crate::{ffi, JoinError, Scheduler, TaskOptions};

glib::wrapper! {
    /// A thread of its own for what must not run on several at a time, such as a database.
    ///
    /// ```
    /// # use prio_sched::{Scheduler, Stop, Worker};
    /// let scheduler = Scheduler::default();
    /// let database = Worker::new("database");
    /// let row = scheduler.run_in_worker(&database, || "a row");
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

// SAFETY: the C library takes it on any thread.
unsafe impl Send for Worker {}
unsafe impl Sync for Worker {}

/// What becomes of the tasks that a worker has, in [`Worker::stop`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Those that have not begun are aborted.
    Abort,
    /// All of them run.
    Finish,
}

impl Worker {
    /// Starts a thread, whose name is for debuggers.
    ///
    /// # Panics
    ///
    /// If the name has a NUL byte in it.
    #[doc(alias = "prio_worker_new")]
    pub fn new(name: &str) -> Self {
        assert!(!name.contains('\0'), "the name {name:?} has a NUL byte");
        unsafe { from_glib_full(ffi::prio_worker_new(name.to_glib_none().0)) }
    }

    /// The scheduler of its thread. To spawn a future there, post a closure that does:
    ///
    /// ```
    /// # use prio_sched::{Priority, Scheduler, Stop, Worker};
    /// let worker = Worker::new("feeds");
    /// let scheduler = worker.scheduler();
    /// worker.scheduler().post_once(Priority::UserVisible, move || {
    ///     scheduler.spawn_local(Priority::Background, async { /* on the thread of the worker */ }).detach();
    /// });
    /// # worker.stop(Stop::Finish);
    /// # worker.join();
    /// ```
    #[doc(alias = "prio_worker_get_scheduler")]
    pub fn scheduler(&self) -> Scheduler {
        unsafe { from_glib_none(ffi::prio_worker_get_scheduler(self.to_glib_none().0)) }
    }

    /// Ends its thread, soon.
    #[doc(alias = "prio_worker_stop")]
    pub fn stop(&self, how: Stop) {
        let how = match how {
            Stop::Abort => ffi::PRIO_WORKER_ABORT,
            Stop::Finish => ffi::PRIO_WORKER_FINISH,
        };
        unsafe { ffi::prio_worker_stop(self.to_glib_none().0, how) }
    }

    /// Blocks until its thread has ended, after [`Worker::stop`].
    #[doc(alias = "prio_worker_join")]
    pub fn join(&self) {
        unsafe { ffi::prio_worker_join(self.to_glib_none().0) }
    }
}

/// What [`Scheduler::run_in_thread`] and [`Scheduler::run_in_worker`] return: await it for the result of the closure.
///
/// It fails if the closure has panicked, or was aborted before it began.
#[must_use = "the closure is dropped with it unless it runs already"]
pub struct RunInThread<T> {
    slot: Arc<Slot<Result<T, JoinError>>>,
    _task: Option<Cancelling>,
}

/// What the thread has: the closure, and where its result goes.
struct Call<T, F> {
    func: Option<F>,
    slot: Arc<Slot<Result<T, JoinError>>>,
}

impl<T, F> Drop for Call<T, F> {
    /// The thread has put its result, if it has run.
    fn drop(&mut self) {
        self.slot.put(Err(JoinError::Aborted));
    }
}

impl<T: Send + 'static> RunInThread<T> {
    pub(crate) fn new<F: FnOnce() -> T + Send + 'static>(scheduler: &Scheduler, worker: Option<&Worker>, func: F) -> Self {
        unsafe extern "C" fn work<T, F: FnOnce() -> T>(_: *mut ffi::PrioTask, data: gpointer) {
            // SAFETY: it is called once, and nobody else has the data.
            let call = unsafe { &mut *(data as *mut Call<T, F>) };
            if let Some(func) = call.func.take() {
                let result = catch_unwind(AssertUnwindSafe(func));
                call.slot.put(result.map_err(JoinError::Panicked));
            }
        }
        unsafe extern "C" fn release<C>(data: gpointer) {
            drop_quietly(unsafe { Box::from_raw(data as *mut C) });
        }

        let slot = Slot::new();
        let call = Box::new(Call { func: Some(func), slot: slot.clone() });
        let options = TaskOptions::current();
        let with = options.to_ffi();
        let task = unsafe {
            ffi::prio_scheduler_run_in_thread_under(
                scheduler.to_glib_none().0,
                worker.map_or(ptr::null_mut(), |worker| worker.to_glib_none().0),
                with.priority,
                with.signal,
                with.name,
                Some(work::<T, F>),
                Box::into_raw(call) as gpointer,
                Some(release::<Call<T, F>>),
            )
        };
        Self { slot, _task: (!task.is_null()).then(|| Cancelling::new(task)) }
    }
}

impl<T> Future for RunInThread<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.slot.poll(context)
    }
}

impl<T> fmt::Debug for RunInThread<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("RunInThread")
    }
}
