// SPDX-License-Identifier: LGPL-2.1-or-later
use std::time::Duration;

use gio::prelude::*;
use glib::GString;

use crate::{executor, ffi, TaskSignal};

/// How urgent a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i32)]
pub enum Priority {
    /// Nobody waits for it: indexes, caches, statistics.
    Background = ffi::PRIO_TASK_PRIORITY_BACKGROUND,
    /// The user sees its result, but can go on meanwhile. The default.
    UserVisible = ffi::PRIO_TASK_PRIORITY_USER_VISIBLE,
    /// The user waits for it.
    UserBlocking = ffi::PRIO_TASK_PRIORITY_USER_BLOCKING,
}

impl Priority {
    pub(crate) fn from_ffi(priority: i32) -> Self {
        match priority {
            ffi::PRIO_TASK_PRIORITY_BACKGROUND => Self::Background,
            ffi::PRIO_TASK_PRIORITY_USER_BLOCKING => Self::UserBlocking,
            _ => Self::UserVisible,
        }
    }
}

/// How to post a task. A [`Priority`] and a reference to a signal are options, too.
///
/// ```
/// # use prio_sched::{Priority, Scheduler, TaskController, TaskOptions};
/// # use std::time::Duration;
/// # let scheduler = Scheduler::default();
/// # let controller = TaskController::new(Priority::Background);
/// scheduler.spawn_local(Priority::UserBlocking, async {});
/// scheduler.spawn_local(&controller.signal(), async {});
/// scheduler.spawn_local(TaskOptions::new().signal(&controller.signal()).delay(Duration::from_millis(100)).name("index"), async {});
/// ```
#[derive(Clone, Debug, Default)]
pub struct TaskOptions {
    pub(crate) priority: Option<Priority>,
    pub(crate) signal: Option<gio::Cancellable>,
    pub(crate) delay: Duration,
    pub(crate) timeout: Option<Duration>,
    pub(crate) name: Option<GString>,
    pub(crate) goes_on: bool,
}

impl TaskOptions {
    /// The defaults: without a signal, and user-visible.
    pub fn new() -> Self {
        Self::default()
    }

    /// The priority and the signal of the future that this crate polls now, or the defaults outside of any. In a group, the signal has the
    /// priority.
    ///
    /// ```
    /// # use prio_sched::{Priority, Scheduler, TaskOptions};
    /// # let scheduler = Scheduler::default();
    /// # let scheduler2 = scheduler.clone();
    /// # scheduler.context().block_on(scheduler.spawn_local(Priority::Background, async move {
    /// let part = scheduler2.spawn_local(TaskOptions::current(), async { 1 }); // as urgent as this future
    /// # part.await.unwrap()
    /// # })).unwrap();
    /// ```
    pub fn current() -> Self {
        executor::current_options().unwrap_or_default()
    }

    /// Sets the priority, which then stays. Without it, the task has that of its signal or, if it has none, is user-visible.
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Sets the signal, a [`TaskSignal`] or any other cancellable, that aborts the task.
    pub fn signal(mut self, signal: &impl IsA<gio::Cancellable>) -> Self {
        self.signal = Some(signal.as_ref().clone());
        self
    }

    /// Sets how long to wait before the task is queued, in whole milliseconds.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Sets after how long in the queue, in whole milliseconds, the task goes before every task whose timeout has not passed.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the name of the task in traces and other tools for developers.
    ///
    /// # Panics
    ///
    /// If it has a NUL byte in it.
    pub fn name(mut self, name: impl AsRef<str>) -> Self {
        let name = name.as_ref();
        self.name = Some(GString::from_string_checked(name.to_owned()).unwrap_or_else(|_| panic!("the name {name:?} has a NUL byte")));
        self
    }

    /// Sets whether what follows a yield runs before the tasks of the same priority that are queued already.
    ///
    /// The default is `false`, as executors in Rust are fair. The web does it: what has begun ends first.
    pub fn goes_on(mut self, goes_on: bool) -> Self {
        self.goes_on = goes_on;
        self
    }

    /// What a continuation of a task with these options has.
    pub(crate) fn without_times(&self) -> Self {
        Self { delay: Duration::ZERO, timeout: None, ..self.clone() }
    }

    /// Borrows from `self`.
    pub(crate) fn to_ffi(&self) -> ffi::PrioTaskOptions {
        ffi::PrioTaskOptions {
            size: std::mem::size_of::<ffi::PrioTaskOptions>(),
            priority: self.priority.map_or(ffi::PRIO_PRIORITY_UNSET, |p| p as i32),
            timeout: self.timeout.map_or(0, |t| t.as_millis().clamp(1, i32::MAX as u128) as i32),
            signal: self.signal.as_ref().map_or(std::ptr::null_mut(), |signal| signal.as_ptr()),
            delay: self.delay.as_millis().min(u64::MAX as u128) as u64,
            name: self.name.as_ref().map_or(std::ptr::null(), |name| name.as_ptr()),
            source_object: std::ptr::null_mut(),
            source_tag: std::ptr::null_mut(),
            takes_turns: (!self.goes_on) as i32,
        }
    }

    /// Whether a task with these options has no more than a priority.
    pub(crate) fn plain(&self) -> Option<Priority> {
        let is_plain = self.signal.is_none() && self.delay.is_zero() && self.timeout.is_none() && self.name.is_none();
        is_plain.then(|| self.priority.unwrap_or(Priority::UserVisible))
    }
}

impl From<Priority> for TaskOptions {
    fn from(priority: Priority) -> Self {
        Self::new().priority(priority)
    }
}

impl From<&TaskSignal> for TaskOptions {
    fn from(signal: &TaskSignal) -> Self {
        Self::new().signal(signal)
    }
}

impl From<&gio::Cancellable> for TaskOptions {
    fn from(signal: &gio::Cancellable) -> Self {
        Self::new().signal(signal)
    }
}
