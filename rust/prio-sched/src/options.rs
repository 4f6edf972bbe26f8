// SPDX-License-Identifier: LGPL-2.1-or-later
use std::fmt;
use std::time::Duration;

use gio::prelude::*;
use glib::translate::*;
use glib::value::{FromValue, ToValue, ValueType};
use glib::GString;

use crate::{executor, ffi, TaskSignal};

/// The priority of a task.
///
/// ```
/// # use prio_sched::Priority;
/// # use glib::prelude::*;
/// assert_eq!(Priority::default(), Priority::UserVisible);
/// assert_eq!(Priority::Background.to_string(), "background");
/// assert!(Priority::UserBlocking > Priority::Background);
/// assert_eq!(Priority::Background.to_value().get::<Priority>().unwrap(), Priority::Background);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i32)]
#[doc(alias = "PrioTaskPriority")]
pub enum Priority {
    /// No user waits for the result: indexes, caches, statistics.
    Background = ffi::PRIO_TASK_PRIORITY_BACKGROUND,
    /// The user sees the result, but can continue meanwhile. The default.
    #[default]
    UserVisible = ffi::PRIO_TASK_PRIORITY_USER_VISIBLE,
    /// The user waits for the result.
    UserBlocking = ffi::PRIO_TASK_PRIORITY_USER_BLOCKING,
}

impl fmt::Display for Priority {
    /// Writes the priority's name on the web and in other languages.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Background => "background",
            Self::UserVisible => "user-visible",
            Self::UserBlocking => "user-blocking",
        })
    }
}

#[doc(hidden)]
impl IntoGlib for Priority {
    type GlibType = ffi::PrioTaskPriority;

    fn into_glib(self) -> ffi::PrioTaskPriority {
        self as i32
    }
}

#[doc(hidden)]
impl FromGlib<ffi::PrioTaskPriority> for Priority {
    unsafe fn from_glib(priority: ffi::PrioTaskPriority) -> Self {
        match priority {
            ffi::PRIO_TASK_PRIORITY_BACKGROUND => Self::Background,
            ffi::PRIO_TASK_PRIORITY_USER_BLOCKING => Self::UserBlocking,
            _ => Self::UserVisible,
        }
    }
}

impl StaticType for Priority {
    fn static_type() -> glib::Type {
        unsafe { from_glib(ffi::prio_task_priority_get_type()) }
    }
}

impl ValueType for Priority {
    type Type = Self;
}

#[doc(hidden)]
unsafe impl<'a> FromValue<'a> for Priority {
    type Checker = glib::value::GenericValueTypeChecker<Self>;

    unsafe fn from_value(value: &'a glib::Value) -> Self {
        unsafe { from_glib(glib::gobject_ffi::g_value_get_enum(value.to_glib_none().0)) }
    }
}

impl ToValue for Priority {
    fn to_value(&self) -> glib::Value {
        let mut value = glib::Value::for_value_type::<Self>();
        unsafe { glib::gobject_ffi::g_value_set_enum(value.to_glib_none_mut().0, self.into_glib()) };
        value
    }

    fn value_type(&self) -> glib::Type {
        Self::static_type()
    }
}

impl From<Priority> for glib::Value {
    fn from(priority: Priority) -> Self {
        priority.to_value()
    }
}

impl glib::HasParamSpec for Priority {
    type ParamSpec = glib::ParamSpecEnum;
    type SetValue = Self;
    type BuilderFn = fn(&str, Self) -> glib::ParamSpecEnumBuilder<Self>;

    fn param_spec_builder() -> Self::BuilderFn {
        Self::ParamSpec::builder_with_default
    }
}

/// The options of a task. Instead of options, a function also takes a [`Priority`], a signal, or a reference to a signal.
///
/// ```
/// # use prio_sched::{Priority, Scheduler, TaskController, TaskOptions};
/// # use std::time::Duration;
/// # let scheduler = Scheduler::default();
/// # let controller = TaskController::new(Priority::Background);
/// scheduler.spawn_local(Priority::UserBlocking, async {});
/// scheduler.spawn_local(controller.signal(), async {});
/// scheduler.spawn_local(TaskOptions::new().signal(&controller.signal()).delay(Duration::from_millis(100)).name("index"), async {});
/// ```
#[derive(Clone, Debug)]
pub struct TaskOptions {
    pub(crate) priority: Option<Priority>,
    pub(crate) signal: Option<gio::Cancellable>,
    pub(crate) delay: Duration,
    pub(crate) timeout: Option<Duration>,
    pub(crate) name: Option<GString>,
    pub(crate) takes_turns: bool,
}

impl Default for TaskOptions {
    fn default() -> Self {
        Self { priority: None, signal: None, delay: Duration::ZERO, timeout: None, name: None, takes_turns: true }
    }
}

impl TaskOptions {
    /// Returns the defaults: user-visible, without a signal.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the priority and the signal of the future that is being polled, or the defaults outside of futures. In a group, the
    /// priority is the signal's.
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

    /// Sets the priority, which is then fixed.  Otherwise the task has the priority of its signal or, if the signal has none,
    /// is user-visible.
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Sets the signal, a [`TaskSignal`] or any other cancellable, that aborts the task.
    pub fn signal(mut self, signal: &impl IsA<gio::Cancellable>) -> Self {
        self.signal = Some(signal.as_ref().clone());
        self
    }

    /// Sets how long to wait before the task is queued, rounded up to whole milliseconds.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Sets how long the task waits in the queue for more urgent tasks. After that it runs before all tasks whose timeout has
    /// not passed.
    ///
    /// A future waits in the queue at its start and after each await, and the timeout counts anew each time. A future whose timeout has
    /// passed runs until its next await, and then has its own priority again. So a background future with a timeout of 50 ms takes a step
    /// every 50 ms next to urgent work that never ends, and does not stop that work. For a closure that runs repeatedly, the timeout
    /// counts once, from [`Scheduler::post`](crate::Scheduler::post): when it has passed, the closure runs first until it ends.
    ///
    /// The timeout is rounded up to whole milliseconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the task's name in traces and other tools for developers.
    ///
    /// # Panics
    ///
    /// If the name contains a NUL byte.
    pub fn name(mut self, name: impl AsRef<str>) -> Self {
        let name = name.as_ref();
        self.name = Some(GString::from_string_checked(name.to_owned()).unwrap_or_else(|_| panic!("the name {name:?} has a NUL byte")));
        self
    }

    /// Sets whether, after a yield, the task waits behind queued tasks of the same priority.
    ///
    /// The default is `true`, because executors in Rust are fair. In the C library, as on the web, it is `false`: there, started tasks end
    /// first.
    #[doc(alias = "takes-turns")]
    pub fn takes_turns(mut self, takes_turns: bool) -> Self {
        self.takes_turns = takes_turns;
        self
    }

    /// Returns the options of a continuation of a task with these options.
    pub(crate) fn without_times(&self) -> Self {
        Self { delay: Duration::ZERO, timeout: None, ..self.clone() }
    }

    /// Returns C's options, which borrow from `self`.
    pub(crate) fn to_ffi(&self) -> ffi::PrioTaskOptions {
        ffi::PrioTaskOptions {
            size: std::mem::size_of::<ffi::PrioTaskOptions>(),
            priority: self.priority.map_or(ffi::PRIO_TASK_PRIORITY_UNSET, |p| p as i32),
            timeout: self.timeout.map_or(0, |timeout| whole_milliseconds(timeout).clamp(1, i32::MAX as u64) as i32),
            signal: std::ptr::null_mut(),
            cancellable: self.signal.as_ref().map_or(std::ptr::null_mut(), |signal| signal.as_ptr()),
            delay: whole_milliseconds(self.delay),
            name: self.name.as_ref().map_or(std::ptr::null(), |name| name.as_ptr()),
            source_object: std::ptr::null_mut(),
            source_tag: std::ptr::null_mut(),
            takes_turns: self.takes_turns.into_glib(),
            reserved: 0,
        }
    }

    /// Returns the priority, if no other option, except `takes_turns`, is set.
    pub(crate) fn plain(&self) -> Option<Priority> {
        let is_plain = self.signal.is_none() && self.delay.is_zero() && self.timeout.is_none() && self.name.is_none();
        is_plain.then(|| self.priority.unwrap_or(Priority::UserVisible))
    }
}

/// Returns the time in milliseconds, rounded up so that no delay ends too early.
pub(crate) fn whole_milliseconds(time: Duration) -> u64 {
    time.as_nanos().div_ceil(1_000_000).min(u64::MAX as u128) as u64
}

impl From<Priority> for TaskOptions {
    fn from(priority: Priority) -> Self {
        Self::new().priority(priority)
    }
}

impl<S: IsA<gio::Cancellable>> From<&S> for TaskOptions {
    fn from(signal: &S) -> Self {
        Self::new().signal(signal)
    }
}

impl From<TaskSignal> for TaskOptions {
    fn from(signal: TaskSignal) -> Self {
        Self { signal: Some(signal.upcast()), ..Self::default() }
    }
}

impl From<gio::Cancellable> for TaskOptions {
    fn from(signal: gio::Cancellable) -> Self {
        Self { signal: Some(signal), ..Self::default() }
    }
}
