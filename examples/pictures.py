"""Draws the output of the examples, with GLib's idle sources and with prio-sched, as an SVG.

    pictures.py flood GLIB.log OURS.log > flood.svg         # logs of flood --log: when each frame was drawn
    pictures.py indexer GLIB.log OURS.log > indexer.svg     # logs of indexer: how long questions waited

examples/draw-pictures runs the examples.

SPDX-License-Identifier: LGPL-2.1-or-later
"""

import math
import pathlib
import re
import sys
from itertools import pairwise
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT = 800, 28, 772
FRAME = 1000 / 60  # ms
# Blue and orange differ even for people who cannot tell green from red.
INK, FAINT, GRID = '#241f31', '#5e5c64', '#c0bfbc'
GOOD, BAD, BAD_TINT, BAD_INK = '#1c71d8', '#e66100', '#fce5d6', '#8f3b00'
NAMES = 'g_idle_add ()', 'prio-sched'


def text(x, y, content, size=14, fill=INK, anchor='start', weight='normal'):
    return f'  <text x="{x:.1f}" y="{y}" font-size="{size}" fill="{fill}" text-anchor="{anchor}" font-weight="{weight}">{escape(content)}</text>'


def rect(x, y, width, height, fill):
    return f'  <rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" fill="{fill}"/>'


def line(x1, y1, x2, y2, stroke, dashes=''):
    return f'  <line x1="{x1:.1f}" y1="{y1}" x2="{x2:.1f}" y2="{y2}" stroke="{stroke}"' + (f' stroke-dasharray="{dashes}"/>' if dashes else '/>')


def circle(x, y, r, fill, stroke):
    return f'  <circle cx="{x:.1f}" cy="{y}" r="{r}" fill="{fill}" stroke="{stroke}" stroke-width="2"/>'


def picture(height, title, description, parts):
    """Returns an SVG that has a background, so that it is readable on dark and on light pages."""
    return '\n'.join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" role="img" aria-labelledby="title desc">',
        f'  <title id="title">{escape(title)}</title>',
        f'  <desc id="desc">{escape(description)}</desc>',
        f'  <rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="12" fill="#ffffff" stroke="{GRID}"/>',
        text(LEFT, 40, title, 20, weight='bold'), *parts, '</svg>', ''])


def milliseconds(time):
    return f'{time:.2f} ms' if time < 1 else f'{time:.1f} ms' if time < 10 else f'{time:,.0f} ms'


class Frames:
    """Reads when frames were drawn, in ms since the flood began, and how many tasks had been done."""

    BEFORE, AFTER = -250, 2500

    def __init__(self, log):
        lines = re.findall(r'^(\w+) (\d+) ms, (\d+) tasks$', log, re.MULTILINE)
        begun = next((int(time) for what, time, n in lines if what == 'flood'), math.inf)
        frames = [(int(time) - begun, int(n)) for what, time, n in lines if what == 'frame']
        if not frames or frames[-1][0] < self.AFTER:
            sys.exit(f'The log ends before {self.AFTER} ms of the flood have passed')
        self.gaps = [pair for pair in pairwise(frames) if pair[1][0] > self.BEFORE and pair[0][0] < self.AFTER]
        self.shown = [time for time, n in frames if self.BEFORE <= time <= self.AFTER]
        self.n = sum(time > 0 for time in self.shown)
        self.late = max(end - max(start, 0) for (start, _), (end, _) in self.gaps if end > 0) - FRAME
        (start, n), (end, more) = self.gaps[-1]
        self.done = round(n + (more - n) * (self.AFTER - start) / (end - start))

    def said(self):
        return (f'{self.n} frame{"s" if self.n != 1 else ""} in {self.AFTER / 1000} s, the worst {max(self.late, 0):,.0f} ms late; '
                f'{self.done:,} of the callbacks have run')


def x_of(time):
    return LEFT + (time - Frames.BEFORE) * (RIGHT - LEFT) / (Frames.AFTER - Frames.BEFORE)


def draw_frames(frames, y, height):
    for (start, _), (end, _) in frames.gaps:
        if end - start > 3 * FRAME:
            left, right = max(x_of(start), LEFT), min(x_of(end), RIGHT)
            yield rect(left, y, right - left, height, BAD_TINT)
            if right - left > 200:
                yield text((left + right) / 2, y + height / 2 + 5, f'no frame for {milliseconds(end - start)}', 16, BAD_INK, 'middle', 'bold')
    for time in frames.shown:
        yield rect(x_of(time) - 1, y, 2, height, GOOD)


def moving(name, keys, timing):
    """Returns the style of a CSS class that is animated: keys are pairs of a time and a transform."""
    whole = Frames.AFTER - Frames.BEFORE
    steps = ''.join(f'{(time - Frames.BEFORE) * 100 / whole:.2f}%{{transform:{transform}}}' for time, transform in keys)
    return f'@keyframes {name}{{{steps}}}.{name}{{animation:{name} {whole}ms {timing} infinite}}'


def draw_motion(both, tops):
    """Draws for each row a wheel that turns with each frame that was drawn, and a line that moves along the time axis."""
    styles = [moving('now', [(Frames.BEFORE, 'translateX(0)'), (Frames.AFTER, f'translateX({RIGHT - LEFT}px)')], 'linear')]
    for i, frames in enumerate(both):
        # One turn per second.
        styles.append(moving(f'wheel{i}', [(time, f'rotate({time * 0.36 % 360:.0f}deg)') for time in frames.shown], 'step-end'))
    styles.append('@media (prefers-reduced-motion:reduce){.now,.wheel0,.wheel1{animation:none}}')
    yield f'  <style>{"".join(styles)}</style>'
    for i, y in enumerate(tops):
        place = f'cx="{RIGHT - 20}" cy="{y + 2}" r="18" fill="none"'
        yield f'  <circle {place} stroke="{GRID}" stroke-width="3"/>'
        yield (f'  <circle class="wheel{i}" style="transform-origin:{RIGHT - 20}px {y + 2}px" {place} stroke="{(BAD, GOOD)[i]}" '
               'stroke-width="5" stroke-dasharray="40 200"/>')
        yield f'  <rect class="now" x="{LEFT - 1}" y="{y + 22}" width="2" height="58" fill="{INK}"/>'


def draw_flood(logs):
    both = [Frames(log) for log in logs]
    how = ['runs all that is queued before it looks at anything else', 'draws each frame that is due, then goes on']
    parts = [text(LEFT, 64, 'At 0 ms, 2,000 callbacks of 1 ms each are queued, again and again. Each line is a frame.', fill=FAINT)]
    for i, (name, frames) in enumerate(zip(NAMES, both)):
        y = 90 + i * 132
        parts += [f'  <text x="{LEFT}" y="{y + 14}" font-size="16" fill="{INK}"><tspan font-weight="bold">{name}</tspan> {how[i]}</text>',
                  rect(LEFT, y + 26, RIGHT - LEFT, 50, '#f6f5f4'), *draw_frames(frames, y + 26, 50),
                  line(x_of(0), y + 20, x_of(0), y + 82, INK, '3 3'),
                  text(LEFT, y + 98, frames.said(), fill=FAINT)]
    parts += draw_motion(both, (90, 222))
    parts.append(line(LEFT, 348, RIGHT, 348, FAINT))
    for time in range(0, Frames.AFTER + 1, 500):
        parts += [line(x_of(time), 348, x_of(time), 354, FAINT),
                  text(x_of(time), 372, f'{time:,} ms', fill=FAINT, anchor='end' if time == Frames.AFTER else 'middle')]
    parts += [text((LEFT + RIGHT) / 2, 396, 'time since the callbacks were queued', 13, FAINT, 'middle')]
    return picture(414, 'One window, one flood of work: before and after', '. '.join(
        f'{name}: {frames.said()}' for name, frames in zip(NAMES, both)) + '.', parts)


def draw_indexer(logs):
    waits, files = [], [re.search(r'^(\d+) files, ', log, re.MULTILINE)[1] for log in logs]
    for log in logs:
        row = re.search(r'^user-blocking +(\d+) +([\d.]+) ms +([\d.]+) ms +([\d.]+) ms', log, re.MULTILINE)
        waits.append([float(number) for number in row.groups()])
    low = math.floor(math.log10(min(max(wait[1], 0.001) for wait in waits)))
    high = max(math.ceil(math.log10(max(wait[3] for wait in waits))), 2)
    left, right, top, bottom = 180, 740, 104, 248

    def x_at(time):
        return left + (math.log10(max(time, 10 ** low)) - low) * (right - left) / (high - low)

    parts = [text(LEFT, 64, f'Questions wait while {int(files[1]):,} files are indexed in the same main loop; logarithmic scale', fill=FAINT)]
    for power in range(low, high + 1):
        parts += [line(x_at(10 ** power), top, x_at(10 ** power), bottom, GRID),
                  text(x_at(10 ** power), 268, f'{10.0 ** power:g} ms' if power < 3 else f'{10 ** (power - 3):,} s', 13, FAINT, 'middle')]
    parts += [line(x_at(FRAME), top, x_at(FRAME), bottom, INK, '2 3'), text(x_at(FRAME), 96, 'a frame at 60 Hz', 12, FAINT, 'middle')]
    for name, (n, median, p99, longest), y, colour in zip(NAMES, waits, (146, 206), (BAD, GOOD)):
        parts += [text(LEFT, y + 5, name, 16, weight='bold'), rect(x_at(median), y - 3, x_at(longest) - x_at(median), 6, colour),
                  circle(x_at(median), y, 6, '#ffffff', colour), circle(x_at(p99), y, 8, colour, colour),
                  rect(x_at(longest) - 1, y - 9, 3, 18, colour),
                  rect(x_at(p99) - 40, y - 30, 80, 18, '#ffffff'), text(x_at(p99), y - 16, milliseconds(p99), 16, anchor='middle', weight='bold')]
    parts += [circle(36, 298, 5, '#ffffff', INK), text(52, 303, 'median', 13, FAINT),
              circle(168, 298, 6, INK, INK), text(184, 303, '99 of 100 wait no longer', 13, FAINT),
              rect(417, 290, 3, 16, INK), text(434, 303, 'longest', 13, FAINT)]
    return picture(326, 'How long a user waits for an answer', '. '.join(
        f'{name}: of {n:.0f} questions, half waited less than {milliseconds(median)}, 99 of 100 less than {milliseconds(p99)}, '
        f'the longest {milliseconds(longest)}' for name, (n, median, p99, longest) in zip(NAMES, waits)) + '.', parts)


def main(kind, glib, ours):
    logs = [pathlib.Path(name).read_text() for name in (glib, ours)]
    sys.stdout.write({'flood': draw_flood, 'indexer': draw_indexer}[kind](logs))


if __name__ == '__main__':
    main(*sys.argv[1:])
