// aborts.js: rejects the promises of aborted tasks, in slices too short to notice

// The file is one function, because GJS looks up names outside of functions at each use: see “Names” in introspection/README.md.
var {Aborts} = ((Set, imports) => {
const {Slice} = imports.overrides._priosched.core.settling;

class Aborts {
    // The tables that have unfinished tasks with signals.  If there is a native part, its table is always the first, with or
    // without tasks.
    tables = new Set();
    #native;
    #results;
    #slice = new Slice();

    constructor(native, results) {
        this.#native = native;
        this.#results = results;
    }

    // Prepares for the rejection of the tasks of a signal that has been aborted.
    begin(reason) {
        this.#slice.begin();
        this.#results.unhandled.begin(reason);
    }

    #isLate() {
        const results = this.#results, slice = this.#slice;
        // The first few promises of a slice never make later promises wait.  With a native part, many promises do so even if the
        // slice is not over: the reactions of promises that the native part keeps may not be queued yet, so the clock does not
        // measure them.
        const {isShort} = slice;
        if (!results.isLate && ((slice.isOver() && !isShort) || (this.#native !== null && slice.isLong)))
            results.delay();
        return results.isLate;
    }

    // Rejects the promise of entry, now or in a later task, before the library has rejected its task.
    reject(entry, reason) {
        entry.isRejected = true;
        if (this.#isLate())
            this.#results.add({entry, settle: entry.reject, value: reason});
        else
            this.#results.settle(entry, entry.reject, reason);
    }

    // Rejects the promises of the tasks in table that the library has rejected, now or in a later task; ids are the tasks'
    // numbers.
    rejectAll(table, ids) {
        if (ids.length > 0)
            this.#slice.begin();
        for (const id of ids) {
            if (table.find(id).isRejected) {
                table.take(id);
            } else if (this.#isLate()) {
                this.#results.add({table, id});
            } else {
                const {entry, settle, value} = table.takeAborted(id);
                this.#results.settle(entry, settle, value);
            }
        }
    }

    // Rejects the aborted tasks of all tables.
    takeRejected() {
        for (const table of [...this.tables])
            table.takeRejected();
    }
}

return {Aborts};
})(Set, imports);
