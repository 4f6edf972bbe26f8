"""Runs a headless GNOME Shell for the tests, with its own settings, folders and bus."""

import contextlib
import os
import re
import subprocess
import sys

ENABLED, DISABLED = 1, 2


def on_a_bus(main):
    """Calls main () with the program's arguments, on a separate bus."""
    if 'DBUS_SESSION_BUS_ADDRESS' not in os.environ or '--inside' not in sys.argv:
        sys.exit(subprocess.run(['dbus-run-session', '--', sys.executable, *sys.argv, '--inside']).returncode)
    sys.exit(main([argument for argument in sys.argv[1:] if argument != '--inside']))


def call(method, *args):
    result = subprocess.run(['gdbus', 'call', '--session', '--timeout', '10', '--dest', 'org.gnome.Shell',
                             '--object-path', '/org/gnome/Shell', '--method', f'org.gnome.Shell.Extensions.{method}',
                             *args], capture_output=True, text=True)
    return result.stdout


def state_of(uuid):
    found = re.search(r"'state': <(\d)", call('GetExtensionInfo', uuid))
    return int(found[1]) if found else 0


def version():
    said = subprocess.run(['gnome-shell', '--version'], capture_output=True, text=True, check=True).stdout
    return int(re.search(r'\d+', said)[0])


def set_up(place, uuid, environment):
    """Makes the Shell's own folders; returns its environment, and the folder of its extensions, of which `uuid` is enabled."""
    environment = environment | {'GSETTINGS_BACKEND': 'keyfile', 'LANG': 'C.UTF-8', 'NO_AT_BRIDGE': '1'}
    for name in ('XDG_RUNTIME_DIR', 'XDG_DATA_HOME', 'XDG_CONFIG_HOME', 'XDG_CACHE_HOME'):
        environment[name] = os.path.join(place, name)
        os.mkdir(environment[name], mode=0o700)
    extensions = os.path.join(environment['XDG_DATA_HOME'], 'gnome-shell', 'extensions')
    os.makedirs(extensions)
    settings = os.path.join(environment['XDG_CONFIG_HOME'], 'glib-2.0', 'settings')
    os.makedirs(settings)
    with open(os.path.join(settings, 'keyfile'), 'w') as file:
        file.write(f"[org/gnome/shell]\nenabled-extensions=['{uuid}']\nwelcome-dialog-last-shown-version='999'\n")
    return environment, extensions


@contextlib.contextmanager
def running(place, environment, monitor='1280x720'):
    """Runs the Shell; returns its process, and a function that returns its output."""
    os.environ.update(environment)  # for the calling code
    log = os.path.join(place, 'log')

    def said():
        with open(log, errors='replace') as file:
            return file.read()

    with open(log, 'w') as output:
        buses = {'DBUS_SYSTEM_BUS_ADDRESS': environment['DBUS_SESSION_BUS_ADDRESS']}
        process = subprocess.Popen(['gnome-shell', '--headless', '--wayland', '--no-x11', '--virtual-monitor', monitor],
                                   env=environment | buses, stdout=output, stderr=subprocess.STDOUT)
    try:
        yield process, said
    except AssertionError:
        print('\n'.join(said().splitlines()[-40:]))
        raise
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
