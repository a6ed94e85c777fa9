"""Sphinx's settings for the site of the manual. packaging/site/build runs it."""
import json
import os.path
import re
from pathlib import Path

from docutils import nodes
from pygments.lexers.sql import PsqlRegexLexer

ROOT = Path(__file__).resolve().parents[2]

project = 'emogi'
author = 'The emogi authors'
copyright = author
release = version = re.search(r"default_version = '(.*)'", (ROOT / 'emogi.control').read_text())[1]

# ---------------------------------------------------------------------------------------------------- navigation

# The groups of the navigation. A pattern adds the pages that no other entry of any group names, in the order of their names, so a
# new page of docs/ appears without an entry, and one that is gone leaves none.
GROUPS = {
    'Start': ['index', 'docs/adoption', 'docs/packages', 'docs/from-pgrouting', 'CHANGELOG'],
    'Tutorials': ['docs/tutorials/*'],
    'Using': ['docs/graph-argument', 'docs/keys-and-queries', 'docs/in-a-query', 'docs/python', 'docs/pictures', 'docs/graphrag',
              'docs/property-graphs', 'docs/*'],
    'Reference': ['docs/functions', 'docs/settings-and-engines', 'docs/views', 'docs/errors-and-troubleshooting'],
    'Operations': ['docs/in-production', 'docs/cache-and-memory', 'docs/live-graphs', 'docs/servers'],
    'Inside': ['docs/design/index', 'docs/benchmarks', 'docs/the-papers', 'CONTRIBUTING', 'docs/testing', 'docs/releasing',
               '*'],
}

# Pages below another page.
BELOW = {
    'docs/functions': ['docs/functions/' + name for name in
                       ('traversal', 'paths', 'components', 'communities', 'centrality', 'acyclic', 'similarity', 'simulations', '*')],
    'docs/design/index': ['docs/design/calls', 'docs/design/*'],
    'docs/benchmarks': ['bench/RESULTS', 'bench/*'],
}

# Titles in the navigation that are not those of the pages.
TITLES = {'index': 'Overview', 'docs/adoption': 'On your size', 'bench/index': 'Running benchmarks'}


def pages_of(entries, pages):
    """Return the pages that the entries of a group stand for."""
    named = {entry for group in [*GROUPS.values(), *BELOW.values(), BELOW] for entry in group}
    found = []
    for entry in entries:
        folder = os.path.dirname(entry)
        if entry == '*':
            taken = {os.path.dirname(name) for name in named if name.endswith('/*')}
            found += [page for page in pages if page not in named and os.path.dirname(page) not in taken]
        elif entry.endswith('*'):
            found += [page for page in pages if page not in named and os.path.dirname(page) == folder]
        elif entry in pages:
            found.append(entry)
    return found


def navigation(page, pages):
    """Return the hidden tables of contents that the navigation is made of, to be put at the end of a page."""
    groups = GROUPS if page == 'index' else {'': BELOW[page]} if page in BELOW else {}
    text = ''
    for caption, entries in groups.items():
        options = [':hidden:'] + [f':caption: {caption}'] * (caption != '')
        names = ['self' if each == page else f'/{each}' for each in pages_of(entries, pages)]
        listed = [f'{TITLES[each]} <{name}>' if each in TITLES else name for each, name in zip(pages_of(entries, pages), names)]
        text += '\n'.join(['', '', '```{toctree}', *options, *listed, '```', ''])
    return text


# --------------------------------------------------------------------------------------------------------- links

LINK = re.compile(r'(?<!!)\[((?:[^][]|\[[^][]*\])*)\]\((?!\w+:)([^)#\s]+)((?:#[^)\s]*)?)\)')
REPOSITORY = json.loads((ROOT / 'META.json').read_text()).get('resources', {}).get('repository', {})
REPOSITORY = REPOSITORY.get('web') or re.sub(r'\.git$', '', REPOSITORY.get('url', ''))


def change_links(page, text):
    """Return a page's text with links that lead somewhere on the site.

    Sources are in the repository; without its address a link leads to a copy of the file, and folders have none."""
    def change(match):
        words, path, anchor = match.groups()
        target = os.path.normpath(os.path.join(os.path.dirname(page), path))
        if path.endswith('.md'):
            return f'[{words}]({re.sub(r"README.md$", "index.md", path)}{anchor})'
        if path.endswith(('.svg', '.png')):
            return match[0]
        if REPOSITORY:
            return f'[{words}]({REPOSITORY}/blob/HEAD/{target})'
        return words if (ROOT / target).is_dir() else match[0]
    return LINK.sub(change, text)


def read_source(app, page, source):
    source[0] = change_links(page, source[0]) + navigation(page, sorted(app.env.found_docs))


def keep_anchors(document):
    """Give headings the anchors that they have in the repository, before those of Sphinx."""
    for section in document.findall(nodes.section):
        slug = section.get('slug')
        if slug:
            section['ids'] = [slug] + [name for name in section['ids'] if name != slug]


# ---------------------------------------------------------------------------------------------------------- code

SQL = re.compile(r'\s*(?:ALTER|BEGIN|CALL|CREATE|DROP|EXPLAIN|GRANT|INSERT|SELECT|SET|SHOW|UPDATE|WITH)\b|\s*emogi_\w+\(')
SHELL = re.compile(r'\s*(?:\$ |\./|apt|cd|createdb|curl|docker|make|pip3?|pgxn|psql|sudo|systemctl)\b')


def name_languages(document):
    """Name the language of indented blocks, which cannot name it themselves."""
    for block in document.findall(nodes.literal_block):
        if block.get('language') == 'none':
            text = block.astext()
            block['language'] = 'sql' if SQL.match(text) else 'sh' if SHELL.match(text) else 'text'


def change_document(app, document):
    keep_anchors(document)
    name_languages(document)


def setup(app):
    app.add_lexer('sql', PsqlRegexLexer)
    app.connect('source-read', read_source)
    app.connect('doctree-read', change_document, priority=100)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}


# ------------------------------------------------------------------------------------------------------ settings

extensions = ['myst_parser']
myst_heading_anchors = 6
myst_enable_extensions = ['linkify', 'strikethrough']
myst_linkify_fuzzy_links = False
# only what GitHub knows as well
myst_disable_syntax = ['myst_block_break', 'myst_line_comment', 'myst_role', 'myst_target']
smartquotes = False
highlight_language = 'text'
suppress_warnings = ['misc.highlighting_failure']     # languages are guessed
pygments_style = 'friendly'
pygments_dark_style = 'github-dark'

html_theme = 'furo'
html_title = f'emogi {release}'
html_static_path = ['site.css']
html_css_files = ['site.css']
html_copy_source = html_show_sourcelink = False
html_use_index = False
html_domain_indices = False
