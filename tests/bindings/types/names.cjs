// names.cjs: the names of a namespace, from its .d.ts, as JSON
//
//   node names.cjs FILE.d.ts MODULE NAMESPACE
//
// Those of its values and of its types, and of each class, interface and namespace in it the same, and the names of
// its instances.  TypeScript is in a node_modules folder beside the FILE.
//
// SPDX-License-Identifier: LGPL-2.1-or-later

'use strict';

const path = require('path');

const [file, moduleName, namespace] = process.argv.slice(2);
const ts = require(require.resolve('typescript', {paths: [path.dirname(path.resolve(file))]}));
const program = ts.createProgram([file], {target: ts.ScriptTarget.ES2022, types: []});

function namesOf(table, flags = -1) {
    return [...table?.values() ?? []].filter(symbol => symbol.flags & flags).map(symbol => symbol.getName())
        .filter(name => !name.startsWith('__') && name !== 'prototype');
}

function describe(symbol) {
    const inner = [...symbol.exports?.values() ?? []].filter(member =>
        member.flags & (ts.SymbolFlags.Module | ts.SymbolFlags.Class | ts.SymbolFlags.Interface));
    return {
        values: namesOf(symbol.exports, ts.SymbolFlags.Value),
        types: namesOf(symbol.exports, ts.SymbolFlags.Type),
        members: namesOf(symbol.members, ~ts.SymbolFlags.TypeParameter),
        nested: Object.fromEntries(inner.map(member => [member.getName(), describe(member)])),
    };
}

const ambient = program.getTypeChecker().getAmbientModules().find(symbol => symbol.getName() === `"${moduleName}"`);
process.stdout.write(JSON.stringify(describe(ambient.exports.get(namespace))));
