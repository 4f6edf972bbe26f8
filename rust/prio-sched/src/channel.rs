// SPDX-License-Identifier: LGPL-2.1-or-later
//! Brings values from any thread to a closure on a main loop.
//!
//! A slot holds a value. The library has a reference to the slot and, during an offer, so does the caller. The value is
//! dropped with the last reference.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::{Arc, Mutex};

use glib::ffi::gpointer;
use glib::prelude::*;
use glib::thread_guard::ThreadGuard;
use glib::translate::*;

use crate::executor::drop_quietly;
use crate::wait::{wait_for_callback, Cancelling};
use crate::{ffi, Error, Scheduler, TaskOptions};

/// How often a [`Channel`] calls its closure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[doc(alias = "PrioChannelPace")]
pub enum ChannelPace {
    /// For each value, as soon as tasks of the channel's priority run. The default.
    #[default]
    Each,
    /// At most once in a turn of the main loop.
    Turn,
    /// At most once a frame.
    Frame,
}

glib::wrapper! {
    /// The C object, which does not know the type of its values.
    struct Untyped(Object<ffi::PrioChannel, ffi::PrioChannelClass>);

    match fn {
        type_ => || ffi::prio_channel_get_type(),
    }
}

/// Brings values from any thread to a closure that runs on a main loop, without a queue that grows.
///
/// A channel has a capacity. If the channel is full, [`Channel::replace`] drops the oldest value, [`Channel::offer`] returns the new one,
/// and [`Channel::give`] waits. With a capacity of 1 and [`Channel::replace`], the newest value wins, as in a progress bar or a meter:
///
/// ```
/// # use prio_sched::{Channel, ChannelPace, Priority, Scheduler};
/// # use std::{cell::Cell, rc::Rc};
/// let scheduler = Scheduler::default();
/// let shown = Rc::new(Cell::new(0));
/// # let is_over = shown.clone();
/// let progress = Channel::new_local(&scheduler, Priority::UserVisible, 1, ChannelPace::Frame, move |percent| {
///     shown.set(percent); // bar.set_fraction ()
/// });
/// std::thread::spawn(move || {
///     for percent in 1..=100 {
///         progress.replace(percent);
///     }
/// });
/// # while is_over.get() < 100 {
/// #     scheduler.context().iteration(true);
/// # }
/// ```
///
/// Each value is dropped once: by the closure, on the thread that replaces the value, or where the value was refused. An abort of the
/// signal, or the end of the main context, drops the values that wait, and ends the channel. A channel keeps neither its scheduler nor the
/// main context alive. If the closure panics, the program is aborted, as with [`glib::idle_add`].
///
/// The closure is dropped on the thread of the main context when the channel has ended, or is closed and has no values left, or when the last
/// clone of the channel is dropped. If the signal is aborted while no value waits, the channel ends when it refuses the next value.
#[doc(alias = "PrioChannel")]
pub struct Channel<T> {
    native: Untyped,
    scheduler: glib::WeakRef<Scheduler>,
    takes: PhantomData<fn(T)>,
}

// SAFETY: PrioChannel can be used from any thread.  Values go to another thread, so they are Send; no value is shared.
unsafe impl<T: Send> Send for Channel<T> {}
unsafe impl<T: Send> Sync for Channel<T> {}

type Slot<T> = Arc<Mutex<Option<T>>>;

unsafe extern "C" fn release_value<T>(slot: gpointer) {
    drop_quietly(unsafe { Arc::from_raw(slot as *const Mutex<Option<T>>) });
}

unsafe extern "C" fn call<T, F: FnMut(T)>(_: *mut ffi::PrioChannel, slot: gpointer, func: gpointer) {
    // SAFETY: the library calls the closure on one thread, never within itself, and releases the slot afterwards.
    let (slot, func) = unsafe { (ManuallyDrop::new(Slot::from_raw(slot as *const Mutex<Option<T>>)), &mut *(func as *mut F)) };
    let value = slot.lock().unwrap().take();
    if let Some(value) = value {
        func(value);
    }
}

unsafe extern "C" fn release_func<F>(func: gpointer) {
    drop_quietly(unsafe { Box::from_raw(func as *mut F) });
}

impl<T: Send + 'static> Channel<T> {
    /// Creates a channel, on any thread. The options apply to the channel's task: their signal ends the channel, and a value that finds
    /// the channel empty waits for their delay.
    ///
    /// ```
    /// # use prio_sched::{Channel, ChannelPace, Priority, Stop, Worker};
    /// let worker = Worker::new("log");
    /// let log = Channel::new(&worker.scheduler(), Priority::Background, 100, ChannelPace::Each, |line: String| println!("{line}"));
    /// log.give("starts".into()).unwrap(); // waits while there are 100 lines
    /// # worker.stop(Stop::Finish);
    /// # worker.join();
    /// ```
    ///
    /// # Panics
    ///
    /// If the capacity is 0.
    #[doc(alias = "prio_channel_new")]
    pub fn new<F: FnMut(T) + Send + 'static>(
        scheduler: &Scheduler,
        options: impl Into<TaskOptions>,
        capacity: u32,
        pace: ChannelPace,
        func: F,
    ) -> Self {
        Self::new_unchecked(scheduler, options.into(), capacity, pace, func)
    }

    /// Creates a channel whose closure need not be [`Send`]: it may use widgets.
    ///
    /// # Panics
    ///
    /// If the capacity is 0, or on a thread that cannot own the main context. The program is aborted if another thread runs the main
    /// context later.
    pub fn new_local<F: FnMut(T) + 'static>(
        scheduler: &Scheduler,
        options: impl Into<TaskOptions>,
        capacity: u32,
        pace: ChannelPace,
        func: F,
    ) -> Self {
        scheduler.assert_owner("a channel whose closure is not Send");
        let mut func = ThreadGuard::new(func);
        Self::new_unchecked(scheduler, options.into(), capacity, pace, move |value| func.get_mut()(value))
    }

    fn new_unchecked<F: FnMut(T) + 'static>(
        scheduler: &Scheduler,
        options: TaskOptions,
        capacity: u32,
        pace: ChannelPace,
        func: F,
    ) -> Self {
        assert!(capacity > 0, "a channel with a capacity of 0 would never take a value");
        let pace = match pace {
            ChannelPace::Each => ffi::PRIO_CHANNEL_PACE_EACH,
            ChannelPace::Turn => ffi::PRIO_CHANNEL_PACE_TURN,
            ChannelPace::Frame => ffi::PRIO_CHANNEL_PACE_FRAME,
        };
        let (own, with, func) = (scheduler.to_glib_none(), options.to_ffi(), Box::into_raw(Box::new(func)) as gpointer);
        let native =
            unsafe { ffi::prio_channel_new(own.0, &with, capacity, pace, Some(call::<T, F>), func, Some(release_func::<F>)) };
        Self { native: unsafe { from_glib_full(native) }, scheduler: scheduler.downgrade(), takes: PhantomData }
    }

    /// Gives a value. If the channel is full, the value replaces the oldest waiting value, which is dropped before the call
    /// returns.
    ///
    /// Returns `false`, and drops the value, if the channel is closed.
    #[doc(alias = "prio_channel_replace")]
    pub fn replace(&self, value: T) -> bool {
        unsafe { from_glib(ffi::prio_channel_replace(self.as_ptr(), into_slot(value), Some(release_value::<T>))) }
    }

    /// Gives a value if the channel has a place for it. Otherwise, or if the channel is closed, returns the value.
    #[doc(alias = "prio_channel_offer")]
    pub fn offer(&self, value: T) -> Result<(), T> {
        let slot = Slot::new(Mutex::new(Some(value)));
        let given = Arc::into_raw(slot.clone()) as gpointer;
        let is_accepted = unsafe { ffi::prio_channel_offer(self.as_ptr(), given, Some(release_value::<T>)) } != 0;
        let returned = slot.lock().unwrap().take_if(|_| !is_accepted);
        returned.map_or(Ok(()), Err)
    }

    /// Gives a value, and blocks this thread until the channel has a place for it.
    ///
    /// Fails, and drops the value, if the channel is or gets closed ([`Error::Closed`]), if its signal is aborted, and if the wait would
    /// never end ([`gio::IOErrorEnum::WouldBlock`]): on the thread that runs the main context, or if that thread waits for this one.
    #[doc(alias = "prio_channel_give")]
    pub fn give(&self, value: T) -> Result<(), glib::Error> {
        let mut error = ptr::null_mut();
        let slot = into_slot(value);
        unsafe {
            let is_accepted = ffi::prio_channel_give(self.as_ptr(), slot, Some(release_value::<T>), ptr::null_mut(), &mut error);
            if is_accepted != 0 { Ok(()) } else { Err(from_glib_full(error)) }
        }
    }

    /// Gives a value, and waits in a future until the channel has a place for it: on any executor, even on the channel's main loop.
    ///
    /// If the future is dropped meanwhile, the value is dropped, too. Fails if the channel is or gets closed
    /// ([`Error::Closed`]).
    ///
    /// ```
    /// # use prio_sched::{Channel, ChannelPace, Priority, Scheduler};
    /// let scheduler = Scheduler::default();
    /// let rows = Channel::new_local(&scheduler, Priority::UserVisible, 10, ChannelPace::Each, |row: u32| drop(row));
    /// scheduler.context().block_on(async {
    ///     for row in 0..100 {
    ///         rows.give_async(row).await.unwrap();
    ///     }
    /// });
    /// ```
    #[doc(alias = "prio_channel_post_value")]
    pub async fn give_async(&self, value: T) -> Result<(), glib::Error> {
        let Some(scheduler) = self.scheduler.upgrade() else {
            return Err(glib::Error::new(Error::Closed, "the channel is closed"));
        };
        let task = Cancelling::new(unsafe {
            ffi::prio_channel_post_value(self.as_ptr(), scheduler.as_ptr(), ptr::null(), into_slot(value), Some(release_value::<T>))
        });
        drop(scheduler);
        let begin = |callback, data| unsafe { ffi::prio_task_wait_async(task.as_ptr(), ptr::null_mut(), callback, data) };
        wait_for_callback(begin, |task, result| {
            let mut error = ptr::null_mut();
            let is_given = unsafe { ffi::prio_task_wait_finish(task as *mut _, result, &mut error) } != 0;
            if is_given { Ok(()) } else { Err(unsafe { from_glib_full(error) }) }
        })
        .await
    }
}

fn into_slot<T>(value: T) -> gpointer {
    Arc::into_raw(Slot::new(Mutex::new(Some(value)))) as gpointer
}

impl<T> Channel<T> {
    fn as_ptr(&self) -> *mut ffi::PrioChannel {
        self.native.as_ptr()
    }

    /// Returns how many values wait, or are in use.
    #[doc(alias = "prio_channel_get_length")]
    pub fn len(&self) -> u32 {
        unsafe { ffi::prio_channel_get_length(self.as_ptr()) }
    }

    /// Returns whether no value waits or is in use.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Closes the channel to new values. The closure still gets the values that wait; a [`Channel::give`] that blocks another
    /// thread fails.
    #[doc(alias = "prio_channel_close")]
    pub fn close(&self) {
        unsafe { ffi::prio_channel_close(self.as_ptr()) }
    }
}

impl<T> Clone for Channel<T> {
    fn clone(&self) -> Self {
        Self { native: self.native.clone(), scheduler: self.scheduler.clone(), takes: PhantomData }
    }
}

impl<T> fmt::Debug for Channel<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Channel").field("len", &self.len()).finish()
    }
}
