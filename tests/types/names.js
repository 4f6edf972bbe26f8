// names.js: what GJS has of PrioSched, as JSON
//
//   gjs -m names.js FILE
//
// Prints what is missing of the names in FILE, which names.cjs prints, and those that the interfaces of PrioSched.web have.
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

function namesOf(object) {
    return Object.getOwnPropertyNames(object).filter(name => !['constructor', 'length', 'name', 'prototype'].includes(name));
}

function describe(value) {
    const isClass = typeof value === 'function' && value.prototype !== undefined;
    return isClass ? {values: namesOf(value), members: namesOf(value.prototype)} : {values: [], members: []};
}

print(JSON.stringify({
    missing: [...missingIn(PrioSched, JSON.parse(new TextDecoder().decode(contents)), 'PrioSched')],
    web: Object.fromEntries(namesOf(PrioSched.web).map(name => [name, describe(PrioSched.web[name])])),
}));
