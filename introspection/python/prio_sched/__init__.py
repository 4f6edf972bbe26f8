"""Lets PyGObject find the PrioSched that pip installed in this environment.  prio-sched.pth imports this when Python starts.

Programs import PrioSched from gi.repository.  PyGObject reads GI_TYPELIB_PATH once.  During that read, the variable has the folder of the wheel's typelib, too.
The wheel's typelib gets the wheel's overrides.  A typelib from a folder that the program put into the variable gets the overrides that Python finds.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import os
import sys
from importlib.machinery import ExtensionFileLoader, PathFinder

OVERRIDES = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'gi', 'overrides')
FOLDER = os.path.join(OVERRIDES, '_priosched')
VARIABLE = 'GI_TYPELIB_PATH'


class Loader(ExtensionFileLoader):
    """Loads gi._gi, and makes it look for typelibs in the folder."""

    def exec_module(self, module):
        super().exec_module(module)
        before = os.environ.get(VARIABLE)
        os.environ[VARIABLE] = f'{before}:{FOLDER}' if before else FOLDER
        module.Repository.get_default()
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before


def uses_folder():
    """Returns whether the program uses the folder's typelib.  With PRIO_SCHED_DEBUG=1, prints which typelib is used."""
    from gi._gi import Repository
    path = Repository.get_default().get_typelib_path('PrioSched')
    places = [place for place in sys.path if os.path.exists(os.path.join(place, 'gi/overrides/PrioSched.py'))]
    if places and os.environ.get('PRIO_SCHED_DEBUG', '0') != '0':
        print(f'PrioSched: {path} is used; others are in {", ".join(places)}', file=sys.stderr)
    return os.path.dirname(path) == FOLDER


class Finder:
    """Loads PyGObject's C part with Loader, and makes the overrides of the folder's typelib come before others."""

    asked = False

    def find_spec(self, name, path=None, target=None):
        if name == 'gi' and PathFinder.find_spec(name) is None:
            raise ModuleNotFoundError('No module named \'gi\': PrioSched needs PyGObject. Install it with pip, or with the system\'s packages (on Debian: '
                                      'python3-gi), and then make the environment with --system-site-packages', name=name)
        if name == 'gi._gi':
            spec = PathFinder.find_spec(name, path)
            if spec is not None:
                spec.loader = Loader(name, spec.origin)
            return spec
        if name == 'gi.overrides.PrioSched' and not self.asked:
            self.asked = True
            if uses_folder():
                path.insert(0, OVERRIDES)
        return None


sys.meta_path.insert(0, Finder())
