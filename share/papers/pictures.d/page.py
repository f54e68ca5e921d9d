"""Figures as a page: each beside what the paper shows, in one file that needs no network."""
import html
import re
import textwrap

STYLE = '''
body { font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", Arial, sans-serif; color: #26313b; background: #fff;
       max-width: 1040px; margin: 2em auto; padding: 0 1em }
h1 { font-size: 1.5em } h2 { font-size: 1.15em; margin-top: 2.2em; border-top: 1px solid #dfe5ea; padding-top: 1em }
svg { max-width: 100%; height: auto; display: block; margin: 0.6em 0 }
pre { font: 13px/1.4 "DejaVu Sans Mono", monospace; overflow-x: auto }
dl { display: grid; grid-template-columns: 7em 1fr; gap: 0.2em 1em } dt { font-weight: 600 } dd { margin: 0 }
@media print { section { break-inside: avoid } }
'''


def prose(words):
    """As HTML; a number stays with its unit."""
    return re.sub(r'(?<=\d) (?=(%|s|ms|µs|ns|MiB|KiB|B|cores|ranks)\b|%)', '&nbsp;', html.escape(words))


class Figure:
    """key: '2', 't1', or a word of its own for what has no number; paper, here: sentences; svg and text: the picture or the table; closer: the small part of the
    picture once more; table: its numbers with tabs."""

    def __init__(self, key, title, paper, here, svg='', text='', table='', closer=''):
        self.key, self.title, self.paper, self.here = key, title, paper, here
        self.svg, self.text, self.table, self.closer = svg, text, table, closer

    @property
    def name(self):
        if self.key[0].isdigit():
            return f'Figure {self.key}'
        return f'Table {self.key[1:]}' if self.key[0] == 't' else f'Experiment {self.key}'

    @property
    def file(self):
        return self.name.lower().replace(' ', '')


def write(figures, out, title, head):
    """figureN.svg, figureN-closer.svg, figureN.tsv, index.html; prints what each figure shows."""
    sections = []
    for figure in figures:
        for suffix, svg in (('', figure.svg), ('-closer', figure.closer)):
            if svg:
                with open(f'{out}/{figure.file}{suffix}.svg', 'w') as file:
                    file.write(svg)
        if figure.table:
            with open(f'{out}/{figure.file}.tsv', 'w') as file:
                file.write(figure.table)
        print(f'\n{figure.name}: {figure.title}')
        for words, text in (('paper', figure.paper), ('here', figure.here)):
            print(textwrap.fill(text, 110, initial_indent=f'  {words + ":":7}', subsequent_indent=' ' * 9))
        if figure.text:
            print(figure.text.rstrip('\n'))
        # The same pattern may be in several drawings of a page: it looks the same in each.
        sections.append(
            f'<section id="{figure.file}"><h2>{figure.name}. {html.escape(figure.title)}</h2>'
            + figure.svg + figure.closer + (f'<pre>{html.escape(figure.text)}</pre>' if figure.text else '')
            + f'<dl><dt>The paper</dt><dd>{prose(figure.paper)}</dd>'
              f'<dt>Here</dt><dd>{prose(figure.here)}</dd></dl></section>')
    with open(f'{out}/index.html', 'w') as file:
        file.write(f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
                   f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>'
                   f'<body><h1>{html.escape(title)}</h1><p>{html.escape(head)}</p>' + '\n'.join(sections)
                   + '</body></html>\n')
