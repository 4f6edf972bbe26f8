"""What programs want beside the draft: groups, helpers, and what React has.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
