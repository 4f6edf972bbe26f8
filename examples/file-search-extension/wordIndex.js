// wordIndex.js: an index of the words in files, and searches in it
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// In scripts that write no spaces, each letter counts as a word.
const CJK = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}';
const WORD = new RegExp(`[${CJK}]|(?:(?![${CJK}])[\\p{L}\\p{N}]){2,40}`, 'gu');

const MAX_SIZE = 4000000; // places of words; an index of this size gets no more words, and later files are found by name only
const MAX_TERMS = 15; // each term has two bits, and all fit into a small integer
const STEP = 1000; // places to look at before asking whether to yield

// Splits a text into words, without case and accents.
export function wordsOf(text) {
    return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().match(WORD) ?? [];
}

// Compares results: files with all terms in their names come first, then the most recent files.
const isBetter = (a, b) => a.named === b.named ? a.time > b.time : a.named;

// A search: the files that it has found, and will find.
class Query {
    #terms;
    #all; // one bit for each term
    #found = new Map(); // number of a file → the bits of its terms, and above those the bits of the terms in its name
    #new = []; // numbers of the files that have all terms, and have not been taken
    #wake = null;

    constructor(terms) {
        this.#terms = [...new Set(terms)].slice(0, MAX_TERMS);
        this.#all = (1 << this.#terms.length) - 1;
    }

    // Adds the files that get () returns, which contain word, if word begins with a term.  Returns their number.
    offer(word, get, isName) {
        let bits = 0;
        this.#terms.forEach((term, i) => {
            if (word.startsWith(term))
                bits |= 1 << i;
        });
        if (bits === 0)
            return 0;
        const numbers = get();
        const more = isName ? bits | bits << MAX_TERMS : bits;
        for (const number of numbers) {
            const before = this.#found.get(number) ?? 0;
            this.#found.set(number, before | more);
            if ((before & this.#all) !== this.#all && ((before | bits) & this.#all) === this.#all)
                this.#new.push(number);
        }
        if (this.#new.length > 0) {
            this.#wake?.();
            this.#wake = null;
        }
        return numbers.length;
    }

    isNamed(number) {
        return this.#found.get(number) >> MAX_TERMS === this.#all;
    }

    take() {
        return this.#new.splice(0);
    }

    // Waits until there is a result that has not been taken.
    async more() {
        if (this.#new.length === 0)
            await new Promise(resolve => (this.#wake = resolve));
    }
}

// Lists of numbers, in only two arrays: the garbage collector looks at each array, and with an array for each list it
// would take longer than a frame.  A list is the place (the index in both arrays) of its last number, or 0 if it is empty.
class Lists {
    #numbers = new Uint32Array(1024);
    #before = new Uint32Array(1024); // for each place, the place of the previous number in its list, or 0
    #free = 0; // head of the list of free places
    #end = 1;

    clear() {
        this.#numbers = new Uint32Array(1024);
        this.#before = new Uint32Array(1024);
        this.#free = 0;
        this.#end = 1;
    }

    last(list) {
        return this.#numbers[list];
    }

    push(list, number) {
        const place = this.#free || this.#end++;
        if (place === this.#free)
            this.#free = this.#before[place];
        if (place === this.#numbers.length)
            [this.#numbers, this.#before] = [this.#numbers, this.#before].map(Lists.#grown);
        this.#numbers[place] = number;
        this.#before[place] = list;
        return place;
    }

    toArray(list) {
        const numbers = [];
        for (let place = list; place !== 0; place = this.#before[place])
            numbers.push(this.#numbers[place]);
        return numbers.reverse();
    }

    remove(list) {
        for (let place = list; place !== 0;) {
            const before = this.#before[place];
            this.#before[place] = this.#free;
            this.#free = place;
            place = before;
        }
    }

    static #grown(array) {
        const grown = new Uint32Array(2 * array.length);
        grown.set(array);
        return grown;
    }
}

// Each file has a number, which is never used again: words may still refer to the number of a removed file, which is
// ignored then.  A word refers to a file at most once for each piece of the file.
export class WordIndex {
    #extras;
    #files = new Map(); // number → {uri, name, time}
    #numbers = new Map(); // URI → number
    #lists = new Lists();
    #names = new Map(); // word → list of the numbers of the files with this word in their names
    #words = new Map(); // word → list of the numbers of the files with this word in their text
    #size = 0; // places of all words
    #last = 0;
    #nGone = 0; // removed files that words still refer to
    #steps = 0;
    #queries = new Set();

    constructor(extras) {
        this.#extras = extras;
    }

    get length() {
        return this.#files.size;
    }

    clear() {
        for (const map of [this.#files, this.#numbers, this.#names, this.#words])
            map.clear();
        this.#lists.clear();
        this.#size = this.#nGone = 0;
    }

    get(uri) {
        return this.#files.get(this.#numbers.get(uri));
    }

    // Adds a file, which replaces an earlier one with the same URI; returns its number.
    add(file) {
        this.remove(file.uri);
        const number = ++this.#last;
        this.#numbers.set(file.uri, number);
        this.#files.set(number, file);
        this.#addWords(this.#names, number, file.name);
        return number;
    }

    remove(uri) {
        if (this.#files.delete(this.#numbers.get(uri)))
            this.#nGone++;
        this.#numbers.delete(uri);
    }

    addText(number, text) {
        if (this.#files.has(number) && this.#size < MAX_SIZE)
            this.#addWords(this.#words, number, text);
    }

    #addWords(map, number, text) {
        for (const word of wordsOf(text)) {
            const list = map.get(word) ?? 0;
            if (this.#lists.last(list) === number)
                continue;
            map.set(word, this.#lists.push(list, number));
            this.#size++;
            for (const query of this.#queries)
                query.offer(word, () => [number], map === this.#names);
        }
    }

    removeFolder(uri) {
        for (const other of this.#numbers.keys()) {
            if (other.startsWith(`${uri}/`))
                this.remove(other);
        }
    }

    // Removes references to removed files, if these outnumber the other files.
    async tidy() {
        if (this.#nGone < STEP + this.#files.size)
            return;
        this.#nGone = 0;
        for (const map of [this.#names, this.#words]) {
            for (const [word, list] of map) {
                const numbers = this.#lists.toArray(list);
                const kept = numbers.filter(number => this.#files.has(number));
                this.#size -= numbers.length - kept.length;
                if (kept.length < numbers.length) {
                    this.#lists.remove(list);
                    map.set(word, kept.reduce((last, number) => this.#lists.push(last, number), 0));
                }
                if (kept.length === 0)
                    map.delete(word);
                if (this.#isTime(numbers.length))
                    await this.#extras.scheduler.yield(); // eslint-disable-line no-await-in-loop
            }
        }
    }

    // Returns whether it is time to yield.  shouldYield () costs as much as a few words, so it is called only once for
    // many steps.
    #isTime(steps) {
        this.#steps += 1 + steps;
        if (this.#steps < STEP)
            return false;
        this.#steps = 0;
        return this.#extras.shouldYield();
    }

    // Finds the files that have, for each term, a word that begins with it.  The query also finds files that are added
    // later, until signal is aborted.
    async query(terms, signal) {
        signal.throwIfAborted();
        const query = new Query(wordsOf(terms.join(' ')));
        this.#queries.add(query);
        signal.addEventListener('abort', () => this.#queries.delete(query), {once: true});
        for (const map of [this.#names, this.#words]) {
            for (const [word, list] of map) {
                const n = query.offer(word, () => this.#lists.toArray(list), map === this.#names);
                if (this.#isTime(n))
                    await this.#extras.scheduler.yield(); // eslint-disable-line no-await-in-loop
            }
        }
        return query;
    }

    // Returns the URIs of the best results since the last call.
    async best(query, max) {
        const best = [];
        for (const number of query.take()) {
            const file = this.#files.get(number);
            if (file === undefined)
                continue;
            const found = {uri: file.uri, named: query.isNamed(number), time: file.time};
            const place = best.findIndex(other => isBetter(found, other));
            if (place >= 0 || best.length < max) {
                best.splice(place >= 0 ? place : best.length, 0, found);
                best.length = Math.min(best.length, max);
            }
            if (this.#isTime(max))
                await this.#extras.scheduler.yield(); // eslint-disable-line no-await-in-loop
        }
        return best.map(({uri}) => uri);
    }
}
