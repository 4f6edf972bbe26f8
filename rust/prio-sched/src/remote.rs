// SPDX-License-Identifier: LGPL-2.1-or-later
//! Spawns futures that are Send, from any thread: a posted closure spawns the future on the thread of the main context.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use glib::prelude::*;

use crate::executor::{drop_quietly, wake_quietly};
use crate::join::{Abort, Join};
use crate::{executor, AbortHandle, JoinError, JoinHandle, Priority, Scheduler, TaskOptions};

enum Stage<T> {
    Posted {
        waiter: Option<Waker>,
        is_aborted: bool,
    },
    /// The handle, until it has given its result or is no longer needed; and a handle to abort the future.
    Spawned(Option<JoinHandle<T>>, AbortHandle),
    /// The handle was dropped before the future was spawned.
    Detached {
        is_aborted: bool,
    },
    Refused,
}

/// A future that a posted closure spawns, and its scheduler, which may have been freed.
struct Remote<T>(Mutex<Stage<T>>, glib::WeakRef<Scheduler>);

impl<T: Send + 'static> Remote<T> {
    /// Stores the handle of the spawned future, or that the future was refused.
    fn settle(&self, handle: Option<JoinHandle<T>>) {
        let mut stage = self.0.lock().unwrap();
        let (waiter, is_aborted) = match &mut *stage {
            Stage::Posted { waiter, is_aborted } => (waiter.take(), *is_aborted),
            Stage::Detached { is_aborted } => (None, *is_aborted),
            _ => return,
        };
        let abort_handle = handle.as_ref().map(JoinHandle::abort_handle);
        let kept = if matches!(*stage, Stage::Detached { .. }) { None } else { handle };
        *stage = match abort_handle.clone() {
            Some(abort_handle) => Stage::Spawned(kept, abort_handle),
            None => Stage::Refused,
        };
        drop(stage);
        if let (Some(abort_handle), true) = (abort_handle, is_aborted) {
            abort_handle.abort();
        }
        if let Some(waiter) = waiter {
            wake_quietly(waiter);
        }
    }
}

impl<T: Send + 'static> Abort for Remote<T> {
    fn abort(self: Arc<Self>) {
        let abort_handle = match &mut *self.0.lock().unwrap() {
            Stage::Posted { is_aborted, .. } | Stage::Detached { is_aborted } => {
                *is_aborted = true;
                None
            }
            Stage::Spawned(_, abort_handle) => Some(abort_handle.clone()),
            Stage::Refused => None,
        };
        if let Some(abort_handle) = abort_handle {
            abort_handle.abort();
        }
    }

    fn end(self: Arc<Self>) {
        self.abort();
    }

    fn is_finished(&self) -> bool {
        match &*self.0.lock().unwrap() {
            Stage::Spawned(_, abort_handle) => abort_handle.is_finished(),
            Stage::Refused => true,
            _ => false,
        }
    }
}

impl<T: Send + 'static> Join<T> for Remote<T> {
    fn poll_join(&self, context: &mut Context<'_>) -> Poll<Result<T, JoinError>> {
        // The clone runs the program's code, so the lock is not held.
        let own = context.waker().clone();
        let mut stage = self.0.lock().unwrap();
        match &mut *stage {
            Stage::Posted { waiter, .. } => {
                let old = waiter.replace(own);
                drop(stage);
                drop(old);
                Poll::Pending
            }
            Stage::Spawned(handle, _) => {
                let Some(mut own) = handle.take() else { panic!("a handle was polled after it had given its result") };
                drop(stage);
                let polled = Pin::new(&mut own).poll(context);
                if polled.is_pending() {
                    if let Stage::Spawned(handle, _) = &mut *self.0.lock().unwrap() {
                        *handle = Some(own);
                    }
                }
                polled
            }
            _ => Poll::Ready(Err(JoinError::Aborted)),
        }
    }

    fn detach(&self) {
        let mut stage = self.0.lock().unwrap();
        let old = match &mut *stage {
            Stage::Posted { waiter, is_aborted } => {
                let (waiter, is_aborted) = (waiter.take(), *is_aborted);
                *stage = Stage::Detached { is_aborted };
                (waiter, None)
            }
            Stage::Spawned(handle, _) => (None, handle.take()),
            _ => (None, None),
        };
        drop(stage);
        drop_quietly(old);
    }

    fn scheduler(&self) -> Option<Scheduler> {
        match &*self.0.lock().unwrap() {
            Stage::Posted { .. } => self.1.upgrade(),
            Stage::Spawned(Some(handle), _) => handle.scheduler(),
            _ => None,
        }
    }

    fn to_abort(self: Arc<Self>) -> Arc<dyn Abort> {
        self
    }
}

/// Refuses the future if the closure never runs.
struct Refusing<T: Send + 'static>(Arc<Remote<T>>);

impl<T: Send + 'static> Drop for Refusing<T> {
    fn drop(&mut self) {
        self.0.settle(None);
    }
}

pub(crate) fn spawn<F>(scheduler: &Scheduler, options: TaskOptions, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    if scheduler.context().is_owner() {
        return executor::spawn(scheduler, None, options, future);
    }
    // The posted closure must not keep the scheduler alive: the queue may outlive it.
    let remote = Arc::new(Remote(Mutex::new(Stage::Posted { waiter: None, is_aborted: false }), scheduler.downgrade()));
    let refusing = Refusing(remote.clone());
    scheduler.post_once(Priority::UserBlocking, move || {
        let context = || glib::main_current_source().and_then(|source| source.context());
        if let Some(scheduler) = refusing.0.1.upgrade().or_else(|| context().map(|context| Scheduler::new(&context))) {
            refusing.0.settle(Some(executor::spawn(&scheduler, None, options, future)));
        }
    });
    JoinHandle::new(remote)
}
