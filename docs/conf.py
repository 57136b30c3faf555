"""How Sphinx builds these pages; scripts/docs calls it."""

project = "laxity"
author = "the laxity contributors"
copyright = "the laxity contributors, GPL-2.0-only"  # noqa: A001

extensions = ["myst_parser"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["requirements.txt"]
nitpicky = True

html_theme = "furo"
html_title = "laxity"
html_show_sphinx = False
html_static_path = ["static"]
html_css_files = ["laxity.css"]
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
# No page loads anything from elsewhere, and sources are shown as they are: console samples have no lexer of their own.
pygments_style = "friendly"
highlight_language = "none"
