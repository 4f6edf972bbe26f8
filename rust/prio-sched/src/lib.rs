// SPDX-License-Identifier: LGPL-2.1-or-later
#![warn(missing_docs)]
//! Prioritized tasks, and an executor of futures that have a priority, for the GLib main loop.
//!
//! A [`Scheduler`] runs tasks in a [`glib::MainContext`]: the most urgent first, and never so long that a frame or the user's input
//! is delayed. [`Scheduler::spawn_local`] is [`glib::MainContext::spawn_local`] with a priority and a signal that can abort:
//!
//! ```
//! use prio_sched::{yield_now, Priority, Scheduler, TaskController};
//!
//! let scheduler = Scheduler::default();
//! let controller = TaskController::new(Priority::Background);
//!
//! let index = scheduler.spawn_local(controller.signal(), async {
//!     let mut n_words = 0;
//!     for _ in 0..1000 {
//!         n_words += 10; // index a file
//!         yield_now().await; // let input, frames and more urgent tasks go first
//!     }
//!     n_words
//! });
//! let answer = scheduler.spawn_local(Priority::UserBlocking, async { "an answer" });
//!
//! scheduler.context().block_on(async {
//!     assert_eq!(answer.await.unwrap(), "an answer");
//!     assert!(!index.is_finished());
//!     controller.set_priority(Priority::UserVisible).unwrap();
//!     assert_eq!(index.await.unwrap(), 10_000);
//! });
//! ```
//!
//! A signal here is a cancel token, as in the web's `AbortSignal`: a [`TaskSignal`] is a [`gio::Cancellable`], so every function
//! of GIO takes it.
//!
//! | to | see |
//! | --- | --- |
//! | abort futures, and change their priority | [`TaskController`] |
//! | run a limited number at a time, such as the rows of a list | [`TaskGroup`] |
//! | run a closure in a thread | [`Scheduler::run_in_thread`], [`Worker`] |
//! | pass values from a thread to the main loop | [`Channel`] |
//! | wait in a thread for an answer of the main loop | [`Scheduler::spawn`], [`JoinHandle::wait`] |
//! | handle an abort or a panic | [`JoinError`] |
//! | set the time in a test | `ffi::prio_testing_begin()`, `ffi::prio_testing_advance()` |
//!
//! The crate binds `libprio-sched-1`, whose manual explains priorities, groups and time slices.

mod channel;
mod executor;
mod group;
mod home;
mod join;
mod options;
mod remote;
mod scheduler;
mod signal;
mod slices;
mod statistics;
mod thread;
mod wait;

pub use channel::{Channel, ChannelPace};
pub use executor::{yield_now, YieldNow};
pub use group::TaskGroup;
pub use join::{AbortHandle, JoinError, JoinHandle, Panic};
pub use options::{Priority, TaskOptions};
pub use prio_sched_sys as ffi;
pub use scheduler::Scheduler;
pub use signal::{Error, TaskController, TaskSignal};
pub use slices::{InSlices, Slices};
pub use statistics::{Statistics, TaskStatistics, TaskTimes};
pub use thread::{RunInThread, Stop, Worker};
pub use wait::Sleep;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct CrateReadme;

#[cfg(all(doctest, prio_sched_documents))]
#[doc = include_str!("../../../introspection/manual/start-rust.md")]
struct Guide;

#[cfg(all(doctest, prio_sched_documents))]
#[doc = include_str!("../../../README.md")]
struct Readme;
