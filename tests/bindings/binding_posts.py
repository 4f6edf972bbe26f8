"""Tests posts from several threads at once, in Python: one thread posts while another is within a post."""

import sys
import unittest

import gi

gi.require_version('PrioSched', '1')
from gi.repository import PrioSched  # noqa: E402

scheduler = PrioSched.Scheduler.get_default()


def post_within(signal, interrupt):
    """Posts a task of signal, and calls interrupt() while the post makes its state, as another thread may."""
    def profile(frame, event, _):
        if event == 'call' and frame.f_code.co_qualname == 'State.__init__':
            sys.setprofile(None)
            interrupt()

    sys.setprofile(profile)
    try:
        return scheduler.post_task(int, signal=signal)
    finally:
        sys.setprofile(None)


class Posts(unittest.TestCase):

    def test_the_state_of_a_post_within_another_is_released_once(self):
        signals = [PrioSched.TaskController().signal for _ in range(3)]
        first = scheduler.post_task(int, signal=signals[0])
        state = first._posted_with
        before = sys.getrefcount(state)
        inner = []
        outer = post_within(signals[1], lambda: inner.append(scheduler.post_task(int, signal=signals[2])))

        # The scheduler kept the state for the next post with its signal until the first of both posts, and no longer does.
        self.assertEqual(sys.getrefcount(state), before - 1)
        self.assertEqual([task._posted_with.signal for task in (first, outer, *inner)], signals)
        again = [scheduler.post_task(int, signal=signal) for signal in signals]
        self.assertEqual([task._posted_with.signal for task in again], signals)

        async def all_end():
            for task in (first, outer, *inner, *again):
                self.assertEqual(await task, 0)
        PrioSched.run(all_end())


if __name__ == '__main__':
    unittest.main()
