"""Connects handlers to a controller's signal, so that Python's garbage collector sees a handler's references to the controller.

The library holds a signal for its controller.  The collector does not see references of the signal, so it could not tell that
only a handler refers to the controller.  So the controller holds the handlers, and the signal has weak references to them.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import itertools
import weakref

from .reasons import box_of, is_used_by_others, references_if_alone

_numbers = itertools.count(1)


class _Handler:
    """Keeps a callback with its data, for the controller."""

    __slots__ = ('callback', 'data', 'handlers', '__weakref__')

    def __init__(self, callback, data, handlers):
        self.callback = callback
        self.data = data
        self.handlers = handlers


class _Connected:
    """Represents a handler at the signal: the signal calls this object, which refers to the _Handler weakly, and calls its callback."""

    __slots__ = ('number', 'handler', '__weakref__')

    def __init__(self, number, handler):
        self.number = number
        self.handler = weakref.ref(handler)

    def __call__(self, *args):
        handler = self.handler()
        return handler.callback(*args, *handler.data) if handler is not None else None

    def __eq__(self, other):
        # disconnect_by_func () and similar functions compare the connected object with the callback, so the two are equal.
        handler = self.handler()
        return self is other or (handler is not None and handler.callback == other)

    __hash__ = object.__hash__

    def __del__(self):
        # The signal has disconnected the handler, so the controller need not hold it any longer.
        handler = self.handler()
        if handler is not None:
            handler.handlers.pop(self.number, None)


class _Holder:
    """Holds the handlers of a signal for the controller.

    When the controller is freed, the handlers move to the signal's _Box, which lives as long as other code refers to the
    signal.
    """

    __slots__ = ('handlers', 'box', 'controller')

    def __init__(self, handlers, box, controller):
        self.handlers = handlers  # the handlers by their numbers
        self.box = box
        self.controller = controller.weak_ref()  # a weak reference of GObject, which works even while the collector runs

    def __del__(self):
        controller = self.controller()
        if getattr(controller, '_handlers', None) is not self:
            self.box.handlers = self.handlers
        elif is_used_by_others(self, controller):
            # If a handler refers to the controller, the collector has to look again before either is freed, so both stay alive.
            controller._handlers = _Holder(self.handlers, self.box, controller)
        else:
            return
        # The collector has cleared the weak references to the handlers, so they are set again.
        for connected in tuple(self.box.connected):
            if connected.number in self.handlers:
                connected.handler = weakref.ref(self.handlers[connected.number])


def controller_of(signal):
    """Returns the controller of signal, or None."""
    return signal._controller() if hasattr(signal, '_controller') else None


def kept(signal):
    """Returns a function that keeps signal, which may be None, and returns it.

    The garbage collector sees the references of a controller, but not of its signal, so the function keeps the controller, if any.
    """
    controller = controller_of(signal)
    return (lambda: signal) if controller is None else (lambda: controller.signal)


def held(signal, args):
    """Returns the arguments with which to call a method that connects args, a callback and its data, to signal.

    If signal has a controller, the controller gets the callback to hold, and the result is an object that calls it.
    """
    controller = controller_of(signal)
    if controller is None or not args or not callable(args[0]):
        return args
    references_if_alone()  # called now, because the first call must not happen while the collector runs
    box, number = box_of(signal), next(_numbers)
    if not hasattr(controller, '_handlers'):
        box.connected = weakref.WeakSet()
        controller._handlers = _Holder({}, box, controller)
    handlers = controller._handlers.handlers
    handlers[number] = _Handler(args[0], args[1:], handlers)
    connected = _Connected(number, handlers[number])
    box.connected.add(connected)
    return (connected,)
