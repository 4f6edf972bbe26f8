// index.d.ts: the npm package's types, with the types that they use
//
// SPDX-License-Identifier: LGPL-2.1-or-later

/// <reference path="priosched-1.d.ts" />

import '@girs/gjs';
import '@girs/gio-2.0/ambient';
import '@girs/glib-2.0/ambient';
import '@girs/gobject-2.0/ambient';
import PrioSched from 'gi://PrioSched?version=1';

export default PrioSched;
