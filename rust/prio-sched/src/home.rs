// SPDX-License-Identifier: LGPL-2.1-or-later
//! Owns the futures that one thread has spawned at one scheduler, until they end.
//!
//! An abort may come while its caller holds a lock, or within the emission of "cancelled", in which GLib holds one. A future that is
//! dropped may take the lock of a channel or a cancellable. So an abort only marks the future, and a task drops it: one task for all
//! futures that are aborted before the task runs.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::mem::{self, ManuallyDrop};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::sync::{Arc, Mutex};

use gio::prelude::*;
use glib::ffi::{gboolean, gpointer, G_SOURCE_REMOVE};
use glib::thread_guard::thread_id;
use glib::translate::*;
use slab::Slab;

use crate::join::Abort;
use crate::{ffi, Priority, Scheduler};

pub(crate) struct Home {
    thread: usize,
    /// Valid on the home's thread as long as a future lives here.
    scheduler: *mut ffi::PrioScheduler,
    /// The main context to make the thread's default during a poll; NULL for the global default one.
    context: *mut glib::ffi::GMainContext,
    held: Mutex<Option<Held>>,
    /// Used on the home's thread, like `watches`.
    futures: RefCell<Slab<Arc<dyn Abort>>>,
    watches: RefCell<HashMap<usize, Arc<Watch>>>,
}

// SAFETY: other threads use `held`, under its lock; they drop the other fields only when these are empty.
unsafe impl Send for Home {}
unsafe impl Sync for Home {}

/// References that a home keeps.  A queued future refers to its home, and the scheduler's queue to the future; so the home drops these
/// references with its last future.
struct Held {
    scheduler: Scheduler,
    /// The scheduler of the tasks that end futures, even while `scheduler` is paused.  Created for the first aborted
    /// future.
    ends: Option<Scheduler>,
    /// The futures that were aborted, until they end.
    ending: VecDeque<Arc<dyn Abort>>,
    /// Whether the task that ends the futures is posted.
    is_posted: bool,
}

/// The homes of a thread. Their futures end with the thread.
struct Homes(RefCell<Vec<Arc<Home>>>);

thread_local! {
    static HOMES: Homes = const { Homes(RefCell::new(Vec::new())) };
}

impl Drop for Homes {
    fn drop(&mut self) {
        for home in self.0.take() {
            let futures: Vec<_> = home.futures.borrow().iter().map(|(_, future)| future.clone()).collect();
            for future in futures {
                future.end();
            }
        }
    }
}

impl Home {
    /// Returns the home of this thread's futures at a scheduler, or `None` when the thread is ending.
    pub(crate) fn of(scheduler: &Scheduler) -> Option<Arc<Self>> {
        let find = |homes: &Homes| {
            let mut homes = homes.0.borrow_mut();
            if let Some(home) = homes.iter().find(|home| home.scheduler == scheduler.as_ptr()) {
                return home.clone();
            }
            let home = Arc::new(Self::new(scheduler));
            homes.push(home.clone());
            home
        };
        HOMES.try_with(find).ok()
    }

    fn new(scheduler: &Scheduler) -> Self {
        let context = unsafe { ffi::prio_scheduler_get_context(scheduler.as_ptr()) };
        let held = Held { scheduler: scheduler.clone(), ends: None, ending: VecDeque::new(), is_posted: false };
        let is_default = context == unsafe { glib::ffi::g_main_context_default() };
        Self {
            thread: thread_id(),
            scheduler: scheduler.as_ptr(),
            context: if is_default { ptr::null_mut() } else { context },
            held: Mutex::new(Some(held)),
            futures: RefCell::default(),
            watches: RefCell::default(),
        }
    }

    fn is_here(&self) -> bool {
        self.thread == thread_id()
    }

    /// Returns the scheduler, as long as a future lives here.  Any thread may call it.
    pub(crate) fn scheduler(&self) -> Option<Scheduler> {
        self.held.lock().unwrap().as_ref().map(|held| held.scheduler.clone())
    }

    /// Calls a function with the home's main context as the thread's default.
    pub(crate) fn with_thread_default<R>(&self, func: impl FnOnce() -> R) -> R {
        if self.context.is_null() {
            return func();
        }
        // SAFETY: the scheduler holds the main context.
        let context: Borrowed<glib::MainContext> = unsafe { from_glib_borrow(self.context) };
        context.with_thread_default(func).expect("the thread that runs a main context owns it")
    }

    /// Ends futures soon, in a task.  Any thread may call it, with any locks held.
    pub(crate) fn end_soon(self: &Arc<Self>, futures: impl IntoIterator<Item = Arc<dyn Abort>>) {
        let is_posted = self.held.lock().unwrap().as_mut().is_none_or(|held| {
            held.ending.extend(futures);
            held.ending.is_empty() || mem::replace(&mut held.is_posted, true)
        });
        if !is_posted {
            self.post_end(end_some, self.clone());
        }
    }

    /// Returns whether several futures are to end, so that the caller has to post another task.
    fn begin_ending(&self) -> bool {
        self.held.lock().unwrap().as_mut().is_some_and(|held| {
            held.is_posted = held.ending.len() > 1;
            held.is_posted
        })
    }

    fn next_ending(&self) -> Option<Arc<dyn Abort>> {
        self.held.lock().unwrap().as_mut()?.ending.pop_front()
    }

    /// Returns the scheduler of the tasks that end futures.  A new scheduler is created without the lock, because the
    /// call may drop futures of this home.
    fn ends(&self) -> Option<Scheduler> {
        let known = self.held.lock().unwrap().as_ref().map(|held| (held.ends.clone(), held.scheduler.context()));
        let (ends, context) = known?;
        if ends.is_some() {
            return ends;
        }
        let mut new = Some(Scheduler::new(&context));
        let mut held = self.held.lock().unwrap();
        let ends = held.as_mut().and_then(|held| {
            held.ends = held.ends.take().or_else(|| new.take());
            held.ends.clone()
        });
        drop(held);
        ends
    }

    /// Calls a function soon, in a task on the home's thread.
    fn post_end<T: Send + Sync>(&self, func: unsafe extern "C" fn(gpointer) -> gboolean, data: Arc<T>) {
        if let Some(ends) = self.ends() {
            let data = Arc::into_raw(data) as gpointer;
            let priority = Priority::UserBlocking as i32;
            unsafe { ffi::prio_scheduler_post(ends.as_ptr(), priority, Some(func), data, Some(release_arc::<T>)) }
        }
    }

    fn should_yield(&self) -> bool {
        let is_alive = !self.futures.borrow().is_empty();
        is_alive && unsafe { ffi::prio_scheduler_should_yield(self.scheduler) != 0 }
    }

    /// Keeps a future until [`Home::remove`].
    pub(crate) fn add(&self, future: Arc<dyn Abort>) -> usize {
        self.futures.borrow_mut().insert(future)
    }

    pub(crate) fn remove(&self, key: usize) {
        let mut futures = self.futures.borrow_mut();
        let future = futures.remove(key);
        let is_empty = futures.is_empty();
        drop(futures);
        drop(future);
        if is_empty {
            let _ = HOMES.try_with(|homes| homes.0.borrow_mut().retain(|home| !ptr::eq(&**home, self)));
            let held = self.held.lock().unwrap().take();
            drop(held);
        }
    }

    /// Ends the future if the signal is cancelled before the returned value is dropped.
    pub(crate) fn watch(self: &Arc<Self>, signal: &gio::Cancellable, future: Arc<dyn Abort>) -> Watching {
        let mut watches = self.watches.borrow_mut();
        let watch = match watches.get(&(signal.as_ptr() as usize)) {
            Some(watch) if !watch.is_over.load(Acquire) => watch.clone(),
            _ => {
                let watch = Watch::new(self, signal);
                watches.insert(signal.as_ptr() as usize, watch.clone());
                watch
            }
        };
        drop(watches);
        let key = watch.futures.borrow_mut().insert(future);
        Watching { watch, key }
    }
}

/// Ends the waiting futures of a signal when it is cancelled. The library itself ends queued futures.
struct Watch {
    home: Arc<Home>,
    signal: gio::Cancellable,
    handler: Cell<Option<glib::SignalHandlerId>>,
    /// Whether the signal was cancelled.  A plain cancellable may be reset: futures that wait with it later have another
    /// watch.
    is_over: AtomicBool,
    futures: RefCell<Slab<Arc<dyn Abort>>>,
}

// SAFETY: other threads only write `is_over`; they drop the other fields only when these are empty.
unsafe impl Send for Watch {}
unsafe impl Sync for Watch {}

/// Keeps a future in a watch, until it is dropped.
pub(crate) struct Watching {
    watch: Arc<Watch>,
    key: usize,
}

impl Watch {
    fn new(home: &Arc<Home>, signal: &gio::Cancellable) -> Arc<Self> {
        unsafe extern "C" fn cancelled(_: *mut gio::ffi::GCancellable, watch: gpointer) {
            let watch = unsafe { &*(watch as *const Arc<Watch>) };
            if !watch.is_over.swap(true, AcqRel) {
                watch.home.post_end(sweep, watch.clone());
            }
        }

        let watch = Arc::new(Self {
            home: home.clone(),
            signal: signal.clone(),
            handler: Cell::new(None),
            is_over: AtomicBool::new(false),
            futures: RefCell::default(),
        });
        let data = Box::into_raw(Box::new(watch.clone()));
        let handler = unsafe {
            let func: unsafe extern "C" fn(*mut gio::ffi::GCancellable, gpointer) = cancelled;
            let func = mem::transmute::<*const (), unsafe extern "C" fn()>(func as *const ());
            glib::signal::connect_raw(signal.as_ptr() as *mut _, c"cancelled".as_ptr(), Some(func), data)
        };
        watch.handler.set(Some(handler));
        watch
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let watch = &self.watch;
        let mut futures = watch.futures.borrow_mut();
        let future = futures.try_remove(self.key);
        let is_empty = futures.is_empty();
        drop(futures);
        drop(future);
        if is_empty {
            if let Some(handler) = watch.handler.take() {
                watch.signal.disconnect(handler);
            }
            let mut watches = watch.home.watches.borrow_mut();
            let key = watch.signal.as_ptr() as usize;
            if watches.get(&key).is_some_and(|other| Arc::ptr_eq(other, watch)) {
                watches.remove(&key);
            }
        }
    }
}

/// Ends the futures of a cancelled signal.
unsafe extern "C" fn sweep(watch: gpointer) -> gboolean {
    let watch = unsafe { &*(watch as *const Watch) };
    if watch.home.is_here() {
        let futures = watch.futures.take();
        watch.home.end_soon(futures.into_iter().map(|(_, future)| future));
    }
    G_SOURCE_REMOVE
}

/// Ends aborted futures, as many as fit into a slice.
unsafe extern "C" fn end_some(home: gpointer) -> gboolean {
    let home = ManuallyDrop::new(unsafe { Arc::from_raw(home as *const Home) });
    if !home.is_here() {
        return G_SOURCE_REMOVE;
    }
    if home.begin_ending() {
        // Another task ends the other futures, even within this one, if a drop runs the main loop.
        home.post_end(end_some, (*home).clone());
    }
    while let Some(future) = home.next_ending() {
        future.end();
        if home.should_yield() {
            break;
        }
    }
    G_SOURCE_REMOVE
}

/// A destroy notify for the result of `Arc::into_raw ()`.
unsafe extern "C" fn release_arc<T>(data: gpointer) {
    drop(unsafe { Arc::from_raw(data as *const T) });
}
