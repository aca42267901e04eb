"""How the documents are built: `python -m sphinx -W docs docs/_build/html`."""

import toolstream

project = "toolstream"
author = "The toolstream authors"
copyright = author
version = release = toolstream.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"toolstream {version}"

myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
nitpicky = False
