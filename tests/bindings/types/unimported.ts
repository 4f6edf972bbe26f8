// unimported.ts: without an import, no name is defined
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// @ts-expect-error: no global name is defined
export const signal: PrioSched.TaskSignal | null = null;
// @ts-expect-error: no global name is defined
export const scheduler = PrioSched.web.scheduler;
// @ts-expect-error: the module does not export the members of the namespace
import {Scheduler} from 'gi://PrioSched?version=1';

export default Scheduler;
