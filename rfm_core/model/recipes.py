"""Three kinds of models that are known to do well; each system says which one suits it."""

from __future__ import annotations

from .spec import ModelSpec


def few_components(long_step: bool, far: bool) -> ModelSpec:
    """Few components: one unit that sees all of them; two where a step is long.

    Here nothing but rounding is in the way, and refinement takes some of it away.
    """
    if long_step:
        return ModelSpec("DeepSkip", width=716, depth=4 if far else 2, refine=2)
    return ModelSpec("SkipRFM", width=1024 if far else 512, refine=2)


def narrow_halo(left: int, right: int, L1: float, far: bool) -> ModelSpec:
    """Units of one component that exchange estimates with those whose influence is nearest.

    On Lorenz-96 the map over a step is a polynomial of low degree in many inputs, so features are
    drawn in a narrow range, where a tanh is one too.
    """
    return ModelSpec(
        "LocalDeepSkip",
        width=1024 if far else 512,
        depth=4 if far else 3,
        G=1,
        left=left,
        right=right,
        exchange=(left, right) if far else (-(-left // 2), -(-right // 2)),
        standardize=True,
        L1=L1,
        rows=40_000,
    )


def wide_halo(dimension: int, halo: float, L1: float, scale: float, far: bool) -> ModelSpec:
    """Wide halos, so that short waves can be damped, tapered, so that features stay on what counts.

    A halo of three patches. The noise on inputs is what teaches the damping; it must not be much
    below the error of a step. ``scale`` is the size of the field beside that of
    Kuramoto-Sivashinsky, on which all this was measured.
    """
    divisors = (g for g in range(1, dimension + 1) if dimension % g == 0)
    patch = min(divisors, key=lambda g: abs(g - halo / 3))
    fits = max(0, (dimension // patch - 1) // 2)  # neighbours on either side on a small ring
    return ModelSpec(
        "LocalDeepSkip",
        width=1536 if far else 768,
        depth=4 if far else 2,
        G=patch,
        I=min(3, fits),
        exchange=min(2, fits),
        taper=0.33,
        L1=L1,
        noise=scale * (1e-7 if far else 3e-6),
        noise_on="input",
        rows=90_000 if far else 60_000,
    )
