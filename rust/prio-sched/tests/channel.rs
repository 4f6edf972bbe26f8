// SPDX-License-Identifier: LGPL-2.1-or-later
//! Values from threads to a closure on a main loop, and threads that wait for a future there.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::sync::{mpsc, Arc};
use std::thread;
use std::time::Duration;

use glib::MainContext;
use prio_sched::*;

mod common;
use common::*;

/// Counts the values that have not been dropped.
#[derive(Clone, Default)]
struct Alive(Arc<AtomicUsize>);

/// A value, which must be dropped once.
struct Number(usize, Alive);

impl Alive {
    fn number(&self, number: usize) -> Number {
        self.0.fetch_add(1, SeqCst);
        Number(number, self.clone())
    }

    fn n(&self) -> usize {
        self.0.load(SeqCst)
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        assert_ne!(self.1 .0.fetch_sub(1, SeqCst), 0);
    }
}

type Seen = Rc<RefCell<Vec<usize>>>;

fn seeing(scheduler: &Scheduler, options: impl Into<TaskOptions>, capacity: u32, pace: ChannelPace) -> (Channel<Number>, Seen) {
    let seen = Seen::default();
    let sees = seen.clone();
    (Channel::new_local(scheduler, options, capacity, pace, move |number: Number| sees.borrow_mut().push(number.0)), seen)
}

/// A thread that wakes the main context when its function has returned.
struct Running<T>(thread::JoinHandle<T>, Arc<AtomicBool>);

impl<T: Send + 'static> Running<T> {
    fn begin(scheduler: &Scheduler, func: impl FnOnce() -> T + Send + 'static) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = Ends(scheduler.context(), is_over.clone());
        let call = move || {
            let _ends = ends;
            func()
        };
        Self(thread::spawn(call), is_over)
    }

    /// Runs the main context until the function has returned.
    fn end(self, scheduler: &Scheduler) -> T {
        run_until(scheduler, || self.1.load(SeqCst));
        self.0.join().unwrap()
    }
}

/// Reports that a thread has ended, even after a panic.
struct Ends(MainContext, Arc<AtomicBool>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.1.store(true, SeqCst);
        self.0.wakeup();
    }
}

fn in_thread<T: Send + 'static>(scheduler: &Scheduler, func: impl FnOnce() -> T + Send + 'static) -> T {
    Running::begin(scheduler, func).end(scheduler)
}

fn is_closed(error: &glib::Error) -> bool {
    error.matches(Error::Closed)
}

#[test]
fn the_newest_value_wins() {
    with_scheduler(|scheduler| {
        let alive = Alive::default();
        let (channel, seen) = seeing(scheduler, Priority::UserVisible, 1, ChannelPace::Turn);
        let (gives, given) = (channel.clone(), alive.clone());
        in_thread(scheduler, move || assert!((1..=10_000).all(|i| gives.replace(given.number(i)))));
        run_until(scheduler, || seen.borrow().last() == Some(&10_000));
        run_until(scheduler, || channel.is_empty());
        assert!(seen.borrow().is_sorted());
        assert_eq!(alive.n(), 0);
    });
}

#[test]
fn a_full_channel_returns_an_offer() {
    with_scheduler(|scheduler| {
        let alive = Alive::default();
        let (channel, seen) = seeing(scheduler, Priority::UserVisible, 2, ChannelPace::Each);
        assert!((1..=2).all(|i| channel.offer(alive.number(i)).is_ok()));
        assert_eq!(channel.offer(alive.number(3)).map_err(|number| number.0), Err(3));
        assert_eq!((channel.len(), alive.n()), (2, 2));
        iterate(scheduler);
        assert_eq!(*seen.borrow(), [1, 2]);
        assert_eq!(alive.n(), 0);
    });
}

#[test]
fn a_thread_keeps_the_pace_of_the_main_loop() {
    with_scheduler(|scheduler| {
        let n = Rc::new(Cell::new(0));
        let seen = n.clone();
        let channel = Channel::new_local(scheduler, Priority::UserVisible, 3, ChannelPace::Each, move |i: usize| {
            assert_eq!(seen.replace(i + 1), i);
        });
        let gives = channel.clone();
        in_thread(scheduler, move || {
            for i in 0..300 {
                gives.give(i).unwrap();
                assert!(gives.len() <= 3);
            }
        });
        run_until(scheduler, || n.get() == 300);
    });
}

#[test]
fn a_future_waits_for_a_place() {
    with_scheduler(|scheduler| {
        let alive = Alive::default();
        let (channel, seen) = seeing(scheduler, Priority::UserVisible, 1, ChannelPace::Each);
        wait_for(scheduler, async {
            for i in 0..5 {
                channel.give_async(alive.number(i)).await.unwrap();
            }
        });
        run_until(scheduler, || channel.is_empty());
        assert_eq!(*seen.borrow(), [0, 1, 2, 3, 4]);

        // A future that is dropped drops its value.
        channel.offer(alive.number(5)).ok().unwrap();
        let mut waits = Box::pin(channel.give_async(alive.number(6)));
        assert!(wait_for(scheduler, async { futures_util::poll!(&mut waits).is_pending() }));
        drop(waits);
        run_until(scheduler, || channel.is_empty());
        iterate(scheduler);
        assert_eq!(*seen.borrow(), [0, 1, 2, 3, 4, 5]);
        channel.close();
        assert!(is_closed(&wait_for(scheduler, channel.give_async(alive.number(7))).unwrap_err()));
        assert_eq!(alive.n(), 0);
    });
}

#[test]
fn the_main_loop_does_not_wait_for_itself() {
    with_scheduler(|scheduler| {
        let alive = Alive::default();
        let (channel, _) = seeing(scheduler, Priority::UserVisible, 1, ChannelPace::Each);
        channel.give(alive.number(1)).unwrap();
        assert!(channel.give(alive.number(2)).unwrap_err().matches(gio::IOErrorEnum::WouldBlock));
        assert_eq!(alive.n(), 1);
    });
}

#[test]
fn a_closure_may_close_its_channel() {
    with_scheduler(|scheduler| {
        let (own, dropped) = (Rc::new(RefCell::new(None::<Channel<usize>>)), Dropped::default());
        let (closes, guard) = (own.clone(), dropped.guard());
        let channel = Channel::new_local(scheduler, Priority::UserVisible, 1, ChannelPace::Each, move |_| {
            let _guard = &guard;
            let own = closes.borrow();
            own.as_ref().unwrap().close();
            own.as_ref().unwrap().close();
        });
        *own.borrow_mut() = Some(channel.clone());
        let gives = channel.clone();
        let error = in_thread(scheduler, move || (0..).find_map(|i| gives.give(i).err()).unwrap());
        assert!(is_closed(&error));
        iterate(scheduler);
        assert_eq!(dropped.n(), 1);
        assert!(!channel.replace(1));
        assert_eq!(channel.offer(2), Err(2));
    });
}

#[test]
fn an_abort_drops_values_and_closure() {
    with_scheduler(|scheduler| {
        let (controller, alive, dropped) = (TaskController::new(Priority::UserVisible), Alive::default(), Dropped::default());
        let guard = dropped.guard();
        let channel = Channel::new_local(scheduler, controller.signal(), 2, ChannelPace::Each, move |_: Number| {
            let _guard = &guard;
            panic!("it was aborted");
        });
        assert!((1..=2).all(|i| channel.offer(alive.number(i)).is_ok()));
        let (gives, number) = (channel.clone(), alive.number(3));
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || {
            sender.send(()).unwrap();
            gives.give(number).unwrap_err()
        });
        receiver.recv().unwrap();
        controller.abort(None);
        let error = thread.join().unwrap();
        assert!(is_closed(&error) || error.matches(gio::IOErrorEnum::Cancelled));
        iterate(scheduler);
        assert_eq!((alive.n(), dropped.n()), (0, 1));
    });
}

#[test]
fn a_thread_outlives_the_main_loop() {
    let context = MainContext::new();
    let (alive, dropped) = (Alive::default(), Dropped::default());
    let channel = context.with_thread_default(|| {
        let guard = dropped.guard();
        Channel::new_local(&Scheduler::new(&context), Priority::UserVisible, 1, ChannelPace::Each, move |_: Number| {
            let _guard = &guard;
        })
    });
    let channel = channel.unwrap();
    channel.replace(alive.number(1));
    drop(context);
    assert_eq!(alive.n(), 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            channel.replace(alive.number(2));
            assert!(is_closed(&channel.give(alive.number(3)).unwrap_err()));
            assert_eq!(channel.offer(alive.number(4)).map_err(|number| number.0), Err(4));
        });
    });
    assert_eq!((alive.n(), dropped.n()), (0, 1));
}

#[test]
fn a_dropped_value_gives_another() {
    struct Again(Option<Channel<Again>>);
    impl Drop for Again {
        fn drop(&mut self) {
            if let Some(channel) = self.0.take() {
                let _ = channel.offer(Again(None));
            }
        }
    }

    with_scheduler(|scheduler| {
        let n = Rc::new(Cell::new(0));
        let seen = n.clone();
        let channel = Channel::new_local(scheduler, Priority::UserVisible, 1, ChannelPace::Each, move |_: Again| seen.set(seen.get() + 1));
        assert!(channel.replace(Again(Some(channel.clone()))));
        assert!(channel.replace(Again(Some(channel.clone()))));
        run_until(scheduler, || channel.is_empty());
        assert_eq!(n.get(), 1);
    });
}

#[test]
fn every_value_is_dropped_once() {
    for round in 0..60 {
        with_scheduler(|scheduler| {
            let (controller, alive) = (TaskController::new(Priority::UserVisible), Alive::default());
            let pace = if round % 2 == 0 { ChannelPace::Each } else { ChannelPace::Turn };
            let channel = Channel::new(scheduler, controller.signal(), 1 + round % 5, pace, |_: Number| ());
            let n_over = Arc::new(AtomicUsize::new(0));
            let threads: Vec<_> = (0..4)
                .map(|thread| {
                    let (channel, alive, n_over, context) = (channel.clone(), alive.clone(), n_over.clone(), scheduler.context());
                    thread::spawn(move || {
                        for i in 0..100 {
                            let number = alive.number(i);
                            match (i * 7 + thread * 13 + round as usize) % 101 {
                                0..40 => drop(channel.replace(number)),
                                40..60 => drop(channel.offer(number)),
                                60..99 => drop(channel.give(number)),
                                _ => channel.close(),
                            }
                        }
                        n_over.fetch_add(1, SeqCst);
                        context.wakeup();
                    })
                })
                .collect();
            let mut n = 0;
            run_until(scheduler, || {
                n += 1;
                if round % 3 == 0 && n == round {
                    controller.abort(None);
                }
                n_over.load(SeqCst) == 4
            });
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            channel.close();
            run_until(scheduler, || channel.is_empty());
            assert_eq!(alive.n(), 0);
        });
    }
}

#[test]
#[should_panic(expected = "a capacity of 0")]
fn a_channel_has_a_capacity() {
    with_scheduler(|scheduler| drop(Channel::new(scheduler, Priority::UserVisible, 0, ChannelPace::Each, |_: u32| ())));
}

/// A channel of values that are Send goes to any thread, whether its closure or its values are Sync or not.
#[test]
fn a_channel_is_send_and_sync() {
    fn check<T: Send + Sync>() {}
    check::<Channel<Cell<u32>>>();
    check::<ChannelPace>();
}

#[test]
fn a_thread_waits_for_a_result() {
    with_scheduler(|scheduler| {
        let (own, here) = (scheduler.clone(), thread::current().id());
        let answer = in_thread(scheduler, move || own.spawn(Priority::UserBlocking, async { thread::current().id() }).wait(None));
        assert_eq!(answer.unwrap(), here);

        let own = scheduler.clone();
        let slow = async move {
            own.sleep(Duration::from_millis(1)).await;
            yield_now().await;
            7
        };
        let own = scheduler.clone();
        assert_eq!(in_thread(scheduler, move || own.spawn(Priority::Background, slow).wait(Duration::from_secs(60))).unwrap(), 7);

        let own = scheduler.clone();
        let error = in_thread(scheduler, move || own.spawn(Priority::Background, async { panic!("as planned") }).wait(None));
        assert!(error.unwrap_err().is_panic());
    });
}

#[test]
fn a_thread_waits_for_a_handle_of_another() {
    with_scheduler(|scheduler| {
        let mut handle = scheduler.spawn_local(Priority::Background, async { 5 });
        assert_eq!(in_thread(scheduler, move || handle.wait(None)).unwrap(), 5);
        // The scheduler is freed before it can spawn the future; the main context is not.
        let context = scheduler.context();
        let (sender, receiver) = mpsc::channel();
        let thread = Running::begin(scheduler, move || {
            let mut handle = Scheduler::new(&context).spawn(Priority::Background, async { 6 });
            sender.send(()).unwrap();
            handle.wait(None)
        });
        receiver.recv().unwrap();
        assert_eq!(thread.end(scheduler).unwrap(), 6);
    });
}

#[test]
fn a_wait_ends_in_time() {
    with_scheduler(|scheduler| {
        let (own, go) = (scheduler.clone(), Arc::new(AtomicBool::new(false)));
        let goes = go.clone();
        let result = in_thread(scheduler, move || {
            let sleeps = own.clone();
            let mut handle = own.spawn(Priority::UserVisible, async move {
                while !goes.load(SeqCst) {
                    sleeps.sleep(Duration::from_millis(1)).await;
                }
                8
            });
            assert!(matches!(handle.wait(Duration::from_millis(2)), Err(JoinError::TimedOut)));
            assert!(matches!(handle.wait(Duration::ZERO), Err(JoinError::TimedOut)));
            go.store(true, SeqCst);
            handle.wait(None)
        });
        assert_eq!(result.unwrap(), 8);
    });
}

#[test]
fn a_loop_that_never_runs_ends_no_wait_but_in_time() {
    let context = MainContext::new();
    let scheduler = Scheduler::new(&context);
    thread::spawn(move || {
        let mut handle = scheduler.spawn(Priority::UserVisible, async {});
        assert!(matches!(handle.wait(Duration::from_millis(2)), Err(JoinError::TimedOut)));
    })
    .join()
    .unwrap();
}

#[test]
fn the_own_thread_does_not_wait() {
    with_scheduler(|scheduler| {
        let mut handle = scheduler.spawn_local(Priority::UserVisible, async { 9 });
        let error = handle.wait(None).unwrap_err();
        assert!(matches!(error, JoinError::WouldBlock));
        assert!(glib::Error::from(error).matches(gio::IOErrorEnum::WouldBlock));
        run_until(scheduler, || handle.is_finished());
        assert_eq!(handle.wait(None).unwrap(), 9);
    });
}

/// Tests that at least one of two threads that wait for each other gets an error.
#[test]
fn two_loops_do_not_wait_for_each_other() {
    fn wait<T>(mut handle: JoinHandle<T>, other: &AtomicBool) -> Result<T, JoinError> {
        loop {
            match handle.wait(Duration::from_millis(1)) {
                Err(JoinError::TimedOut) if !other.load(SeqCst) => (),
                result => break result,
            }
        }
    }

    with_scheduler(|scheduler| {
        let (worker, own, is_refused) = (Worker::new("waits"), scheduler.clone(), Arc::new(AtomicBool::new(false)));
        iterate(scheduler);
        let (refuses, other) = (is_refused.clone(), is_refused.clone());
        let there = worker.scheduler().spawn(Priority::UserVisible, async move {
            let result = wait(own.spawn(Priority::UserVisible, async {}), &other);
            refuses.fetch_or(matches!(result, Err(JoinError::WouldBlock)), SeqCst);
        });
        let result = wait(there, &is_refused);
        assert!(matches!(result, Ok(()) | Err(JoinError::WouldBlock)));
        is_refused.fetch_or(result.is_err(), SeqCst);
        worker.stop(Stop::Finish);
        worker.join();
        assert!(is_refused.load(SeqCst));
    });
}

#[test]
fn an_abort_wakes_a_thread() {
    with_scheduler(|scheduler| {
        let (own, controller) = (scheduler.clone(), TaskController::new(Priority::UserVisible));
        let signal = controller.signal();
        scheduler.post_local_once(TaskOptions::new().delay(Duration::from_millis(1)), move || controller.abort(None));
        let result = in_thread(scheduler, move || own.spawn(&signal, std::future::pending::<()>()).wait(None));
        assert!(result.unwrap_err().is_aborted());
    });
}

#[test]
fn a_worker_that_ends_wakes_a_thread() {
    let worker = Worker::new("ends");
    let mut handle = worker.scheduler().spawn(Priority::UserVisible, std::future::pending::<()>());
    worker.stop(Stop::Abort);
    assert!(handle.wait(None).unwrap_err().is_aborted());
    worker.join();
}
