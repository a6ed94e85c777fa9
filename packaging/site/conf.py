"""Sphinx's settings for the site of the manual. packaging/site/build runs it."""
import json
import os.path
import re
from pathlib import Path

from docutils import nodes
from pygments.lexers.sql import PsqlRegexLexer
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

ROOT = Path(__file__).resolve().parents[2]

project = 'emogi'
author = 'The emogi authors'
copyright = author
release = version = re.search(r"default_version = '(.*)'", (ROOT / 'emogi.control').read_text())[1]

# ---------------------------------------------------------------------------------------------------- navigation

# The groups of the navigation. A pattern adds the pages of a folder that no entry names, in alphabetical order; '*'
# adds those of all folders without a pattern. New pages of docs/ need no entry; entries of missing pages are skipped.
GROUPS = {
    'Start': ['index', 'docs/adoption', 'docs/packages', 'docs/from-pgrouting', 'CHANGELOG'],
    'Tutorials': ['docs/tutorials/*'],
    'Using': ['docs/graph-argument', 'docs/keys-and-queries', 'docs/in-a-query', 'docs/python', 'docs/pictures',
              'docs/graphrag', 'docs/property-graphs', 'docs/*'],
    'Reference': ['docs/functions', 'docs/settings-and-engines', 'docs/views', 'docs/errors-and-troubleshooting'],
    'Operations': ['docs/in-production', 'docs/cache-and-memory', 'docs/live-graphs', 'docs/servers'],
    'Inside': ['docs/design/index', 'docs/benchmarks', 'docs/the-papers', 'CONTRIBUTING', 'docs/testing',
               'docs/releasing', '*'],
}

# Pages below another page.
BELOW = {
    'docs/functions': ['docs/functions/traversal', 'docs/functions/paths', 'docs/functions/components',
                       'docs/functions/communities', 'docs/functions/centrality', 'docs/functions/acyclic',
                       'docs/functions/similarity', 'docs/functions/simulations', 'docs/functions/*'],
    'docs/design/index': ['docs/design/calls', 'docs/design/*'],
    'docs/benchmarks': ['bench/RESULTS', 'bench/*'],
}

# Titles in the navigation that differ from those of the pages.
TITLES = {'index': 'Overview', 'docs/adoption': 'On your size', 'bench/index': 'Running benchmarks'}

NAMED = {entry for entries in [*GROUPS.values(), *BELOW.values()] for entry in entries}


def stands_for(entry, page):
    """Return whether an entry of the navigation matches a page."""
    if not entry.endswith('*'):
        return entry == page
    folder = os.path.dirname(page) + '/*'
    return page not in NAMED and entry == (folder if folder in NAMED else '*')


def contents(page, caption, entries, pages):
    """Return a hidden table of contents for the end of a page."""
    lines = ['', '', '```{toctree}', ':hidden:'] + [f':caption: {caption}'] * (caption is not None)
    for each in [found for entry in entries for found in pages if stands_for(entry, found)]:
        name = 'self' if each == page else f'/{each}'
        lines.append(f'{TITLES[each]} <{name}>' if each in TITLES else name)
    return '\n'.join([*lines, '```', ''])


def navigation(page, pages):
    """Return the tables of contents of a page, from which the navigation is generated."""
    if page == 'index':
        return ''.join(contents(page, *group, pages) for group in GROUPS.items())
    return contents(page, None, BELOW[page], pages) if page in BELOW else ''


# --------------------------------------------------------------------------------------------------------- links

LINK = re.compile(r'(?<!!)\[((?:[^][]|\[[^][]*\])*)\]\((?!\w+:)([^)#\s]+)((?:#[^)\s]*)?)\)')
RESOURCES = json.loads((ROOT / 'META.json').read_text()).get('resources', {}).get('repository', {})
REPOSITORY = RESOURCES.get('web') or RESOURCES.get('url', '').removesuffix('.git')


def change_links(page, text):
    """Return a page's text with links that are valid on the site.

    Links to sources use the repository's address; without one they refer to a copy of the file, and links to folders are removed."""
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
    """Give headings the anchors of the repository, in addition to those of Sphinx."""
    for section in document.findall(nodes.section):
        slug = section.get('slug')
        if slug:
            section['ids'] = [slug] + [name for name in section['ids'] if name != slug]


def index_name(node, name):
    """Add a name to the search index, referring to the section of a node."""
    while not isinstance(node, nodes.section):
        node = node.parent
    node.insert(1, addnodes.index(entries=[('single', name, node['ids'][0], 'main', None)]))


def index_names(document, page):
    """Index functions by their sections, without prefix: "shortest path"; and settings by the tables of their page."""
    for section in list(document.findall(nodes.section)):
        if section.get('slug', '').startswith('emogi_'):
            index_name(section, section['slug'][len('emogi_'):].replace('_', ' '))
    for row in list(document.findall(nodes.row)) if page == 'docs/settings-and-engines' else []:
        for setting in row[0].findall(nodes.literal):
            if setting.astext().startswith('emogi.'):
                index_name(row, setting.astext())


# ---------------------------------------------------------------------------------------------------------- code

SQL = re.compile(r'\s*((ALTER|BEGIN|CALL|CREATE|DROP|EXPLAIN|GRANT|INSERT|SELECT|SET|SHOW|UPDATE|WITH)\b|emogi_\w+\()')
SHELL = re.compile(r'\s*(\./|(apt|cd|createdb|curl|docker|make|packaging|pip3?|pgxn|psql|sudo|systemctl)\b)')


def name_languages(document):
    """Set the language of indented blocks, which cannot declare it themselves."""
    for block in document.findall(nodes.literal_block):
        if block.get('language') == 'none':
            text = block.astext()
            block['language'] = 'sql' if SQL.match(text) else 'sh' if SHELL.match(text) else 'text'


class ChangeDocument(SphinxTransform):
    """Apply all changes to a parsed page, before Sphinx collects its anchors and index entries."""

    default_priority = 800

    def apply(self):
        keep_anchors(self.document)
        index_names(self.document, self.env.docname)
        name_languages(self.document)


def setup(app):
    app.add_lexer('sql', PsqlRegexLexer)
    app.connect('source-read', read_source)
    app.add_transform(ChangeDocument)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}


# ------------------------------------------------------------------------------------------------------ settings

extensions = ['myst_parser']
myst_heading_anchors = 6
myst_enable_extensions = ['linkify', 'strikethrough']
myst_linkify_fuzzy_links = False
# only features supported by GitHub
myst_disable_syntax = ['myst_block_break', 'myst_line_comment', 'myst_role', 'myst_target']
smartquotes = False
highlight_language = 'text'
# Languages are guessed, and a page may skip heading levels.
suppress_warnings = ['misc.highlighting_failure', 'myst.header']
pygments_style = 'friendly'
pygments_dark_style = 'github-dark'

html_theme = 'furo'
html_title = f'emogi {release}'
html_static_path = ['site.css']
html_css_files = ['site.css']
html_copy_source = html_show_sourcelink = False
html_use_index = False
html_domain_indices = False
