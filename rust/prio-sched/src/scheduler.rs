// SPDX-License-Identifier: LGPL-2.1-or-later
use std::cell::Cell;
use std::future::Future;
use std::ptr;
use std::time::Duration;

use glib::ffi::{gboolean, gpointer};
use glib::thread_guard::ThreadGuard;
use glib::translate::*;
use glib::ControlFlow;

use crate::executor::drop_quietly;
use crate::{executor, ffi, remote, InSlices, JoinHandle, RunInThread, Sleep, Slices, Statistics, TaskOptions};
use gio::prelude::*;

glib::wrapper! {
    /// Runs tasks, and polls futures, in a main context: the most urgent first.
    ///
    /// A program has one main scheduler, [`Scheduler::default`]. It is [`Send`]: any thread may post to it. The order is strict: a task waits
    /// as long as any scheduler of the main context has a more urgent one.
    #[doc(alias = "PrioScheduler")]
    pub struct Scheduler(Object<ffi::PrioScheduler, ffi::PrioSchedulerClass>);

    match fn {
        type_ => || ffi::prio_scheduler_get_type(),
    }
}

// SAFETY: the C library allows calls on any thread.
unsafe impl Send for Scheduler {}
unsafe impl Sync for Scheduler {}

/// A closure, with a unique address even if it has no size.
struct Posted<F>(F, #[allow(dead_code)] u8);

thread_local! {
    /// The closure that is being posted; NULL once it has been released, because the post was rejected.
    static POSTING: Cell<gpointer> = const { Cell::new(ptr::null_mut()) };
}

unsafe extern "C" fn call<F: FnMut() -> ControlFlow>(data: gpointer) -> gboolean {
    unsafe { ((*(data as *mut Posted<F>)).0)().into_glib() }
}

unsafe extern "C" fn release<F>(data: gpointer) {
    if POSTING.get() == data {
        POSTING.set(ptr::null_mut());
    }
    drop_quietly(unsafe { Box::from_raw(data as *mut Posted<F>) });
}

impl Default for Scheduler {
    /// Returns the scheduler of the global default main context, which runs on the main thread.
    fn default() -> Self {
        unsafe { from_glib_none(ffi::prio_scheduler_get_default()) }
    }
}

impl Scheduler {
    /// Creates another scheduler for a main context, which may be the default one. It is paused separately, and has its
    /// own time slice.
    #[doc(alias = "prio_scheduler_new")]
    pub fn new(context: &glib::MainContext) -> Self {
        unsafe { from_glib_full(ffi::prio_scheduler_new(context.to_glib_none().0)) }
    }

    /// Returns the scheduler of this thread's default main context.
    #[doc(alias = "prio_scheduler_ref_thread_default")]
    pub fn thread_default() -> Self {
        unsafe { from_glib_full(ffi::prio_scheduler_ref_thread_default()) }
    }

    /// Returns the scheduler's main context.
    #[doc(alias = "prio_scheduler_get_context")]
    pub fn context(&self) -> glib::MainContext {
        unsafe { from_glib_none(ffi::prio_scheduler_get_context(self.as_ptr())) }
    }

    /// Spawns a future: each of its polls is a task with the priority and the signal of the options.
    ///
    /// When the signal is aborted, a task soon drops the future, and the handle returns [`JoinError::Aborted`](crate::JoinError). The abort
    /// itself does not drop it, because its caller may hold a lock that the future takes. A panic in a poll, or when the future is dropped,
    /// is returned by its handle. If the handle is dropped, the future continues. The scheduler, and its main context, live until the future
    /// has ended. A future ends with its thread at the latest.
    ///
    /// ```
    /// # use prio_sched::{Priority, Scheduler, TaskController};
    /// # use std::time::Duration;
    /// let scheduler = Scheduler::default();
    /// let controller = TaskController::new(Priority::UserBlocking);
    /// let search = scheduler.spawn_local(controller.signal(), async { std::future::pending::<()>().await });
    /// scheduler.context().block_on(async {
    ///     scheduler.sleep(Duration::from_millis(1)).await;
    ///     controller.abort(None); // the next letter
    ///     assert!(search.await.unwrap_err().is_aborted());
    /// });
    /// ```
    ///
    /// # Panics
    ///
    /// On a thread that cannot own the main context, because another thread runs it. The program is aborted if another thread runs it later.
    pub fn spawn_local<F: Future + 'static>(&self, options: impl Into<TaskOptions>, future: F) -> JoinHandle<F::Output> {
        executor::spawn(self, None, options.into(), future)
    }

    /// Spawns a future that is [`Send`], from any thread; it runs on the main context's thread, as with [`Scheduler::spawn_local`].
    ///
    /// The handle is [`Send`], too. If the worker of the scheduler has ended, the future is dropped, and the handle returns
    /// [`JoinError::Aborted`](crate::JoinError).
    ///
    /// ```
    /// # use prio_sched::{Priority, Scheduler};
    /// let scheduler = Scheduler::default();
    /// let from_thread = scheduler.clone();
    /// let thread = std::thread::spawn(move || from_thread.spawn(Priority::Background, async { 6 * 7 }));
    /// let handle = thread.join().unwrap();
    /// assert_eq!(scheduler.context().block_on(handle).unwrap(), 42);
    /// ```
    pub fn spawn<F>(&self, options: impl Into<TaskOptions>, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        remote::spawn(self, options.into(), future)
    }

    /// Posts a closure from any thread; it runs on the main context's thread, repeatedly until it returns [`ControlFlow::Break`].
    ///
    /// Returns `false`, and drops the closure, if the signal of the options is aborted already, or the worker of the scheduler has ended. A
    /// closure that is aborted in the queue is dropped within [`TaskController::abort`](crate::TaskController::abort), or soon after. As
    /// with [`glib::idle_add`], a panic in the closure aborts the program.
    ///
    /// ```
    /// # use prio_sched::{Priority, Scheduler};
    /// # use glib::ControlFlow;
    /// let scheduler = Scheduler::default();
    /// let mut n_left = 3;
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| scheduler.post(Priority::Background, move || {
    ///         n_left -= 1;
    ///         if n_left > 0 { ControlFlow::Continue } else { ControlFlow::Break }
    ///     }));
    /// });
    /// ```
    #[doc(alias = "prio_scheduler_post_full")]
    pub fn post<F: FnMut() -> ControlFlow + Send + 'static>(&self, options: impl Into<TaskOptions>, func: F) -> bool {
        self.post_unchecked(options.into(), func)
    }

    /// Posts a closure that runs once: [`Scheduler::post`].
    pub fn post_once<F: FnOnce() + Send + 'static>(&self, options: impl Into<TaskOptions>, func: F) -> bool {
        self.post_unchecked(options.into().takes_turns(false), once(func))
    }

    /// Posts a closure that need not be [`Send`], like [`glib::idle_add_local`].
    ///
    /// ```
    /// # use prio_sched::{Priority, Scheduler};
    /// # use std::{cell::Cell, rc::Rc};
    /// let scheduler = Scheduler::default();
    /// let n = Rc::new(Cell::new(0));
    /// let n_here = n.clone();
    /// scheduler.post_local_once(Priority::UserVisible, move || n_here.set(1));
    /// while n.get() == 0 {
    ///     scheduler.context().iteration(true);
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// On a thread that cannot own the main context. The program is aborted if another thread later runs, or destroys, the
    /// main context.
    pub fn post_local<F: FnMut() -> ControlFlow + 'static>(&self, options: impl Into<TaskOptions>, func: F) -> bool {
        self.assert_owner("a closure that is not Send");
        let mut func = ThreadGuard::new(func);
        self.post_unchecked(options.into(), move || func.get_mut()())
    }

    /// Posts a closure that need not be [`Send`], and runs once: [`Scheduler::post_local`].
    pub fn post_local_once<F: FnOnce() + 'static>(&self, options: impl Into<TaskOptions>, func: F) -> bool {
        self.post_local(options.into().takes_turns(false), once(func))
    }

    /// Panics with a message about `what`, unless this thread runs the main context or can acquire it.
    pub(crate) fn assert_owner(&self, what: &str) {
        unsafe {
            let context = ffi::prio_scheduler_get_context(self.as_ptr());
            let is_owner = glib::ffi::g_main_context_is_owner(context) != 0;
            if !is_owner {
                let could_own = glib::ffi::g_main_context_acquire(context) != 0;
                assert!(could_own, "{what} can only be posted on the thread that runs the scheduler's main context");
                glib::ffi::g_main_context_release(context);
            }
        }
    }

    fn post_unchecked<F: FnMut() -> ControlFlow + 'static>(&self, options: TaskOptions, func: F) -> bool {
        let data = Box::into_raw(Box::new(Posted(func, 0))) as gpointer;
        let outer = POSTING.replace(data);
        unsafe {
            match options.plain() {
                Some(priority) if !options.takes_turns => {
                    ffi::prio_scheduler_post(self.as_ptr(), priority as i32, Some(call::<F>), data, Some(release::<F>));
                }
                _ => {
                    ffi::prio_scheduler_post_full(self.as_ptr(), &options.to_ffi(), Some(call::<F>), data, Some(release::<F>));
                }
            }
        }
        POSTING.replace(outer) == data
    }

    /// Waits for `delay`, rounded up to whole milliseconds. Then the awaiting future continues with its own priority.
    ///
    /// If the scheduler belongs to a worker that ends, the sleep ends with the worker.
    ///
    /// ```
    /// # use prio_sched::Scheduler;
    /// # use std::time::Duration;
    /// let scheduler = Scheduler::default();
    /// scheduler.context().block_on(scheduler.sleep(Duration::from_millis(5)));
    /// ```
    pub fn sleep(&self, delay: Duration) -> Sleep {
        Sleep::new(self, delay)
    }

    /// Runs a closure in a thread of the library's pool, with the priority and the signal of the future that calls this.
    ///
    /// If that future is aborted, or the returned value is dropped, before a thread is free, the closure is dropped. A running closure is
    /// not interrupted.
    ///
    /// ```
    /// # use prio_sched::{Priority, Scheduler};
    /// let scheduler = Scheduler::default();
    /// let sum = scheduler.run_in_thread(|| (1..=1000).sum::<u64>());
    /// assert_eq!(scheduler.context().block_on(sum).unwrap(), 500_500);
    /// ```
    #[doc(alias = "prio_scheduler_run_in_thread")]
    pub fn run_in_thread<T: Send + 'static, F: FnOnce() -> T + Send + 'static>(&self, func: F) -> RunInThread<T> {
        RunInThread::under_current(self, None, func)
    }

    /// Returns a stream of an iterator's items that lets more urgent tasks, input and frames run first whenever the time
    /// slice is over.
    ///
    /// ```
    /// # use prio_sched::{Priority, Scheduler};
    /// # let scheduler = Scheduler::default();
    /// # let sum = {
    /// #   let scheduler2 = scheduler.clone();
    /// #   scheduler.context().block_on(scheduler.spawn_local(Priority::Background, async move { let scheduler = scheduler2;
    /// let mut rows = scheduler.slices(0..100_000_u64);
    /// let mut sum = 0;
    /// while let Some(row) = rows.next().await {
    ///     sum += row;
    /// }
    /// #   sum }))
    /// # };
    /// # assert_eq!(sum.unwrap(), 4_999_950_000);
    /// ```
    pub fn slices<I: IntoIterator>(&self, items: I) -> Slices<I::IntoIter> {
        Slices::new(self, items.into_iter())
    }

    /// Wraps a stream, like an iterator in [`Scheduler::slices`], so that a stream that is always ready does not hold up
    /// other work.
    pub fn in_slices<S: futures_core::Stream>(&self, stream: S) -> InSlices<S> {
        InSlices::new(self, stream)
    }

    /// Returns how long tasks run before every other source of the main context has its turn, or `None` if the slice
    /// adapts to frames.
    #[doc(alias = "prio_scheduler_get_time_slice")]
    pub fn time_slice(&self) -> Option<Duration> {
        let time_slice = unsafe { ffi::prio_scheduler_get_time_slice(self.as_ptr()) };
        (time_slice >= 0.0).then(|| Duration::from_micros((time_slice * 1000.0).round() as u64))
    }

    /// Sets how long tasks run before every other source of the main context has its turn, in whole microseconds; 0 runs
    /// one task at a time. `None`, the default, is a slice that adapts to frames.
    #[doc(alias = "prio_scheduler_set_time_slice")]
    pub fn set_time_slice(&self, time_slice: impl Into<Option<Duration>>) {
        let time_slice = time_slice.into().map_or(-1.0, |slice| (slice.as_micros() as f64 / 1000.0).min(u32::MAX.into()));
        unsafe { ffi::prio_scheduler_set_time_slice(self.as_ptr(), time_slice) }
    }

    /// Returns how long a task waits behind continuations of the same priority until it has a turn; 0 means for ever.
    #[doc(alias = "prio_scheduler_get_starvation_limit")]
    pub fn starvation_limit(&self) -> Duration {
        Duration::from_millis(unsafe { ffi::prio_scheduler_get_starvation_limit(self.as_ptr()) }.into())
    }

    /// Sets how long a task waits behind continuations of the same priority until it has a turn, in whole milliseconds; 0 means for ever.
    #[doc(alias = "prio_scheduler_set_starvation_limit")]
    pub fn set_starvation_limit(&self, limit: Duration) {
        let limit = u32::try_from(limit.as_millis()).unwrap_or(u32::MAX);
        unsafe { ffi::prio_scheduler_set_starvation_limit(self.as_ptr(), limit) }
    }

    /// Returns how many tasks are queued or delayed. Futures in other waits are not counted.
    ///
    /// Call it on the thread of the main context.
    #[doc(alias = "prio_scheduler_count_pending")]
    pub fn count_pending(&self) -> u32 {
        unsafe { ffi::prio_scheduler_count_pending(self.as_ptr()) }
    }

    /// Starts the statistics of the scheduler's tasks, from 0.  Call it, and the other functions for statistics, on the
    /// thread of the main context.
    #[doc(alias = "prio_scheduler_start_statistics")]
    pub fn start_statistics(&self) {
        unsafe { ffi::prio_scheduler_start_statistics(self.as_ptr()) }
    }

    /// Stops the statistics.
    #[doc(alias = "prio_scheduler_stop_statistics")]
    pub fn stop_statistics(&self) {
        unsafe { ffi::prio_scheduler_stop_statistics(self.as_ptr()) }
    }

    /// Returns the statistics of the scheduler's tasks since [`Scheduler::start_statistics`].
    #[doc(alias = "prio_scheduler_get_statistics")]
    pub fn statistics(&self) -> Statistics {
        Statistics::get(self.as_ptr())
    }

    /// Returns whether the running task should yield: its time slice is over, or more urgent work waits.
    #[doc(alias = "prio_scheduler_should_yield")]
    pub fn should_yield(&self) -> bool {
        unsafe { from_glib(ffi::prio_scheduler_should_yield(self.as_ptr())) }
    }

    /// Makes tasks stop in time for the next frame of a `GdkFrameClock`. Windows of GTK 4 need no call.
    #[doc(alias = "prio_scheduler_follow_frame_clock")]
    pub fn follow_frame_clock(&self, clock: &impl IsA<glib::Object>) {
        unsafe { ffi::prio_scheduler_follow_frame_clock(self.as_ptr(), clock.as_ref().as_ptr()) }
    }

    /// Pauses the scheduler's tasks, until [`Scheduler::resume`] has been called once for each pause.
    #[doc(alias = "prio_scheduler_pause")]
    pub fn pause(&self) {
        unsafe { ffi::prio_scheduler_pause(self.as_ptr()) }
    }

    /// Ends a [`Scheduler::pause`].
    #[doc(alias = "prio_scheduler_resume")]
    pub fn resume(&self) {
        unsafe { ffi::prio_scheduler_resume(self.as_ptr()) }
    }
}

fn once(func: impl FnOnce()) -> impl FnMut() -> ControlFlow {
    let mut func = Some(func);
    move || {
        if let Some(func) = func.take() {
            func();
        }
        ControlFlow::Break
    }
}
