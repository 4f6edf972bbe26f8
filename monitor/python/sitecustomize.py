"""Names Python's sources after their callbacks, in a program that prio-sched-monitor runs.

Python imports this module at its start, because its folder comes first in PYTHONPATH.  If PyGObject and the binding of prio-sched are
installed, GLib's functions name the sources that they add, as soon as the program has imported GLib.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import importlib.machinery
import os
import sys

_MODULE = 'gi.overrides.GLib'


class _Naming:
    """Loads gi.overrides.GLib as loader does, and makes it name the sources that it adds."""

    def __init__(self, loader):
        self._loader = loader

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        try:
            from gi.overrides._priosched.names import name_sources
        except ImportError:
            return
        name_sources(module, module.GLib)


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path, target) if name == _MODULE else None
        if spec is not None:
            spec.loader = _Naming(spec.loader)
        return spec


def _go_on():
    """Restores the import path for the program, and imports the program's own sitecustomize, if it has one."""
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or '.') != folder]
    if os.environ.get('PRIO_SCHED_LONG_TASKS', '0') != '0':
        sys.meta_path.insert(0, _Finder)
    own = sys.modules.pop('sitecustomize', None)
    try:
        import sitecustomize
    except ImportError as error:
        if error.name != 'sitecustomize':
            raise
        sys.modules['sitecustomize'] = own


_go_on()
