// test-vala.vala: tasks in Vala, where asynchronous methods are awaited with yield
//
// SPDX-License-Identifier: LGPL-2.1-or-later

using PrioSched;

async int count_in_slices (Scheduler scheduler, StringBuilder log, string letter) throws Error {
	for (int i = 0; i < 3; i++) {
		log.append (letter);
		yield scheduler.yield_async ();
	}
	return 3;
}

async void check_results (Scheduler scheduler) throws Error {
	Value answer;
	var task = scheduler.post_task (TaskOptions () { priority = USER_BLOCKING, name = "answer" }, (task) => task.return_value (42));
	yield task.wait_async ();
	task.propagate_value (out answer);
	assert (answer.get_int () == 42);
	yield task.wait_async ();

	var cancellable = new Cancellable ();
	cancellable.cancel ();
	try {
		yield task.wait_async (cancellable);
		assert_not_reached ();
	} catch (IOError.CANCELLED error) {
	}

	try {
		yield scheduler.post_task (null, (task) => task.return_error (new IOError.FAILED ("no luck"))).wait_async ();
		assert_not_reached ();
	} catch (IOError.FAILED error) {
		assert (error.message == "no luck");
	}
}

async void check_order (Scheduler scheduler) throws Error {
	var log = new StringBuilder ();
	int found = 0;

	scheduler.post (TaskPriority.BACKGROUND, () => {
		count_in_slices.begin (scheduler, log, "b", (source, result) => {
			try {
				found = count_in_slices.end (result);
			} catch (Error error) {
				assert_not_reached ();
			}
		});
		return Source.REMOVE;
	});
	scheduler.post (TaskPriority.BACKGROUND, () => {
		log.append ("l");
		return Source.REMOVE;
	});
	scheduler.post (TaskPriority.USER_BLOCKING, () => {
		log.append ("u");
		scheduler.queue_microtask (() => log.append ("m"));
		return Source.REMOVE;
	});
	yield scheduler.post_task (TaskOptions () { priority = BACKGROUND }, (task) => {}).wait_async ();

	assert (log.str == "umbbbl");
	assert (found == 3);
}

async void check_abort (Scheduler scheduler) throws Error {
	var controller = new TaskController (TaskPriority.BACKGROUND);
	var changes = 0;

	controller.signal.priority_change.connect ((previous) => {
		assert (previous == TaskPriority.BACKGROUND);
		changes++;
	});
	controller.set_priority (TaskPriority.USER_VISIBLE);
	assert (changes == 1);

	scheduler.post (TaskPriority.USER_BLOCKING, () => {
		controller.abort (new IOError.TIMED_OUT ("too late"));
		return Source.REMOVE;
	});
	try {
		yield scheduler.post_task (TaskOptions () { @signal = controller.signal }, (task) => assert_not_reached ()).wait_async ();
		assert_not_reached ();
	} catch (IOError.TIMED_OUT error) {
	}
	try {
		yield scheduler.yield_async (YieldOptions () { @signal = controller.signal });
		assert_not_reached ();
	} catch (IOError.TIMED_OUT error) {
	}
	yield scheduler.sleep_async (1, null);
	try {
		yield scheduler.sleep_async (uint64.MAX, YieldOptions () { @signal = controller.signal });
		assert_not_reached ();
	} catch (IOError.TIMED_OUT error) {
	}
}

// After an await of another library, a task has its own state again.
async void stay_in_background (TaskController controller, bool abort) throws Error {
	var state = SchedulingState.get_current ();
	yield File.new_for_path ("/").query_info_async ("standard::type", 0);
	assert (SchedulingState.get_current () == null);
	if (abort)
		controller.abort (new IOError.TIMED_OUT ("too late"));
	yield state.resume_async ();
	assert (SchedulingState.get_current ().get_cancellable () == controller.signal);
	yield state.dup_scheduler ().yield_async ();
	assert (SchedulingState.get_current ().get_cancellable () == controller.signal);
}

async void check_carried (Scheduler scheduler, bool abort) throws Error {
	var controller = new TaskController (BACKGROUND);
	Error? failure = null;
	SourceFunc go_on = check_carried.callback;

	scheduler.post_full (TaskOptions () { @signal = controller.signal }, () => {
		stay_in_background.begin (controller, abort, (source, result) => {
			try {
				stay_in_background.end (result);
			} catch (Error error) {
				failure = error;
			}
			go_on ();
		});
		return Source.REMOVE;
	});
	yield;
	assert (abort ? failure is IOError.TIMED_OUT : failure == null);
}

async void check_no_scheduler () {
	var scheduler = new Scheduler (null);
	SchedulingState? state = null;

	scheduler.post (USER_BLOCKING, () => {
		state = SchedulingState.get_current ();
		return Source.REMOVE;
	});
	while (state == null)
		MainContext.default ().iteration (true);
	scheduler = null;
	try {
		yield state.resume_async ();
		assert_not_reached ();
	} catch (SchedulerError.CLOSED error) {
	} catch (Error error) {
		assert_not_reached ();
	}
}

// Checks the counterparts of each (), latest () and adopt () of other languages.
async void check_idioms (Scheduler scheduler) throws Error {
	var group = new TaskGroup (scheduler, 1, TaskPriority.USER_VISIBLE);
	var log = new StringBuilder ();
	PrioSched.Task[] runs = {};
	PrioSched.Task? first;

	foreach (unowned string letter in new string[] { "a", "b", "c" }) {
		if (scheduler.should_yield ())
			yield scheduler.yield_async ();
		var own = letter;
		group.post_task (null, (task) => log.append (own));
	}
	assert (group.n_tasks == 3);
	yield group.wait_async (TaskGroupWait.ALL, null, null);
	assert (log.str == "abc");
	assert (group.n_tasks == 0);

	for (int i = 0; i < 3; i++) {
		group.abort ();
		int number = i;
		runs += group.post_task (TaskOptions () { priority = BACKGROUND }, (task) => task.return_value (number));
	}
	yield group.wait_async (TaskGroupWait.ANY, null, out first);
	assert (first == runs[2]);
	assert (runs[0].state == ABORTED && runs[1].state == ABORTED);
}

async void check_thread (Scheduler scheduler) throws Error {
	unowned Thread<void*> here = Thread.self<void*> ();
	Value answer;

	var task = scheduler.run_in_thread (null, (task) => {
		assert (Thread.self<void*> () != here);
		task.return_value (42);
	});
	yield task.wait_async ();
	assert (Thread.self<void*> () == here);
	task.propagate_value (out answer);
	assert (answer.get_int () == 42);
}

async void check_task_in_no_queue (Scheduler scheduler) throws Error {
	var controller = new TaskController (TaskPriority.USER_VISIBLE);
	var task = new PrioSched.Task (scheduler);
	Idle.add (() => {
		task.return_int (42);
		return Source.REMOVE;
	});
	yield task.wait_async ();
	assert (task.propagate_int () == 42);

	task = new PrioSched.Task (scheduler, TaskOptions () { signal = controller.signal });
	controller.abort ();
	assert (task.state == TaskState.ABORTED);
	try {
		yield task.wait_async ();
		assert_not_reached ();
	} catch (IOError.CANCELLED error) {
	}
}

async void check_feed (Scheduler scheduler) throws Error {
	var group = new TaskGroup (scheduler, 2, TaskPriority.USER_VISIBLE);
	var rows = new ListStore (typeof (Object));
	int left = 5, n = 0;

	var feed = new Feed (group, (group) => left-- > 0 ? group.post_task (null, (task) => n++) : null);
	yield feed.get_task ().wait_async ();
	assert (n == 5);

	for (int i = 0; i < 3; i++)
		rows.append ((Object) Object.new (typeof (Object)));
	var order = "";
	feed = new Feed.for_model (group, rows, (group, item, position, wanted) => {
		order += "%u ".printf (position);
		return group.post_task (TaskOptions () { signal = wanted }, (task) => {});
	});
	feed.set_view (1, 1);
	yield group.wait_async (TaskGroupWait.DRAINED, null, null);
	assert (order == "1 2 0 ");
}

async void check_channel (Scheduler scheduler) throws Error {
	int n = 0;
	var channel = new Channel (scheduler, null, 2, ChannelPace.EACH, (channel, value) => n += (int) (long) value);

	assert (channel.offer ((void*) 1, null) && channel.replace ((void*) 2, null) && !channel.offer ((void*) 4, null));
	yield channel.post_value (scheduler, null, (void*) 8, null).wait_async ();
	channel.close ();
	while (channel.get_length () > 0)
		yield scheduler.yield_async ();
	assert (n == 11);

	var thread = new Thread<bool> ("asks", () => {
		var answered = false;
		try {
			answered = scheduler.post_task (null, (task) => n++).wait (-1);
		} catch (Error error) {
		}
		AtomicInt.set (ref n, 0);
		return answered;
	});
	while (AtomicInt.get (ref n) != 0)
		yield scheduler.sleep_async (1);
	assert (thread.join ());
}

/* A thread gives 100,000 values, and asks whether the main loop has used the newest. */
async void check_thread_and_loop (Scheduler scheduler) throws Error {
	int last = 100000, shown = 0, n = 0;
	void* here = Thread.self<void*> ();
	var channel = new Channel (scheduler, null, 1, ChannelPace.FRAME, (channel, value) => {
		assert (Thread.self<void*> () == here && shown < (int) (long) value);
		shown = (int) (long) value;
		n++;
	});
	var is_over = scheduler.post_task (null, (task) => task.defer ());
	var thread = new Thread<int> ("gives", () => {
		for (int i = 1; i <= last; i++)
			assert (channel.replace ((void*) (long) i, null));
		int answer = 0;
		try {
			do {
				var question = scheduler.post_task (null, (task) => task.return_int (shown));
				assert (question.wait (-1));
				answer = (int) question.propagate_int ();
			} while (answer < last);
		} catch (Error error) {
		}
		is_over.return_boolean (true);
		return answer;
	});
	yield is_over.wait_async ();
	assert (thread.join () == last && shown == last && n < last);
}

async void check_worker (Scheduler scheduler) throws Error {
	var worker = new Worker ("render");
	void* here = Thread.self<void*> ();
	Value answer;

	var task = worker.run (scheduler, null, (task) => {
		assert (Thread.self<void*> () != here);
		task.return_value (42);
	});
	yield task.wait_async ();
	assert (Thread.self<void*> () == here);
	task.propagate_value (out answer);
	assert (answer.get_int () == 42);

	worker.stop (WorkerStop.FINISH);
	worker.join ();
	task = worker.run (scheduler, null, (task) => task.return_value (43));
	try {
		yield task.wait_async ();
		assert_not_reached ();
	} catch (SchedulerError.CLOSED error) {
	}
}

async void check_steps (Scheduler scheduler) throws Error {
	var group = new TaskGroup (scheduler, 1, TaskPriority.USER_VISIBLE);
	Value sum;
	int n = 0, left = 3;

	var task = scheduler.post_steps (TaskOptions () { priority = BACKGROUND }, (task) => {
		if (++n < 10)
			return Source.CONTINUE;
		task.return_value (n);
		return Source.REMOVE;
	});
	yield task.wait_async ();
	task.propagate_value (out sum);
	assert (sum.get_int () == 10);

	group.post_steps (null, (task) => --left > 0);
	yield group.wait_async (TaskGroupWait.DRAINED, null, null);
	assert (left == 0);
}

async void run_checks (MainLoop loop) {
	var scheduler = Scheduler.get_default ();

	try {
		yield check_results (scheduler);
		yield check_order (scheduler);
		yield check_abort (scheduler);
		yield check_carried (scheduler, false);
		yield check_carried (scheduler, true);
		yield check_no_scheduler ();
		yield check_idioms (scheduler);
		yield check_thread (scheduler);
		yield check_worker (scheduler);
		yield check_channel (scheduler);
		yield check_thread_and_loop (scheduler);
		yield check_task_in_no_queue (scheduler);
		yield check_feed (scheduler);
		yield check_steps (scheduler);
	} catch (Error error) {
		GLib.error ("%s", error.message);
	}
	loop.quit ();
}

void main () {
	var loop = new MainLoop ();

	run_checks.begin (loop);
	loop.run ();
}
