// entries.js: things that have numbers, which are used again
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/* exported Entries */

var Entries = class Entries {
    #entries = [0]; // by number; for a free number, the next free one, or 0
    #free = 0;      // the first free number, or 0

    // Returns its number, which is not 0.
    add(entry) {
        const id = this.#free || this.#entries.length;
        if (id === this.#free)
            this.#free = this.#entries[id];
        this.#entries[id] = entry;
        return id;
    }

    find(id) {
        return this.#entries[id];
    }

    // Its number is free from now on.
    take(id) {
        const entry = this.#entries[id];
        this.#entries[id] = this.#free;
        this.#free = id;
        return entry;
    }
};
