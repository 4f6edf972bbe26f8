"""Tests tasks of one priority, of which some take turns, in Python."""

import unittest

import gi

gi.require_version('PrioSched', '1')
from gi.repository import GLib, PrioSched  # noqa: E402

scheduler = PrioSched.Scheduler.get_default()


def run(function):
    return lambda self: PrioSched.run(function(self))


class Equals(unittest.TestCase):

    def setUp(self):
        self.log = []

    async def assert_ran(self, expected):
        await scheduler.post_task(lambda: None, 'background')
        self.assertEqual(''.join(self.log), expected)
        self.log.clear()

    def post_short(self, letters='ab'):
        for letter in letters:
            scheduler.post_task(lambda letter=letter: self.log.append(letter))

    async def long(self):
        for _ in range(4):
            self.log.append('L')
            await scheduler.yield_()

    @run
    async def test_a_coroutine_goes_on_behind_what_waits(self):
        scheduler.post_task(self.long)
        self.post_short()
        await self.assert_ran('LLLLab')

        scheduler.post_task(self.long, takes_turns=True)
        self.post_short()
        await self.assert_ran('LabLLL')

    @run
    async def test_a_loop_of_yields_ends(self):
        """Tests that code which yields until a task of its priority has run does not yield for ever, and is named."""
        def stop():
            self.log.append('s')

        async def reader():
            scheduler.post_task(stop)
            while not self.log:
                await scheduler.yield_()

        self.assertEqual(scheduler.starvation_limit, 1000)
        GLib.test_expect_message('PrioSched', GLib.LogLevelFlags.LEVEL_WARNING,
                                 'A task (*stop) has waited behind yields of a task (*reader) *takes_turns*')
        await scheduler.post_task(reader)
        self.assertEqual(self.log, ['s'])
        GLib.test_assert_expected_messages_internal('', '', 0, '')

    def test_the_limit_is_checked(self):
        own = PrioSched.Scheduler()
        own.starvation_limit = 5
        self.assertEqual(own.starvation_limit, 5)
        for wrong, error in ((-1, ValueError), (2 ** 32, ValueError), (0.5, TypeError), ('1', TypeError), (None, TypeError)):
            with self.subTest(wrong), self.assertRaisesRegex(error, 'starvation_limit'):
                own.starvation_limit = wrong
        self.assertEqual(own.starvation_limit, 5)

    @run
    async def test_two_that_take_turns_alternate(self):
        async def other():
            for _ in range(4):
                self.log.append('M')
                await scheduler.yield_()

        scheduler.post_task(self.long, takes_turns=True)
        scheduler.post_task(other, takes_turns=True)
        await self.assert_ran('LMLMLMLM')

    @run
    async def test_a_generator_goes_on_behind_what_waits(self):
        def steps():
            for _ in range(3):
                self.log.append('L')
                GLib.usleep(10000)  # longer than a time slice
                yield

        scheduler.post_task(steps, takes_turns=True)
        self.post_short()
        await self.assert_ran('LabLL')

    @run
    async def test_it_does_so_after_an_await_of_another_task(self):
        async def other():
            self.log.append('L')
            await scheduler.post_task(lambda: None, 'background')
            self.post_short()
            self.log.append('L')
            await scheduler.yield_()
            self.log.append('L')

        await scheduler.post_task(other, takes_turns=True)
        await self.assert_ran('LLabL')

    @run
    async def test_one_yield_takes_turns(self):
        async def other():
            self.log.append('L')
            await scheduler.yield_(takes_turns=True)
            self.post_short('c')
            self.log.append('L')
            await scheduler.yield_()
            self.log.append('L')

        scheduler.post_task(other)
        self.post_short()
        await self.assert_ran('LabLLc')

    @run
    async def test_turns_with_all_other_options(self):
        controller = PrioSched.TaskController('user-visible')
        scheduler.post_task(self.long, signal=controller.signal, timeout=60000, name='long', takes_turns=True)
        self.post_short()
        await self.assert_ran('LabLLL')

    @run
    async def test_turns_in_a_group(self):
        group = PrioSched.TaskGroup(limit=1)
        group.post_task(self.long, takes_turns=True)
        self.post_short()
        await self.assert_ran('LabLLL')

    @run
    async def test_turns_when_the_priority_is_lent(self):
        scheduler.set_lends_priority(True)
        try:
            scheduler.post_task(self.long, takes_turns=True)
            self.post_short()
            await self.assert_ran('LabLLL')
        finally:
            scheduler.set_lends_priority(False)

    @run
    async def test_what_cleans_up_after_an_abort_takes_turns(self):
        controller, begun = PrioSched.TaskController('user-visible'), []

        async def tidy():
            begun.append(True)
            try:
                while True:
                    await scheduler.yield_()
            except PrioSched.AbortError:
                self.post_short()
                await scheduler.yield_()
                self.log.append('L')

        task = scheduler.post_task(tidy, signal=controller.signal, takes_turns=True)
        while not begun:
            await scheduler.sleep(1)
        controller.abort()
        await task
        await self.assert_ran('abL')

    @run
    async def test_what_the_library_does_has_its_turn_beside_a_loop_of_yields(self):
        group, ended = PrioSched.TaskGroup(), []

        async def loop(is_over):
            n = 0
            while not is_over() and n < 100000:
                await scheduler.yield_()
                n += 1
            return n < 100000

        async def wait():
            await group.drained()
            ended.append(True)

        signal = PrioSched.TaskSignal.new_timeout(5)
        self.assertTrue(await scheduler.post_task(lambda: loop(signal.is_cancelled), 'user-blocking'))
        group.post_task(lambda: None)
        waiting = scheduler.post_task(wait, 'user-blocking')
        self.assertTrue(await scheduler.post_task(lambda: loop(lambda: ended), 'user-visible'))
        await waiting

    def test_a_flag_is_true_or_false(self):
        for value in (1, None, 'yes'):
            with self.assertRaisesRegex(TypeError, 'takes_turns is True or False, not'):
                scheduler.post_task(lambda: None, takes_turns=value)
            with self.assertRaisesRegex(TypeError, 'takes_turns is True or False, not'):
                scheduler.yield_(takes_turns=value)
            with self.assertRaisesRegex(TypeError, 'takes_turns is True or False, not'):
                PrioSched.TaskGroup().post_task(lambda: None, takes_turns=value)


if __name__ == '__main__':
    unittest.main()
