// gir generated this file (https://github.com/gtk-rs/gir). The sentence about the C library is ours.

fn main() {
    if std::env::var("DOCS_RS").is_ok() {
        // prevent linking libraries to avoid documentation failure
        return;
    }

    if let Err(s) = system_deps::Config::new().probe() {
        println!("cargo:warning={s}");
        println!(
            "cargo:warning=prio-sched-sys needs the C library prio-sched-1: install libprio-sched-dev, or build it from {}, and name its pkgconfig folder in PKG_CONFIG_PATH",
            env!("CARGO_PKG_HOMEPAGE")
        );
        std::process::exit(1);
    }
}
