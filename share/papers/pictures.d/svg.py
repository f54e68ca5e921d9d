"""Drawings as SVG, for screen and print: text without a library, black on white."""
import html
import math

TEXT = '#26313b'
GRID = '#dfe5ea'
FONT = 'system-ui, "Segoe UI", "DejaVu Sans", Arial, sans-serif'


class Drawing:
    """Elements in the order in which they are drawn; `title` is what a screen reader says."""

    def __init__(self, width, height, title):
        self.width, self.height, self.title = width, height, title
        self.parts, self.patterns = [], {}

    def rect(self, x, y, width, height, fill, tip='', stroke=''):
        if width <= 0 or height <= 0:
            return
        line = f' stroke="{stroke}" stroke-width="0.5"' if stroke else ''
        body = f'<title>{html.escape(tip)}</title>' if tip else ''
        self.parts.append(f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" '
                          f'fill="{fill}"{line}>{body}</rect>')

    def line(self, x1, y1, x2, y2, colour=GRID, width=1, dash=''):
        dashes = f' stroke-dasharray="{dash}"' if dash else ''
        self.parts.append(f'<line x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}" '
                          f'stroke="{colour}" stroke-width="{width}"{dashes}/>')

    def text(self, x, y, words, anchor='start', size=12, bold=False, turn=0, colour=TEXT):
        turned = f' transform="rotate({turn} {x:.2f} {y:.2f})"' if turn else ''
        weight = ' font-weight="600"' if bold else ''
        self.parts.append(f'<text x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}" font-size="{size}" '
                          f'fill="{colour}"{weight}{turned}>{html.escape(str(words))}</text>')

    def striped(self, colour):
        """The fill of a wait: stripes in the colour of its call."""
        name = 'stripes-' + colour.lstrip('#')
        self.patterns[name] = (
            f'<pattern id="{name}" width="5" height="5" patternUnits="userSpaceOnUse" '
            f'patternTransform="rotate(45)"><rect width="5" height="5" fill="#ffffff"/>'
            f'<rect width="3" height="5" fill="{colour}"/></pattern>')
        return f'url(#{name})'

    def svg(self):
        patterns = ''.join(self.patterns.values())
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:.0f} {self.height:.0f}" '
                f'width="{self.width:.0f}" height="{self.height:.0f}" role="img" '
                f'aria-label="{html.escape(self.title)}" font-family="{html.escape(FONT)}">'
                f'<defs>{patterns}</defs><rect width="100%" height="100%" fill="#ffffff"/>'
                + '\n'.join(self.parts) + '</svg>\n')


def ticks(most, wanted=6):
    """Round numbers from 0 to `most`."""
    if most <= 0:
        return [0]
    rough = most / wanted
    power = 10 ** math.floor(math.log10(rough))
    step = next(size * power for size in (1, 2, 5, 10) if size * power >= rough * 0.999)
    return [i * step for i in range(int(most / step * 1.0001) + 1)]


def number(value):
    """Four digits at most, as far as they are needed."""
    return f'{value:.4g}' if abs(value) < 1e5 else f'{value:,.0f}'


def scale_of(most):
    """Factor and name of the unit in which so many seconds read well."""
    for factor, name in ((1, 's'), (1e3, 'ms'), (1e6, 'µs')):
        if most * factor >= 1:
            return factor, name
    return 1e9, 'ns'


def seconds(value):
    factor, name = scale_of(value)
    return f'{value * factor:.3g} {name}' if value * factor < 1000 else f'{value * factor:.0f} {name}'


def byte_size(count):
    for power, name in enumerate(('B', 'KiB', 'MiB', 'GiB')):
        if count < 1024 ** (power + 1) or name == 'GiB':
            return f'{count / 1024 ** power:.3g} {name}'
    return ''
