// SPDX-License-Identifier: LGPL-2.1-or-later
//! Tests that the futures of the main thread are dropped when `main ()` has returned. The program runs itself to test this.

use std::cell::Cell;
use std::future::pending;
use std::process::Command;
use std::rc::Rc;

use prio_sched::*;

/// A value that tries to spawn a future when it is dropped.
struct Note(&'static str, Scheduler);

impl Drop for Note {
    fn drop(&mut self) {
        let refused = self.1.spawn_local(Priority::UserVisible, pending::<()>());
        println!("{} dropped, spawned in vain: {}", self.0, refused.is_finished());
    }
}

fn leave() {
    let scheduler = Scheduler::default();
    let (begun, not_begun) = (Note("begun", scheduler.clone()), Note("not begun", scheduler.clone()));
    let has_begun = Rc::new(Cell::new(false));
    let began = has_begun.clone();
    let handle = scheduler.spawn_local(Priority::UserVisible, async move {
        began.set(true);
        pending::<()>().await;
        drop(begun);
    });
    while !has_begun.get() {
        scheduler.context().iteration(true);
    }
    scheduler.spawn_local(Priority::UserVisible, async move { drop(not_begun) });
    assert!(!handle.is_finished());
    println!("main returns");
}

fn main() {
    if std::env::args().any(|argument| argument == "--leave") {
        return leave();
    }
    let child = Command::new(std::env::current_exe().unwrap()).arg("--leave").output().unwrap();
    let said = String::from_utf8(child.stdout).unwrap();
    assert!(child.status.success(), "{said}{}", String::from_utf8_lossy(&child.stderr));
    let expected = ["main returns", "begun dropped, spawned in vain: true", "not begun dropped, spawned in vain: true"];
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
}
