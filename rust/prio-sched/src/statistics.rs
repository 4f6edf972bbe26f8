// SPDX-License-Identifier: LGPL-2.1-or-later
use std::time::Duration;

use crate::{ffi, Priority};

/// Statistics of a scheduler's tasks since [`Scheduler::start_statistics`](crate::Scheduler::start_statistics), by priority.
///
/// ```
/// # use prio_sched::{Priority, Scheduler};
/// let scheduler = Scheduler::default();
/// scheduler.start_statistics();
/// let handle = scheduler.spawn_local(Priority::Background, async {});
/// scheduler.context().block_on(handle).unwrap();
/// let statistics = scheduler.statistics();
/// assert_eq!(statistics.of(Priority::Background).n_run, 1);
/// scheduler.stop_statistics();
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
#[doc(alias = "PrioStatistics")]
pub struct Statistics {
    /// Whether the scheduler is counting.
    pub is_collecting: bool,
    /// Statistics of tasks of [`Priority::Background`].
    pub background: TaskStatistics,
    /// Statistics of tasks of [`Priority::UserVisible`].
    pub user_visible: TaskStatistics,
    /// Statistics of tasks of [`Priority::UserBlocking`].
    pub user_blocking: TaskStatistics,
}

/// Statistics of the tasks of one priority.  Each poll of a future is a task.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
#[doc(alias = "PrioTaskStatistics")]
pub struct TaskStatistics {
    /// How many tasks wait in a queue.
    pub n_queued: u64,
    /// How many tasks wait for the end of their delay.
    pub n_delayed: u64,
    /// How often tasks have run.
    pub n_run: u64,
    /// How many of these runs continued a task after a yield.
    pub n_continued: u64,
    /// How many tasks were aborted while they waited.
    pub n_aborted: u64,
    /// How long the tasks that have run waited in the queue.
    pub waiting: TaskTimes,
    /// How long each run has taken.
    pub running: TaskTimes,
}

/// Times of tasks; all are zero if there are none.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
#[doc(alias = "PrioTaskTimes")]
pub struct TaskTimes {
    /// The sum of the times.
    pub total: Duration,
    /// The longest time.
    pub longest: Duration,
    /// Half of the times are not longer; rounded down, by a fifth at most.
    pub median: Duration,
    /// 99 percent of the times are not longer; rounded down, by a fifth at most.
    pub percentile_99: Duration,
}

impl Statistics {
    /// Returns the statistics of one priority.
    pub fn of(&self, priority: Priority) -> &TaskStatistics {
        match priority {
            Priority::Background => &self.background,
            Priority::UserVisible => &self.user_visible,
            Priority::UserBlocking => &self.user_blocking,
        }
    }

    pub(crate) fn get(scheduler: *mut ffi::PrioScheduler) -> Self {
        // SAFETY: the fields are numbers, which may all be 0.
        let mut raw: ffi::PrioStatistics = unsafe { std::mem::zeroed() };
        raw.size = std::mem::size_of_val(&raw);
        unsafe { ffi::prio_scheduler_get_statistics(scheduler, &mut raw) };
        Self {
            is_collecting: raw.collecting != 0,
            background: TaskStatistics::new(&raw.background),
            user_visible: TaskStatistics::new(&raw.user_visible),
            user_blocking: TaskStatistics::new(&raw.user_blocking),
        }
    }
}

impl TaskStatistics {
    fn new(raw: &ffi::PrioTaskStatistics) -> Self {
        Self {
            n_queued: raw.n_queued,
            n_delayed: raw.n_delayed,
            n_run: raw.n_run,
            n_continued: raw.n_continued,
            n_aborted: raw.n_aborted,
            waiting: TaskTimes::new(&raw.waiting),
            running: TaskTimes::new(&raw.running),
        }
    }
}

impl TaskTimes {
    fn new(raw: &ffi::PrioTaskTimes) -> Self {
        let time = |milliseconds: f64| Duration::from_secs_f64(milliseconds / 1000.0);
        Self { total: time(raw.total), longest: time(raw.longest), median: time(raw.median), percentile_99: time(raw.percentile_99) }
    }
}
