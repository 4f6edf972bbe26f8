"""Makes copies of the library for the tests, as the manual's page about shipping does."""

import os
import pathlib
import re
import subprocess
import tempfile

# Variables that find an installed library, or a built one.
VARIABLES = ('GI_TYPELIB_PATH', 'GJS_PATH', 'LD_LIBRARY_PATH')


def blocks(source, language):
    """Returns the examples of the page in this language."""
    page = (pathlib.Path(source) / 'introspection/manual/shipping.md').read_text()
    return re.findall(rf'^```{language}\n(.*?)^```$', page, re.MULTILINE | re.DOTALL)


def example(source, language, word):
    """Returns the example that contains the word; "extends" finds the one of a whole extension."""
    found = [block for block in blocks(source, language) if word in block and ('extends' in block) == (word == 'extends')]
    assert len(found) == 1, f'{len(found)} examples in {language} of the page have {word!r}'
    return found[0]


def copy(source, build, extension):
    """Copies the built library into the folder of an extension, by the page's command."""
    with tempfile.TemporaryDirectory() as place:
        for name, target in (('build', build), ('introspection', os.path.join(source, 'introspection'))):
            os.symlink(os.path.abspath(target), os.path.join(place, name))
        subprocess.run(['sh', '-euc', example(source, 'sh', 'make-copy')], check=True, cwd=place,
                       env=os.environ | {'extension': str(extension)})


def plain_environment():
    """Returns the environment, without variables that find a library."""
    return {name: value for name, value in os.environ.items() if name not in VARIABLES}
