// SPDX-License-Identifier: LGPL-2.1-or-later
//! A list of downloads, of which three run at a time.
//!
//!     downloads [FILE…]
//!
//! GIO reads each file; without FILE, it reads this program twenty times. Each file has a progress bar, and a button to stop it. If
//! the first argument is `--quit`, the program ends after the last file, and prints how many files could be read.

use gtk::prelude::*;
use gtk::{gio, glib};
use prio_sched::{yield_now, JoinError, JoinHandle, Priority, Scheduler, TaskController, TaskGroup, TaskSignal};

const CHUNK: usize = 64 * 1024;

/// Reads a file to its end. The signal is a cancellable, so its abort also ends the call of GIO.
async fn download(file: gio::File, bar: gtk::ProgressBar, signal: TaskSignal) -> Result<usize, glib::Error> {
    let size = file.query_info_future("standard::size", gio::FileQueryInfoFlags::NONE, glib::Priority::DEFAULT).await?.size().max(1);
    let stream = file.read_future(glib::Priority::DEFAULT).await?;
    let mut n_read = 0;
    loop {
        let read = stream.read_bytes_future(CHUNK, glib::Priority::DEFAULT);
        let bytes = gio::CancellableFuture::new(read, signal.clone().upcast()).await.map_err(|_| JoinError::Aborted)??;
        if bytes.is_empty() {
            bar.set_fraction(1.0);
            return Ok(n_read);
        }
        n_read += bytes.len();
        bar.set_fraction(n_read as f64 / size as f64);
        yield_now().await; // lets input, frames and more urgent tasks run
    }
}

/// Adds a row for a file, and downloads it. The result of the handle is whether the file could be read.
fn add_row(list: &gtk::Box, group: &TaskGroup, file: gio::File) -> JoinHandle<bool> {
    let bar = gtk::ProgressBar::builder().hexpand(true).show_text(true).text(file.parse_name()).build();
    let stop = gtk::Button::with_label("Stop");
    let row = gtk::Box::new(gtk::Orientation::Horizontal, 6);
    row.append(&bar);
    row.append(&stop);
    list.append(&row);

    let controller = TaskController::new(Priority::UserVisible);
    let handle = group.spawn_local(controller.signal(), download(file, bar.clone(), controller.signal()));
    stop.connect_clicked(move |_| controller.abort(None));
    // Spawned outside of the group, so that it also reports a download that was stopped before it started.
    Scheduler::default().spawn_local(Priority::UserVisible, async move {
        let read = handle.await.unwrap_or_else(|error| Err(error.into()));
        let text = read.as_ref().map_or_else(|error| error.to_string(), |n_bytes| format!("{n_bytes} bytes"));
        bar.set_text(Some(&text));
        stop.set_sensitive(false);
        read.is_ok()
    })
}

fn show_window(application: &gtk::Application, files: &[gio::File], quits: bool) {
    let list = gtk::Box::new(gtk::Orientation::Vertical, 6);
    let group = TaskGroup::new(&Scheduler::default(), 3, Priority::UserVisible);
    let rows: Vec<_> = files.iter().map(|file| add_row(&list, &group, file.clone())).collect();
    let window = gtk::ApplicationWindow::builder()
        .application(application)
        .title("Downloads")
        .default_width(480)
        .default_height(360)
        .child(&gtk::ScrolledWindow::builder().child(&list).build())
        .build();
    window.connect_close_request(move |_| {
        group.abort(None);
        glib::Propagation::Proceed
    });
    window.present();
    if quits {
        let application = application.clone();
        Scheduler::default().spawn_local(Priority::UserVisible, async move {
            let (n_files, mut n_read) = (rows.len(), 0);
            for row in rows {
                n_read += usize::from(row.await.unwrap_or(false));
            }
            println!("{n_read} of {n_files} files");
            application.quit();
        });
    }
}

fn main() -> glib::ExitCode {
    let mut names: Vec<_> = std::env::args_os().skip(1).collect();
    let quits = names.first().is_some_and(|name| name == "--quit");
    if quits {
        names.remove(0);
    }
    let mut files: Vec<_> = names.iter().map(gio::File::for_commandline_arg).collect();
    if files.is_empty() {
        files = vec![gio::File::for_path(std::env::current_exe().unwrap()); 20];
    }
    let application = gtk::Application::new(Some("org.example.PrioSched.RustDownloads"), gio::ApplicationFlags::NON_UNIQUE);
    application.connect_activate(move |application| show_window(application, &files, quits));
    application.run_with_args::<&str>(&[])
}
