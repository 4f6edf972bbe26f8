// Where the manuals of other libraries are, for the links that gi-docgen leaves open.
// SPDX-License-Identifier: LGPL-2.1-or-later
baseURLs = [
    ['GLib', 'https://docs.gtk.org/glib/'],
    ['GObject', 'https://docs.gtk.org/gobject/'],
    ['Gio', 'https://docs.gtk.org/gio/'],
];
