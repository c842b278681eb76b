"""What ``panel serve app/main.py`` runs.

No logic here: Panel clears this module with its session.
"""

from rfm_explorer.page.page import serve_session

serve_session()
