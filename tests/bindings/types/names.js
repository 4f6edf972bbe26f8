// names.js: prints the names of PrioSched in GJS, as JSON
//
//   gjs -m names.js FILE
//
// Prints the missing names of FILE, which names.cjs writes, and the names that the overrides have added: to the
// namespace and its classes, and all of PrioSched.web.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

import GLib from 'gi://GLib';
import PrioSched from 'gi://PrioSched?version=1';

const [, contents] = GLib.file_get_contents(ARGV[0]);

function* missingIn(object, {values, members, nested}, path) {
    for (const name of values.filter(value => !(value in object)))
        yield `${path}.${name}`;
    for (const name of members.filter(member => !member.startsWith('$') && !(member in object.prototype)))
        yield `${path}.prototype.${name}`;
    for (const name of values.filter(value => value in object && value in nested))
        yield* missingIn(object[name], nested[name], `${path}.${name}`);
}

// Names of JavaScript itself; names that begin with a mark are internal, too.
const OWN = ['constructor', 'length', 'name', 'prototype', 'toString'];

function namesOf(object) {
    return Object.getOwnPropertyNames(object).filter(name => !OWN.includes(name) && !/^[_$]/.test(name));
}

function describe(value) {
    const isClass = typeof value === 'function' && value.prototype !== undefined;
    return isClass ? {values: namesOf(value), members: namesOf(value.prototype)} : {values: [], members: []};
}

function describeAll(object) {
    return Object.fromEntries(namesOf(object).map(name => [name, describe(object[name])]));
}

print(JSON.stringify({
    missing: [...missingIn(PrioSched, JSON.parse(new TextDecoder().decode(contents)), 'PrioSched')],
    added: describeAll(PrioSched),
    web: describeAll(PrioSched.web),
}));
