"""Which folders make the packages; everything else about them is in pyproject.toml.

The notebooks are a folder of the repository and, installed, a folder of the package: the gallery
shows them (``rfm_explorer.serve.gallery.reading``).
"""

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(".", include=["rfm_core", "rfm_core.*"]),
        *find_packages("app"),
        "rfm_explorer.notebooks",
    ],
    package_dir={"rfm_explorer": "app/rfm_explorer", "rfm_explorer.notebooks": "notebooks"},
    package_data={
        "rfm_core": ["py.typed", "paper/*.csv"],
        "rfm_explorer": ["**/*.js", "**/*.css"],
        "rfm_explorer.notebooks": ["*.ipynb"],
    },
)
