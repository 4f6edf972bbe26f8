// SPDX-License-Identifier: LGPL-2.1-or-later
//! Compares the costs of futures and of `glib::MainContext::spawn_local ()`, in the same run: `cargo bench`.

use std::cell::{Cell, RefCell};
use std::future::{poll_fn, Future};
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Instant;

use futures_util::StreamExt;
use glib::MainContext;
use prio_sched::*;

const ROUNDS: usize = 5;
/// The number of operations. More sources would make the main context slow.
const N: usize = 20_000;

#[derive(Clone)]
enum Executor {
    Glib,
    Ours(Scheduler),
    Signalled(Scheduler, TaskSignal),
}

impl Executor {
    fn post(&self, func: impl FnOnce() + 'static) {
        match self {
            Self::Glib => drop(glib::idle_add_local_once(func)),
            Self::Ours(scheduler) => drop(scheduler.post_local_once(Priority::UserVisible, func)),
            Self::Signalled(scheduler, signal) => drop(scheduler.post_local_once(signal, func)),
        }
    }

    fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        match self {
            Self::Glib => drop(MainContext::default().spawn_local(future)),
            Self::Ours(scheduler) => drop(scheduler.spawn_local(Priority::UserVisible, future)),
            Self::Signalled(scheduler, signal) => drop(scheduler.spawn_local(signal, future)),
        }
    }

    async fn join(&self, i: usize) -> usize {
        match self {
            Self::Glib => MainContext::default().spawn_local(async move { i }).await.unwrap(),
            Self::Ours(scheduler) => scheduler.spawn_local(Priority::UserVisible, async move { i }).await.unwrap(),
            Self::Signalled(scheduler, signal) => scheduler.spawn_local(signal, async move { i }).await.unwrap(),
        }
    }
}

/// Runs the main context until `left` is 0.  Returns the nanoseconds for each of `n` operations.
fn measure(left: &Rc<Cell<usize>>, n: usize, begin: impl FnOnce(), mut each: impl FnMut()) -> f64 {
    let begun = Instant::now();
    begin();
    while left.get() > 0 {
        MainContext::default().iteration(true);
        each();
    }
    begun.elapsed().as_nanos() as f64 / n as f64
}

fn count_down(left: &Rc<Cell<usize>>) -> impl FnOnce() + 'static {
    let left = left.clone();
    move || left.set(left.get() - 1)
}

fn yields(executor: &Executor, n_tasks: usize) -> f64 {
    let left = Rc::new(Cell::new(n_tasks));
    let begin = || {
        for _ in 0..n_tasks {
            let over = count_down(&left);
            executor.spawn(async move {
                for _ in 0..N / n_tasks {
                    yield_now().await;
                }
                over();
            });
        }
    };
    measure(&left, N, begin, || ())
}

/// Makes 1,000 futures wait, and wakes all of them after each iteration of the main loop.
fn wakes(executor: &Executor) -> f64 {
    let wakers = Rc::new(RefCell::new(Vec::<Waker>::new()));
    let left = Rc::new(Cell::new(1000));
    let begin = || {
        for _ in 0..1000 {
            let (over, wakers) = (count_down(&left), wakers.clone());
            executor.spawn(async move {
                for _ in 0..N / 1000 {
                    let mut is_parked = false;
                    poll_fn(|context| {
                        if std::mem::replace(&mut is_parked, true) {
                            return Poll::Ready(());
                        }
                        wakers.borrow_mut().push(context.waker().clone());
                        Poll::Pending
                    })
                    .await;
                }
                over();
            });
        }
    };
    measure(&left, N, begin, || wakers.take().into_iter().for_each(Waker::wake))
}

/// Sends values from another thread, through a channel with one place.
fn thread_wakes(executor: &Executor) -> f64 {
    let left = Rc::new(Cell::new(1));
    let (mut sender, mut receiver) = futures_channel::mpsc::channel(1);
    let over = count_down(&left);
    executor.spawn(async move {
        while receiver.next().await.is_some() {}
        over();
    });
    let mut thread = None;
    let begin = || {
        thread = Some(std::thread::spawn(move || {
            for i in 0..N {
                while sender.try_send(i).is_err() {
                    std::thread::yield_now();
                }
            }
        }));
    };
    let time = measure(&left, N, begin, || ());
    thread.unwrap().join().unwrap();
    time
}

fn rows(executor: &Executor) -> Vec<(&'static str, f64)> {
    let left = Rc::new(Cell::new(N));
    let closure = measure(&left, N, || (0..N).for_each(|_| executor.post(count_down(&left))), || ());
    left.set(N);
    let spawn = || {
        for _ in 0..N {
            let over = count_down(&left);
            executor.spawn(async move { over() });
        }
    };
    let spawned = measure(&left, N, spawn, || ());
    left.set(1);
    let (own, over) = (executor.clone(), count_down(&left));
    let join = || {
        executor.spawn(async move {
            for i in 0..N {
                assert_eq!(own.join(i).await, i);
            }
            over();
        });
    };
    let joined = measure(&left, N, join, || ());
    vec![
        ("a closure", closure),
        ("a future, spawned and run", spawned),
        ("a handle, awaited", joined),
        ("a yield, in one future", yields(executor, 1)),
        ("a yield, in 1,000 futures", yields(executor, 1000)),
        ("a wake, of 1,000 futures", wakes(executor)),
        ("a wake from another thread", thread_wakes(executor)),
    ]
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let context = MainContext::default();
    let _owner = context.acquire().unwrap();
    let scheduler = Scheduler::default();
    let controller = TaskController::new(Priority::UserVisible);
    let executors = [Executor::Glib, Executor::Ours(scheduler.clone()), Executor::Signalled(scheduler, controller.signal())];
    let rounds: Vec<Vec<_>> = (0..ROUNDS).map(|_| executors.iter().map(rows).collect()).collect();

    println!("{:30} {:>9} {:>9} {:>7} {:>13} {:>7}", "ns, the median of 5 rounds", "glib", "priority", "ratio", "with a signal", "ratio");
    for row in 0..rounds[0][0].len() {
        let of = |executor: usize| median(rounds.iter().map(|round| round[executor][row].1).collect());
        let (glib, ours, signalled) = (of(0), of(1), of(2));
        let name = rounds[0][0][row].0;
        println!("{name:30} {glib:>9.0} {ours:>9.0} {:>7.2} {signalled:>13.0} {:>7.2}", ours / glib, signalled / glib);
    }
}
