// entries.js: a list of numbered entries, which reuses the numbers of removed entries

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {Entries} = (() => {
class Entries {
    #entries = [0]; // by number; for a free number, the next free number, or 0
    #free = 0;      // the first free number, or 0

    // Adds an entry, and returns its number, which is not 0.
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

    // Removes an entry, and frees its number.
    take(id) {
        const entry = this.#entries[id];
        this.#entries[id] = this.#free;
        this.#free = id;
        return entry;
    }
}

return {Entries};
})();
