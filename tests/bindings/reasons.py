"""reasons.py: checks how long the reason of an abort lasts, whatever it refers to

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import gc
import re
import unittest

import gi

gi.require_version('PrioSched', '1')
from gi.repository import GLib, GObject, PrioSched  # noqa: E402


class Why(Exception):
    pass


def has_nothing(why, controller):
    pass


def has_controller(why, controller):
    why.controller = controller


def has_controller_in_its_cause(why, controller):
    why.__cause__ = LookupError(controller)


def has_none_of_a_cycle(why, controller):
    controller.cycle = [controller]


leads = [has_nothing, has_controller, has_controller_in_its_cause, has_none_of_a_cycle]


class Moments(unittest.TestCase):
    """Tests the moment between the abort of a dependent signal and GIO's `cancelled`: another thread may see it, or a handler of its source."""

    def setUp(self):
        self.scheduler = PrioSched.Scheduler()
        self.controller = PrioSched.TaskController()
        self.dependent = PrioSched.TaskSignal.any([self.controller.signal])

    def assert_rejected(self, use):
        """Checks that a task which use () posts at that moment is rejected with the reason."""
        why, tasks = LookupError('it'), []

        def hear(signal):
            self.assertTrue(self.dependent.is_aborted() and not self.dependent.is_cancelled())
            tasks.append(use())
        self.controller.signal.connect('cancelled', hear)
        self.controller.abort(why)
        while not tasks[0].done():
            GLib.MainContext.default().iteration(True)
        self.assertIs(tasks[0].exception(), why)

    def test_a_task(self):
        self.assert_rejected(lambda: self.scheduler.post_task(self.fail, signal=self.dependent))

    def test_a_task_with_a_timeout(self):
        self.assert_rejected(lambda: self.scheduler.post_task(self.fail, signal=self.dependent, timeout=5))

    def test_a_task_of_a_group(self):
        group = PrioSched.TaskGroup(self.scheduler)
        self.assert_rejected(lambda: group.post_task(self.fail, signal=self.dependent))

    def test_a_wait_for_a_group(self):
        group = PrioSched.TaskGroup(self.scheduler)
        left = group.post_task(self.fail, delay=10 ** 8)
        self.assert_rejected(lambda: group.all(signal=self.dependent))
        left.cancel()

    def test_a_function_in_a_thread(self):
        self.assert_rejected(lambda: self.scheduler.run_in_thread(self.fail, signal=self.dependent))


class Reasons(unittest.TestCase):

    def make_aborted(self, use, lead):
        """Returns the result of use (signal); the signal was aborted for a reason without other references, as is its controller."""
        why, controller = Why('it'), PrioSched.TaskController()
        lead(why, controller)
        result = use(controller.signal)
        controller.abort(why)
        self.assertIs(controller.signal.reason, why)
        return result

    def assert_reasons(self, n):
        # The collector clears weak references before it finds that their objects are still needed.
        for _ in range(3):
            gc.collect()
            self.assertEqual(sum(type(thing) is Why for thing in gc.get_objects()), n)

    def assert_lasts(self, use, reason_of):
        for lead in leads:
            used = self.make_aborted(use, lead)
            self.assert_reasons(1)
            self.assertIsInstance(reason_of(used), Why)
            self.assertTrue(lead is not has_controller or reason_of(used).controller.signal.aborted)
            del used
            gc.collect()
            self.assert_reasons(0)

    def test_what_ends_an_iteration_is_refused(self):
        """Checks that StopIteration is refused as a reason: a generator that awaits, or "async for", would take it for its own end."""
        class Last(StopIteration):
            pass
        scheduler = PrioSched.Scheduler()
        for reason in StopIteration(3), StopAsyncIteration(), Last(), StopIteration:
            controller, group = PrioSched.TaskController(), PrioSched.TaskGroup(scheduler)
            for call in controller.abort, group.abort, PrioSched.TaskSignal.new_aborted:
                with self.subTest(call=call), self.assertRaisesRegex(TypeError, re.escape(repr(reason))):
                    call(reason)
            self.assertFalse(controller.signal.aborted)

    def test_it_goes_with_its_controller(self):
        for lead in leads:
            for _ in range(10):
                self.make_aborted(lambda signal: None, lead)
            self.assert_reasons(0)

    def test_it_lasts_as_long_as_its_signal(self):
        self.assert_lasts(lambda signal: signal, lambda signal: signal.reason)

    def test_it_lasts_as_long_as_a_dependent(self):
        self.assert_lasts(lambda signal: PrioSched.TaskSignal.any([PrioSched.TaskSignal.any([signal])]),
                          lambda dependent: dependent.reason)

    def test_it_lasts_as_long_as_the_library_has_the_signal(self):
        def holder_of(signal):
            # The collector does not see references in C.
            value = GObject.Value(GObject.Object)
            value.set_object(signal)
            return value
        self.assert_lasts(holder_of, lambda value: value.get_object().reason)


if __name__ == '__main__':
    unittest.main()
