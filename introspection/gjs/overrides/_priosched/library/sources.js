// sources.js: names GLib sources after their callbacks, once the program watches for long tasks

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {nameSources} = ((Error, imports) => {
const {GLib} = imports.gi;

// The functions that add a source, by object.  Their first argument that is a function is the source's callback.
const ADDERS = [[GLib, ['idle_add', 'timeout_add', 'timeout_add_seconds', 'child_watch_add']],
    [globalThis, ['setTimeout', 'setInterval']]];

// Returns FILE:LINE of the code that has called the function that calls this one, or undefined if the stack does not show it.
// Skips GJS's own frames.
function callingPlace() {
    const lines = new Error().stack.split('\n').slice(2);
    const line = lines.find(text => !text.includes('resource:///org/gnome/gjs/')) ?? lines[0] ?? '';
    return line.match(/([^/@]+:\d+):\d+$/)?.[1];
}

function nameSource(callback, place) {
    const source = GLib.main_current_source(), name = source?.get_name();
    // Also replaces names that GLib makes from the source's type, such as GIdleSource, because these say nothing about the
    // callback.
    if (source && (!name || /^G.*Source$/.test(name)))
        source.set_name(`${callback.name || 'a function'}${place ? ` (${place})` : ''}`);
}

function named(callback, place) {
    let isNamed = false;
    return function (...args) {
        try {
            if (!isNamed)
                nameSource(callback, place);
        } catch {
            // The callback's name is not a string, or a getter has thrown.  This must not disturb the program.
        }
        isNamed = true;
        return callback.apply(this, args);
    };
}

function naming(add) {
    return function (...args) {
        const given = args.findIndex(value => typeof value === 'function');
        if (given >= 0)
            args[given] = named(args[given], callingPlace());
        return add.apply(this, args);
    };
}

// Names the sources that programs add from now on.
function nameSources() {
    for (const [object, names] of ADDERS.splice(0)) {
        for (const name of names.filter(each => typeof object[each] === 'function'))
            object[name] = naming(object[name]);
    }
}

return {nameSources};
})(Error, imports);
