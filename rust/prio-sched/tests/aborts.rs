// SPDX-License-Identifier: LGPL-2.1-or-later
//! Tests that aborts and wakes drop no futures: their caller may hold a lock, as GLib does in the emission of "cancelled", and
//! as channels do.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use futures_util::{FutureExt, StreamExt};
use gio::prelude::*;
use glib::ControlFlow;
use prio_sched::*;

mod common;
use common::*;

/// A lock under which some values must not be dropped.
#[derive(Clone, Default)]
struct Lock {
    is_held: Rc<Cell<bool>>,
    n_dropped_under: Rc<Cell<u32>>,
}

impl Lock {
    fn hold(&self, func: impl FnOnce()) {
        self.is_held.set(true);
        func();
        self.is_held.set(false);
        assert_eq!(self.n_dropped_under.get(), 0);
    }
}

struct NeedsLock(Lock);

impl Drop for NeedsLock {
    fn drop(&mut self) {
        if self.0.is_held.get() {
            self.0.n_dropped_under.set(self.0.n_dropped_under.get() + 1);
        }
    }
}

/// Kinds of awaits, which [`go_on`] repeats until it is aborted.
const AWAITS: [&str; 10] = [
    "signal.future",
    "CancellableFuture",
    "CancellableFuture of a sleep",
    "async_channel",
    "select",
    "a handle",
    "a thread",
    "a timeout of glib",
    "a file",
    "a yield",
];

async fn go_on(what: &str, scheduler: Scheduler, signal: TaskSignal, receiver: async_channel::Receiver<u32>) {
    let file = gio::File::for_path("/dev/null");
    let mut other = scheduler.spawn_local(Priority::Background, pending::<()>());
    loop {
        match what {
            "signal.future" => signal.future().await,
            "CancellableFuture" => drop(gio::CancellableFuture::new(pending::<()>(), signal.clone().upcast()).await),
            "CancellableFuture of a sleep" => {
                let sleep = scheduler.sleep(Duration::from_millis(1));
                drop(gio::CancellableFuture::new(sleep, signal.clone().upcast()).await);
            }
            "async_channel" => drop(receiver.recv().await),
            "select" => {
                let mut sleep = Box::pin(scheduler.sleep(Duration::from_millis(1)).fuse());
                futures_util::select! {
                    _ = sleep => (),
                    _ = receiver.recv().fuse() => (),
                    _ = (&mut other).fuse() => unreachable!(),
                }
            }
            "a handle" => drop((&mut other).await),
            "a thread" => drop(scheduler.run_in_thread(|| ()).await),
            "a timeout of glib" => glib::timeout_future(Duration::from_millis(1)).await,
            "a file" => drop(file.load_contents_future().await),
            _ => yield_now().await,
        }
    }
}

/// Aborts in one of the possible ways.
fn abort(how: usize, controller: &TaskController, handle: &JoinHandle<()>) {
    let (there, abort_handle) = (controller.clone(), handle.abort_handle());
    match how {
        0 => controller.abort(None),
        1 => controller.signal().upcast::<gio::Cancellable>().cancel(),
        2 => handle.abort(),
        3 => thread::spawn(move || there.abort(None)).join().unwrap(),
        4 => thread::spawn(move || there.signal().upcast::<gio::Cancellable>().cancel()).join().unwrap(),
        _ => thread::spawn(move || abort_handle.abort()).join().unwrap(),
    }
}

#[test]
fn an_abort_ends_a_future_at_every_await_and_not_within_it() {
    with_scheduler(|scheduler| {
        for what in AWAITS {
            for (how, is_in_group) in (0..6).flat_map(|how| [(how, false), (how, true)]) {
                for n_iterations in 0..4 {
                    let controller = TaskController::new(Priority::UserVisible);
                    let group = TaskGroup::new(scheduler, 2, Priority::UserVisible);
                    let (lock, dropped) = (Lock::default(), Dropped::default());
                    let (sender, receiver) = async_channel::unbounded();
                    let (needs, guard) = (NeedsLock(lock.clone()), dropped.guard());
                    let body = go_on(what, scheduler.clone(), controller.signal(), receiver);
                    let future = async move {
                        let _both = (needs, guard);
                        body.await
                    };
                    let options = TaskOptions::new().signal(&controller.signal());
                    let handle = if is_in_group { group.spawn_local(options, future) } else { scheduler.spawn_local(options, future) };
                    for _ in 0..n_iterations {
                        scheduler.context().iteration(false);
                    }
                    lock.hold(|| {
                        abort(how, &controller, &handle);
                        // This wakes an aborted future.
                        let _ = sender.try_send(1);
                    });
                    assert_eq!(dropped.n(), 0, "{what}, aborted by {how} after {n_iterations} iterations");
                    assert!(wait_for(scheduler, handle).unwrap_err().is_aborted(), "{what}, aborted by {how} after {n_iterations} iterations");
                    assert_eq!(dropped.n(), 1);
                }
            }
        }
    });
}

#[test]
fn a_wake_of_what_another_thread_has_aborted_drops_nothing() {
    with_scheduler(|scheduler| {
        let controller = TaskController::new(Priority::UserVisible);
        let lock = Lock::default();
        let spawn = |options: TaskOptions| {
            let slot = Rc::new(RefCell::new(None::<Waker>));
            let (kept, needs) = (slot.clone(), NeedsLock(lock.clone()));
            let future = async move {
                let _needs = needs;
                poll_fn(|context| {
                    *kept.borrow_mut() = Some(context.waker().clone());
                    Poll::<()>::Pending
                })
                .await
            };
            let handle = scheduler.spawn_local(options, future);
            run_until(scheduler, || slot.borrow().is_some());
            (slot.take().unwrap(), handle)
        };
        let (waker, aborted) = spawn((&controller.signal()).into());
        let (other_waker, other) = spawn(Priority::UserVisible.into());
        // Nor may the library drop the closure of a queued task here.
        let needs = NeedsLock(lock.clone());
        scheduler.post_local_once(controller.signal(), move || drop(needs));
        thread::spawn(move || controller.abort(None)).join().unwrap();
        lock.hold(|| {
            other_waker.wake();
            waker.wake();
        });
        assert!(wait_for(scheduler, aborted).unwrap_err().is_aborted());
        other.abort();
        assert!(wait_for(scheduler, other).unwrap_err().is_aborted());
    });
}

#[test]
fn an_abort_ends_what_is_paused() {
    with_scheduler(|scheduler| {
        let controller = TaskController::new(Priority::UserVisible);
        let handles = [
            scheduler.spawn_local(Priority::UserVisible, pending::<()>()),
            scheduler.spawn_local(controller.signal(), pending::<()>()),
        ];
        iterate(scheduler);
        scheduler.pause();
        let queued = scheduler.spawn_local(controller.signal(), pending::<()>());
        handles[0].abort();
        controller.abort(None);
        for handle in handles.into_iter().chain([queued]) {
            assert!(wait_for(scheduler, handle).unwrap_err().is_aborted());
        }
        scheduler.resume();
    });
}

#[test]
fn what_is_posted_after_a_reset_waits_for_the_next_cancel() {
    with_scheduler(|scheduler| {
        let cancellable = gio::Cancellable::new();
        let first = scheduler.spawn_local(&cancellable, pending::<()>());
        iterate(scheduler);
        cancellable.cancel();
        unsafe { gio::ffi::g_cancellable_reset(cancellable.as_ptr()) };
        let second = scheduler.spawn_local(&cancellable, pending::<()>());
        assert!(wait_for(scheduler, first).unwrap_err().is_aborted());
        iterate(scheduler);
        assert!(!second.is_finished());
        cancellable.cancel();
        assert!(wait_for(scheduler, second).unwrap_err().is_aborted());
    });
}

/// Every hundredth drop takes 100 µs, a fiftieth of a slice, or more on a busy machine: so a task that holds the loop for too long
/// drops too many futures.
#[test]
fn a_hundred_thousand_that_are_aborted_at_once_hold_the_loop_for_no_more_than_two_slices() {
    const N: u32 = 100_000;
    const IN_TWO_SLICES: u32 = 100;
    struct Slow(u32, Rc<Cell<u32>>);
    impl Drop for Slow {
        fn drop(&mut self) {
            let begun = Instant::now();
            while self.0.is_multiple_of(100) && begun.elapsed() < Duration::from_micros(100) {}
            self.1.set(self.1.get() + 1);
        }
    }
    with_scheduler(|scheduler| {
        assert_eq!(scheduler.time_slice(), None); // at most 5 ms
        for how in ["queued", "in a group", "waiting", "by their handles"] {
            let group = TaskGroup::new(scheduler, 4, Priority::UserVisible);
            let (controller, n_dropped, most, last) =
                (TaskController::new(Priority::UserVisible), Rc::new(Cell::new(0)), Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
            let spawn = |i| {
                let slow = Slow(i, n_dropped.clone());
                let future = async move {
                    let _slow = slow;
                    pending::<()>().await
                };
                if how == "in a group" {
                    group.spawn_local(TaskOptions::new(), future)
                } else {
                    scheduler.spawn_local(controller.signal(), future)
                }
            };
            let handles: Vec<_> = (0..N).map(spawn).collect();
            if how == "waiting" || how == "by their handles" {
                run_until(scheduler, || scheduler.count_pending() == 0);
            }
            let source = glib::idle_source_new(None, glib::Priority::DEFAULT, {
                let counts = glib::thread_guard::ThreadGuard::new((n_dropped.clone(), most.clone(), last));
                move || {
                    let (n_dropped, most, last) = counts.get_ref();
                    most.set(most.get().max(n_dropped.get() - last.replace(n_dropped.get())));
                    ControlFlow::Continue
                }
            });
            source.attach(Some(&scheduler.context()));
            if how == "by their handles" {
                handles.iter().for_each(JoinHandle::abort);
            } else {
                group.abort(None);
                controller.abort(None);
            }
            assert_eq!(n_dropped.get(), 0);
            run_until(scheduler, || n_dropped.get() == N);
            assert!(most.get() <= 100 * IN_TWO_SLICES, "{how}: {} dropped in one turn", most.get());
            source.destroy();
        }
    });
}

#[test]
fn a_drop_that_runs_the_main_loop_waits_for_another_abort() {
    struct Waits(Scheduler, Rc<RefCell<Option<JoinHandle<()>>>>);
    impl Drop for Waits {
        fn drop(&mut self) {
            let other = self.1.take().unwrap();
            assert!(wait_for(&self.0, other).unwrap_err().is_aborted());
        }
    }
    with_scheduler(|scheduler| {
        for is_by_signal in [false, true] {
            let (controller, other) = (TaskController::new(Priority::UserVisible), Rc::new(RefCell::new(None)));
            let waits = Waits(scheduler.clone(), other.clone());
            let first = scheduler.spawn_local(controller.signal(), async move {
                let _waits = waits;
                pending::<()>().await
            });
            let second = scheduler.spawn_local(controller.signal(), pending::<()>());
            let abort_second = second.abort_handle();
            other.replace(Some(second));
            iterate(scheduler);
            if is_by_signal {
                controller.abort(None);
            } else {
                first.abort();
                abort_second.abort();
            }
            assert!(wait_for(scheduler, first).unwrap_err().is_aborted());
        }
    });
}

#[test]
fn a_stream_in_slices_ends_with_its_signal() {
    with_scheduler(|scheduler| {
        let controller = TaskController::new(Priority::UserVisible);
        let (sender, receiver) = async_channel::unbounded();
        let (own, n) = (scheduler.clone(), Rc::new(Cell::new(0)));
        let received = n.clone();
        let handle = scheduler.spawn_local(controller.signal(), async move {
            let mut items = own.in_slices(receiver).fuse();
            while let Some(item) = items.next().await {
                received.set(received.get() + item);
            }
        });
        sender.try_send(1).unwrap();
        run_until(scheduler, || n.get() == 1);
        controller.abort(None);
        sender.try_send(1).unwrap();
        assert!(wait_for(scheduler, handle).unwrap_err().is_aborted());
        assert_eq!(n.get(), 1);
        assert!(sender.is_closed());
    });
}
