"""Finds faults of a picture in SVG or PNG, without drawing it."""

import re
import struct
import zlib
from itertools import combinations
from xml.etree import ElementTree

NAMESPACE = '{http://www.w3.org/2000/svg}'
INHERITED = ('font-size', 'font-weight', 'text-anchor')
WIDE, WIDE_BOLD = 0.6, 0.67  # width of a letter of a wide font, relative to its size


def number(element, name):
    return float(element.get(name, 0))


def text_box(element, style):
    size, content = float(style.get('font-size', 16)), ''.join(element.itertext())
    width = len(content) * size * (WIDE_BOLD if style.get('font-weight') == 'bold' else WIDE)
    left = number(element, 'x') - width * {'start': 0, 'middle': 0.5, 'end': 1}[style.get('text-anchor', 'start')]
    top = number(element, 'y') - 0.8 * size
    return left, top, left + width, top + size


def path_box(element):
    """Returns the box of a path of straight lines; the pictures have no others."""
    x = y = 0
    xs, ys = [], []
    for command, rest in re.findall('([A-Za-z])([^A-Za-z]*)', element.get('d')):
        numbers = [float(text) for text in re.findall(r'-?[\d.]+', rest)]
        if command not in 'MLHVlhvz':
            raise ValueError(f'the path has “{command}”')
        pairs = {'h': [(n, 0) for n in numbers], 'v': [(0, n) for n in numbers], 'H': [(n, y) for n in numbers],
                 'V': [(x, n) for n in numbers]}.get(command, list(zip(numbers[::2], numbers[1::2])))
        for across, down in pairs:
            x, y = (x + across, y + down) if command.islower() else (across, down)
            xs.append(x)
            ys.append(y)
    return min(xs), min(ys), max(xs), max(ys)


def box(element, tag, style):
    """Returns left, top, right and bottom of the drawing of element."""
    if tag == 'text':
        return text_box(element, style)
    if tag == 'rect':
        x, y = number(element, 'x'), number(element, 'y')
        return x, y, x + number(element, 'width'), y + number(element, 'height')
    if tag == 'line':
        xs, ys = (sorted(number(element, axis + end) for end in '12') for axis in 'xy')
        return xs[0], ys[0], xs[1], ys[1]
    if tag == 'circle':
        x, y, r = (number(element, name) for name in ('cx', 'cy', 'r'))
        return x - r, y - r, x + r, y + r
    if tag == 'path':
        return path_box(element)
    raise ValueError(f'the size of a <{tag}> is not known')


def drawn(element, style):
    """Yields each element that draws, and its box."""
    for child in element:
        tag = child.tag.removeprefix(NAMESPACE)
        inherited = style | {name: child.get(name) for name in INHERITED if child.get(name)}
        if tag == 'g':
            yield from drawn(child, inherited)
        elif tag not in ('title', 'desc', 'style'):
            yield child, tag, box(child, tag, inherited)


def svg_faults(text):
    try:
        root = ElementTree.fromstring(text)
        shapes = list(drawn(root, {name: root.get(name) for name in INHERITED if root.get(name)}))
    except (ElementTree.ParseError, ValueError) as error:
        yield str(error)
        return
    width, height = (root.get(name) for name in ('width', 'height'))
    if root.tag != NAMESPACE + 'svg' or root.get('viewBox') != f'0 0 {width} {height}':
        yield 'it has no viewBox of its width and height'
        return
    for name in ('title', 'desc'):
        if not root.findtext(NAMESPACE + name, '').strip():
            yield f'it has no <{name}>'
    for element, tag, (left, top, right, bottom) in shapes:
        if left < 0 or top < 0 or right > float(width) or bottom > float(height):
            yield f'<{tag}> {"".join(element.itertext())} is outside: {left:.0f}, {top:.0f} to {right:.0f}, {bottom:.0f}'
    texts = [(''.join(element.itertext()), where) for element, tag, where in shapes if tag == 'text']
    for (one, a), (other, b) in combinations(texts, 2):
        if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]:
            yield f'“{one}” and “{other}” overlap'


def png_faults(data):
    if not data.startswith(b'\x89PNG\r\n\x1a\n'):
        yield 'it is not a PNG'
        return
    at, names, packed = 8, [], b''
    while at + 12 <= len(data):
        length, name = struct.unpack('>I4s', data[at:at + 8])
        content = data[at + 8:at + 8 + length]
        if data[at + 8 + length:at + 12 + length] != struct.pack('>I', zlib.crc32(name + content)):
            yield f'its part {name.decode("latin-1")} is damaged'
            return
        names.append(name)
        packed += content if name == b'IDAT' else b''
        at += 12 + length
    if names[:1] != [b'IHDR'] or names[-1:] != [b'IEND'] or at != len(data):
        yield 'it is not whole'
    elif not zlib.decompress(packed):
        yield 'it is empty'


def faults(path):
    """Yields the faults of the picture at path."""
    if not path.is_file():
        return ['it is not there']
    return list(svg_faults(path.read_text()) if path.suffix == '.svg' else png_faults(path.read_bytes()))
