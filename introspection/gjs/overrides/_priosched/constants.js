// constants.js: the library's numbers, in the form in which GJS passes them

/* exported UNSET, BACKGROUND, USER_VISIBLE, USER_BLOCKING, NICKS, REJECTED, OUTSIDE, INSIDE, FOREVER, INHERIT, MAX_SHARED_SLICE */

// The members of PrioSched.TaskPriority, and UNSET for no priority
var UNSET = 0;
var BACKGROUND = 1;
var USER_VISIBLE = 2;
var USER_BLOCKING = 3;

// The nicks of the priorities, from BACKGROUND
var NICKS = ['background', 'user-visible', 'user-blocking'];

// The members of PrioSched.PostResult, which the functions of a runner that post return
var REJECTED = 0;
var OUTSIDE = 1;
var INSIDE = 2;

// The longest delay, in milliseconds
var FOREVER = Number.MAX_SAFE_INTEGER;

// The value of a yield's option `signal` or `priority` that keeps the task's signal or priority
var INHERIT = 'inherit';

// The longest slice of the default scheduler, which extensions of GNOME Shell share, in milliseconds: three frames at 60 Hz
var MAX_SHARED_SLICE = 50;
