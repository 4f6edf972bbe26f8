// SPDX-License-Identifier: LGPL-2.1-or-later
//! Searches the files of a folder while it is still reading them.
//!
//!     search [FOLDER [WORD]]
//!
//! Reading is background work; a search is user-blocking, and the next letter aborts it. With WORD, the program types it into
//! the entry, prints the number of files that contain it, and ends.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use gtk::prelude::*;
use gtk::{gio, glib};
use prio_sched::{yield_now, Priority, Scheduler, TaskController};

/// Maps words to the files that contain them.
#[derive(Default)]
struct Index {
    paths: Vec<PathBuf>,
    words: HashMap<String, Vec<usize>>,
}

impl Index {
    fn add(&mut self, path: PathBuf, text: &[u8]) {
        let text = String::from_utf8_lossy(text).to_lowercase();
        let words: BTreeSet<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        for word in words {
            self.words.entry(word.to_owned()).or_default().push(self.paths.len());
        }
        self.paths.push(path);
    }
}

/// Reads the files in threads.  Spawn it as background work: more urgent tasks run after each file.
async fn read(scheduler: Scheduler, index: Rc<RefCell<Index>>, folder: PathBuf) {
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        let Ok(Ok(entries)) = scheduler.run_in_thread(move || fs::read_dir(folder).map(|entries| entries.flatten().collect::<Vec<_>>())).await
        else {
            continue;
        };
        for entry in entries {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                let copy = path.clone();
                if let Ok(Ok(text)) = scheduler.run_in_thread(move || fs::read(copy)).await {
                    index.borrow_mut().add(path, &text[..text.len().min(100_000)]);
                }
            }
        }
    }
}

/// Returns the files that have a word with `part` in it.
async fn find(scheduler: &Scheduler, index: &RefCell<Index>, part: &str) -> Vec<String> {
    let words: Vec<String> = index.borrow().words.keys().cloned().collect();
    let mut found = BTreeSet::<usize>::new();
    let mut words = scheduler.slices(words);
    while let Some(word) = words.next().await {
        if word.contains(part) {
            found.extend(&index.borrow().words[&word]);
        }
    }
    let index = index.borrow();
    found.into_iter().map(|i| display_name(&index.paths[i])).collect()
}

fn display_name(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn show_window(application: &gtk::Application, folder: PathBuf, word: Option<String>) {
    let scheduler = Scheduler::default();
    let index = Rc::new(RefCell::new(Index::default()));

    let entry = gtk::SearchEntry::new();
    let files = gtk::StringList::new(&[]);
    let factory = gtk::SignalListItemFactory::new();
    factory.connect_setup(|_, item| {
        let item = item.downcast_ref::<gtk::ListItem>().unwrap();
        item.set_child(Some(&gtk::Label::builder().xalign(0.0).build()));
    });
    factory.connect_bind(|_, item| {
        let item = item.downcast_ref::<gtk::ListItem>().unwrap();
        let path = item.item().and_downcast::<gtk::StringObject>().unwrap();
        item.child().and_downcast::<gtk::Label>().unwrap().set_text(&path.string());
    });
    let view = gtk::ListView::new(Some(gtk::NoSelection::new(Some(files.clone()))), Some(factory));
    let content = gtk::Box::new(gtk::Orientation::Vertical, 0);
    content.append(&entry);
    content.append(&gtk::ScrolledWindow::builder().child(&view).vexpand(true).build());
    let window = gtk::ApplicationWindow::builder()
        .application(application)
        .title("Search")
        .default_width(480)
        .default_height(360)
        .child(&content)
        .build();

    let reading = TaskController::new(Priority::Background);
    let index_read = scheduler.spawn_local(reading.signal(), read(scheduler.clone(), index.clone(), folder));

    let searching = RefCell::new(None::<TaskController>);
    let (search_scheduler, search_index) = (scheduler.clone(), index.clone());
    let asked = word.clone();
    entry.connect_changed(move |entry| {
        if let Some(last) = searching.take() {
            last.abort(None);
        }
        let controller = TaskController::new(Priority::UserBlocking);
        let (scheduler, index, files) = (search_scheduler.clone(), search_index.clone(), files.clone());
        let asked = asked.clone();
        let (part, application) = (entry.text().to_lowercase(), entry.root().and_downcast::<gtk::Window>().and_then(|w| w.application()));
        search_scheduler.spawn_local(controller.signal(), async move {
            let found = if part.is_empty() { Vec::new() } else { find(&scheduler, &index, &part).await };
            let shown: Vec<&str> = found.iter().take(1000).map(String::as_str).collect();
            files.splice(0, files.n_items(), &shown);
            if asked == Some(part) {
                println!("{} of {} files", found.len(), index.borrow().paths.len());
                application.inspect(|application| application.quit());
            }
        });
        searching.replace(Some(controller));
    });

    let (title, state) = (window.clone(), index.clone());
    let own = scheduler.clone();
    scheduler.spawn_local(reading.signal(), async move {
        loop {
            title.set_title(Some(&format!("Search · {} files read", state.borrow().paths.len())));
            own.sleep(Duration::from_millis(200)).await;
        }
    });
    if let Some(word) = word {
        scheduler.spawn_local(Priority::UserVisible, async move {
            let _ = index_read.await;
            for end in 1..=word.chars().count() {
                entry.set_text(&word.chars().take(end).collect::<String>());
                yield_now().await;
            }
        });
    }
    window.connect_close_request(move |_| {
        reading.abort(None);
        glib::Propagation::Proceed
    });
    window.present();
}

fn main() -> glib::ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let folder = arguments.next().map_or_else(|| PathBuf::from("/usr/share/doc"), PathBuf::from);
    let word = arguments.next().map(|word| word.to_string_lossy().to_lowercase());
    let application = gtk::Application::new(Some("org.example.PrioSched.RustSearch"), gio::ApplicationFlags::NON_UNIQUE);
    application.connect_activate(move |application| show_window(application, folder.clone(), word.clone()));
    application.run_with_args::<&str>(&[])
}
