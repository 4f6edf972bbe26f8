// SPDX-License-Identifier: LGPL-2.1-or-later
//
// search.js: the search of the manual, in place of gi-docgen's, which knows only names
//
// make-manual.py writes search-data.js: a list of entries [kind, name, title, href, summary, text].  An entry is a section of a guide, a
// section of a reference, or a page of a symbol, and `kind' is the index in KINDS.
'use strict';

const KINDS = [
    {label: 'guide', weight: 2},
    {label: 'reference', weight: 1},
    {label: 'symbol', weight: 1},
];
const MOST_RESULTS = 30;
const LITTLE_WORDS = new Set('a an and are as at be by can do does for from how i if in into is it its my not of on or so that the then to what when where which who why will with you your'.split(' '));
// What people ask for, and what the pages say.
const SYNONYMS = {
    freeze: ['stutter', 'hold'], lag: ['stutter'], jank: ['stutter'], slow: ['stutter', 'cost'], promise: ['await'], cancel: ['abort'],
    install: ['installing'], benchmark: ['cost'], performance: ['cost'], speed: ['cost'], unittest: ['testing'],
    ship: ['shipping'], mock: ['fake', 'testing'], pytest: ['testing'],
};

// An identifier is a word, and so are its parts; 100,000 is 100000.
const words = text => (text.toLowerCase().replace(/(?<=\d),(?=\d{3})/g, '').match(/[a-z0-9_]+/g) ?? [])
    .flatMap(word => word.includes('_') ? [word, ...word.split('_')] : word);
const stem = word => word.replace(/^(.{3,}?)(?:ings?|ed|es|s)$/, '$1').replace(/^(.{3,}[^aeiou])e$/, '$1');
const stems = text => words(text).map(stem);

// Counts the words of each entry, once.
function prepare(entries) {
    const documents = entries.map(([kind, name, title, href, summary, text]) => {
        const counts = new Map();
        for (const word of stems(`${name} ${title} ${text}`))
            counts.set(word, (counts.get(word) ?? 0) + 1);
        return {kind, name, title, href, summary, counts, inName: stems(name), inTitle: stems(title), all: ` ${stems(text).join(' ')} `};
    });
    const frequency = new Map();
    for (const {counts} of documents) {
        for (const word of counts.keys())
            frequency.set(word, (frequency.get(word) ?? 0) + 1);
    }
    return {documents, weightOf: word => Math.log(1 + documents.length / (frequency.get(word) ?? 1))};
}

// Returns how well a document answers a word of the query, or 0.
function scoreOf({counts, inName, inTitle}, word, isLast) {
    const count = counts.get(word) ?? 0;
    let score = count > 0 ? 1 + Math.log2(count) : 0;
    if (isLast && count === 0 && word.length > 2 && [...counts.keys()].some(other => other.startsWith(word)))
        score = 0.5; // somebody is typing it
    if (inName.includes(word))
        score += 6;
    if (inTitle.includes(word))
        score += 4;
    return score;
}

// Returns the documents that answer the query, the best first.
function findPages({documents, weightOf}, query) {
    const asked = stems(query), important = words(query).filter(word => !LITTLE_WORDS.has(word));
    const sought = (important.length > 0 ? important : words(query)).map(word => [stem(word), ...(SYNONYMS[word] ?? SYNONYMS[stem(word)] ?? []).map(stem)]);
    const phrase = ` ${asked.join(' ')} `, identifier = query.trim().toLowerCase().replace(/ *\(\)$/, '');
    const found = [];
    for (const page of documents) {
        let score = 0, nMissing = 0;
        sought.forEach((alternatives, i) => {
            const best = Math.max(...alternatives.map((word, k) => scoreOf(page, word, i === sought.length - 1) * weightOf(word) * (k === 0 ? 1 : 0.8)));
            score += best;
            nMissing += best === 0;
        });
        if (nMissing === sought.length)
            continue;
        if (asked.length > 1 && ` ${page.inName.join(' ')} `.includes(phrase))
            score += 40;
        else if (asked.length > 1 && page.all.includes(phrase))
            score += 12;
        score *= KINDS[page.kind].weight * 0.15 ** nMissing;
        if (/[_A-Z]/.test(page.name) && page.name.toLowerCase().replace(/ *\(\)$/, '') === identifier)
            score += 1000;
        found.push({page, score});
    }
    return found.sort((a, b) => b.score - a.score).slice(0, MOST_RESULTS).map(({page}) => page);
}

// Returns an element with that class and those children, which may be strings.
function element(name, className, ...children) {
    const made = document.createElement(name);
    if (className)
        made.className = className;
    made.append(...children);
    return made;
}

function showPages(query, pages) {
    const search = document.querySelector('#search'), list = element('dl', '');
    for (const {kind, name, title, href, summary} of pages) {
        const link = element('a', '', name);
        link.href = href;
        const {label} = KINDS[kind];
        list.append(element('dt', `result ${label}`, link, ` ${title} `, element('span', 'result emblem', label)), element('dd', '', summary));
    }
    search.replaceChildren(element('h1', '', `Results for “${query}” (${pages.length})`),
        pages.length > 0 ? element('div', 'results', list) : element('p', '', 'No results found.'));
    show(true);
}

function show(isSearch) {
    document.querySelector('#search').classList.toggle('hidden', !isSearch);
    for (const id of ['#main', '#toc'])
        document.querySelector(id)?.classList.toggle('hidden', isSearch);
}

if (typeof window !== 'undefined') {
    window.hideResults = () => show(false);
    // Called by gi-docgen's main.js.
    window.onInitSearch = () => {
        const data = document.createElement('script');
        data.src = 'search-data.js';
        data.onload = () => begin(prepare(window.searchData));
        document.head.append(data);
    };
    const begin = index => {
        const input = document.querySelector('#search-input'), form = document.querySelector('#search-form');
        let pages = [];
        const search = () => {
            const query = input.value.trim();
            if (query === '') {
                show(false);
                return;
            }
            window.history.replaceState(query, '', `?q=${encodeURIComponent(query)}`);
            pages = findPages(index, query);
            showPages(query, pages);
        };
        input.addEventListener('input', search);
        form.addEventListener('submit', event => {
            event.preventDefault();
            if (pages.length > 0)
                window.location.href = pages[0].href;
        });
        const query = new URLSearchParams(window.location.search).get('q');
        if (query !== null) {
            input.value = query;
            search();
        }
    };
}
