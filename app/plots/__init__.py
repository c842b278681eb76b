"""Pictures: pure functions from results (``app.scene``) to HoloViews elements.

Every picture is one overlay of labelled elements, always the same ones in the same order, with
empty data where there is nothing to show yet, and with its ranges given. So a live page can put new
data into a picture that is already drawn (``app.picture``) instead of drawing it again.
"""

import holoviews as hv
import holoviews.plotting.bokeh

hv.Store.set_current_backend("bokeh")
