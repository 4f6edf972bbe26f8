"""Makes copies of the library as the manual's page of shipping says, for the tests.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import os
import pathlib
import re
import subprocess
import tempfile

# What finds an installed library, or one that is built.
VARIABLES = ('GI_TYPELIB_PATH', 'GJS_PATH', 'LD_LIBRARY_PATH')


def blocks(source, language):
    """The examples of the page in this language."""
    page = (pathlib.Path(source) / 'introspection/manual/shipping.md').read_text()
    return re.findall(rf'^```{language}\n(.*?)^```$', page, re.MULTILINE | re.DOTALL)


def example(source, language, word):
    """The one of them that has the word: that of a whole extension only by "extends"."""
    found = [block for block in blocks(source, language) if word in block and ('extends' in block) == (word == 'extends')]
    assert len(found) == 1, f'{len(found)} examples in {language} of the page have {word!r}'
    return found[0]


def copy(source, build, extension, word='mkdir'):
    """Has the page's commands copy what is built, into the folder of an extension."""
    with tempfile.TemporaryDirectory() as place:
        for name, target in (('build', build), ('introspection', os.path.join(source, 'introspection'))):
            os.symlink(os.path.abspath(target), os.path.join(place, name))
        subprocess.run(['sh', '-euc', example(source, 'sh', word)], check=True, cwd=place,
                       env=os.environ | {'extension': str(extension)})


def plain_environment():
    """The environment, without what finds a library."""
    return {name: value for name, value in os.environ.items() if name not in VARIABLES}
