// unimported.ts: nothing is there for who has not imported it
//
// SPDX-License-Identifier: LGPL-2.1-or-later

// @ts-expect-error: nothing of it is global
export const signal: PrioSched.TaskSignal | null = null;
// @ts-expect-error: nothing of it is global
export const scheduler = PrioSched.web.scheduler;
// @ts-expect-error: nor has the namespace its members by name
import {Scheduler} from 'gi://PrioSched?version=1';

export default Scheduler;
