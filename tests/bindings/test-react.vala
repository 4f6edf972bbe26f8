// test-react.vala: the functions of React's Scheduler in Vala
//
// SPDX-License-Identifier: LGPL-2.1-or-later

using PrioSched;

StringBuilder notes;

void run () {
	while (MainContext.default ().iteration (false)) {
	}
}

void test_schedule () {
	var scheduler = Scheduler.get_default ();

	notes = new StringBuilder ();
	PrioReact.schedule_callback (scheduler, PrioReact.Level.IDLE, 0, task => {
		notes.append (PrioReact.get_current_level (scheduler).to_string ().replace ("PRIO_REACT_LEVEL_", " "));
		PrioReact.run_with_level (scheduler, PrioReact.Level.LOW, () => {
			notes.append_printf (" %d", PrioReact.get_current_level (scheduler));
		});
	});
	var task = PrioReact.schedule_callback (scheduler, PrioReact.Level.IMMEDIATE, 0, task => {
		notes.append (scheduler.did_timeout () ? "late" : "early");
		PrioReact.continue_with (task, task => {
			notes.append (" then");
			PrioReact.request_paint (scheduler);
			task.return_int (7);
		});
	});
	assert (PrioReact.dup_first_task (scheduler) == task);
	assert (PrioReact.Level.LOW.get_priority () == TaskPriority.BACKGROUND);
	assert (PrioReact.Level.LOW.get_timeout () == PrioReact.TIMEOUT_LOW);
	PrioReact.force_frame_rate (scheduler, 30);
	assert (scheduler.time_slice == 33);
	PrioReact.force_frame_rate (scheduler, 0);
	run ();
	assert (notes.str == "late then IDLE 4");
	try {
		assert (task.propagate_int () == 7);
	} catch (Error error) {
		assert_not_reached ();
	}
}

int main (string[] args) {
	Test.init (ref args);
	Test.add_func ("/vala/react", test_schedule);
	return Test.run ();
}
