// SPDX-License-Identifier: LGPL-2.1-or-later
//! A list of 100,000 rows, each of which loads something when it comes into view.
//!
//!     rows [N]
//!
//! Eight rows load at a time, in threads. A row that leaves the view is aborted: it does not load unless it has started. With N, the
//! program ends when N rows have been loaded.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use gtk::prelude::*;
use gtk::{gio, glib};
use prio_sched::{Priority, Scheduler, TaskController, TaskGroup};

/// Returns the text of a row, after some time, as if from a file or the network.
fn load(name: &str) -> String {
    std::thread::sleep(Duration::from_millis(5));
    format!("{name}: {} letters", name.len())
}

/// The rows in view, each with the controller that aborts it.
type Loading = Rc<RefCell<HashMap<gtk::ListItem, TaskController>>>;

fn factory(group: TaskGroup, loaded: impl Fn() + Clone + 'static) -> gtk::SignalListItemFactory {
    let (factory, loading) = (gtk::SignalListItemFactory::new(), Loading::default());
    factory.connect_setup(|_, item| {
        let item = item.downcast_ref::<gtk::ListItem>().unwrap();
        item.set_child(Some(&gtk::Label::builder().xalign(0.0).build()));
    });
    let begun = loading.clone();
    factory.connect_bind(move |_, item| {
        let item = item.downcast_ref::<gtk::ListItem>().unwrap();
        let label = item.child().and_downcast::<gtk::Label>().unwrap();
        let name = item.item().and_downcast::<gtk::StringObject>().unwrap().string();
        label.set_text("…");

        let (controller, loaded) = (TaskController::new(Priority::UserVisible), loaded.clone());
        let text = group.run_in_thread(controller.signal(), move || load(&name));
        Scheduler::default().spawn_local(controller.signal(), async move {
            if let Ok(text) = text.await {
                label.set_text(&text);
                loaded();
            }
        });
        begun.borrow_mut().insert(item.clone(), controller);
    });
    factory.connect_unbind(move |_, item| {
        let controller = loading.borrow_mut().remove(item.downcast_ref::<gtk::ListItem>().unwrap());
        controller.inspect(|controller| controller.abort(None));
    });
    factory
}

fn show_window(application: &gtk::Application, wanted: Option<u32>) {
    let names: Vec<String> = (1..=100_000).map(|i| format!("row {i}")).collect();
    let names = gtk::StringList::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let group = TaskGroup::new(&Scheduler::default(), 8, Priority::UserVisible);
    let (n_loaded, own) = (Rc::new(Cell::new(0)), application.clone());
    let loaded = move || {
        n_loaded.set(n_loaded.get() + 1);
        if Some(n_loaded.get()) == wanted {
            println!("{} rows", n_loaded.get());
            own.quit();
        }
    };
    let view = gtk::ListView::new(Some(gtk::NoSelection::new(Some(names))), Some(factory(group, loaded)));
    gtk::ApplicationWindow::builder()
        .application(application)
        .title("Rows")
        .default_width(360)
        .default_height(480)
        .child(&gtk::ScrolledWindow::builder().child(&view).build())
        .build()
        .present();
}

fn main() -> glib::ExitCode {
    let wanted = std::env::args().nth(1).and_then(|n| n.parse().ok());
    let application = gtk::Application::new(Some("org.example.PrioSched.RustRows"), gio::ApplicationFlags::NON_UNIQUE);
    application.connect_activate(move |application| show_window(application, wanted));
    application.run_with_args::<&str>(&[])
}
