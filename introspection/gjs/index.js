// index.js: the npm package's module at run time, in GJS
//
// SPDX-License-Identifier: LGPL-2.1-or-later
import PrioSched from 'gi://PrioSched?version=1';

export default PrioSched;
