"""Everything that leans on the insides of Panel, Bokeh, HoloViews or panel-material-ui.

No other module of this package uses a name of theirs that begins with an underscore or a module
that they do not document (a test looks). Each use here says what it is for, has a contract test in
``tests/compat`` that names what broke and who needs it, and is why pyproject.toml bounds their
versions from above. Where a public way appears, take it and delete the entry here.
"""
