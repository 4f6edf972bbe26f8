// SPDX-License-Identifier: LGPL-2.1-or-later
use std::future::Future;

use gio::prelude::*;
use glib::translate::*;

use crate::wait::wait_for_callback;
use crate::{executor, ffi, JoinHandle, Priority, RunInThread, Scheduler, TaskOptions, TaskSignal};

glib::wrapper! {
    /// Runs a limited number of futures at a time, and aborts them together.
    ///
    /// ```
    /// # use prio_sched::{Priority, Scheduler, TaskGroup, TaskOptions};
    /// # use std::time::Duration;
    /// let scheduler = Scheduler::default();
    /// let downloads = TaskGroup::new(&scheduler, 4, Priority::UserVisible);
    /// for _ in 0..100 {
    ///     let scheduler = scheduler.clone();
    ///     downloads.spawn_local(TaskOptions::new(), async move { scheduler.sleep(Duration::from_micros(10)).await });
    /// }
    /// scheduler.context().block_on(downloads.drained());
    /// assert_eq!(downloads.n_tasks(), 0);
    /// ```
    #[doc(alias = "PrioTaskGroup")]
    pub struct TaskGroup(Object<ffi::PrioTaskGroup, ffi::PrioTaskGroupClass>);

    match fn {
        type_ => || ffi::prio_task_group_get_type(),
    }
}

impl TaskGroup {
    /// Creates a group. A limit of [`u32::MAX`] means no limit.
    ///
    /// # Panics
    ///
    /// If the limit is 0, because no future would ever start.
    #[doc(alias = "prio_task_group_new")]
    pub fn new(scheduler: &Scheduler, limit: u32, priority: Priority) -> Self {
        assert!(limit > 0, "with a limit of 0 no future would ever begin");
        unsafe { from_glib_full(ffi::prio_task_group_new(scheduler.as_ptr(), limit, priority as i32)) }
    }

    /// Returns the group's scheduler.
    #[doc(alias = "prio_task_group_dup_scheduler")]
    pub fn scheduler(&self) -> Scheduler {
        unsafe { from_glib_full(ffi::prio_task_group_dup_scheduler(self.as_ptr())) }
    }

    /// Spawns a future, which starts when a place is free, and keeps the place until it has its result. An abort of the
    /// group, or of the options' signal, aborts the future.
    ///
    /// Of the futures that wait for a place, the most urgent starts first, and the oldest first among equals. Without a priority and a signal,
    /// a future has the priority of the group.
    ///
    /// # Panics
    ///
    /// On a thread that cannot own the main context, because another thread runs it.
    pub fn spawn_local<F: Future + 'static>(&self, options: impl Into<TaskOptions>, future: F) -> JoinHandle<F::Output> {
        executor::spawn(&self.scheduler(), Some(self), options.into(), future)
    }

    /// Runs a closure in a thread of the library's pool when a place is free: [`Scheduler::run_in_thread`].
    ///
    /// When a closure has returned, the next one starts at once in the same thread, even while the main loop is busy. An abort of the
    /// group, or of the options' signal, aborts a closure that has not started.
    ///
    /// ```
    /// # use prio_sched::{Priority, Scheduler, TaskGroup};
    /// let scheduler = Scheduler::default();
    /// let disk = TaskGroup::new(&scheduler, 4, Priority::UserVisible);
    /// let sizes = (1..=100_usize).map(|n| disk.run_in_thread(Priority::Background, move || vec![0_u8; n].len()));
    /// let sizes = scheduler.context().block_on(futures_util::future::join_all(sizes));
    /// assert_eq!(sizes.into_iter().map(Result::unwrap).sum::<usize>(), 5050);
    /// ```
    ///
    /// # Panics
    ///
    /// If the options have a delay or a timeout, or on a thread that cannot own the main context.
    #[doc(alias = "prio_task_group_run_in_thread")]
    pub fn run_in_thread<T: Send + 'static, F: FnOnce() -> T + Send + 'static>(
        &self,
        options: impl Into<TaskOptions>,
        func: F,
    ) -> RunInThread<T> {
        let (options, scheduler) = (options.into(), self.scheduler());
        assert!(options.delay.is_zero() && options.timeout.is_none(), "a closure of a thread takes neither a delay nor a timeout");
        scheduler.assert_owner("a closure of a group");
        RunInThread::new(&scheduler, func, |work, data, release| unsafe {
            ffi::prio_task_group_run_in_thread(self.as_ptr(), &options.to_ffi(), work, data, release)
        })
    }

    /// Returns how many futures have no result yet.
    #[doc(alias = "prio_task_group_get_n_tasks")]
    pub fn n_tasks(&self) -> u32 {
        unsafe { ffi::prio_task_group_get_n_tasks(self.as_ptr()) }
    }

    /// Returns the signal that [`TaskGroup::abort`] aborts with the futures that are in the group now. After an abort, the
    /// group has a new signal.
    ///
    /// If the signal is cancelled, futures that are spawned later are aborted too, until [`TaskGroup::abort`] is
    /// called.
    #[doc(alias = "prio_task_group_get_signal")]
    pub fn signal(&self) -> TaskSignal {
        unsafe { from_glib_none(ffi::prio_task_group_get_signal(self.as_ptr())) }
    }

    /// Sets how many futures run at a time; [`u32::MAX`] means no limit.
    ///
    /// # Panics
    ///
    /// If the limit is 0, because no future would ever start.
    #[doc(alias = "prio_task_group_set_limit")]
    pub fn set_limit(&self, limit: u32) {
        assert!(limit > 0, "with a limit of 0 no future would ever begin");
        unsafe { ffi::prio_task_group_set_limit(self.as_ptr(), limit) }
    }

    /// Aborts all futures of the group.  Futures that are spawned later are not affected.
    #[doc(alias = "prio_task_group_abort")]
    pub fn abort(&self, reason: Option<&glib::Error>) {
        unsafe { ffi::prio_task_group_abort(self.as_ptr(), reason.to_glib_none().0) }
    }

    /// Waits until no future of the group is left.
    ///
    /// # Panics
    ///
    /// In a future of this group, which would wait for itself.
    #[doc(alias = "prio_task_group_wait_async")]
    pub async fn drained(&self) {
        assert!(!executor::is_in(self), "a future of a group cannot wait for that group");
        let begin = |callback, data| unsafe {
            let until = ffi::PRIO_TASK_GROUP_WAIT_DRAINED;
            ffi::prio_task_group_wait_async(self.as_ptr(), until, std::ptr::null_mut(), callback, data)
        };
        wait_for_callback(begin, |_, _| ()).await
    }
}
