"""Finds names of functions, and names sources of GLib after their callbacks.

This module does not depend on PrioSched, so a program can name its sources without PrioSched.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import os.path

# Functions of the module GLib that take a callback, which is their first callable argument.
_ADDERS = ('idle_add', 'timeout_add', 'timeout_add_seconds', 'io_add_watch', 'child_watch_add')


def name_of_callable(callback):
    """Returns the name of a function or of another callable.

    For a wrapper of this package, or a functools.partial, this is the name of the wrapped function; for another object without
    a name, the name of its class.
    """
    callback = getattr(callback, '_prio_sched_calls', callback)
    name = getattr(callback, '__qualname__', None)
    if name is None and hasattr(callback, 'func'):
        return name_of_callable(callback.func)  # functools.partial
    return name if isinstance(name, str) else type(callback).__qualname__


def place_of_callable(callback):
    """Returns the place where a function of Python begins, as FILE:LINE, or None for another callable."""
    code = getattr(getattr(callback, 'func', callback), '__code__', None)
    return code and f'{os.path.basename(code.co_filename)}:{code.co_firstlineno}'


class _Named:
    """Wraps a callback, so that its first call, on the thread of the source, names the source."""

    def __init__(self, glib, callback):
        self._glib = glib
        self._prio_sched_calls = callback
        self._is_named = False

    def __call__(self, *args):
        if not self._is_named:
            self._is_named = True
            try:
                self._name()
            except Exception:  # an attribute of the program's object raises; the program must not notice
                pass
        return self._prio_sched_calls(*args)

    def _name(self):
        source, callback = self._glib.main_current_source(), self._prio_sched_calls
        name = source and source.get_name()
        # GLib names some sources after their types, such as GIdleSource; such a name is replaced.
        if source and (name is None or name.startswith('G') and name.endswith('Source')):
            place = place_of_callable(callback)
            source.set_name(name_of_callable(callback) + (f' ({place})' if place else ''))


def _naming(glib, add):
    def add_named(*args, **kwargs):
        given = next((i for i, value in enumerate(args) if callable(value)), None)
        if given is not None:
            args = (*args[:given], _Named(glib, args[given]), *args[given + 1:])
        elif callable(kwargs.get('function')):
            kwargs = {**kwargs, 'function': _Named(glib, kwargs['function'])}
        return add(*args, **kwargs)
    add_named.__name__, add_named.__doc__ = add.__name__, add.__doc__
    add_named._prio_sched_names = True
    return add_named


def name_sources(module, glib):
    """Makes a module, GLib or its overrides, name the sources that it adds from now on."""
    for name in _ADDERS:
        add = getattr(module, name)
        if not hasattr(add, '_prio_sched_names'):
            setattr(module, name, _naming(glib, add))
