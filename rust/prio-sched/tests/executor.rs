// SPDX-License-Identifier: LGPL-2.1-or-later
//! Tests the executor.  Each test has its own main context and scheduler, because cargo runs them in threads.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn, Future};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{mpsc, Arc};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use gio::prelude::*;
use glib::{ControlFlow, MainContext};
use prio_sched::*;

mod common;
use common::*;

type Log = Rc<RefCell<Vec<String>>>;

async fn two_steps(log: Log, name: &'static str) {
    log.borrow_mut().push(format!("{name}1"));
    yield_now().await;
    log.borrow_mut().push(format!("{name}2"));
}

#[test]
fn urgent_futures_go_first_and_equals_take_turns() {
    with_scheduler(|scheduler| {
        let log = Log::default();
        for (name, priority) in [
            ("bg", Priority::Background),
            ("a", Priority::UserVisible),
            ("b", Priority::UserVisible),
            ("ub", Priority::UserBlocking),
        ] {
            scheduler.spawn_local(priority, two_steps(log.clone(), name));
        }
        run_until(scheduler, || log.borrow().len() == 8);
        assert_eq!(*log.borrow(), ["ub1", "ub2", "a1", "b1", "a2", "b2", "bg1", "bg2"]);
    });
}

#[test]
fn what_goes_on_ends_before_its_equals() {
    with_scheduler(|scheduler| {
        let log = Log::default();
        for name in ["a", "b"] {
            scheduler.spawn_local(TaskOptions::new().takes_turns(false), two_steps(log.clone(), name));
        }
        run_until(scheduler, || log.borrow().len() == 4);
        assert_eq!(*log.borrow(), ["a1", "a2", "b1", "b2"]);
    });
}

#[test]
fn a_loop_of_yields_ends() {
    with_scheduler(|scheduler| {
        assert_eq!(scheduler.starvation_limit(), Duration::from_secs(1));
        scheduler.set_starvation_limit(Duration::from_millis(20));
        assert_eq!(scheduler.starvation_limit(), Duration::from_millis(20));
        let stopped = Rc::new(Cell::new(false));
        let stop = stopped.clone();
        let reader = scheduler.spawn_local(TaskOptions::new().takes_turns(false), async move {
            while !stopped.get() {
                yield_now().await;
            }
        });
        scheduler.post_local_once(Priority::UserVisible, move || stop.set(true));
        wait_for(scheduler, reader).unwrap();
    });
}

#[test]
fn turns_are_taken_with_a_signal_too() {
    with_scheduler(|scheduler| {
        let log = Log::default();
        let controller = TaskController::new(Priority::UserVisible);
        for name in ["a", "b"] {
            scheduler.spawn_local(controller.signal(), two_steps(log.clone(), name));
        }
        run_until(scheduler, || log.borrow().len() == 4);
        assert_eq!(*log.borrow(), ["a1", "b1", "a2", "b2"]);
    });
}

#[test]
fn a_loop_of_yields_starves_no_equal() {
    with_scheduler(|scheduler| {
        let n_yields = Rc::new(Cell::new(0));
        let n = n_yields.clone();
        let endless = scheduler.spawn_local(Priority::UserVisible, async move {
            loop {
                n.set(n.get() + 1);
                yield_now().await;
            }
        });
        let other = scheduler.spawn_local(Priority::UserVisible, async { 1 });
        assert_eq!(wait_for(scheduler, other).unwrap(), 1);
        assert!(n_yields.get() < 1000);
        endless.abort();
    });
}

#[test]
fn a_timeout_that_has_passed_goes_first_until_the_next_await() {
    with_scheduler(|scheduler| {
        let log = Log::default();
        let options = TaskOptions::new().priority(Priority::Background).timeout(Duration::from_millis(1)).name("late");
        scheduler.spawn_local(options, two_steps(log.clone(), "late"));
        thread::sleep(Duration::from_millis(3));
        scheduler.spawn_local(Priority::UserBlocking, two_steps(log.clone(), "ub"));
        run_until(scheduler, || log.borrow().len() == 4);
        assert_eq!(log.borrow()[..2], ["late1", "ub1"]);
    });
}

#[test]
fn a_timeout_counts_anew_after_each_await() {
    with_scheduler(|scheduler| {
        let n_urgent = Rc::new(Cell::new(0));
        let n = n_urgent.clone();
        let endless = scheduler.spawn_local(Priority::UserBlocking, async move {
            loop {
                n.set(n.get() + 1);
                yield_now().await;
            }
        });
        let group = TaskGroup::new(scheduler, 1, Priority::Background);
        for how in 0..4 {
            for is_in_group in [false, true] {
                let own = scheduler.clone();
                let future = async move {
                    for _ in 0..3 {
                        match how {
                            0 => own.sleep(Duration::from_millis(1)).await,
                            1 => glib::timeout_future(Duration::from_millis(1)).await,
                            2 => own.run_in_thread(|| ()).await.unwrap(),
                            _ => yield_now().await,
                        }
                    }
                };
                let options = TaskOptions::from(Priority::Background).timeout(Duration::from_millis(1));
                let handle = if is_in_group { group.spawn_local(options, future) } else { scheduler.spawn_local(options, future) };
                wait_for(scheduler, handle).unwrap();
            }
        }
        // The urgent future continues, even next to a late future that never ends.
        let late = scheduler.spawn_local(TaskOptions::from(Priority::Background).timeout(Duration::from_millis(1)), async {
            loop {
                yield_now().await;
            }
        });
        let before = n_urgent.get();
        run_until(scheduler, || n_urgent.get() > before + 1000);
        endless.abort();
        late.abort();
    });
}

#[test]
fn a_result_that_has_come_is_awaited_too() {
    with_scheduler(|scheduler| {
        let (log, worker) = (Log::default(), Worker::new("test"));
        let (late, urgent) = (log.clone(), log.clone());
        let own = scheduler.clone();
        // The timeout of the future passes, so that only an await lets others run first.
        let options = TaskOptions::from(Priority::Background).timeout(Duration::from_millis(1));
        let handle = scheduler.spawn_local(options, async move {
            thread::sleep(Duration::from_millis(3));
            let (sender, receiver) = mpsc::channel();
            let first = worker.run(&own, || ());
            let _second = worker.run(&own, move || sender.send(()).unwrap());
            // The worker runs one closure at a time, so the first is over.
            receiver.recv().unwrap();
            own.spawn_local(Priority::UserBlocking, async move { urgent.borrow_mut().push("urgent".into()) });
            first.await.unwrap();
            late.borrow_mut().push("late".into());
            worker.stop(Stop::Finish);
        });
        wait_for(scheduler, handle).unwrap();
        assert_eq!(*log.borrow(), ["urgent", "late"]);
    });
}

#[test]
fn the_priority_of_a_signal_moves_what_is_queued() {
    with_scheduler(|scheduler| {
        let log = Log::default();
        let controller = TaskController::new(Priority::Background);
        let (first, second) = (log.clone(), log.clone());
        scheduler.spawn_local(Priority::UserVisible, async move { first.borrow_mut().push("user-visible".into()) });
        scheduler.spawn_local(controller.signal(), async move { second.borrow_mut().push("moved".into()) });
        controller.set_priority(Priority::UserBlocking).unwrap();
        run_until(scheduler, || log.borrow().len() == 2);
        assert_eq!(*log.borrow(), ["moved", "user-visible"]);
    });
}

/// A future that waits in one of the possible ways; it does not end by itself.
async fn under_way(scheduler: Scheduler, how: usize, started: Rc<Cell<u32>>, _guard: Guard) {
    started.set(started.get() + 1);
    // The thread ends with the future, which drops the sender.
    let (sender, receiver) = mpsc::channel::<()>();
    match how {
        0 => pending().await,
        1 => scheduler.sleep(Duration::from_secs(100)).await,
        2 => loop {
            yield_now().await
        },
        _ => drop(scheduler.run_in_thread(move || receiver.recv()).await),
    }
    drop(sender);
}

#[test]
fn an_abort_drops_futures_wherever_they_are() {
    with_scheduler(|scheduler| {
        let controller = TaskController::new(Priority::UserVisible);
        let (dropped, started) = (Dropped::default(), Rc::new(Cell::new(0)));
        let spawn = |how| scheduler.spawn_local(controller.signal(), under_way(scheduler.clone(), how, started.clone(), dropped.guard()));
        let mut handles: Vec<_> = (0..4).map(spawn).collect();
        run_until(scheduler, || started.get() == 4);
        iterate(scheduler);
        handles.push(spawn(0)); // a future that has not started
        controller.abort(None);
        run_until(scheduler, || handles.iter().all(JoinHandle::is_finished));
        assert_eq!((dropped.n(), started.get()), (5, 4));
        for handle in handles {
            assert!(wait_for(scheduler, handle).unwrap_err().is_aborted());
        }
        assert!(spawn(0).is_finished(), "its signal is aborted already");
        assert_eq!(dropped.n(), 6);
    });
}

#[test]
fn another_thread_aborts_a_signal() {
    with_scheduler(|scheduler| {
        let controller = TaskController::new(Priority::Background);
        let (dropped, started) = (Dropped::default(), Rc::new(Cell::new(0)));
        let handles: Vec<_> = (0..4)
            .map(|how| scheduler.spawn_local(controller.signal(), under_way(scheduler.clone(), how, started.clone(), dropped.guard())))
            .collect();
        run_until(scheduler, || started.get() == 4);
        let thread = thread::spawn(move || controller.abort(None));
        run_until(scheduler, || handles.iter().all(JoinHandle::is_finished));
        thread.join().unwrap();
        assert_eq!(dropped.n(), 4);
    });
}

#[test]
fn a_cancellable_of_gio_aborts_too() {
    with_scheduler(|scheduler| {
        let cancellable = gio::Cancellable::new();
        let handle = scheduler.spawn_local(&cancellable, pending::<()>());
        iterate(scheduler);
        cancellable.cancel();
        assert!(wait_for(scheduler, handle).unwrap_err().is_aborted());
    });
}

#[test]
fn a_handle_aborts_once_and_soon() {
    with_scheduler(|scheduler| {
        for how in 0..4 {
            let (dropped, started) = (Dropped::default(), Rc::new(Cell::new(0)));
            let handle = scheduler.spawn_local(Priority::Background, under_way(scheduler.clone(), how, started.clone(), dropped.guard()));
            run_until(scheduler, || started.get() == 1);
            iterate(scheduler);
            handle.abort();
            assert_eq!((dropped.n(), handle.is_finished()), (0, false));
            handle.abort();
            assert!(wait_for(scheduler, handle).unwrap_err().is_aborted());
            assert_eq!(dropped.n(), 1);
        }
        let dropped = Dropped::default();
        let guard = dropped.guard();
        let handle = scheduler.spawn_local(Priority::Background, async move {
            drop(guard);
            unreachable!("it has not begun");
        });
        handle.abort();
        assert!(wait_for(scheduler, handle).unwrap_err().is_aborted());
        assert_eq!(dropped.n(), 1);
    });
}

#[test]
fn a_future_aborts_itself() {
    with_scheduler(|scheduler| {
        let own = Rc::new(RefCell::new(None::<AbortHandle>));
        let own_too = own.clone();
        let handle = scheduler.spawn_local(Priority::UserVisible, async move {
            own_too.borrow().as_ref().unwrap().abort();
            yield_now().await;
            unreachable!();
        });
        *own.borrow_mut() = Some(handle.abort_handle());
        assert!(wait_for(scheduler, handle).unwrap_err().is_aborted());
        own.borrow().as_ref().unwrap().abort();
    });
}

#[test]
fn an_abort_handle_works_on_another_thread() {
    with_scheduler(|scheduler| {
        for how in 0..4 {
            let (dropped, started) = (Dropped::default(), Rc::new(Cell::new(0)));
            let handle = scheduler.spawn_local(Priority::Background, under_way(scheduler.clone(), how, started.clone(), dropped.guard()));
            run_until(scheduler, || started.get() == 1);
            let abort_handle = handle.abort_handle();
            let thread = thread::spawn(move || abort_handle.abort());
            assert!(wait_for(scheduler, handle).unwrap_err().is_aborted());
            thread.join().unwrap();
            assert_eq!(dropped.n(), 1);
        }
    });
}

#[test]
fn a_dropped_handle_detaches() {
    with_scheduler(|scheduler| {
        let dropped = Dropped::default();
        let guard = dropped.guard();
        drop(scheduler.spawn_local(Priority::UserVisible, async move {
            yield_now().await;
            guard // a result that is not taken
        }));
        assert_eq!(dropped.n(), 0);
        run_until(scheduler, || dropped.n() == 1);

        let guard = dropped.guard();
        let handle = scheduler.spawn_local(Priority::UserVisible, async move { guard });
        run_until(scheduler, || handle.is_finished());
        assert_eq!(dropped.n(), 1);
        handle.detach();
        assert_eq!(dropped.n(), 2);
    });
}

#[test]
fn a_panic_stays_in_its_handle() {
    with_scheduler(|scheduler| {
        let bad = scheduler.spawn_local(Priority::UserBlocking, async { panic!("of a test") });
        let good = scheduler.spawn_local(Priority::UserVisible, async { 1 });
        let payload = wait_for(scheduler, bad).unwrap_err().into_panic();
        assert_eq!(*payload.downcast::<&str>().unwrap(), "of a test");
        assert_eq!(wait_for(scheduler, good).unwrap(), 1);

        struct Bad;
        impl Drop for Bad {
            fn drop(&mut self) {
                panic!("of its drop");
            }
        }
        let bad = Bad;
        let handle = scheduler.spawn_local(Priority::UserVisible, async move {
            let _bad = bad;
            pending::<()>().await
        });
        iterate(scheduler);
        handle.abort();
        assert!(matches!(wait_for(scheduler, handle), Err(JoinError::Panicked(_))));

        let in_thread = scheduler.run_in_thread(|| panic!("of a thread"));
        assert!(matches!(wait_for(scheduler, in_thread), Err(JoinError::Panicked(_))));
    });
}

/// Waits until the test uses the waker, or the future is polled again.
async fn park(slot: Rc<RefCell<Option<Waker>>>) {
    let mut is_parked = false;
    poll_fn(move |context| {
        if std::mem::replace(&mut is_parked, true) {
            return Poll::Ready(());
        }
        *slot.borrow_mut() = Some(context.waker().clone());
        Poll::Pending
    })
    .await
}

#[test]
fn a_waker_outlives_its_future_its_scheduler_and_its_context() {
    let kept = Rc::new(RefCell::new(None));
    let slot = kept.clone();
    with_scheduler(|scheduler| {
        let handle = scheduler.spawn_local(Priority::UserVisible, park(slot));
        iterate(scheduler);
        let waker: Waker = kept.borrow().clone().unwrap();
        for _ in 0..1000 {
            waker.wake_by_ref();
        }
        wait_for(scheduler, handle).unwrap();
        waker.wake_by_ref();
        iterate(scheduler);
        let handles: Vec<_> = (0..3).map(|_| scheduler.spawn_local(Priority::UserVisible, park(kept.clone()))).collect();
        iterate(scheduler);
        drop(handles);
    });
    let waker = kept.borrow_mut().take().unwrap();
    waker.wake_by_ref();
    thread::spawn(move || waker.wake()).join().unwrap();
}

#[test]
fn a_future_that_is_ready_and_woken_is_not_polled_again() {
    with_scheduler(|scheduler| {
        let n_polls = Rc::new(Cell::new(0));
        let n = n_polls.clone();
        let handle = scheduler.spawn_local(
            Priority::UserVisible,
            poll_fn(move |context| {
                context.waker().wake_by_ref();
                n.set(n.get() + 1);
                Poll::Ready(())
            }),
        );
        run_until(scheduler, || handle.is_finished());
        iterate(scheduler);
        assert_eq!(n_polls.get(), 1);
    });
}

#[test]
fn no_wake_of_other_threads_is_lost() {
    with_scheduler(|scheduler| {
        const N: u32 = 20_000;
        let handle = scheduler.spawn_local(Priority::UserVisible, async {
            use futures_util::StreamExt;
            let mut receivers = Vec::new();
            for _ in 0..4 {
                let (sender, receiver) = futures_channel::mpsc::unbounded();
                thread::spawn(move || (0..N).for_each(|i| sender.unbounded_send(i).unwrap()));
                receivers.push(receiver);
            }
            futures_util::stream::select_all(receivers).count().await
        });
        assert_eq!(wait_for(scheduler, handle).unwrap(), 4 * N as usize);
    });
}

#[test]
fn handles_and_sleeps_are_fused() {
    with_scheduler(|scheduler| {
        let own = scheduler.clone();
        let handle = scheduler.spawn_local(Priority::UserVisible, async move {
            let mut handle = own.spawn_local(Priority::UserVisible, async { 1 });
            let (mut sleep, mut thread) = (own.sleep(Duration::from_millis(1)), own.run_in_thread(|| 10));
            let mut sum = 0;
            loop {
                futures_util::select! {
                    one = handle => sum += one.unwrap(),
                    ten = thread => sum += ten.unwrap(),
                    () = sleep => sum += 100,
                    complete => break sum,
                }
            }
        });
        assert_eq!(wait_for(scheduler, handle).unwrap(), 111);
    });
}

#[test]
fn combinators_poll_their_parts() {
    with_scheduler(|scheduler| {
        let handle = scheduler.spawn_local(Priority::UserVisible, async {
            let one = async {
                yield_now().await;
                1
            };
            let two = async {
                yield_now().await;
                yield_now().await;
                2
            };
            futures_util::future::join(one, two).await
        });
        assert_eq!(wait_for(scheduler, handle).unwrap(), (1, 2));
    });
}

#[test]
fn what_a_future_awaits_has_its_priority_and_signal() {
    with_scheduler(|scheduler| {
        let controller = TaskController::new(Priority::Background);
        let log = Log::default();
        let (of_sleep, of_other) = (log.clone(), log.clone());
        let own = scheduler.clone();
        let handle = scheduler.spawn_local(controller.signal(), async move {
            own.sleep(Duration::from_millis(1)).await;
            of_sleep.borrow_mut().push("slept".into());
            let _ = own.run_in_thread(|| ()).await;
            pending::<()>().await
        });
        iterate(scheduler);
        thread::sleep(Duration::from_millis(5));
        scheduler.spawn_local(Priority::UserVisible, async move { of_other.borrow_mut().push("visible".into()) });
        run_until(scheduler, || log.borrow().len() == 2);
        assert_eq!(*log.borrow(), ["visible", "slept"]);
        controller.abort(None);
        assert!(wait_for(scheduler, handle).is_err());
    });
}

#[test]
fn a_sleep_takes_its_time_and_can_be_dropped() {
    with_scheduler(|scheduler| {
        let begun = Instant::now();
        wait_for(scheduler, scheduler.sleep(Duration::from_millis(20)));
        assert!(begun.elapsed() >= Duration::from_millis(20));
        for micros in [100, 900, 1900] {
            let (begun, time) = (Instant::now(), Duration::from_micros(micros));
            wait_for(scheduler, scheduler.sleep(time));
            assert!(begun.elapsed() >= time);
        }
        let mut sleep = Box::pin(scheduler.sleep(Duration::from_secs(1000)));
        assert!(Pin::new(&mut sleep).poll(&mut Context::from_waker(Waker::noop())).is_pending());
        drop(sleep);
    });
}

#[test]
fn a_thread_gives_its_result() {
    with_scheduler(|scheduler| {
        let here = thread::current().id();
        let there = wait_for(scheduler, scheduler.run_in_thread(move || thread::current().id())).unwrap();
        assert_ne!(here, there);
        // The closure is dropped if its handle is dropped before it starts; a running closure is not interrupted.
        let (sender, receiver) = mpsc::channel();
        for _ in 0..100 {
            let sender = sender.clone();
            drop(scheduler.run_in_thread(move || sender.send(()).unwrap()));
        }
        drop(sender);
        run_until(scheduler, || {
            receiver.try_iter().for_each(drop);
            receiver.try_recv() == Err(mpsc::TryRecvError::Disconnected)
        });
    });
}

#[test]
fn a_worker_runs_one_after_the_other() {
    with_scheduler(|scheduler| {
        let worker = Worker::new("test");
        let ids: Vec<_> = (0..3).map(|_| worker.run(scheduler, || thread::current().id())).collect();
        let ids = wait_for(scheduler, futures_util::future::join_all(ids));
        assert!(ids.iter().all(|id| id.as_ref().unwrap() == ids[0].as_ref().unwrap()));
        let never = worker.run(scheduler, || thread::sleep(Duration::from_millis(20)));
        let late = worker.run(scheduler, || ());
        worker.stop(Stop::Abort);
        worker.join();
        let results = wait_for(scheduler, futures_util::future::join(never, late));
        assert!(results.1.unwrap_err().is_aborted());
        assert!(wait_for(scheduler, worker.run(scheduler, || ())).unwrap_err().is_aborted());
    });
}

#[test]
fn a_group_has_a_limit_and_is_aborted_as_one() {
    with_scheduler(|scheduler| {
        let group = TaskGroup::new(scheduler, 3, Priority::UserVisible);
        let (now, most) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
        let handles: Vec<_> = (0..20)
            .map(|i| {
                let (scheduler, now, most) = (scheduler.clone(), now.clone(), most.clone());
                group.spawn_local(TaskOptions::new(), async move {
                    now.set(now.get() + 1);
                    most.set(now.get().max(most.get()));
                    scheduler.sleep(Duration::from_millis(1)).await;
                    yield_now().await;
                    now.set(now.get() - 1);
                    i
                })
            })
            .collect();
        assert_eq!(group.n_tasks(), 20);
        wait_for(scheduler, group.drained());
        assert_eq!((most.get(), group.n_tasks()), (3, 0));
        for (i, handle) in handles.into_iter().enumerate() {
            assert_eq!(wait_for(scheduler, handle).unwrap(), i);
        }

        let dropped = Dropped::default();
        let group = TaskGroup::new(scheduler, 2, Priority::UserVisible);
        let spawn = |how| group.spawn_local(TaskOptions::new(), under_way(scheduler.clone(), how, Rc::default(), dropped.guard()));
        let handles: Vec<_> = (0..4).map(spawn).collect();
        iterate(scheduler);
        handles[0].abort();
        handles[3].abort();
        run_until(scheduler, || dropped.n() == 2);
        run_until(scheduler, || group.n_tasks() == 2);
        iterate(scheduler);
        group.abort(None);
        run_until(scheduler, || handles.iter().all(JoinHandle::is_finished));
        assert_eq!((dropped.n(), group.n_tasks()), (4, 0));
        let late = group.spawn_local(TaskOptions::new(), async { 1 });
        assert_eq!(wait_for(scheduler, late).unwrap(), 1, "the group goes on");
    });
}

#[test]
fn a_delayed_future_that_is_aborted_leaves_its_queue() {
    with_scheduler(|scheduler| {
        let controller = TaskController::new(Priority::UserVisible);
        let days = TaskOptions::new().delay(Duration::from_secs(1_000_000));
        for options in [days.clone(), days.clone().signal(&controller.signal())] {
            let dropped = Dropped::default();
            let guard = dropped.guard();
            let handle = scheduler.spawn_local(options, async move { drop(guard) });
            assert_eq!(unsafe { ffi::prio_scheduler_count_pending(scheduler.as_ptr()) }, 1);
            handle.abort();
            run_until(scheduler, || dropped.n() == 1);
            assert_eq!(unsafe { ffi::prio_scheduler_count_pending(scheduler.as_ptr()) }, 0);
        }
        let begun = Instant::now();
        let late = scheduler.spawn_local(TaskOptions::new().delay(Duration::from_millis(20)), async {
            yield_now().await;
            1
        });
        assert_eq!(wait_for(scheduler, late).unwrap(), 1);
        assert!(begun.elapsed() >= Duration::from_millis(20));
    });
}

#[test]
fn a_result_whose_drop_panics_disturbs_nobody() {
    struct Bad;
    impl Drop for Bad {
        fn drop(&mut self) {
            panic!("of a drop");
        }
    }
    with_scheduler(|scheduler| {
        drop(scheduler.spawn_local(Priority::UserVisible, async { Bad }));
        let kept = scheduler.spawn_local(Priority::UserVisible, async { Bad });
        let good = scheduler.spawn_local(Priority::Background, async { 1 });
        assert_eq!(wait_for(scheduler, good).unwrap(), 1);
        drop(kept);
        let (sender, receiver) = mpsc::channel();
        drop(scheduler.run_in_thread(move || {
            sender.send(()).unwrap();
            Bad
        }));
        run_until(scheduler, || receiver.try_recv() == Err(mpsc::TryRecvError::Disconnected));
        iterate(scheduler);
    });
}

#[test]
fn a_future_that_waits_for_its_own_handle_panics() {
    with_scheduler(|scheduler| {
        let own = Rc::new(RefCell::new(None::<JoinHandle<()>>));
        let inner = own.clone();
        let handle = scheduler.spawn_local(Priority::UserVisible, async move {
            let own = inner.take().unwrap();
            drop(own.await);
        });
        let abort_handle = handle.abort_handle();
        *own.borrow_mut() = Some(handle);
        run_until(scheduler, || abort_handle.is_finished());
    });
}

#[test]
#[should_panic(expected = "no future would ever begin")]
fn a_group_wants_a_limit_above_0() {
    with_scheduler(|scheduler| drop(TaskGroup::new(scheduler, 0, Priority::UserVisible)));
}

#[test]
#[should_panic(expected = "a future can only be posted on the thread")]
fn the_scheduler_of_a_worker_takes_no_future_from_elsewhere() {
    let worker = Worker::new("test");
    worker.scheduler().spawn_local(Priority::UserVisible, async {}).detach();
}

fn is_send<T: Send>(_: &T) {}

#[test]
fn errors_handles_and_results_of_threads_are_send() {
    with_scheduler(|scheduler| {
        is_send(&JoinError::Aborted);
        is_send(&scheduler.run_in_thread(|| 1));
        is_send(&scheduler.sleep(Duration::ZERO));
        is_send(&scheduler.spawn_local(Priority::UserVisible, async { 1 }));
    });
}

#[test]
fn a_group_that_waits_for_itself_panics() {
    with_scheduler(|scheduler| {
        let group = TaskGroup::new(scheduler, 1, Priority::UserVisible);
        let own = group.clone();
        let handle = group.spawn_local(TaskOptions::new(), async move { own.drained().await });
        assert!(matches!(wait_for(scheduler, handle), Err(JoinError::Panicked(_))));
        assert_eq!(group.n_tasks(), 0);
    });
}

#[test]
fn slices_let_others_go_first() {
    with_scheduler(|scheduler| {
        let own = scheduler.clone();
        let is_over = Rc::new(Cell::new(false));
        let over = is_over.clone();
        let sum = scheduler.spawn_local(Priority::Background, async move {
            let mut rows = own.slices(0..u64::MAX);
            while let Some(_row) = rows.next().await {
                if over.get() {
                    break;
                }
            }
            let stream = futures_util::stream::iter(1..=3);
            let mut rows = own.in_slices(stream);
            let mut sum = 0;
            while let Some(row) = rows.next().await {
                sum += row;
            }
            sum
        });
        glib::timeout_source_new(Duration::from_millis(30), None, glib::Priority::DEFAULT, {
            let is_over = glib::thread_guard::ThreadGuard::new(is_over);
            move || {
                is_over.get_ref().set(true);
                ControlFlow::Break
            }
        })
        .attach(Some(&scheduler.context()));
        assert_eq!(wait_for(scheduler, sum).unwrap(), 6);
    });
}

#[test]
fn closures_run_until_they_break() {
    with_scheduler(|scheduler| {
        let n = Rc::new(Cell::new(0));
        let own = n.clone();
        assert!(scheduler.post_local(Priority::UserVisible, move || {
            own.set(own.get() + 1);
            if own.get() < 3 { ControlFlow::Continue } else { ControlFlow::Break }
        }));
        run_until(scheduler, || n.get() == 3);
        let (sender, receiver) = mpsc::channel();
        let other = scheduler.clone();
        thread::spawn(move || other.post_once(Priority::Background, move || sender.send(thread::current().id()).unwrap()));
        let mut ran_on = None;
        run_until(scheduler, || {
            ran_on = receiver.try_recv().ok();
            ran_on.is_some()
        });
        assert_eq!(ran_on, Some(thread::current().id()));
        let dropped = Dropped::default();
        let guard = dropped.guard();
        assert!(!scheduler.post_local_once(TaskSignal::aborted(None), move || drop(guard)));
        assert_eq!(dropped.n(), 1);
        iterate(scheduler);
        assert_eq!(Rc::strong_count(&n), 1);
    });
}

#[test]
fn signals_tell_their_priority_and_reason() {
    let controller = TaskController::new(Priority::Background);
    let signal = controller.signal();
    let (sender, receiver) = mpsc::channel();
    signal.connect_priority_change(move |signal, before| sender.send((before, signal.priority())).unwrap());
    controller.set_priority(Priority::UserBlocking).unwrap();
    assert_eq!(receiver.recv().unwrap(), (Priority::Background, Priority::UserBlocking));
    assert!(signal.reason().is_none());
    controller.abort(Some(&glib::Error::new(gio::IOErrorEnum::NotFound, "of a test")));
    assert!(signal.reason().unwrap().matches(gio::IOErrorEnum::NotFound));
    assert!(signal.upcast_ref::<gio::Cancellable>().is_cancelled());

    let controller = TaskController::new(Priority::Background);
    let again = controller.clone();
    let (sender, receiver) = mpsc::channel();
    controller.signal().connect_priority_change(move |_, _| sender.send(again.set_priority(Priority::UserVisible)).unwrap());
    controller.set_priority(Priority::UserBlocking).unwrap();
    assert!(receiver.recv().unwrap().unwrap_err().matches(Error::NotAllowed));
    assert!(TaskSignal::timeout(Duration::from_secs(1000)).reason().is_none());
}

#[test]
#[should_panic(expected = "a future can only be posted on the thread")]
fn another_thread_cannot_spawn() {
    with_scheduler(|scheduler| {
        let scheduler = scheduler.clone();
        let panic = thread::spawn(move || drop(scheduler.spawn_local(Priority::UserVisible, async {}))).join().unwrap_err();
        std::panic::resume_unwind(panic);
    });
}

/// Counts drops, on any thread.
struct SyncGuard(Arc<AtomicU32>);

impl Drop for SyncGuard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

#[test]
fn a_thread_that_ends_drops_its_futures_and_its_scheduler() {
    for how in ["waits", "sleeps", "yields", "aborted", "aborted in the queue", "in a group", "wakes another"] {
        let dropped = Arc::new(AtomicU32::new(0));
        let guard = SyncGuard(dropped.clone());
        let body = move || {
            let mut weak = None;
            with_scheduler(|scheduler| {
                weak = Some(scheduler.downgrade());
                let own = scheduler.clone();
                let (sender, receiver) = async_channel::unbounded();
                let options = TaskOptions::from(Priority::Background).signal(&TaskController::new(Priority::Background).signal());
                let future = async move {
                    let _guard = (guard, sender);
                    match how {
                        "yields" | "aborted in the queue" => loop {
                            yield_now().await
                        },
                        "sleeps" => own.sleep(Duration::from_secs(1000)).await,
                        _ => pending().await,
                    }
                };
                let handle = match how {
                    "in a group" => TaskGroup::new(scheduler, 1, Priority::Background).spawn_local(options, future),
                    "waits" => scheduler.spawn_local(options, future),
                    _ => scheduler.spawn_local(Priority::Background, future),
                };
                if how == "wakes another" {
                    scheduler.spawn_local(Priority::Background, async move {
                        let _: Result<(), _> = receiver.recv().await;
                        unreachable!();
                    });
                }
                iterate(scheduler);
                if how.starts_with("aborted") {
                    let abort_handle = handle.abort_handle();
                    thread::spawn(move || abort_handle.abort()).join().unwrap();
                }
            });
            weak.unwrap()
        };
        let weak = thread::spawn(body).join().unwrap();
        assert_eq!(dropped.load(Relaxed), 1, "{how}");
        assert!(weak.upgrade().is_none(), "{how}");
    }
}

#[test]
fn a_worker_that_has_ended_refuses_and_keeps_nobody_waiting() {
    with_scheduler(|scheduler| {
        let worker = Worker::new("test");
        let there = worker.scheduler();
        let own = there.clone();
        let sleep = scheduler.spawn_local(Priority::UserVisible, async move { own.sleep(Duration::from_secs(1000)).await });
        iterate(scheduler);
        worker.stop(Stop::Abort);
        worker.join();
        wait_for(scheduler, sleep).unwrap();
        wait_for(scheduler, there.sleep(Duration::from_secs(1000)));
        let dropped = Arc::new(AtomicU32::new(0));
        for options in [TaskOptions::new(), TaskOptions::new().takes_turns(false), TaskController::new(Priority::Background).signal().into()] {
            let guard = SyncGuard(dropped.clone());
            assert!(!there.post_once(options, move || drop(guard)));
        }
        assert_eq!(dropped.load(Relaxed), 3);
        assert!(wait_for(scheduler, there.run_in_thread(|| ())).unwrap_err().is_aborted());
        let guard = SyncGuard(dropped.clone());
        let handle = there.spawn(Priority::Background, async move { drop(guard) });
        assert!(wait_for(scheduler, handle).unwrap_err().is_aborted());
        assert_eq!(dropped.load(Relaxed), 4);
        assert!(scheduler.post_once(Priority::Background, || ()));
    });
}

#[test]
fn a_panic_of_a_waker_or_of_a_second_drop_disturbs_nobody() {
    struct Bad;
    impl Drop for Bad {
        fn drop(&mut self) {
            if !thread::panicking() {
                panic!("of a drop");
            }
        }
    }
    struct BadWaker;
    impl std::task::Wake for BadWaker {
        fn wake(self: Arc<Self>) {
            panic!("of a waker");
        }
    }
    /// Panics when it is dropped, and so does its result, or the payload of its panic.
    struct BadFuture(bool);
    impl Future for BadFuture {
        type Output = Bad;

        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Bad> {
            if self.0 {
                std::panic::panic_any(Bad);
            }
            Poll::Ready(Bad)
        }
    }
    impl Drop for BadFuture {
        fn drop(&mut self) {
            panic!("of a future");
        }
    }

    with_scheduler(|scheduler| {
        let poll = |mut future: Pin<&mut dyn Future<Output = _>>| {
            let waker = Waker::from(Arc::new(BadWaker));
            assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        };
        let mut handle = scheduler.spawn_local(Priority::UserVisible, yield_now());
        poll(std::pin::pin!(&mut handle));
        run_until(scheduler, || handle.is_finished());
        let mut aborted = scheduler.spawn_local(Priority::UserVisible, pending::<()>());
        poll(std::pin::pin!(&mut aborted));
        aborted.abort();
        run_until(scheduler, || aborted.is_finished());
        let (sender, receiver) = mpsc::channel();
        let mut in_thread = scheduler.run_in_thread(move || receiver.recv().unwrap());
        poll(std::pin::pin!(&mut in_thread));
        sender.send(()).unwrap();

        for panics in [false, true] {
            drop(scheduler.spawn_local(Priority::UserVisible, BadFuture(panics)));
            let kept = scheduler.spawn_local(Priority::UserVisible, BadFuture(panics));
            run_until(scheduler, || kept.is_finished());
            assert!(wait_for(scheduler, kept).is_err());
        }
        let controller = TaskController::new(Priority::UserVisible);
        let bad = Bad;
        scheduler.post_local_once(controller.signal(), move || drop(bad));
        controller.abort(None);
        let good = scheduler.spawn_local(Priority::Background, async { 1 });
        assert_eq!(wait_for(scheduler, good).unwrap(), 1);
    });
}

#[test]
fn a_future_that_is_send_is_spawned_from_any_thread() {
    with_scheduler(|scheduler| {
        let here = thread::current().id();
        let from = scheduler.clone();
        let delay = TaskOptions::new().delay(Duration::from_millis(1));
        let handles = move || {
            let controller = TaskController::new(Priority::Background);
            let run = from.spawn(delay, async move { thread::current().id() });
            let aborted = from.spawn(controller.signal(), pending::<()>());
            controller.abort(None);
            let by_handle = from.spawn(Priority::Background, pending::<()>());
            by_handle.abort();
            let panics = from.spawn(Priority::Background, async { panic!("of a test") });
            drop(from.spawn(Priority::Background, async {}));
            (run, aborted, by_handle, panics)
        };
        let (run, aborted, by_handle, panics) = thread::spawn(handles).join().unwrap();
        assert_eq!(wait_for(scheduler, run).unwrap(), here);
        assert!(wait_for(scheduler, aborted).unwrap_err().is_aborted());
        assert!(wait_for(scheduler, by_handle).unwrap_err().is_aborted());
        let _: () = *wait_for(scheduler, panics).unwrap_err().into_panic().downcast::<&str>().map(|_| Box::new(())).unwrap();

        // Any thread may await or drop a result.
        let (sender, receiver) = mpsc::channel();
        for is_awaited in [true, false] {
            let (handle, sender) = (scheduler.spawn_local(Priority::Background, async { 1 }), sender.clone());
            thread::spawn(move || {
                let result = is_awaited.then(|| MainContext::new().block_on(handle).unwrap());
                sender.send(result).unwrap();
            });
        }
        drop(sender);
        let mut results = Vec::new();
        run_until(scheduler, || {
            results.extend(receiver.try_iter());
            scheduler.context().wakeup();
            results.len() == 2
        });
        assert!(results.contains(&Some(1)) && results.contains(&None));
    });
}

#[test]
fn many_threads_await_and_abort_and_drop() {
    const N: usize = 2000;
    with_scheduler(|scheduler| {
        let (sender, receiver) = async_channel::unbounded::<JoinHandle<usize>>();
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let receiver = receiver.clone();
                thread::spawn(move || {
                    let context = MainContext::new();
                    let mut n = 0;
                    while let Ok(handle) = receiver.recv_blocking() {
                        n += 1;
                        match n % 3 {
                            0 => handle.abort(),
                            1 => drop(context.block_on(handle)),
                            _ => drop(handle),
                        }
                    }
                })
            })
            .collect();
        drop(receiver);
        let n_dropped = Dropped::default();
        for i in 0..N {
            let guard = n_dropped.guard();
            let handle = scheduler.spawn_local(Priority::UserVisible, async move {
                let _guard = guard;
                yield_now().await;
                i
            });
            sender.try_send(handle).unwrap();
            if i % 16 == 0 {
                scheduler.context().iteration(false);
            }
        }
        drop(sender);
        run_until(scheduler, || n_dropped.n() as usize == N);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn slices_and_numbers_of_tasks_are_those_of_the_library() {
    with_scheduler(|scheduler| {
        scheduler.set_time_slice(Duration::from_millis(2));
        assert_eq!(scheduler.time_slice(), Some(Duration::from_millis(2)));
        scheduler.set_time_slice(None);
        assert_eq!(scheduler.time_slice(), None);
        scheduler.start_statistics();
        let handle = scheduler.spawn_local(Priority::UserBlocking, two_steps(Log::default(), "a"));
        assert_eq!((scheduler.count_pending(), scheduler.statistics().user_blocking.n_queued), (1, 1));
        wait_for(scheduler, handle).unwrap();
        let statistics = scheduler.statistics();
        assert!(statistics.is_collecting);
        assert_eq!((scheduler.count_pending(), statistics.of(Priority::UserBlocking).n_run, statistics.background.n_run), (0, 2, 0));
        assert!(statistics.user_blocking.running.longest <= statistics.user_blocking.running.total);
        scheduler.stop_statistics();
        assert!(!scheduler.statistics().is_collecting);
    });
}

#[test]
fn priorities_are_values_and_signals_go_into_lists() {
    assert_eq!(Priority::default(), Priority::UserVisible);
    for priority in [Priority::Background, Priority::UserVisible, Priority::UserBlocking] {
        assert_eq!(priority.to_value().get::<Priority>().unwrap(), priority);
        let controller = TaskController::new(priority);
        assert_eq!(controller.signal().property::<Priority>("priority"), priority);
        let nick = glib::EnumClass::new::<Priority>().to_value_by_nick(&priority.to_string()).unwrap();
        assert_eq!(nick.get::<Priority>().unwrap(), priority);
    }
    let (a, b) = (TaskController::new(Priority::Background), gio::Cancellable::new());
    let any = TaskSignal::any(&[&a.signal(), &b], Priority::Background);
    b.cancel();
    assert!(any.is_aborted() && !a.signal().is_aborted());
}

#[test]
fn a_join_error_becomes_those_of_others() {
    with_scheduler(|scheduler| {
        let handle = scheduler.spawn_local(Priority::Background, pending::<()>());
        handle.abort();
        let error: glib::Error = wait_for(scheduler, handle).unwrap_err().into();
        assert!(error.matches(gio::IOErrorEnum::Cancelled));
        let handle = scheduler.spawn_local(Priority::Background, async {
            if !thread::panicking() {
                panic!("of a test");
            }
        });
        let error: Box<dyn std::error::Error + Send + Sync> = wait_for(scheduler, handle).unwrap_err().into();
        assert_eq!(error.to_string(), "the task has panicked");
    });
}

#[test]
fn a_group_runs_closures_in_threads_and_gives_their_results() {
    with_scheduler(|scheduler| {
        let group = TaskGroup::new(scheduler, 2, Priority::UserVisible);
        let squares: Vec<_> = (0..20).map(|i| group.run_in_thread(Priority::Background, move || i * i)).collect();
        let squares = wait_for(scheduler, futures_util::future::join_all(squares));
        assert!(squares.into_iter().map(Result::unwrap).eq((0..20).map(|i| i * i)));
        let (sender, receiver) = mpsc::channel();
        let begun = group.run_in_thread(TaskOptions::new(), move || receiver.recv().unwrap());
        group.set_limit(1);
        let dropped = Arc::new(AtomicU32::new(0));
        let guard = SyncGuard(dropped.clone());
        let aborted = group.run_in_thread(TaskOptions::new(), move || drop(guard));
        sender.send(1).unwrap();
        let _ = wait_for(scheduler, begun);
        let _ = wait_for(scheduler, aborted);
        let late = group.run_in_thread(TaskOptions::new(), || ());
        group.abort(None);
        let _ = wait_for(scheduler, late);
        wait_for(scheduler, group.drained());
        run_until(scheduler, || dropped.load(Relaxed) == 1);
    });
}

#[test]
fn futures_live_until_they_end_or_their_thread_does() {
    let dropped = Arc::new(AtomicU32::new(0));
    let n = dropped.clone();
    thread::spawn(move || {
        with_scheduler(|scheduler| {
            let (sender, receiver) = mpsc::channel::<Waker>();
            let (never_awaited, never_woken, never_begun) = (SyncGuard(n.clone()), SyncGuard(n.clone()), SyncGuard(n.clone()));
            scheduler.spawn_local(Priority::UserVisible, async move {
                pending::<()>().await;
                drop(never_awaited);
            });
            scheduler.spawn_local(Priority::UserVisible, async move {
                poll_fn(|context| {
                    sender.send(context.waker().clone()).unwrap();
                    Poll::<()>::Pending
                })
                .await;
                drop(never_woken);
            });
            iterate(scheduler);
            thread::spawn(move || drop(receiver.recv().unwrap())).join().unwrap();
            scheduler.spawn_local(Priority::UserVisible, async move { drop(never_begun) });
            assert_eq!(n.load(Relaxed), 0);
        });
    })
    .join()
    .unwrap();
    assert_eq!(dropped.load(Relaxed), 3);
}
