"""Closes asynchronous generators that are no longer iterated over, so that their cleanup runs to its end.

Python passes such a generator to a hook of the thread, which closes it.  asyncio's hook closes it in the context of the code
that drops it, and so in the state of a task that may have been aborted.  Without asyncio there is no hook.  So this module sets its own.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import contextvars
import sys
import threading

from .._native import call_outside
from ..futures.contexts import call_in, own_context
from ..futures.future import borrowed_state, own_state


class Finalizer:
    """Serves as the thread's hook, which closes a generator outside any task: by inner, asyncio's hook, or else by close (generator, context)."""

    def __init__(self, close, inner=None):
        self._close = close
        self._inner = inner
        self._thread = threading.get_ident()
        self._main_context = own_context()

    def __call__(self, generator):
        if sys.is_finalizing():
            return
        context = contextvars.copy_context()
        context.run(own_state.set, None)
        context.run(borrowed_state.set, None)
        if self._inner is not None:
            context.run(self._inner, generator)
        elif self._thread == threading.get_ident():
            call_outside(lambda _: self._close(generator, context), None)
        else:
            # The garbage collector has run in another thread, so the generator is closed later, in its own thread.
            call_in(self._main_context, lambda: self._close(generator, context))


def set_hook(close):
    """Sets this thread's hook for the asynchronous generators that start from now on, unless it is a Finalizer already."""
    firstiter, finalizer = sys.get_asyncgen_hooks()
    if not isinstance(finalizer, Finalizer):
        sys.set_asyncgen_hooks(firstiter=firstiter, finalizer=Finalizer(close, finalizer))
