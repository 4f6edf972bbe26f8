// SPDX-License-Identifier: LGPL-2.1-or-later
//! Counts the frames that a window draws while 2,000 futures, or closures, of a millisecond each run again and
//! again.
//!
//!     flood [none|idle|spawn|ours]…
//!
//! Each word is a way to run them, for 3 seconds each: not at all, by `glib::idle_add_local ()`, by
//! `glib::MainContext::spawn_local ()`, or by `Scheduler::spawn_local ()`. Without words, all of them are tried.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use gtk::glib::{self, ControlFlow, MainContext};
use gtk::prelude::*;
use prio_sched::{yield_now, Priority, Scheduler};

const N: usize = 2000;
const TIME: Duration = Duration::from_secs(3);

fn work() {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(1) {}
}

fn flood(way: &str, is_over: &Rc<Cell<bool>>, n_done: &Rc<Cell<u32>>) {
    for _ in 0..N {
        let (over, done) = (is_over.clone(), n_done.clone());
        let step = move || {
            if !over.get() {
                work();
                done.set(done.get() + 1);
            }
            !over.get()
        };
        match way {
            "idle" => {
                glib::idle_add_local(move || if step() { ControlFlow::Continue } else { ControlFlow::Break });
            }
            "spawn" => {
                MainContext::default().spawn_local_with_priority(glib::Priority::DEFAULT_IDLE, async move {
                    while step() {
                        yield_now().await;
                    }
                });
            }
            "ours" => Scheduler::default()
                .spawn_local(Priority::UserVisible, async move {
                    while step() {
                        yield_now().await;
                    }
                })
                .detach(),
            _ => return,
        }
    }
}

/// Runs the main loop for `time`.  A thread wakes it at the end, because a timeout source might not get its turn.
fn run_for(time: Duration) {
    let context = MainContext::default();
    let begun = Instant::now();
    let waker = context.clone();
    std::thread::spawn(move || {
        std::thread::sleep(time);
        waker.wakeup();
    });
    while begun.elapsed() < time {
        context.iteration(true);
    }
}

fn main() {
    if gtk::init().is_err() {
        eprintln!("There is no display");
        std::process::exit(1);
    }
    let area = gtk::DrawingArea::new();
    area.set_draw_func(|_, cairo, width, height| {
        let angle = glib::monotonic_time() as f64 / 400_000.0;
        cairo.arc(f64::from(width) / 2.0 + 50.0 * angle.cos(), f64::from(height) / 2.0 + 50.0 * angle.sin(), 20.0, 0.0, 6.3);
        cairo.fill().unwrap();
    });
    let frames = Rc::new(RefCell::new(Vec::<Instant>::new()));
    let drawn = frames.clone();
    area.add_tick_callback(move |area, _| {
        drawn.borrow_mut().push(Instant::now());
        area.queue_draw();
        ControlFlow::Continue
    });
    let window = gtk::Window::builder().default_width(300).default_height(200).child(&area).build();
    window.present();
    run_for(Duration::from_secs(1));

    let mut ways: Vec<String> = std::env::args().skip(1).collect();
    if ways.is_empty() {
        ways = ["none", "idle", "spawn", "ours"].map(String::from).to_vec();
    }
    println!("{:8} {:>7} {:>17} {:>12}", "way", "frames", "longest gap, ms", "work, ms");
    for way in ways {
        let (is_over, n_done) = (Rc::new(Cell::new(false)), Rc::new(Cell::new(0)));
        flood(&way, &is_over, &n_done);
        frames.borrow_mut().clear();
        let begun = Instant::now();
        run_for(TIME);
        let mut times = vec![begun];
        times.extend(frames.borrow().iter());
        times.push(Instant::now());
        let longest = times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
        println!("{way:8} {:>7} {:>17.1} {:>12}", times.len() - 2, longest.as_secs_f64() * 1e3, n_done.get());
        is_over.set(true);
        run_for(Duration::from_millis(200));
    }
}
