// options.js: the options of the library's methods
//
// The web's methods ignore options that they do not know, as Web IDL requires.  The library's methods refuse them.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {namesOfSteps, namesOfTasks, optionNames, toOptions} = ((undefined, Object, Array, Number, Math, TypeError, imports) => {
const {Gio, GObject} = imports.gi;
const {named} = imports.overrides._priosched.core.reasons;

const FARTHEST = 2; // the most letters by which a suggested name differs from the name that the program has written

// Returns how many letters have to be added, removed or replaced in one word to get the other.
function distance(one, other) {
    let row = Array.from({length: other.length + 1}, (_, i) => i);
    for (const [i, letter] of [...one].entries()) {
        const next = [i + 1];
        for (let j = 0; j < other.length; j++)
            next.push(Math.min(next[j] + 1, row[j + 1] + 1, row[j] + Number(letter !== other[j])));
        row = next;
    }
    return row.at(-1);
}

function unknown(name, names, where) {
    const near = Object.keys(names).map(other => [distance(name.toLowerCase(), other.toLowerCase()), other]).sort(([a], [b]) => a - b)[0];
    const hint = near[0] <= FARTHEST ? `did you mean ${named(near[1])}?` : `these are ${Object.keys(names).join(', ')}`;
    return new TypeError(`${named(name)} is not an option of ${where}: ${hint}`);
}

const toCamelCase = name => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());

// Returns an object whose properties are the names of a method's options: toOptions () finds these fast.
const optionNames = (...names) => Object.assign(Object.create(null), Object.fromEntries(names.map(name => [name, true])));

const namesOfTasks = optionNames('priority', 'signal', 'delay', 'name', 'timeout', 'takesTurns');
const namesOfSteps = optionNames(...Object.keys(namesOfTasks), 'progress');

// Checks the options of a method, whose names are in camelCase; the program may also write them with underscores, as properties of
// GObjects.  Returns an object that has them in camelCase.
function toOptions(value, names, where) {
    if (value === undefined || value === null)
        return {};
    // A GObject, such as a signal, is refused, because its properties are not options.
    if (typeof value !== 'object' || (Object.getPrototypeOf(value) !== Object.prototype && value instanceof GObject.Object)) {
        const hint = value instanceof Gio.Cancellable ? ': give it as {signal}' : typeof value === 'string' ? `: write {priority: '${value}'}`
            : 'signal' in Object(value) ? ': give its signal as {signal}' : '';
        throw new TypeError(`${named(value)} is not an object with options${hint}`);
    }
    let options = value;
    for (const name in value) {
        if (name in names || !Object.hasOwn(value, name))
            continue;
        const other = toCamelCase(name);
        if (!(other in names))
            throw unknown(name, names, where);
        options = Object.create(options, {[other]: {value: value[name], enumerable: true}});
    }
    return options;
}

return {namesOfSteps, namesOfTasks, optionNames, toOptions};
})(undefined, Object, Array, Number, Math, TypeError, imports);
