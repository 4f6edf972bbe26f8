// SPDX-License-Identifier: LGPL-2.1-or-later
//! Waits for callbacks of the C library: a result that is set once, and a waker.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_core::future::FusedFuture;
use glib::ffi::gpointer;
use glib::prelude::*;

use crate::executor::wake_quietly;
use crate::{ffi, Priority, Scheduler, TaskOptions};

enum State<T> {
    Waiting(Option<Waker>),
    Come(T),
    Taken,
}

/// A slot for a result, which any thread may set.
pub(crate) struct Slot<T>(Mutex<State<T>>);

impl<T> Slot<T> {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(State::Waiting(None))))
    }

    /// Stores a result, unless the slot has one already.
    pub(crate) fn put(&self, value: T) {
        let mut state = self.0.lock().unwrap();
        if let State::Waiting(waker) = &mut *state {
            let waker = waker.take();
            *state = State::Come(value);
            drop(state);
            if let Some(waker) = waker {
                wake_quietly(waker);
            }
        }
    }

    pub(crate) fn has_come(&self) -> bool {
        matches!(*self.0.lock().unwrap(), State::Come(_))
    }

    /// Drops the waker or the result, which is no longer needed.
    fn close(&self) {
        let old = std::mem::replace(&mut *self.0.lock().unwrap(), State::Taken);
        drop(old);
    }

    pub(crate) fn poll(&self, context: &mut Context<'_>) -> Poll<T> {
        // Wakers may run the program's code, so they are cloned, dropped and used without the lock.
        let own = context.waker().clone();
        let mut state = self.0.lock().unwrap();
        if let State::Waiting(waker) = &mut *state {
            let old = waker.replace(own);
            drop(state);
            drop(old);
            return Poll::Pending;
        }
        match std::mem::replace(&mut *state, State::Taken) {
            State::Come(value) => Poll::Ready(value),
            _ => panic!("a future was polled after it had given its result"),
        }
    }
}

/// Keeps a task of the library, and cancels it when dropped, unless it has ended.
pub(crate) struct Cancelling(*mut ffi::PrioTask);

// SAFETY: any thread may cancel a task and drop a reference to it.
unsafe impl Send for Cancelling {}
unsafe impl Sync for Cancelling {}

impl Cancelling {
    /// Takes the reference.
    pub(crate) fn new(task: *mut ffi::PrioTask) -> Self {
        Self(task)
    }

    pub(crate) fn as_ptr(&self) -> *mut ffi::PrioTask {
        self.0
    }
}

impl Drop for Cancelling {
    fn drop(&mut self) {
        unsafe {
            ffi::prio_task_cancel(self.0);
            glib::gobject_ffi::g_object_unref(self.0 as *mut _);
        }
    }
}

/// The result of [`Scheduler::sleep`].  The time counts from the first poll.
#[must_use = "a future does nothing unless it is awaited"]
pub struct Sleep {
    scheduler: Scheduler,
    delay: Duration,
    timer: Option<Timer>,
    is_over: bool,
}

struct Timer {
    slot: Arc<Slot<()>>,
    _task: Cancelling,
}

impl Drop for Timer {
    /// Ends the timer, which then wakes no task.
    fn drop(&mut self) {
        self.slot.close();
    }
}

impl Timer {
    fn new(scheduler: &Scheduler, delay: Duration) -> Self {
        unsafe extern "C" fn ring(_: *mut ffi::PrioTask, _: gpointer) {}
        /// Called when the time has passed, or the worker has ended.
        unsafe extern "C" fn over(slot: gpointer) {
            let slot = unsafe { Arc::from_raw(slot as *const Slot<()>) };
            slot.put(());
        }

        let slot = Slot::new();
        // The timer only wakes the future, which then continues with its own priority.
        let options = TaskOptions::from(Priority::UserBlocking).delay(delay).to_ffi();
        let data = Arc::into_raw(slot.clone()) as gpointer;
        let task = unsafe { ffi::prio_scheduler_post_task(scheduler.as_ptr(), &options, Some(ring), data, Some(over)) };
        Self { slot, _task: Cancelling::new(task) }
    }
}

impl Sleep {
    pub(crate) fn new(scheduler: &Scheduler, delay: Duration) -> Self {
        Self { scheduler: scheduler.clone(), delay, timer: None, is_over: false }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        assert!(!self.is_over, "a sleep was polled after it had ended");
        if self.timer.is_none() {
            self.timer = Some(Timer::new(&self.scheduler, self.delay));
        }
        let polled = self.timer.as_ref().map_or(Poll::Pending, |timer| timer.slot.poll(context));
        if polled.is_ready() {
            self.is_over = true;
            self.timer = None;
        }
        polled
    }
}

impl FusedFuture for Sleep {
    fn is_terminated(&self) -> bool {
        self.is_over
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sleep").field("delay", &self.delay).finish()
    }
}

/// Calls `begin`, and waits for its `GAsyncReadyCallback`.  Returns the value of `finish`.
pub(crate) async fn wait_for_callback<T: Send + 'static>(
    begin: impl FnOnce(gio::ffi::GAsyncReadyCallback, gpointer),
    finish: fn(*mut glib::gobject_ffi::GObject, *mut gio::ffi::GAsyncResult) -> T,
) -> T {
    struct Waiting<T> {
        slot: Arc<Slot<T>>,
        finish: fn(*mut glib::gobject_ffi::GObject, *mut gio::ffi::GAsyncResult) -> T,
    }
    unsafe extern "C" fn ready<T>(object: *mut glib::gobject_ffi::GObject, result: *mut gio::ffi::GAsyncResult, data: gpointer) {
        let waiting = unsafe { Box::from_raw(data as *mut Waiting<T>) };
        waiting.slot.put((waiting.finish)(object, result));
    }

    let slot = Slot::new();
    let waiting = Box::new(Waiting { slot: slot.clone(), finish });
    begin(Some(ready::<T>), Box::into_raw(waiting) as gpointer);
    std::future::poll_fn(|context| slot.poll(context)).await
}
