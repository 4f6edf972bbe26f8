// Tests feeds of the rows that a window shows, from GJS.

imports.gi.versions.Gtk = '4.0';
const {Gio, GLib, GObject, Gtk, PrioSched} = imports.gi;
const System = imports.system;

Gtk.init();
const scheduler = PrioSched.Scheduler.get_default();
const context = GLib.MainContext.default();

const Row = GObject.registerClass(class Row extends GObject.Object {
    constructor(number) {
        super();
        this.number = number;
        this.loaded = 0;
    }
});

function check(isTrue, what) {
    if (!isTrue)
        throw new Error(what);
}

function makeRows(n) {
    const rows = new Gio.ListStore({item_type: Row});
    rows.splice(0, 0, Array.from({length: n}, (_, i) => new Row(i)));
    return rows;
}

let asked = 0;
async function load(row) {
    asked++;
    if (!row.loaded) {
        await scheduler.sleep(1);
        row.loaded++;
    }
}

const shown = new Set(), factory = new Gtk.SignalListItemFactory();
factory.connect('setup', (_, item) => item.set_child(new Gtk.Label()));
factory.connect('bind', (_, item) => {
    item.child.label = `${item.item.number}`;
    shown.add(item);
});
factory.connect('unbind', (_, item) => shown.delete(item));
const rows = makeRows(1000), view = new Gtk.ListView({model: new Gtk.NoSelection({model: rows}), factory});
const window = new Gtk.Window({default_width: 300, default_height: 400, child: new Gtk.ScrolledWindow({child: view})});
const group = new PrioSched.TaskGroup({limit: 4});
const feed = group.feed_view(load, view);

let frames = 0;
window.present();
window.get_frame_clock().connect('after-paint', () => { frames++; });

function settle() {
    const before = frames;
    while (frames < before + 3 || group.n_tasks > 0) {
        window.queue_draw();
        context.iteration(true);
    }
}

function checkView(model) {
    const inView = [...shown].filter(item => item.child.get_mapped()).map(item => item.position);
    const fed = Array.from({length: feed.n_rows}, (_, i) => feed.first + i);
    check(`${fed}` === `${inView.sort((a, b) => a - b)}`, `the view has ${inView}, and the feed ${fed}`);
    check(fed.every(i => model.get_item(i).loaded === 1), 'rows in view are not loaded');
    check(asked <= 3 * fed.length, `${asked} rows were asked for`);
}

settle();
for (const part of [0.01, 0.02, 0.5, 0.51, 1, 0]) {
    asked = 0;
    view.vadjustment.value = part * (view.vadjustment.upper - view.vadjustment.page_size);
    settle();
    checkView(rows);
}

asked = 0;
const other = makeRows(100);
view.model = new Gtk.NoSelection({model: other});
settle();
checkView(other);
other.remove_all();
settle();
check(feed.n_rows === 0, 'rows in view of an empty list');

// The view is destroyed while rows load.
const slow = makeRows(100);
slow.get_item(0).loaded = 0;
view.model = new Gtk.NoSelection({model: slow});
while (group.n_tasks === 0)
    context.iteration(true);
window.destroy();
while (group.n_tasks > 0)
    context.iteration(true);
check(feed.n_rows === 0, 'rows in view of a destroyed list');

let error = null;
try {
    group.feed_view(3, view);
} catch (e) {
    error = e;
}
check(error instanceof TypeError, `${error}`);
view.model = null;
print('ok');
System.exit(0);
