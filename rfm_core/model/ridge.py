r"""Ridge regression from a stream of rows, in memory that does not depend on their number.

    W(beta) = argmin |Phi W - T|^2 + beta |W|^2,      Phi (rows, features), T (rows, outputs)

Two accumulators. ``QR`` keeps the triangle of a QR factorization of [Phi | T]: adding a block is
one more factorization of [R; block]. ``Normal`` keeps Phi^T Phi and Phi^T T, as the paper does:
half the work, but it squares the condition number, and every direction whose singular value is
below 1e-8 of the largest is lost. Either gives the whole path of beta from one further
factorization.

``normalised`` accumulators penalise what a feature contributes, its weight times its root mean
square over the rows, instead of the bare weight: beta |S W|^2 with the root mean squares S.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from ..checks import InvalidInput, real

Tensor = torch.Tensor
LOWER, WORTH = 1e-2, 0.95  # how much less beta, for at most which share of the error
LEAST_BETA = 1e-40


class QR:
    """The triangle [[R, C], [0, E]] of [Phi | T]: C = Q^T T, and E holds the unreachable rest."""

    def __init__(
        self,
        features: int,
        outputs: int,
        device: torch.device | str = "cpu",
        normalised: bool = False,
    ) -> None:
        self.features, self.outputs, self.normalised = features, outputs, normalised
        self.rows = 0
        n = features + outputs
        self.triangle = torch.zeros((0, n), dtype=torch.float64, device=device)

    def add(self, phi: Tensor, target: Tensor) -> None:
        """Take in a block of rows."""
        self.rows += phi.shape[0]
        self._absorb(torch.cat([self.triangle, torch.cat([phi, target], dim=1)]))

    def merge(self, other: QR) -> None:
        """Take in all rows of another accumulator."""
        self.rows += other.rows
        self._absorb(torch.cat([self.triangle, other.triangle]))

    def _absorb(self, stacked: Tensor) -> None:
        self.triangle = torch.linalg.qr(stacked, mode="r").R

    def _parts(self) -> tuple[Tensor, Tensor]:
        n = self.features
        missing = max(0, n + self.outputs - self.triangle.shape[0])
        full = torch.nn.functional.pad(self.triangle, (0, 0, 0, missing))
        return full[:n, :n], full[:n, n:]

    def solve(self, beta: float, known: Tensor | None = None) -> Tensor:
        """W (features, outputs) for one beta, by QR of [R; sqrt(beta) I]: no square is formed.

        With ``known`` weights, of which the targets T are what is left, the correction to them:
        known + W is then what one regression on all of T would have given without rounding.
        """
        if beta <= 0:
            return self.path().weights(0.0)
        n = self.features
        solved = torch.linalg.qr(self._with_penalty(beta, known), mode="r").R[:n]
        found: Tensor = torch.linalg.solve_triangular(solved[:, :n], solved[:, n:], upper=True)
        return found

    def _with_penalty(self, beta: float, known: Tensor | None) -> Tensor:
        """[[R, C], [sqrt(beta) I, -sqrt(beta) known]]. A function of its own, so that what it makes
        on the way is gone before the factorization: at 16,384 features every copy costs 2 GB."""
        root = beta**0.5 * self._sizes()
        penalty = torch.nn.functional.pad(torch.diag(root), (0, self.outputs))
        if known is not None:
            penalty[:, self.features :] = -root[:, None] * known
        return torch.cat([self.triangle[: self.features], penalty])

    def path(self) -> Path:
        """One SVD of R gives W for every beta."""
        r, c = self._parts()
        sizes = self._sizes()
        u, s, vt = torch.linalg.svd(r / sizes if self.normalised else r)
        return Path(s, u.mT @ c, vt, sizes, self.rows, _rounding(self))

    def squared_error(self, weights: Tensor) -> Tensor:
        """|Phi W - T|^2 per output over all rows taken in, without going through them again."""
        n = self.features
        residual = self.triangle[:, :n] @ weights - self.triangle[:, n:]
        return (residual * residual).sum(0)

    def singular_values(self) -> Tensor:
        r = self._parts()[0]
        found: Tensor = torch.linalg.svdvals(r / self._sizes() if self.normalised else r)
        return found

    def _sizes(self) -> Tensor:
        """S: the columns of R are as long as those of Phi."""
        return _sizes(self, self.triangle[:, : self.features].norm(dim=0))


class Normal:
    """Normal equations, the paper's method."""

    def __init__(
        self,
        features: int,
        outputs: int,
        device: torch.device | str = "cpu",
        normalised: bool = False,
    ) -> None:
        self.features, self.outputs, self.normalised = features, outputs, normalised
        self.rows = 0
        self.gram = torch.zeros((features, features), dtype=torch.float64, device=device)
        self.right = torch.zeros((features, outputs), dtype=torch.float64, device=device)
        self.square = torch.zeros(outputs, dtype=torch.float64, device=device)

    def add(self, phi: Tensor, target: Tensor) -> None:
        """Take in a block of rows."""
        self.rows += phi.shape[0]
        self.gram.addmm_(phi.mT, phi)
        self.right.addmm_(phi.mT, target)
        self.square += (target * target).sum(0)

    def merge(self, other: Normal) -> None:
        """Take in all rows of another accumulator."""
        self.rows += other.rows
        self.gram += other.gram
        self.right += other.right
        self.square += other.square

    def solve(self, beta: float) -> Tensor:
        """W (features, outputs) from (Phi^T Phi + beta I) W = Phi^T T.

        By Cholesky while the matrix is positive definite. With the paper's betas, 1e-16 of the
        largest eigenvalue, rounding has made it indefinite: then by eigenvalues, the negative ones
        taken as zero. LU would go on as if nothing had happened; on L63 with 512 features it
        forecasts 8.2 Lyapunov times, the eigenvalues 10.3, and the paper's figure is 10.1.
        """
        if beta > 0:
            regularised = self.gram.clone()
            regularised.diagonal().add_(beta * self._sizes() ** 2)
            factor, info = torch.linalg.cholesky_ex(regularised)
            if int(info) == 0:
                return torch.cholesky_solve(self.right, factor)
        return self.path().weights(beta)

    def path(self) -> Path:
        """One eigendecomposition of Phi^T Phi gives W for every beta."""
        sizes = self._sizes()
        values, vectors = torch.linalg.eigh(self._scaled())
        s = values.flip(0).clamp_min(0).sqrt()
        vt = vectors.flip(1).mT
        safe = torch.where(s > 0, s, torch.ones_like(s))
        right = (vt @ (self.right / sizes[:, None])) / safe[:, None]
        # what rounding does to squares, seen on the singular values themselves
        return Path(s, right, vt, sizes, self.rows, _rounding(self) ** 0.5)

    def squared_error(self, weights: Tensor) -> Tensor:
        """|Phi W - T|^2 per output; cancellation leaves about eight digits less than QR."""
        quadratic = (weights * (self.gram @ weights)).sum(0)
        cross = (weights * self.right).sum(0)
        return (quadratic - 2 * cross + self.square).clamp_min(0)

    def singular_values(self) -> Tensor:
        values: Tensor = torch.linalg.eigvalsh(self._scaled())
        return values.flip(0).clamp_min(0).sqrt()

    def _scaled(self) -> Tensor:
        """S^-1 Phi^T Phi S^-1."""
        sizes = self._sizes()
        return self.gram / torch.outer(sizes, sizes) if self.normalised else self.gram

    def _sizes(self) -> Tensor:
        """S: the squares are on the diagonal."""
        return _sizes(self, self.gram.diagonal().clamp_min(0).sqrt())


Accumulator = QR | Normal


def _rounding(rows_of: Accumulator) -> float:
    """Rounding of an accumulated factorization, relative: it grows as the root of the blocks."""
    return float(np.finfo(np.float64).eps * (rows_of.features + 4 * rows_of.rows**0.5))


def _sizes(rows_of: Accumulator, lengths: Tensor) -> Tensor:
    """Root mean squares from lengths of columns, or ones; 1 for a column of zeros too."""
    if not rows_of.normalised:
        return torch.ones_like(lengths)
    return torch.where(lengths > 0, lengths / max(1, rows_of.rows) ** 0.5, 1.0)


def accumulator(
    solver: str,
    features: int,
    outputs: int,
    device: torch.device | str = "cpu",
    normalised: bool = False,
) -> Accumulator:
    """A fresh accumulator for the named solver."""
    return (QR if solver == "qr" else Normal)(features, outputs, device, normalised)


@dataclass(frozen=True, eq=False)
class Path:
    """The regression in the basis of the singular vectors: all betas at hand."""

    singular_values: Tensor  # s, descending
    coordinates: Tensor  # U^T T, (features, outputs)
    vt: Tensor
    sizes: Tensor  # S, by which features were divided
    rows: int
    resolution: float  # singular values below this share of the largest are rounding

    def weights(self, beta: float) -> Tensor:
        """W = V diag(s / (s^2 + beta)) U^T T, with S undone; for beta = 0 the shortest solution."""
        s = self.singular_values
        if beta > 0:
            factor = s / (s * s + beta)
        else:
            known = self._known
            factor = torch.where(known, 1 / torch.where(known, s, torch.ones_like(s)), 0.0)
        return self.vt.mT @ (factor[:, None] * self.coordinates) / self.sizes[:, None]

    def effective_features(self, beta: float) -> float:
        """Degrees of freedom, sum of s^2 / (s^2 + beta)."""
        s = self.singular_values
        return float((s * s / (s * s + beta)).sum() if beta > 0 else self._known.sum())

    @property
    def _known(self) -> Tensor:
        return self.singular_values > self.resolution * self.singular_values[0]

    def norm(self, beta: float) -> float:
        """Length of what is penalised, which falls as beta grows: of W, or of S W."""
        return self.length(self.weights(beta))

    def length(self, weights: Tensor) -> float:
        """The same of any weights."""
        return float((weights * self.sizes[:, None]).norm())


@dataclass(frozen=True, eq=False)
class BetaPath:
    """Errors along a grid of betas: root mean square over outputs, per row."""

    betas: np.ndarray
    training: np.ndarray
    heldout: np.ndarray
    norm: np.ndarray  # of what is penalised
    condition: np.ndarray  # of W
    effective: np.ndarray
    singular_values: np.ndarray

    @property
    def best(self) -> float:
        """The largest beta whose held-out error is within 5 % of the least.

        Where the error hardly depends on beta, the smaller weights of a larger one are safer.
        """
        finite = np.where(np.isfinite(self.heldout), self.heldout, np.inf)
        return float(self.betas[finite <= 1.05 * finite.min()].max())


def beta_path(fitted: Accumulator, heldout: Accumulator, betas: Sequence[float]) -> BetaPath:
    """Fit on the rows of ``fitted`` for every beta, test on the rows of ``heldout``."""
    values = checked_betas(betas)
    path = fitted.path()
    columns: list[list[float]] = []
    for beta in values:
        weights = path.weights(beta)
        spectrum = torch.linalg.svdvals(weights)
        columns.append(
            [
                _rms(fitted.squared_error(weights), fitted.rows),
                _rms(heldout.squared_error(weights), heldout.rows),
                path.length(weights),
                float(spectrum[0] / spectrum[-1]) if spectrum[-1] > 0 else float("inf"),
                path.effective_features(beta),
            ]
        )
    training, tested, norm, condition, effective = np.array(columns).T
    return BetaPath(
        betas=np.array(values),
        training=training,
        heldout=tested,
        norm=norm,
        condition=condition,
        effective=effective,
        singular_values=path.singular_values.cpu().numpy(),
    )


def lowered(beta: float, fitted: Accumulator, heldout: Accumulator) -> float:
    """The best of a path, or less of it as long as held-out rows gain by that.

    A path is made of an SVD, which loses to rounding what weights by QR still have: where beta is
    that small, the path ends too early.
    """

    def error(value: float) -> float:
        return _rms(heldout.squared_error(fitted.solve(value)), heldout.rows)

    if not isinstance(fitted, QR) or beta <= 0:
        return beta
    here = error(beta)
    while beta > LEAST_BETA:
        lower = error(LOWER * beta)
        if not lower < WORTH * here:
            break
        beta, here = LOWER * beta, lower
    return beta


def checked_betas(betas: Sequence[float]) -> list[float]:
    """At least one, none negative."""
    values = [
        real("betas", b, "1e-24 to 1e-2 is usual.", 0, 1e12) for b in np.atleast_1d(betas).tolist()
    ]
    if not values:
        raise InvalidInput("betas is empty. Give at least one value, for example 1e-16.")
    return values


def _rms(squares: Tensor, rows: int) -> float:
    return float((squares.mean() / max(1, rows)).sqrt())
