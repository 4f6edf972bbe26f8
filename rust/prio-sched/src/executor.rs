// SPDX-License-Identifier: LGPL-2.1-or-later
//! Each poll of a future is a task of the library.
//!
//! A future and its data are one allocation, which its home (see home.rs), its handle, its wakers and the library share. Only the
//! thread that has spawned the future uses it; all threads use the bits of its state.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::future::Future;
use std::mem::ManuallyDrop;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::pin::Pin;
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering::*};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};

use gio::prelude::*;
use glib::ffi::{gboolean, gpointer, G_SOURCE_CONTINUE, G_SOURCE_REMOVE};
use glib::thread_guard::thread_id;
use glib::translate::*;

use crate::home::{Home, Watching};
use crate::join::{Abort, Join};
use crate::{ffi, JoinError, JoinHandle, Priority, Scheduler, TaskGroup, TaskOptions};

/// The future is in a queue of the library, or will be when its poll returns: a wake has no effect.
const QUEUED: u8 = 1;
/// The future is being polled, or is ending.
const RUNNING: u8 = 2;
/// The future will end when its poll returns, or in a task that has been posted to end it.
const ABORTED: u8 = 4;
/// The future has been dropped, and its result is set.
const DONE: u8 = 8;
/// The future's handle waits for the result.
const AWAITED: u8 = 16;
/// The future's handle has been dropped.
const DETACHED: u8 = 32;

struct Header {
    home: Arc<Home>,
    /// The home's scheduler; the home's thread uses it without a check, until the future is done.
    scheduler: *mut ffi::PrioScheduler,
    thread: usize,
    options: TaskOptions,
    /// The priority, if there is no other option: each post reads it.
    plain: Option<Priority>,
    /// Used on the home's thread, until the future is done.
    group: RefCell<Option<TaskGroup>>,
    /// The signal of the first task, if the future has a [`First`] with a signal; an abort of the group aborts it, too.
    group_signal: OnceLock<gio::Cancellable>,
    state: AtomicU8,
}

impl Header {
    fn signal(&self) -> Option<&gio::Cancellable> {
        self.group_signal.get().or(self.options.signal.as_ref())
    }

    fn is_here(&self) -> bool {
        self.thread == thread_id()
    }

    fn has(&self, bits: u8) -> bool {
        self.state.load(Acquire) & bits != 0
    }
}

/// Data that are dropped when the future is done.
#[derive(Default)]
struct Rest {
    /// Set once the future has waited, if it has a signal.
    watching: Option<Watching>,
    first: Option<First>,
    /// The future's number in the home.
    key: usize,
    /// How many posts have run, but have not been released by the library yet.
    n_run: u32,
}

/// The first task of a future that has a delay or a group. If the future ends before the task runs, the task is cancelled. In a
/// group, the task keeps its place until the future ends.
struct First {
    task: *mut ffi::PrioTask,
    has_begun: bool,
}

impl Drop for First {
    fn drop(&mut self) {
        unsafe {
            if self.has_begun {
                ffi::prio_task_return_boolean(self.task, true.into_glib());
            } else {
                ffi::prio_task_cancel(self.task);
            }
            glib::gobject_ffi::g_object_unref(self.task as *mut _);
        }
    }
}

struct Task<F: Future> {
    header: Header,
    /// Used on the home's thread.  The home keeps the task until this is `None`, so after that any thread may free the
    /// task.
    future: UnsafeCell<Option<F>>,
    rest: RefCell<Rest>,
    /// The home's thread writes it before the future is DONE; then the handle takes it or, if the handle was DETACHED before,
    /// the thread does.
    result: UnsafeCell<Option<Result<F::Output, JoinError>>>,
    /// Belongs to the handle until the future is AWAITED, and then to the home's thread, once the future is DONE.
    waiter: UnsafeCell<Option<Waker>>,
}

// SAFETY: fields that are not Send are only used on the home's thread, or by the handle, which is Send if the result
// is.
unsafe impl<F: Future> Send for Task<F> {}
unsafe impl<F: Future> Sync for Task<F> {}

thread_local! {
    static CURRENT: Cell<*const Header> = const { Cell::new(ptr::null()) };
}

/// Records, while it lives, which future is being polled.
struct Running(*const Header);

impl Running {
    fn begin(header: &Header) -> Self {
        Self(CURRENT.replace(header))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

fn current() -> Option<&'static Header> {
    // SAFETY: the header lives as long as its future is polled, and no caller here keeps the reference for longer.
    unsafe { CURRENT.get().as_ref() }
}

pub(crate) fn current_options() -> Option<TaskOptions> {
    current().map(|header| {
        let mut options = header.options.without_times();
        options.signal = header.signal().cloned();
        options
    })
}

pub(crate) fn is_in_future() -> bool {
    current().is_some()
}

pub(crate) fn is_in(group: &TaskGroup) -> bool {
    current().is_some_and(|header| header.group.borrow().as_ref() == Some(group))
}

impl<F: Future + 'static> Task<F>
where
    F::Output: 'static,
{
    /// Posts the next poll, on any thread.
    fn post(self: &Arc<Self>) {
        if self.header.is_here() {
            self.post_to(self.header.scheduler);
        } else if let Some(scheduler) = self.header.home.scheduler() {
            self.post_to(scheduler.as_ptr());
        }
    }

    /// Posts the next poll to a scheduler. Only a future's first task has the delay; the timeout counts anew for each
    /// task.
    fn post_to(self: &Arc<Self>, scheduler: *mut ffi::PrioScheduler) {
        let header = &self.header;
        let data = Arc::into_raw(self.clone()) as gpointer;
        unsafe {
            if let Some(priority) = header.plain {
                ffi::prio_scheduler_post(scheduler, priority as i32, Some(run::<F>), data, Some(released::<F>));
                return;
            }
            let mut options = header.options.to_ffi();
            options.delay = 0;
            options.cancellable = header.signal().map_or(ptr::null_mut(), |signal| signal.as_ptr());
            ffi::prio_scheduler_post_full(scheduler, &options, Some(run::<F>), data, Some(released::<F>));
        }
    }

    /// Posts the future's first task so that it can be cancelled.
    fn post_first(self: &Arc<Self>, scheduler: &Scheduler, group: Option<&TaskGroup>) {
        let data = Arc::into_raw(self.clone()) as gpointer;
        let options = self.header.options.to_ffi();
        unsafe {
            let task = match group {
                Some(group) => ffi::prio_task_group_post_task(group.as_ptr(), &options, Some(begin::<F>), data, Some(left::<F>)),
                None => ffi::prio_scheduler_post_task(scheduler.as_ptr(), &options, Some(begin::<F>), data, Some(left::<F>)),
            };
            let signal: Option<gio::Cancellable> = from_glib_none(ffi::prio_task_get_cancellable(task));
            if let Some(signal) = signal {
                let _ = self.header.group_signal.set(signal);
            }
            self.rest.borrow_mut().first = Some(First { task, has_begun: false });
        }
    }

    /// Polls the future once.  Returns whether to poll it again.
    fn poll(self: &Arc<Self>) -> bool {
        let header = &self.header;
        assert!(
            header.is_here(),
            "a future that was spawned on one thread cannot be polled on another, which runs its scheduler's main context now"
        );
        let before = header.state.load(Acquire);
        if before & (DONE | RUNNING) != 0 {
            return false;
        }
        if before & ABORTED != 0 {
            self.clone().end();
            return false;
        }
        header.state.fetch_xor(QUEUED | RUNNING, AcqRel);

        // SAFETY: the library's reference lives longer than the poll; a clone of the waker takes its own reference.
        let waker = ManuallyDrop::new(unsafe { Waker::from(Arc::from_raw(Arc::as_ptr(self))) });
        let running = Running::begin(header);
        let poll = || {
            // SAFETY: this is the home's thread, and no other code uses the future while it is RUNNING. The future is not moved
            // until it is dropped in place.
            let future = unsafe { (*self.future.get()).as_mut().map(|future| Pin::new_unchecked(future)) };
            future.expect("a future is there until it is done").poll(&mut Context::from_waker(&waker))
        };
        let polled = catch_unwind(AssertUnwindSafe(|| header.home.with_thread_default(poll)));
        drop(running);

        match polled {
            Ok(Poll::Ready(value)) => self.finish(Ok(value)),
            Err(payload) => self.finish(Err(JoinError::panicked(payload))),
            Ok(Poll::Pending) => {
                let before = header.state.fetch_and(!RUNNING, AcqRel);
                if before & ABORTED != 0 {
                    self.clone().end();
                } else if before & QUEUED != 0 {
                    return self.go_on();
                } else {
                    self.watch_signal();
                }
            }
        }
        false
    }

    /// Polls the future again later, because it was woken in its poll.  Returns whether the library is to call the task
    /// again, as a continuation; otherwise posts it.
    fn go_on(self: &Arc<Self>) -> bool {
        let options = &self.header.options;
        // A continuation would keep a timeout that has passed, and always run first.
        let is_again = (self.header.plain.is_none() || !options.takes_turns) && options.timeout.is_none();
        if !is_again {
            // A new post goes to the end of the queue, and costs less than a task that takes turns.
            self.post_to(self.header.scheduler);
        }
        is_again
    }

    /// Connects a handler to the signal, because the library itself aborts only the futures in its queues.
    fn watch_signal(self: &Arc<Self>) {
        let Some(signal) = self.header.signal() else { return };
        if self.rest.borrow().watching.is_some() {
            return;
        }
        let watching = self.header.home.watch(signal, self.clone());
        self.rest.borrow_mut().watching = Some(watching);
        if signal.is_cancelled() {
            self.clone().abort();
        }
    }

    /// Ends the future on the home's thread, after its last poll.  The future is RUNNING, so no other code polls or ends
    /// it meanwhile.
    fn finish(self: &Arc<Self>, mut result: Result<F::Output, JoinError>) {
        // SAFETY: the future is not being polled, and never will be again.
        let drop_future = || unsafe { *self.future.get() = None };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(drop_future)) {
            drop_quietly(std::mem::replace(&mut result, Err(JoinError::panicked(payload))));
        }
        let rest = self.rest.take();
        drop(rest.watching);
        drop(rest.first);
        drop(self.header.group.take());

        // SAFETY: no other code uses the result before the future is DONE.
        unsafe { *self.result.get() = Some(result) };
        let before = self.header.state.fetch_or(DONE, AcqRel);
        if before & DETACHED != 0 {
            self.drop_result();
        } else if before & AWAITED != 0 {
            // SAFETY: the future is DONE, and was AWAITED.
            if let Some(waiter) = unsafe { (*self.waiter.get()).take() } {
                wake_quietly(waiter);
            }
        }
        self.header.home.remove(rest.key);
    }

    /// Returns the slot for the waker of the handle, which calls this. Returns `None` if the future is DONE: then the
    /// home's thread may use the slot.
    #[allow(clippy::mut_from_ref)]
    fn take_waiter_back(&self) -> Option<&mut Option<Waker>> {
        let mut state = self.header.state.load(Acquire);
        if state & AWAITED != 0 {
            state = self.header.state.fetch_and(!AWAITED, AcqRel);
        }
        // SAFETY: the future was neither DONE nor AWAITED.
        (state & DONE == 0).then(|| unsafe { &mut *self.waiter.get() })
    }

    /// Drops the result. The code that sets the second of the bits DONE and DETACHED calls this.
    fn drop_result(&self) {
        // SAFETY: the handle has been dropped, or is the caller.
        drop_quietly(unsafe { (*self.result.get()).take() });
    }
}

impl<F: Future + 'static> Wake for Task<F>
where
    F::Output: 'static,
{
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let before = self.header.state.fetch_or(QUEUED, AcqRel);
        if before & (QUEUED | RUNNING | ABORTED | DONE) == 0 {
            self.post();
        }
    }
}

impl<F: Future + 'static> Abort for Task<F>
where
    F::Output: 'static,
{
    fn abort(self: Arc<Self>) {
        let before = self.header.state.fetch_or(ABORTED, AcqRel);
        if before & (RUNNING | ABORTED | DONE) == 0 {
            let home = self.header.home.clone();
            home.end_soon([self as Arc<dyn Abort>]);
        }
    }

    fn end(self: Arc<Self>) {
        if self.header.state.fetch_or(ABORTED | RUNNING, AcqRel) & (RUNNING | DONE) == 0 {
            self.finish(Err(JoinError::Aborted));
        }
    }

    fn is_finished(&self) -> bool {
        self.header.has(DONE)
    }
}

impl<F: Future + 'static> Join<F::Output> for Task<F>
where
    F::Output: 'static,
{
    fn poll_join(&self, context: &mut Context<'_>) -> Poll<Result<F::Output, JoinError>> {
        let is_own = ptr::eq(CURRENT.get(), &self.header) && self.header.has(RUNNING);
        assert!(!is_own, "a future cannot wait for its own handle");
        if let Some(waiter) = self.take_waiter_back() {
            if !waiter.as_ref().is_some_and(|waiter| waiter.will_wake(context.waker())) {
                *waiter = Some(context.waker().clone());
            }
            if self.header.state.fetch_or(AWAITED, AcqRel) & DONE == 0 {
                return Poll::Pending;
            }
        }
        // SAFETY: the future is DONE, and not DETACHED.
        let result = unsafe { (*self.result.get()).take() };
        Poll::Ready(result.expect("a handle was polled after it had given its result"))
    }

    fn detach(&self) {
        if let Some(waiter) = self.take_waiter_back() {
            drop_quietly(waiter.take());
        }
        if self.header.state.fetch_or(DETACHED, AcqRel) & DONE != 0 {
            self.drop_result();
        }
    }

    fn scheduler(&self) -> Option<Scheduler> {
        self.header.home.scheduler()
    }

    fn to_abort(self: Arc<Self>) -> Arc<dyn Abort> {
        self
    }
}

/// Drops a value, and catches a panic of the drop: the caller may be C code, which must not unwind.
pub(crate) fn drop_quietly<T>(unwanted: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(unwanted))) {
        // The payload of the panic may panic when it is dropped, too.
        if let Err(worse) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(worse);
        }
    }
}

/// Wakes a waiting task, of any executor, and catches a panic of its waker.
pub(crate) fn wake_quietly(waker: Waker) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
        drop_quietly(payload);
    }
}

/// Polls the future; the library calls this as a task's function.
unsafe extern "C" fn run<F: Future + 'static>(data: gpointer) -> gboolean {
    let task = ManuallyDrop::new(unsafe { Arc::from_raw(data as *const Task<F>) });
    if task.poll() {
        return G_SOURCE_CONTINUE;
    }
    task.rest.borrow_mut().n_run += 1;
    G_SOURCE_REMOVE
}

/// Polls the future; the library calls this as the function of a [`First`].
unsafe extern "C" fn begin<F: Future + 'static>(first: *mut ffi::PrioTask, data: gpointer) {
    let task = ManuallyDrop::new(unsafe { Arc::from_raw(data as *const Task<F>) });
    // In a group, the task keeps its place until the future ends.
    unsafe { ffi::prio_task_defer(first) };
    if let Some(first) = &mut task.rest.borrow_mut().first {
        first.has_begun = true;
    }
    if task.poll() {
        task.post();
    }
}

/// Called when the task of a [`First`] is over: the future has its result, or was aborted before it started.
unsafe extern "C" fn left<F: Future + 'static>(data: gpointer) {
    let task = unsafe { Arc::from_raw(data as *const Task<F>) };
    if task.header.is_here() {
        let has_begun = task.rest.borrow().first.as_ref().is_some_and(|first| first.has_begun);
        if !has_begun {
            task.abort();
        }
    }
}

/// Called when a post has ended: its task has run, its signal was aborted, or its main context was freed.
unsafe extern "C" fn released<F: Future + 'static>(data: gpointer) {
    let task = unsafe { Arc::from_raw(data as *const Task<F>) };
    if task.header.is_here() {
        let mut rest = task.rest.borrow_mut();
        if rest.n_run > 0 {
            rest.n_run -= 1;
        } else {
            drop(rest);
            task.abort();
        }
    } else if task.header.signal().is_some_and(|signal| signal.is_cancelled()) {
        // This thread has woken the future, and the library has rejected the post.
        task.abort();
    }
}

pub(crate) fn spawn<F>(scheduler: &Scheduler, group: Option<&TaskGroup>, options: TaskOptions, future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
{
    scheduler.assert_owner("a future");
    let Some(home) = Home::of(scheduler) else {
        // The thread is ending.
        return JoinHandle::aborted();
    };
    let can_be_taken_out = group.is_some() || !options.delay.is_zero();
    let task = Arc::new(Task {
        header: Header {
            scheduler: scheduler.as_ptr(),
            thread: thread_id(),
            home,
            plain: if group.is_none() { options.plain() } else { None },
            options,
            group: RefCell::new(group.cloned()),
            group_signal: OnceLock::new(),
            state: AtomicU8::new(QUEUED),
        },
        future: UnsafeCell::new(Some(future)),
        rest: RefCell::default(),
        result: UnsafeCell::new(None),
        waiter: UnsafeCell::new(None),
    });
    let key = task.header.home.add(task.clone());
    task.rest.borrow_mut().key = key;
    if can_be_taken_out {
        task.post_first(scheduler, group);
    } else {
        task.post();
    }
    if task.header.has(ABORTED) {
        // The library rejected the task.
        task.clone().end();
    }
    JoinHandle::new(task)
}

/// Lets input, frames, more urgent tasks, and queued tasks of the same priority go first.
///
/// In a loop this costs little: if no such work is waiting, the next step runs at once.
///
/// ```
/// # use prio_sched::{yield_now, Priority, Scheduler};
/// # let scheduler = Scheduler::default();
/// # scheduler.context().block_on(scheduler.spawn_local(Priority::Background, async {
/// # let files = [1, 2, 3];
/// for file in files {
///     let _ = file; // read it
///     yield_now().await;
/// }
/// # })).unwrap();
/// ```
pub fn yield_now() -> YieldNow {
    YieldNow(false)
}

/// The result of [`yield_now`].
#[derive(Debug)]
#[must_use = "a future does nothing unless it is awaited"]
pub struct YieldNow(bool);

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
