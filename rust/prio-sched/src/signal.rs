// SPDX-License-Identifier: LGPL-2.1-or-later
use gio::prelude::*;
use glib::error::ErrorDomain;
use glib::translate::*;
use std::time::Duration;

use crate::options::whole_milliseconds;
use crate::{ffi, Priority};

glib::wrapper! {
    /// Creates a signal, aborts it and changes its priority. A controller is [`Send`]: any thread may use it.
    ///
    /// An abort is final: create a controller for each run. If the controller is dropped, its futures continue.
    ///
    /// ```
    /// # use prio_sched::{Priority, TaskController};
    /// let controller = TaskController::new(Priority::Background);
    /// controller.set_priority(Priority::UserBlocking).unwrap();
    /// assert_eq!(controller.signal().priority(), Priority::UserBlocking);
    /// controller.abort(None);
    /// assert!(controller.signal().is_aborted());
    /// ```
    #[doc(alias = "PrioTaskController")]
    pub struct TaskController(Object<ffi::PrioTaskController, ffi::PrioTaskControllerClass>);

    match fn {
        type_ => || ffi::prio_task_controller_get_type(),
    }
}

glib::wrapper! {
    /// A cancel token with a priority: a [`gio::Cancellable`], so every function of GIO takes it.
    ///
    /// ```
    /// # use prio_sched::{Priority, TaskController};
    /// # use gio::prelude::*;
    /// # let file = gio::File::for_path("/dev/null");
    /// let controller = TaskController::new(Priority::UserVisible);
    /// file.load_contents(Some(&controller.signal())).unwrap();
    /// ```
    #[doc(alias = "PrioTaskSignal")]
    pub struct TaskSignal(Object<ffi::PrioTaskSignal, ffi::PrioTaskSignalClass>) @extends gio::Cancellable;

    match fn {
        type_ => || ffi::prio_task_signal_get_type(),
    }
}

// SAFETY: the C library allows calls on any thread.
unsafe impl Send for TaskController {}
unsafe impl Sync for TaskController {}
unsafe impl Send for TaskSignal {}
unsafe impl Sync for TaskSignal {}

impl TaskController {
    /// Creates a controller whose signal has the priority.
    #[doc(alias = "prio_task_controller_new")]
    pub fn new(priority: Priority) -> Self {
        unsafe { from_glib_full(ffi::prio_task_controller_new(priority as i32)) }
    }

    /// Returns the controller's signal.
    #[doc(alias = "prio_task_controller_get_signal")]
    pub fn signal(&self) -> TaskSignal {
        unsafe { from_glib_none(ffi::prio_task_controller_get_signal(self.to_glib_none().0)) }
    }

    /// Changes the priority of the signal, and of all tasks that follow the signal's priority.
    ///
    /// # Errors
    ///
    /// [`Error::NotAllowed`] if a handler of a change of this priority calls it.
    #[doc(alias = "prio_task_controller_set_priority")]
    pub fn set_priority(&self, priority: Priority) -> Result<(), glib::Error> {
        let mut error = std::ptr::null_mut();
        unsafe {
            ffi::prio_task_controller_set_priority(self.to_glib_none().0, priority as i32, &mut error);
            if error.is_null() { Ok(()) } else { Err(from_glib_full(error)) }
        }
    }

    /// Aborts the signal, with a reason or, if it is `None`, with [`gio::IOErrorEnum::Cancelled`]. A second call does
    /// nothing.
    #[doc(alias = "prio_task_controller_abort")]
    pub fn abort(&self, reason: Option<&glib::Error>) {
        unsafe { ffi::prio_task_controller_abort(self.to_glib_none().0, reason.to_glib_none().0) }
    }
}

impl TaskSignal {
    /// Returns a signal that is aborted already.
    #[doc(alias = "prio_task_signal_new_aborted")]
    pub fn aborted(reason: Option<&glib::Error>) -> Self {
        unsafe { from_glib_full(ffi::prio_task_signal_new_aborted(reason.to_glib_none().0)) }
    }

    /// Returns a signal that is aborted after a time, rounded up to whole milliseconds, with [`gio::IOErrorEnum::TimedOut`].
    #[doc(alias = "prio_task_signal_new_timeout")]
    pub fn timeout(delay: Duration) -> Self {
        unsafe { from_glib_full(ffi::prio_task_signal_new_timeout(whole_milliseconds(delay))) }
    }

    /// Returns a signal that is aborted as soon as one of the others is, and has a separate priority.
    ///
    /// ```
    /// # use prio_sched::{Priority, TaskController, TaskSignal};
    /// # use gio::prelude::*;
    /// let (window, search) = (TaskController::new(Priority::UserVisible), gio::Cancellable::new());
    /// let either = TaskSignal::any(&[&window.signal(), &search], Priority::UserBlocking);
    /// search.cancel();
    /// assert!(either.is_aborted());
    /// ```
    #[doc(alias = "prio_task_signal_new_any")]
    pub fn any(signals: &[&dyn AsRef<gio::Cancellable>], priority: Priority) -> Self {
        let mut signals: Vec<_> = signals.iter().map(|signal| AsRef::<gio::Cancellable>::as_ref(*signal).as_ptr()).collect();
        unsafe { from_glib_full(ffi::prio_task_signal_new_any(signals.as_mut_ptr(), signals.len(), priority as i32)) }
    }

    /// Returns the signal's current priority.
    #[doc(alias = "prio_task_signal_get_priority")]
    pub fn priority(&self) -> Priority {
        unsafe { from_glib(ffi::prio_task_signal_get_priority(self.to_glib_none().0)) }
    }

    /// Returns whether the signal is aborted.
    #[doc(alias = "prio_task_signal_is_aborted")]
    pub fn is_aborted(&self) -> bool {
        unsafe { from_glib(ffi::prio_task_signal_is_aborted(self.to_glib_none().0)) }
    }

    /// Returns the reason of the abort, if the signal is aborted.
    #[doc(alias = "prio_task_signal_dup_reason")]
    pub fn reason(&self) -> Option<glib::Error> {
        unsafe { from_glib_full(ffi::prio_task_signal_dup_reason(self.to_glib_none().0)) }
    }

    /// Calls a function with the previous priority when the priority has changed, on the thread that changes it.
    #[doc(alias = "priority-change")]
    pub fn connect_priority_change<F: Fn(&Self, Priority) + Send + Sync + 'static>(&self, f: F) -> glib::SignalHandlerId {
        self.connect("priority-change", false, move |values| {
            let signal = values[0].get::<Self>().unwrap();
            f(&signal, values[1].get().unwrap());
            None
        })
    }
}

/// The errors of the library's domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A handler of a priority change has tried to change that priority.
    NotAllowed,
    /// The worker, or the main context, has been closed.
    Closed,
    /// A task was dropped without a result.
    Dropped,
    /// An error of a later version of the library.
    Other(i32),
}

impl ErrorDomain for Error {
    fn domain() -> glib::Quark {
        unsafe { from_glib(ffi::prio_error_quark()) }
    }

    fn code(self) -> i32 {
        match self {
            Self::NotAllowed => ffi::PRIO_ERROR_NOT_ALLOWED,
            Self::Closed => ffi::PRIO_ERROR_CLOSED,
            Self::Dropped => ffi::PRIO_ERROR_DROPPED,
            Self::Other(code) => code,
        }
    }

    fn from(code: i32) -> Option<Self> {
        Some(match code {
            ffi::PRIO_ERROR_NOT_ALLOWED => Self::NotAllowed,
            ffi::PRIO_ERROR_CLOSED => Self::Closed,
            ffi::PRIO_ERROR_DROPPED => Self::Dropped,
            code => Self::Other(code),
        })
    }
}
