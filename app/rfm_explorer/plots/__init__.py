"""Pictures: pure functions from results (``results.records``) to HoloViews elements.

Every picture is one overlay of labelled elements, always the same ones in the same order, with
empty data where there is nothing to show yet, and with its ranges given. So a live page can put new
data into a picture that is already drawn (``page.picture``) instead of drawing it again.
"""

import holoviews as hv
import holoviews.plotting.bokeh

hv.Store.set_current_backend("bokeh")
# a few thousand points need no WebGL: every paint would copy its picture back from there, which
# without a graphics card took as long as all the rest of opening the page
hv.renderer("bokeh").webgl = False
