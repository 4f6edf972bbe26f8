// tap.js: runs tests in GJS one after another, and prints TAP
//
// SPDX-License-Identifier: LGPL-2.1-or-later

const {GLib} = imports.gi;
const System = imports.system;

const tests = [];

var test = (name, body) => tests.push([name, body]);

var assert = (condition, message) => {
    if (!condition)
        throw new Error(message ?? 'assertion failed');
};

var assertEqual = (got, wanted) => {
    const [a, b] = [got, wanted].map(value => JSON.stringify(value) ?? String(value));
    assert(a === b, `expected ${b}, got ${a}`);
};

// Returns the value with which promise is rejected.
var rejection = async promise => {
    try {
        await promise;
    } catch (error) {
        return error;
    }
    throw new Error('the promise was not rejected');
};

var thrown = body => {
    try {
        body();
    } catch (error) {
        return error;
    }
    throw new Error('nothing was thrown');
};

var run = () => {
    const loop = new GLib.MainLoop(null, false);
    let failed = 0;
    const runAll = async () => {
        print(`1..${tests.length}`);
        for (const [i, [name, body]] of tests.entries()) {
            try {
                await body();
                print(`ok ${i + 1} ${name}`);
            } catch (error) {
                failed++;
                print(`not ok ${i + 1} ${name}\n# ${error}\n# ${(error?.stack ?? '').split('\n').join('\n# ')}`);
            }
        }
        loop.quit();
    };
    runAll();
    loop.run();
    System.exit(failed > 0 ? 1 : 0);
};
