// SPDX-License-Identifier: LGPL-2.1-or-later
//! Each poll of a future is a task of the library.
//!
//! A future and all that belongs to it is one allocation, which its thread, its handle, its wakers and the library share. Only the
//! thread that has spawned it touches the future, its result and what waits for that; the bits of its state are for all threads.

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
use slab::Slab;

use crate::join::{Abort, Join};
use crate::wait::release_arc;
use crate::{ffi, JoinError, JoinHandle, Priority, Scheduler, TaskGroup, TaskOptions};

/// It is in a queue of the library, or will be when its poll returns: a wake has nothing to do.
const QUEUED: u8 = 1;
/// It is polled.
const RUNNING: u8 = 2;
/// Its future has been dropped.
const DONE: u8 = 4;
/// It is to end when its poll returns, or when its thread comes to it.
const ABORTED: u8 = 8;

struct Header {
    scheduler: Scheduler,
    /// To be the default of its thread in a poll, if it is not so already.
    context: Option<glib::MainContext>,
    options: TaskOptions,
    /// Its priority, if it has no other option: each post asks for it.
    plain: Option<Priority>,
    /// On its thread, until it is done.
    group: RefCell<Option<TaskGroup>>,
    /// What aborts it with its group, if it has one.
    group_signal: OnceLock<gio::Cancellable>,
    thread: usize,
    state: AtomicU8,
}

impl Header {
    fn signal(&self) -> Option<&gio::Cancellable> {
        self.group_signal.get().or(self.options.signal.as_ref())
    }

    fn is_here(&self) -> bool {
        self.thread == thread_id()
    }
}

struct Rest<T> {
    result: Option<Result<T, JoinError>>,
    waiter: Option<Waker>,
    is_detached: bool,
    handler: Option<glib::SignalHandlerId>,
    first: Option<First>,
    /// Among those that its thread owns.
    key: Option<usize>,
    /// How many posts have run that the library has not released yet.
    n_run: u32,
}

/// A first task that has to be taken out if the future ends before that runs: one with a delay, or one of a group, which then has a place
/// there until the future ends.
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
    future: UnsafeCell<ManuallyDrop<Option<F>>>,
    rest: ManuallyDrop<RefCell<Rest<F::Output>>>,
}

// SAFETY: what is not Send is only touched on the thread of the header, and left alone by drop() on another one.
unsafe impl<F: Future> Send for Task<F> {}
unsafe impl<F: Future> Sync for Task<F> {}

impl<F: Future> Drop for Task<F> {
    fn drop(&mut self) {
        // Its thread owns it until it is done: on another one, nothing of the future is left.
        if self.header.is_here() || *self.header.state.get_mut() & DONE != 0 {
            unsafe {
                ManuallyDrop::drop(self.future.get_mut());
                ManuallyDrop::drop(&mut self.rest);
            }
        }
    }
}

/// The futures of a thread, which end with it.
struct Owned(RefCell<Slab<Arc<dyn Abort>>>);

impl Drop for Owned {
    fn drop(&mut self) {
        for task in self.0.get_mut().drain() {
            task.abort();
        }
    }
}

thread_local! {
    static OWNED: Owned = const { Owned(RefCell::new(Slab::new())) };
    static CURRENT: Cell<*const Header> = const { Cell::new(ptr::null()) };
}

/// Says, while it lives, which future is polled.
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
    // SAFETY: it is alive as long as it is polled, and nobody here keeps the reference for longer.
    unsafe { CURRENT.get().as_ref() }
}

pub(crate) fn current_options() -> Option<TaskOptions> {
    current().map(|header| {
        let mut options = header.options.without_times();
        options.signal = header.signal().cloned();
        options
    })
}

pub(crate) fn is_in(group: &TaskGroup) -> bool {
    current().is_some_and(|header| header.group.borrow().as_ref() == Some(group))
}

impl<F: Future + 'static> Task<F>
where
    F::Output: 'static,
{
    /// Posts it. Only its first task has the delay and the timeout.
    fn post(self: &Arc<Self>, is_first: bool) {
        let data = Arc::into_raw(self.clone()) as gpointer;
        let scheduler = self.header.scheduler.as_ptr();
        unsafe {
            if let Some(priority) = self.header.plain {
                ffi::prio_scheduler_post(scheduler, priority as i32, Some(run::<F>), data, Some(released::<F>));
                return;
            }
            let mut options = self.header.options.to_ffi();
            if !is_first {
                (options.delay, options.timeout) = (0, 0);
            }
            options.signal = self.header.signal().map_or(ptr::null_mut(), |signal| signal.as_ptr());
            ffi::prio_scheduler_post_full(scheduler, &options, Some(run::<F>), data, Some(released::<F>));
        }
    }

    /// Posts its first task so that it can be taken out.
    fn post_first(self: &Arc<Self>, group: Option<&TaskGroup>) {
        let data = Arc::into_raw(self.clone()) as gpointer;
        let options = self.header.options.to_ffi();
        unsafe {
            let task = match group {
                Some(group) => ffi::prio_task_group_post_task(group.as_ptr(), &options, Some(begin::<F>), data, Some(left::<F>)),
                None => ffi::prio_scheduler_post_task(self.header.scheduler.as_ptr(), &options, Some(begin::<F>), data, Some(left::<F>)),
            };
            if self.header.state.load(Acquire) & DONE == 0 {
                let signal: Option<gio::Cancellable> = from_glib_none(ffi::prio_task_get_signal(task));
                if let Some(signal) = signal {
                    let _ = self.header.group_signal.set(signal);
                }
                self.rest.borrow_mut().first = Some(First { task, has_begun: false });
            } else {
                glib::gobject_ffi::g_object_unref(task as *mut _);
            }
        }
    }

    /// Has it end on its own thread, soon.
    fn post_end(self: &Arc<Self>) {
        let data = Arc::into_raw(self.clone()) as gpointer;
        let priority = Priority::UserBlocking as i32;
        unsafe { ffi::prio_scheduler_post(self.header.scheduler.as_ptr(), priority, Some(end::<F>), data, Some(release_arc::<Self>)) }
    }

    /// Polls it once. Returns whether to do so again.
    fn poll(self: &Arc<Self>) -> bool {
        let header = &self.header;
        assert!(
            header.is_here(),
            "a future that was spawned on one thread cannot be polled on another, which runs its scheduler's main context now"
        );
        let before = header.state.load(Acquire);
        if before & DONE != 0 {
            return false;
        }
        if before & ABORTED != 0 {
            self.finish(Err(JoinError::Aborted));
            return false;
        }
        header.state.fetch_xor(QUEUED | RUNNING, AcqRel);

        // SAFETY: the library's reference lives longer than the poll; a clone of the waker takes one of its own.
        let waker = ManuallyDrop::new(unsafe { Waker::from(Arc::from_raw(Arc::as_ptr(self))) });
        let running = Running::begin(header);
        let poll = || {
            // SAFETY: on its thread, and nobody else touches it while it is RUNNING. It is not moved until it is dropped in place.
            let future = unsafe { (*self.future.get()).as_mut().map(|future| Pin::new_unchecked(future)) };
            future.expect("a future is there until it is done").poll(&mut Context::from_waker(&waker))
        };
        let polled = catch_unwind(AssertUnwindSafe(|| match &header.context {
            Some(context) => context.with_thread_default(poll).expect("the thread that runs a main context owns it"),
            None => poll(),
        }));
        drop(running);

        match polled {
            Ok(Poll::Ready(value)) => self.finish(Ok(value)),
            Err(payload) => self.finish(Err(JoinError::Panicked(payload))),
            Ok(Poll::Pending) => {
                let before = header.state.fetch_and(!RUNNING, AcqRel);
                if before & ABORTED != 0 {
                    self.finish(Err(JoinError::Aborted));
                } else if before & QUEUED != 0 {
                    return self.go_on();
                } else {
                    self.watch_signal();
                }
            }
        }
        false
    }

    /// It was woken in its poll. Returns whether the library is to call it again as a continuation.
    fn go_on(self: &Arc<Self>) -> bool {
        let is_again = self.header.plain.is_none() || self.header.options.goes_on;
        if !is_again {
            // At the end of the queue, which costs less than a task that takes turns.
            self.post(false);
        }
        is_again
    }

    /// The library aborts what is in its queues; what waits for something else has to hear of it.
    fn watch_signal(self: &Arc<Self>) {
        let Some(signal) = self.header.signal() else { return };
        if self.rest.borrow().handler.is_some() {
            return;
        }
        let task = Arc::downgrade(self);
        let handler = signal.connect("cancelled", false, move |_| {
            if let Some(task) = task.upgrade() {
                task.abort();
            }
            None
        });
        self.rest.borrow_mut().handler = Some(handler);
        if signal.is_cancelled() {
            self.clone().abort();
        }
    }

    /// On its thread, and not in its poll. The first result counts.
    fn finish(self: &Arc<Self>, mut result: Result<F::Output, JoinError>) {
        if self.header.state.fetch_or(DONE, AcqRel) & DONE != 0 {
            return;
        }
        // SAFETY: it is not polled, and never again.
        let drop_future = || unsafe { **self.future.get() = None };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(drop_future)) {
            result = Err(JoinError::Panicked(payload));
        }
        let (waiter, handler, first, key, unwanted) = {
            let mut rest = self.rest.borrow_mut();
            let unwanted = if rest.is_detached { Some(result) } else { rest.result.replace(result) };
            (rest.waiter.take(), rest.handler.take(), rest.first.take(), rest.key.take(), unwanted)
        };
        if let Some(key) = key {
            let _ = OWNED.try_with(|owned| owned.0.borrow_mut().remove(key));
        }
        if let (Some(handler), Some(signal)) = (handler, self.header.signal()) {
            signal.disconnect(handler);
        }
        drop(first);
        drop(self.header.group.take());
        drop_quietly(unwanted);
        if let Some(waiter) = waiter {
            waiter.wake();
        }
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
        if before & (QUEUED | RUNNING | DONE) == 0 {
            self.post(false);
        }
    }
}

impl<F: Future + 'static> Abort for Task<F>
where
    F::Output: 'static,
{
    fn abort(self: Arc<Self>) {
        let before = self.header.state.fetch_or(ABORTED, AcqRel);
        if before & (ABORTED | DONE) != 0 {
            return;
        }
        if !self.header.is_here() {
            self.post_end();
        } else if before & RUNNING == 0 {
            self.finish(Err(JoinError::Aborted));
        }
    }

    fn is_finished(&self) -> bool {
        self.header.state.load(Acquire) & DONE != 0
    }
}

impl<F: Future + 'static> Join<F::Output> for Task<F>
where
    F::Output: 'static,
{
    fn poll_join(&self, context: &mut Context<'_>) -> Poll<Result<F::Output, JoinError>> {
        let is_own = ptr::eq(CURRENT.get(), &self.header) && self.header.state.load(Acquire) & RUNNING != 0;
        assert!(!is_own, "a future cannot wait for its own handle");
        // A waker may be anybody's: it is cloned, as it is dropped, while nothing is borrowed.
        let waiter = context.waker().clone();
        let mut rest = self.rest.borrow_mut();
        if let Some(result) = rest.result.take() {
            rest.is_detached = true;
            return Poll::Ready(result);
        }
        assert!(!rest.is_detached, "a JoinHandle was polled after it had given its result");
        let old = rest.waiter.replace(waiter);
        drop(rest);
        drop(old);
        Poll::Pending
    }

    fn detach(&self) {
        let mut rest = self.rest.borrow_mut();
        rest.is_detached = true;
        let unwanted = (rest.result.take(), rest.waiter.take());
        drop(rest);
        drop_quietly(unwanted.0);
        drop(unwanted.1);
    }

    fn to_abort(self: Arc<Self>) -> Arc<dyn Abort> {
        self
    }
}

/// Drops a result that nobody takes: it may panic, and C may be the caller.
pub(crate) fn drop_quietly<T>(unwanted: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(unwanted))) {
        // So may what it has panicked with.
        if let Err(worse) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(worse);
        }
    }
}

/// The task of a poll.
unsafe extern "C" fn run<F: Future + 'static>(data: gpointer) -> gboolean {
    let task = ManuallyDrop::new(unsafe { Arc::from_raw(data as *const Task<F>) });
    if task.poll() {
        return G_SOURCE_CONTINUE;
    }
    task.rest.borrow_mut().n_run += 1;
    G_SOURCE_REMOVE
}

/// The first task of a future that has one.
unsafe extern "C" fn begin<F: Future + 'static>(first: *mut ffi::PrioTask, data: gpointer) {
    let task = ManuallyDrop::new(unsafe { Arc::from_raw(data as *const Task<F>) });
    // A place in a group is kept until the future ends.
    unsafe { ffi::prio_task_defer(first) };
    if let Some(first) = &mut task.rest.borrow_mut().first {
        first.has_begun = true;
    }
    if task.poll() {
        task.post(false);
    }
}

/// The first task is over: the future has its result, or was aborted before it began.
unsafe extern "C" fn left<F: Future + 'static>(data: gpointer) {
    let task = unsafe { Arc::from_raw(data as *const Task<F>) };
    if task.header.is_here() {
        let has_begun = task.rest.borrow().first.as_ref().is_some_and(|first| first.has_begun);
        if !has_begun {
            task.finish(Err(JoinError::Aborted));
        }
    }
}

/// A post is over: it has run, its signal was aborted, or its main context has gone.
unsafe extern "C" fn released<F: Future + 'static>(data: gpointer) {
    let task = unsafe { Arc::from_raw(data as *const Task<F>) };
    if task.header.is_here() {
        let mut rest = task.rest.borrow_mut();
        if rest.n_run > 0 {
            rest.n_run -= 1;
        } else {
            drop(rest);
            task.finish(Err(JoinError::Aborted));
        }
    } else if task.header.signal().is_some_and(|signal| signal.is_cancelled()) {
        // It was woken by this thread.
        task.abort();
    }
}

unsafe extern "C" fn end<F: Future + 'static>(data: gpointer) -> gboolean {
    let task = ManuallyDrop::new(unsafe { Arc::from_raw(data as *const Task<F>) });
    if task.header.is_here() && task.header.state.load(Acquire) & RUNNING == 0 {
        task.finish(Err(JoinError::Aborted));
    }
    G_SOURCE_REMOVE
}

pub(crate) fn spawn<F>(scheduler: &Scheduler, group: Option<&TaskGroup>, options: TaskOptions, future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
{
    scheduler.assert_owner("a future");
    let can_be_taken_out = group.is_some() || !options.delay.is_zero();
    let task = Arc::new(Task {
        header: Header {
            scheduler: scheduler.clone(),
            context: scheduler.other_context(),
            plain: if group.is_none() { options.plain() } else { None },
            options,
            group: RefCell::new(group.cloned()),
            group_signal: OnceLock::new(),
            thread: thread_id(),
            state: AtomicU8::new(QUEUED),
        },
        future: UnsafeCell::new(ManuallyDrop::new(Some(future))),
        rest: ManuallyDrop::new(RefCell::new(Rest {
            result: None,
            waiter: None,
            is_detached: false,
            handler: None,
            first: None,
            key: None,
            n_run: 0,
        })),
    });
    // Not when the thread ends.
    task.rest.borrow_mut().key = OWNED.try_with(|owned| owned.0.borrow_mut().insert(task.clone())).ok();
    if can_be_taken_out {
        task.post_first(group);
    } else {
        task.post(true);
    }
    JoinHandle::new(task)
}

/// Lets input, frames and more urgent tasks go first, and tasks of the same priority that are queued already.
///
/// In a loop it costs little: unless there is something to let go first, the next step runs at once.
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

/// What [`yield_now`] returns.
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
