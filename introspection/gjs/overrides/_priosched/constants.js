// constants.js: constants of the library and of the overrides

/* exported UNSET, BACKGROUND, USER_VISIBLE, USER_BLOCKING, NICKS, REJECTED, OUTSIDE, INSIDE, FOREVER, INHERIT, MAX_SHARED_SLICE */

// The members of PrioSched.TaskPriority; UNSET stands for no priority
var UNSET = 0;
var BACKGROUND = 1;
var USER_VISIBLE = 2;
var USER_BLOCKING = 3;

// The names of the priorities, the first for BACKGROUND
var NICKS = ['background', 'user-visible', 'user-blocking'];

// The members of PrioSched.PostResult: the outcome of a post to a PrioSched.Runner, from outside or inside a task
var REJECTED = 0;
var OUTSIDE = 1;
var INSIDE = 2;

// The longest delay, in milliseconds
var FOREVER = Number.MAX_SAFE_INTEGER;

// The value of a yield's options `signal` and `priority` for the task's own signal or priority
var INHERIT = 'inherit';

// The longest slice of the default scheduler, which extensions of GNOME Shell share, in milliseconds: three frames at 60 Hz
var MAX_SHARED_SLICE = 50;
