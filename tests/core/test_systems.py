"""Steppers against exact solutions, independent right-hand sides and the systems' symmetries."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import odeint, solve_ivp
from scipy.stats import wasserstein_distance

import rfm_core as rfm
from rfm_core.streams import stream
from rfm_core.systems import rollout
from rfm_core.systems.base import attempt
from rfm_core.systems.integrate import ETDRK4, RungeKutta, right_hand_side

Array = np.ndarray
ODES = ["L63", "L96", "Roessler", "Halvorsen"]


def made(name: str, dt: float | None = None, **options: Any) -> Any:
    """System, all its parameters, and its stepper."""
    system = rfm.get_system(name)
    parameters = system.resolve(options.pop("parameters", {}))
    return system, parameters, system.stepper(parameters, dt or system.dt, **options)


def starts(name: str, n: int, seed: int = 0, **parameters: float) -> Array:
    system = rfm.get_system(name)
    return system.start(stream(seed, "test"), n, system.resolve(parameters))


def settled(name: str, n: int, burn_in: float | None = None, **parameters: float) -> Array:
    """n states on the attractor, from n rough starts."""
    system, _, stepper = made(name, parameters=parameters)
    time = system.burn_in if burn_in is None else burn_in
    return stepper.advance(starts(name, n, **parameters), round(time / stepper.dt))


def relative(a: Array, b: Array) -> float:
    """Largest distance of two sets of states, in lengths of the states."""
    return float(np.max(np.linalg.norm(a - b, axis=-1) / np.linalg.norm(b, axis=-1)))


# --- right-hand sides, written a second time ---------------------------------------------------


def lorenz63(u: Array, sigma: float, rho: float, beta: float) -> Array:
    x, y, z = u
    return np.array([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])


def lorenz96(u: Array, _: float, forcing: float) -> Array:
    return (np.roll(u, -1) - np.roll(u, 2)) * np.roll(u, 1) - u + forcing


def roessler(u: Array, a: float, b: float, c: float) -> Array:
    x, y, z = u
    return np.array([-y - z, x + a * y, b + z * (x - c)])


def halvorsen(u: Array, a: float, b: float) -> Array:
    x, y, z = u
    return np.array(
        [
            -a * x - b * y - b * z - y**2,
            -a * y - b * z - b * x - z**2,
            -a * z - b * x - b * y - x**2,
        ]
    )


def kuramoto_sivashinsky(u: Array, length: float) -> Array:
    """By full complex transforms; the odd derivative of the highest wave of an even grid is 0."""
    n = len(u)
    k = 2 * np.pi * np.fft.fftfreq(n, 1 / n) / length
    odd = np.where(np.abs(np.fft.fftfreq(n, 1 / n)) == n / 2, 0.0, k)
    v, square = np.fft.fft(u), np.fft.fft(u**2)
    return np.fft.ifft((k**2 - k**4) * v - 0.5j * odd * square).real


PLAIN: dict[str, Callable[..., Array]] = {
    "L63": lorenz63,
    "L96": lorenz96,
    "Roessler": roessler,
    "Halvorsen": halvorsen,
}
CASES = [
    ("L63", {}),
    ("L63", {"sigma": 9.0, "rho": 35.5, "beta": 2.2}),
    ("L96", {}),
    ("L96", {"D": 4}),
    ("L96", {"D": 5, "F": -3.0}),
    ("L96", {"D": 7, "F": 8.0}),
    ("Roessler", {"a": 0.25, "b": 0.3, "c": 5.0}),
    ("Halvorsen", {"a": 1.5, "b": 3.9}),
]


@pytest.mark.parametrize(("name", "parameters"), CASES)
@pytest.mark.parametrize("kind", [float, complex])
def test_right_hand_side(name: str, parameters: dict[str, float], kind: type) -> None:
    system = rfm.get_system(name)
    values = system.resolve(parameters)
    u = starts(name, 5, **parameters).astype(kind)
    if kind is complex:
        u += 1j * starts(name, 5, seed=1, **parameters)
    assert u.shape[1] == system.dimension(values)
    for state in u:
        found = np.full_like(state, np.nan)
        assert system.rhs is not None
        system.rhs(state, np.array(list(values.values()), dtype=float), found)
        plain = PLAIN[name](state, *values.values())
        np.testing.assert_allclose(found, plain, rtol=1e-13, atol=1e-12)


@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_flow_against_another_integrator(name: str, parameters: dict[str, float]) -> None:
    _, values, stepper = made(name, parameters=parameters)
    start = starts(name, 3, **parameters)
    found = stepper.rollout(start, 10)
    assert found.shape == (3, 11, start.shape[1])
    np.testing.assert_array_equal(found[:, 0], start)
    times = stepper.dt * np.arange(11)
    for path, u in zip(found, start, strict=True):
        truth = solve_ivp(
            lambda t, v: PLAIN[name](v, *values.values()),
            (0, times[-1]),
            u,
            method="DOP853",
            t_eval=times,
            rtol=1e-12,
            atol=1e-12,
        )
        assert relative(path, truth.y.T) < 1e-10


@pytest.mark.parametrize(
    ("length", "grid"), [(22.0, 32), (22.0, 33), (60.0, 80), (31.4, 49), (1.0, 16)]
)
def test_ks_against_another_integrator(length: float, grid: int) -> None:
    parameters = {"L": length, "grid": grid}
    _, _, stepper = made("KS", parameters=parameters, inner=0.25 / 64)
    u = starts("KS", 1, **parameters)
    truth = solve_ivp(
        lambda t, v: kuramoto_sivashinsky(v, length),
        (0, 0.25),
        u[0],
        method="LSODA",
        rtol=1e-10,
        atol=1e-11,
    )
    found = stepper.advance(u, 1)[0]
    scale = np.abs(truth.y[:, -1]).max()
    np.testing.assert_allclose(found, truth.y[:, -1], atol=2e-8 * max(scale, 1e-3))
    assert np.abs(found - u[0]).max() > 0.05


# --- orders of convergence ---------------------------------------------------------------------


@right_hand_side
def oscillator(u, parameters, du):  # type: ignore[no-untyped-def]
    du[0] = parameters[0] * u[1]
    du[1] = -parameters[0] * u[0]


def circle(angle: Array | float) -> Array:
    return np.stack([np.cos(angle), -np.sin(angle)], axis=-1)


def test_runge_kutta_is_of_order_eight_on_an_exact_solution() -> None:
    errors = []
    for inner in (1.0, 0.5, 0.25):
        stepper = RungeKutta(oscillator, np.array([1.0]), 1.0, inner, 2)
        errors.append(
            np.abs(stepper.rollout(circle(0.0)[None], 8)[0] - circle(np.arange(9.0))).max()
        )
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert errors[-1] > 1e-13, "below this it is rounding, which has no order"
    np.testing.assert_allclose(orders, 8, atol=0.3)


@pytest.mark.parametrize(
    ("name", "time", "coarse"), [("L63", 0.2, 4), ("L96", 0.2, 2), ("Halvorsen", 0.3, 2)]
)
def test_runge_kutta_is_of_order_eight(name: str, time: float, coarse: int) -> None:
    u = settled(name, 32, burn_in=20.0)
    system = rfm.get_system(name)

    def end(parts: int) -> Array:
        return system.stepper(system.resolve({}), time, inner=time / parts).advance(u, 1)

    truth = end(128)
    errors = [
        np.sqrt(np.mean((end(parts) - truth) ** 2)) for parts in (coarse, 2 * coarse, 4 * coarse)
    ]
    assert errors[-1] > 1e-11
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert (orders > 7.3).all(), orders
    assert (orders < 9.3).all(), orders


@right_hand_side
def ramp(u, parameters, du):  # type: ignore[no-untyped-def]
    du[0] = parameters[0] + 0 * u[0]


def test_rounding_does_not_accumulate() -> None:
    """100,000 steps of 0.1 * 0.1: plain summation ends some thousand units of rounding off."""
    stepper = RungeKutta(ramp, np.array([0.1]), 0.1, 0.1, 1)
    plain = 0.0
    for _ in range(100_000):
        plain += 0.1 * 0.1
    assert abs(plain - 1000) > 1e-10
    assert abs(stepper.advance(np.zeros((1, 1)), 100_000)[0, 0] - 1000) < 1e-12


@pytest.mark.parametrize(("name", "dt"), [(n, None) for n in ODES] + [("L63", 0.1)])
def test_halving_the_inner_step_changes_nothing(name: str, dt: float | None) -> None:
    u = settled(name, 100, burn_in=10.0)
    system, parameters, stepper = made(name, dt)
    halved = system.stepper(parameters, stepper.dt, inner=system.inner_step / 2)
    assert halved.substeps == 2 * stepper.substeps
    assert relative(stepper.advance(u, 1), halved.advance(u, 1)) < 1e-12


def test_etdrk4_is_of_order_four_on_ks() -> None:
    parameters = {"L": 22.0, "grid": 16}  # a finer grid is stiffer and gets there later
    u = settled("KS", 4, burn_in=100.0, **parameters)

    def end(parts: int) -> Array:
        return made("KS", 1.0, parameters=parameters, inner=1 / parts)[2].advance(u, 1)

    truth = end(2048)
    errors = [np.abs(end(parts) - truth).max() for parts in (32, 64, 128)]
    assert errors[-1] > 1e-12
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 4, atol=0.2)


def burgers(time: Array, x: Array, viscosity: float) -> Array:
    """Cole and Hopf's solution of u_t + u u_x = viscosity u_xx."""
    wave = np.exp(-viscosity * time)
    return 2 * viscosity * wave * np.sin(x) / (1.5 + wave * np.cos(x))


def test_etdrk4_is_of_order_four_on_an_exact_solution() -> None:
    grid, viscosity = 64, 0.4
    x, k = 2 * np.pi * np.arange(grid) / grid, np.arange(grid // 2 + 1)

    def nonlinear(v: Array) -> Array:
        return -0.5j * k * (k < grid / 2) * np.fft.rfft(np.fft.irfft(v, n=grid) ** 2)

    errors = []
    for parts in (4, 8, 16):
        stepper = ETDRK4(-viscosity * k**2, nonlinear, grid, 1.0, 1 / parts)
        found = stepper.advance(burgers(np.array(0.0), x, viscosity)[None], 1)[0]
        errors.append(np.abs(found - burgers(np.array(1.0), x, viscosity)).max())
    assert 1e-12 < errors[-1] < 1e-6
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 4, atol=0.35)


@pytest.mark.parametrize("parts", [1, 3])
def test_etdrk4_is_exact_for_linear_equations(parts: int) -> None:
    """v' = linear v + constant, growing, neutral, and decaying slowly and very fast."""
    grid, dt = 16, 0.7
    linear = np.array([0.0, 1e-9, 1e-4, 0.25, 1.0, -0.3, -20.0, -3e4, -1e-6])
    start = stream(0, "linear").standard_normal((3, grid))
    force = np.fft.rfft(stream(1, "linear").standard_normal(grid))
    for constant in (0.0, 1.0):
        stepper = ETDRK4(linear, lambda v, c=constant: c * force, grid, dt, dt / parts)
        growth, response = np.exp(linear * dt), np.full_like(linear, dt)
        response[1:] = np.expm1(linear[1:] * dt) / linear[1:]
        truth = np.fft.irfft(growth * np.fft.rfft(start) + response * constant * force, n=grid)
        np.testing.assert_allclose(stepper.advance(start, 1), truth, rtol=0, atol=3e-14)


# --- the paper's data --------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "steps"), [("L63", 400), ("L96", 200)])
def test_paper_accuracy_is_plain_odeint(name: str, steps: int) -> None:
    system, parameters, stepper = made(name, accuracy="paper")
    u = settled(name, 3)
    found = stepper.rollout(u, steps)
    times = stepper.dt * np.arange(steps + 1)
    for path, state in zip(found, u, strict=True):
        plain = odeint(lambda v, t: PLAIN[name](v, *parameters.values()), state, times)
        np.testing.assert_allclose(path[:50], plain[:50], rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(path, plain, atol=1e-8)
    fine = system.stepper(parameters, stepper.dt).advance(u, 1)
    assert 1e-10 < relative(found[:, 1], fine) < 1e-6


def test_paper_accuracy_is_one_call_of_odeint_however_long() -> None:
    """A call that is cut into two takes other steps after the cut, and so makes other errors."""
    system, parameters, stepper = made("L63", accuracy="paper")
    (u,) = settled("L63", 1)
    found = stepper.rollout(u[None], 3000)[0]
    one = odeint(lambda v, t: PLAIN["L63"](v, *parameters.values()), u, 0.01 * np.arange(3001))
    fine = system.stepper(parameters, stepper.dt)
    made_errors, plain_errors = (path[1:] - fine.advance(path[:-1], 1) for path in (found, one))
    early = slice(0, 700)  # later the two may have parted by a rounding that chaos made large
    np.testing.assert_allclose(made_errors[early], plain_errors[early], rtol=0, atol=1e-9)
    again = stepper.rollout(found[300:301], 50)[0]
    assert np.abs(again - found[300:351]).max() > 1e-9, "a fresh call makes other errors"
    np.testing.assert_array_equal(stepper.rollout(u[None], 100)[0], found[:101])


def test_paper_accuracy_of_ks_is_the_papers_step() -> None:
    assert made("KS", accuracy="paper")[2].substeps == 250  # 0.25 in steps of 0.001
    assert made("KS")[2].substeps == 10


# --- symmetries and invariants -----------------------------------------------------------------


def test_l63_has_its_symmetry_bit_for_bit() -> None:
    _, _, stepper = made("L63")
    u, mirror = settled("L63", 10), np.array([-1.0, -1.0, 1.0])
    np.testing.assert_array_equal(
        stepper.rollout(u * mirror, 300), stepper.rollout(u, 300) * mirror
    )
    assert not np.allclose(stepper.rollout(-u, 5), -stepper.rollout(u, 5)), "z is not mirrored"


@pytest.mark.parametrize("dimension", [4, 5, 7, 40])
def test_l96_is_the_same_everywhere(dimension: int) -> None:
    _, _, stepper = made("L96", parameters={"D": dimension})
    u = settled("L96", 3, burn_in=5.0, D=dimension)
    path = stepper.rollout(u, 20)
    for shift in (1, 2, dimension - 1):
        moved = stepper.rollout(np.roll(u, shift, axis=-1), 20)
        np.testing.assert_allclose(moved, np.roll(path, shift, axis=-1), rtol=0, atol=1e-12)
    assert not np.allclose(stepper.rollout(u[:, ::-1], 20), path[..., ::-1])


@pytest.mark.parametrize(("length", "grid"), [(22.0, 32), (22.0, 33), (100.0, 128)])
def test_ks_shifts_reflects_and_keeps_its_mean(length: float, grid: int) -> None:
    parameters = {"L": length, "grid": grid}
    _, _, stepper = made("KS", parameters=parameters)
    u = settled("KS", 3, burn_in=50.0, **parameters) + np.array([[0.0], [0.3], [-2.0]])
    path = stepper.rollout(u, 8)
    for shift in (1, 5, grid - 1):
        moved = stepper.rollout(np.roll(u, shift, axis=-1), 8)
        np.testing.assert_allclose(moved, np.roll(path, shift, axis=-1), rtol=0, atol=1e-11)

    def reflect(field: Array) -> Array:  # u(x) -> -u(-x)
        return -np.roll(field[..., ::-1], 1, axis=-1)

    np.testing.assert_allclose(stepper.rollout(reflect(u), 8), reflect(path), rtol=0, atol=1e-11)
    assert not np.allclose(stepper.rollout(-u, 8), -path, atol=1e-3)
    mean = path.mean(axis=-1)
    np.testing.assert_allclose(mean, np.repeat(mean[:, :1], 9, axis=1), rtol=0, atol=1e-13)


def test_ks_travels_with_its_mean() -> None:
    """Galilean invariance: u(x - ct, t) + c is a solution; c is chosen to travel 3 cells a step."""
    length, grid = 22.0, 64
    parameters = {"L": length, "grid": grid}
    _, _, stepper = made("KS", parameters=parameters, inner=0.25 / 40)
    c = 3 * (length / grid) / stepper.dt
    u = settled("KS", 3, burn_in=50.0, **parameters)
    travelled = stepper.advance(u + c, 4)
    np.testing.assert_allclose(
        travelled, np.roll(stepper.advance(u, 4), 12, axis=-1) + c, rtol=0, atol=1e-5
    )


# --- tangents ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ODES)
@pytest.mark.parametrize("accuracy", ["fine", "paper"])
def test_tangent_is_the_derivative_of_the_flow(name: str, accuracy: str) -> None:
    system, parameters, stepper = made(name, accuracy=accuracy)
    fine = system.stepper(parameters, stepper.dt)
    u = settled(name, 4)
    vectors = stream(0, "vectors").standard_normal((4, 3, u.shape[1]))
    end, moved = stepper.tangent(u, vectors)
    np.testing.assert_allclose(end, fine.advance(u, 1), rtol=1e-12, atol=1e-12)
    for k in range(3):
        difference = sixth_order(lambda v: fine.advance(v, 1), u, vectors[:, k], 1e-2)
        np.testing.assert_allclose(moved[:, k], difference, rtol=0, atol=1e-9 * np.abs(moved).max())


def test_tangent_of_ks_against_differences_of_another_size() -> None:
    parameters = {"L": 22.0, "grid": 32}
    _, _, stepper = made("KS", parameters=parameters)
    u = settled("KS", 3, burn_in=100.0, **parameters)
    vectors = stream(0, "vectors").standard_normal((3, 2, 32)) * np.array([[[1.0], [1e4]]])
    end, moved = stepper.tangent(u, vectors)
    np.testing.assert_allclose(end, stepper.advance(u, 1), rtol=0, atol=1e-13)
    for k in range(2):
        v = vectors[:, k] / np.abs(vectors[:, k]).max()
        difference = sixth_order(lambda w: stepper.advance(w, 1), u, v, 3e-2)
        scaled = moved[:, k] / np.abs(vectors[:, k]).max()
        np.testing.assert_allclose(scaled, difference, rtol=0, atol=1e-8 * np.abs(scaled).max())


def test_tangent_of_ks_at_rest_is_the_linear_growth() -> None:
    """At u = 0 waves grow by exp((k^2 - k^4) dt); a step relative to |u| would divide by zero."""
    length, grid = 22.0, 32
    _, _, stepper = made("KS", parameters={"L": length, "grid": grid})
    wave = np.cos(2 * np.pi * 2 * np.arange(grid) / grid)
    k = 2 * np.pi * 2 / length
    _, moved = stepper.tangent(np.zeros((1, grid)), wave[None, None])
    np.testing.assert_allclose(moved[0, 0], wave * np.exp((k**2 - k**4) * 0.25), atol=1e-8)


def sixth_order(flow: Callable[[Array], Array], u: Array, v: Array, h: float) -> Array:
    """Directional derivative by central differences over six points."""
    weights = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60}
    return sum(w * (flow(u + m * h * v) - flow(u - m * h * v)) / h for m, w in weights.items())


# --- many trajectories at once -----------------------------------------------------------------

SMALL = [("L63", "fine", {}), ("L96", "fine", {}), ("L96", "paper", {})]
SMALL += [("KS", "fine", {"L": 22.0, "grid": 64})]


@pytest.mark.parametrize(("name", "accuracy", "parameters"), SMALL)
def test_a_trajectory_does_not_depend_on_its_neighbours(
    name: str, accuracy: str, parameters: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    n = 7 if accuracy == "paper" else 700  # more than one group
    _, _, stepper = made(name, accuracy=accuracy, parameters=parameters)
    groups = stepper._groups(n, starts(name, 1, **parameters).shape[1])
    assert accuracy == "paper" or len(groups) > (name != "L63")
    u = starts(name, n, **parameters)
    path = stepper.rollout(u, 9)
    np.testing.assert_array_equal(stepper.advance(u, 9), path[:, -1])
    for i in (0, 1, n // 2, n - 1):
        alone = stepper.rollout(u[i : i + 1], 9)[0]
        np.testing.assert_allclose(path[i], alone, rtol=1e-13, atol=1e-13)
    for cores in (1, 3):
        monkeypatch.setattr(rollout, "available_cores", lambda cores=cores: cores)
        np.testing.assert_array_equal(stepper.rollout(u, 9), path)


def test_pieces_of_time_join_without_a_seam() -> None:
    """Longer than a piece: the same as two shorter runs."""
    _, _, stepper = made("L63")
    u = settled("L63", 2)
    path = stepper.rollout(u, 5000)
    np.testing.assert_array_equal(stepper.rollout(u, 4096), path[:, :4097])
    rest = stepper.rollout(path[:, 4096], 20)
    np.testing.assert_allclose(rest, path[:, 4096:4117], rtol=1e-12)


def test_progress_counts_up_to_the_end() -> None:
    seen: list[rfm.Progress] = []
    _, _, stepper = made("L96")
    stepper.rollout(starts("L96", 900), 40, rfm.Reporter(seen.append), "here")
    done = [event.done for event in seen]
    assert {event.stage for event in seen} == {"here"}
    assert {event.total for event in seen} == {40}
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0, 40)
    assert len(done) > 3


@pytest.mark.parametrize(("name", "shape"), [("L63", (2, 4)), ("L63", (3,)), ("KS", (1, 511))])
def test_a_state_of_the_wrong_size_is_refused(name: str, shape: tuple[int, ...]) -> None:
    """The compiled code would read beyond the end of it."""
    _, _, stepper = made(name)
    for call in (lambda u: stepper.rollout(u, 1), lambda u: stepper.advance(u, 1)):
        with pytest.raises(rfm.InvalidInput, match=r"shape of states=.* must be \(n, \d+\)"):
            call(np.zeros(shape))
    with pytest.raises(rfm.InvalidInput, match="shape of states"):
        stepper.tangent(np.zeros(shape), np.zeros((*shape[:1], 1, shape[-1])))


def test_a_right_hand_side_typed_at_a_prompt_compiles() -> None:
    """Such a function has no file beside which numba could keep its cache."""
    space: dict[str, Any] = {}
    exec("def decay(u, parameters, du):\n    du[0] = -parameters[0] * u[0]", space)
    stepper = RungeKutta(right_hand_side(space["decay"]), np.array([2.0]), 0.5, 0.05, 1)
    assert stepper.advance(np.ones((1, 1)), 1)[0, 0] == pytest.approx(np.exp(-1), rel=1e-14)


# --- starts, and what is on the attractor ------------------------------------------------------


def test_ks_starts_around_the_papers_initial_condition() -> None:
    length, grid = 200.0, 64
    x = length * np.arange(grid) / grid
    base = np.cos(2 * np.pi * x / length) * (1 + np.sin(2 * np.pi * x / length))
    many = starts("KS", 4000, L=length, grid=grid)
    np.testing.assert_allclose(many.mean(axis=0), base, atol=5 * 0.3 / np.sqrt(4000))
    np.testing.assert_allclose(many.std(axis=0), 0.3, rtol=0.1)
    np.testing.assert_allclose(many.mean(axis=1), 0, atol=1e-13)


@pytest.mark.parametrize("name", [*ODES, "KS"])
def test_starts_are_distinct_and_their_own_streams(name: str) -> None:
    many = starts(name, 50)
    assert len(np.unique(many, axis=0)) == 50
    np.testing.assert_array_equal(many, starts(name, 50))
    assert not np.isclose(many[:, :2], starts(name, 50, seed=1)[:, :2]).any(axis=1).all()


def apart(a: Array, b: Array) -> float:
    """Worst 1-D Wasserstein distance of the components, in their standard deviations."""
    return max(wasserstein_distance(x, y) / y.std() for x, y in zip(a.T, b.T, strict=True))


def memory(begin: Array, end: Array) -> float:
    """Largest correlation between any component of the starts and any of the ends."""
    d = begin.shape[1]
    return float(np.abs(np.corrcoef(begin.T, end.T)[:d, d:]).max())


@pytest.mark.parametrize(("name", "spacing"), [("L63", 0.5), ("Roessler", 3.7), ("Halvorsen", 0.5)])
def test_short_burn_in_ends_on_the_attractor(name: str, spacing: float) -> None:
    """Side by side against a few long trajectories after the paper's burn-in."""
    n, limit = 250, 0.18
    system, _, stepper = made(name)
    begin, end = starts(name, n), settled(name, n)
    steps = round(spacing / stepper.dt)
    few = stepper.advance(starts(name, 8, seed=1), round(system.paper_burn_in / stepper.dt))
    long = stepper.rollout(few, 500 * steps)[:, steps::steps].reshape(-1, 3)
    assert apart(end, long) < limit
    assert apart(begin, long) > 1.5 * limit, "the test would not notice"
    np.testing.assert_allclose(
        (end.mean(axis=0) - long.mean(axis=0)) / long.std(axis=0), 0, atol=limit
    )
    np.testing.assert_allclose(end[:, :2].std(axis=0), long[:, :2].std(axis=0), rtol=0.15)
    assert np.abs(np.corrcoef(end[:-1].T, end[1:].T)[:3, 3:]).max() < 5 / np.sqrt(n)
    if name != "Roessler":  # whose phase is a clock for thousands of turns
        assert memory(begin, end) < 5 / np.sqrt(n)


def test_short_burn_in_ends_on_the_attractor_of_l96() -> None:
    n = 200
    system, _, stepper = made("L96")
    assert system.burn_in < system.paper_burn_in
    begin, end = starts("L96", n), settled("L96", n)
    one = stepper.advance(begin[:1] + 0.1, round(system.paper_burn_in / stepper.dt))
    long = stepper.rollout(one, 40_000)[0, ::100]
    assert apart(end.reshape(-1, 1), long.reshape(-1, 1)) < 0.04
    assert apart(begin.reshape(-1, 1), long.reshape(-1, 1)) > 0.15, "the test would not notice"
    # how neighbours go together, which one-dimensional distributions do not see
    for shift in (1, 2, 3):
        pairs = [np.mean(u * np.roll(u, shift, axis=-1)) / np.mean(u**2) for u in (end, long)]
        assert abs(pairs[0] - pairs[1]) < 0.03
    assert np.abs(np.corrcoef(end)[np.triu_indices(n, 1)]).mean() < 0.2
    assert memory(begin, end) < 6 / np.sqrt(n)


def test_short_burn_in_ends_on_the_attractor_of_ks() -> None:
    """L=60: 48 side by side after 500 time units, 8 sampled after the paper's 2.5e4."""
    parameters = {"L": 60.0, "grid": 64}
    system, values, stepper = made("KS", parameters=parameters, inner=0.25)
    begin = starts("KS", 48, **parameters)
    end = stepper.advance(begin, round(system.burn_in / 0.25))
    quick = system.stepper(values, 50.0, inner=1.0)  # a coarse step will do to get there
    there = quick.advance(starts("KS", 8, seed=5, **parameters), round(system.paper_burn_in / 50))
    there = stepper.advance(there, 200)
    long = system.stepper(values, 50.0, inner=0.25).rollout(there, 8)[:, 1:].reshape(-1, 64)
    assert apart(end.reshape(-1, 1), long.reshape(-1, 1)) < 0.08
    assert apart(begin.reshape(-1, 1), long.reshape(-1, 1)) > 0.3, "the test would not notice"
    spectra = [np.mean(np.abs(np.fft.rfft(u)) ** 2, axis=0) for u in (end, long)]
    bands = [[np.sum(s[a:b]) for a, b in ((1, 4), (4, 8), (8, 12), (12, 20))] for s in spectra]
    np.testing.assert_allclose(bands[0], bands[1], rtol=0.3)
    assert np.abs(np.corrcoef(end)[np.triu_indices(48, 1)]).mean() < 0.3
    assert np.abs(np.corrcoef(end)[np.triu_indices(48, 1)]).max() < 0.95
    np.testing.assert_allclose(end.mean(axis=1), 0, atol=1e-12)


# --- what is known about each system -----------------------------------------------------------


@pytest.mark.parametrize("name", list(rfm.SYSTEMS))
def test_entry_is_complete(name: str) -> None:
    system = rfm.SYSTEMS[name]
    assert system.name == name
    assert system.title
    assert system.latex.count("{") == system.latex.count("}")
    assert len(system.citation) > 20
    assert (system.rhs is None) != (system.make_stepper is None)
    assert 0 < system.inner_step <= system.dt
    assert 0 < system.burn_in <= system.paper_burn_in
    assert len(system.components) in (0, system.dimension(system.resolve({})))


def test_papers_figures() -> None:
    figures = {
        name: (s.lyapunov, s.dt, s.n_train, s.eps, s.paper_burn_in)
        for name, s in rfm.SYSTEMS.items()
        if name in ("L63", "L96", "KS")
    }
    assert figures == {
        "L63": (0.91, 0.01, 50_000, 0.3, 40.0),
        "L96": (2.27, 0.01, 100_000, 0.5, 1000.0),
        "KS": (0.094, 0.25, 100_000, 0.5, 25_000.0),
    }
    assert rfm.get_system("L96").resolve({}) == {"D": 40, "F": 10.0}
    assert rfm.get_system("KS").resolve({}) == {"L": 200.0, "grid": 512}
    assert {n for n, s in rfm.SYSTEMS.items() if s.homogeneous} == {"L96", "KS"}


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: rfm.get_system("lorenz"), ["system='lorenz'", "L63", "case-sensitive"]),
        (lambda: rfm.get_system(["L63"]), ["['L63']", "one of L63", "case-sensitive"]),  # type: ignore[arg-type]
        (lambda: rfm.get_system(None), ["system=None", "one of L63"]),  # type: ignore[arg-type]
        (lambda: made("L63", parameters={"F": 8}), ["'F'", "sigma=10", "rho=28"]),
        (lambda: made("L96", parameters={"D": 3}), ["L96 parameter D=3", "at least 4", "is 40"]),
        (lambda: made("L96", parameters={"D": 4.5}), ["D=4.5", "whole number", "is 40"]),
        (lambda: made("L96", parameters={"D": 10**6}), ["D=1000000", "at most 4096", "is 40"]),
        (lambda: made("L96", parameters={"F": np.nan}), ["F=nan", "finite", "is 10"]),
        (lambda: made("KS", parameters={"L": 0}), ["L=0", "at least 1", "is 200"]),
        (lambda: made("KS", parameters={"grid": 8}), ["grid=8", "at least 16", "is 512"]),
        (lambda: made("L63", parameters={"rho": "x"}), ["rho='x'", "finite", "is 28"]),
        (lambda: made("L63", accuracy="exact"), ["accuracy='exact'", "'fine', 'paper'", "default"]),
    ],
)
def test_bad_input(call: Callable[[], Any], says: list[str]) -> None:
    with pytest.raises(rfm.InvalidInput) as caught:
        call()
    for part in says:
        assert part in str(caught.value)


@pytest.mark.parametrize("name", rfm.SYSTEMS)
def test_ours_pass_the_trial_of_every_new_one(name: str) -> None:
    attempt(rfm.get_system(name))


def test_an_import_loads_no_compiler() -> None:
    """numba, scipy's solvers and geomloss are for those who integrate or compare."""
    heavy = ["numba", "scipy.integrate", "scipy.spatial", "scipy.fft", "geomloss"]
    code = f"import rfm_core, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
