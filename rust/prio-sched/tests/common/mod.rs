// SPDX-License-Identifier: LGPL-2.1-or-later
//! Helpers for several test files.
#![allow(dead_code)]

use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use glib::MainContext;
use prio_sched::*;

/// Calls a function with a scheduler whose main context is the default of the thread.
pub fn with_scheduler(body: impl FnOnce(&Scheduler)) {
    let context = MainContext::new();
    context.clone().with_thread_default(|| body(&Scheduler::new(&context))).unwrap();
}

pub fn run_until(scheduler: &Scheduler, mut is_over: impl FnMut() -> bool) {
    while !is_over() {
        scheduler.context().iteration(true);
    }
}

pub fn iterate(scheduler: &Scheduler) {
    for _ in 0..20 {
        scheduler.context().iteration(false);
    }
}

pub struct WakeUp(MainContext);

impl Wake for WakeUp {
    fn wake(self: Arc<Self>) {
        self.0.wakeup();
    }
}

/// Runs the main context until the future is ready, and polls the future after each iteration.
pub fn wait_for<F: Future>(scheduler: &Scheduler, future: F) -> F::Output {
    let mut future = Box::pin(future);
    let waker = Waker::from(Arc::new(WakeUp(scheduler.context())));
    let mut result = None;
    run_until(scheduler, || {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            result = Some(value);
        }
        result.is_some()
    });
    result.unwrap()
}

/// Counts how many of its guards have been dropped.
#[derive(Clone, Default)]
pub struct Dropped(Rc<Cell<u32>>);

impl Dropped {
    pub fn guard(&self) -> Guard {
        Guard(self.clone())
    }

    pub fn n(&self) -> u32 {
        self.0.get()
    }
}

pub struct Guard(Dropped);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.0.set(self.0.n() + 1);
    }
}
