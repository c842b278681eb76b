"""Training: parity with the paper's code, streams, rows, patches, noise, depth, exchange."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import rfm_core as rfm
from rfm_core.model.features.tanh import Tanh
from rfm_core.model.fit import Fitted, fit_events
from rfm_core.model.model import Model, Unit
from rfm_core.model.ridge import QR
from rfm_core.model.spec import ARCHITECTURES

PARITY = np.load(Path(__file__).parent / "fixtures" / "parity.npz")


def paper_spec(name: str) -> rfm.ModelSpec:
    _, deep, local = ARCHITECTURES[name]
    return rfm.ModelSpec(
        name,
        width=40,
        depth=3 if deep else 1,
        G=2 if local else None,
        I=1 if local else None,
        beta=1e-4,
        solver="normal",
        sampler="hit-and-run",
        unit_weights="shared",
        patches="one" if local else None,
        centred=False,
    )


@pytest.fixture(scope="module")
def paper_data() -> rfm.Dataset:
    return rfm.Dataset(
        train=PARITY["train"][None],
        test=PARITY["test"][None],
        dt=0.01,
        eps=0.5,
        lyapunov=2.27,
        name="L96",
        homogeneous=True,
    )


def last(events) -> Fitted:
    *_, event = events
    assert isinstance(event, Fitted)
    return event


@pytest.mark.parametrize("solver", ["normal", "qr"])
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_outer_weights_of_the_papers_code(name: str, solver: str, paper_data: rfm.Dataset) -> None:
    internal = list(zip(PARITY[f"{name}/W_in"], PARITY[f"{name}/b_in"], strict=True))
    spec = paper_spec(name).replace(solver=solver)
    model = last(fit_events(spec, paper_data, internal=internal)).model
    for unit, theirs in zip(model.units, PARITY[f"{name}/W_out"], strict=True):
        assert np.abs(unit.weights.numpy().T - theirs).max() < 5e-8 * np.abs(theirs).max()
    assert np.abs(model.predict(PARITY["test"]) - PARITY[f"{name}/one_step"]).max() < 1e-8


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_states_of_the_papers_code(name: str) -> None:
    def tensor(part: str, number: int) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(PARITY[f"{name}/{part}"][number]))

    units = tuple(
        Unit(Tanh(tensor("W_in", i), tensor("b_in", i)), tensor("W_out", i).T.contiguous())
        for i in range(len(PARITY[f"{name}/W_in"]))
    )
    model = Model(paper_spec(name), units, 8, 0.01, 1e6, torch.device("cpu"))
    assert np.abs(model.predict(PARITY["test"]) - PARITY[f"{name}/one_step"]).max() < 1e-11
    theirs = PARITY[f"{name}/forecast"]  # two of them grow to some hundred in these 25 steps
    ours = model.forecast(PARITY["test"][0], 25)
    assert np.abs(ours - theirs).max() < 1e-9 * np.abs(theirs).max()


def test_forecasts_further_than_the_paper_with_the_same_size(lorenz63: rfm.Dataset) -> None:
    accurate = rfm.fit(rfm.ModelSpec("SkipRFM", width=300, beta=1e-22), lorenz63)
    papers = rfm.ModelSpec(
        "SkipRFM", width=300, beta=4e-9, solver="normal", sampler="hit-and-run", centred=False
    )
    ours = rfm.evaluate(accurate, lorenz63).summary()["mean"]
    theirs = rfm.evaluate(rfm.fit(papers, lorenz63), lorenz63).summary()["mean"]
    assert theirs > 4
    assert ours > theirs + 3


def test_same_streams_same_model_and_every_stream_matters(lorenz63: rfm.Dataset) -> None:
    spec = rfm.ModelSpec("SkipRFM", width=40, noise=1e-3)
    first = rfm.fit(spec, lorenz63, seed=3, realization=7)
    again = rfm.fit(spec, lorenz63, seed=3, realization=7)
    assert torch.equal(first.units[0].weights, again.units[0].weights)
    for other in (
        rfm.fit(spec, lorenz63, seed=4, realization=7),
        rfm.fit(spec, lorenz63, seed=3, realization=8),
    ):
        assert not torch.equal(first.units[0].features.weights, other.units[0].features.weights)
    quiet = rfm.fit(spec.replace(noise=0.0, sampler="uniform"), lorenz63, seed=3, realization=7)
    noisy = rfm.fit(spec.replace(sampler="uniform"), lorenz63, seed=3, realization=7)
    # noise has its own stream: it changes the regression, not the draws
    assert torch.equal(quiet.units[0].features.weights, noisy.units[0].features.weights)
    assert not torch.equal(quiet.units[0].weights, noisy.units[0].weights)


def test_units_are_independent_or_shared(lorenz63: rfm.Dataset) -> None:
    spec = rfm.ModelSpec("DeepSkip", width=30, depth=3)
    weights = [unit.features.weights for unit in rfm.fit(spec, lorenz63).units]
    assert not torch.equal(weights[0], weights[1])
    shared = rfm.fit(spec.replace(unit_weights="shared"), lorenz63).units
    assert torch.equal(shared[0].features.weights, shared[2].features.weights)
    assert not torch.equal(shared[0].weights, shared[2].weights)


def test_deep_with_one_unit_is_not_shallow(lorenz63: rfm.Dataset) -> None:
    deep = rfm.fit(rfm.ModelSpec("DeepSkip", width=30, depth=1, centred=False), lorenz63)
    assert deep.units[0].features.weights.shape == (30, 6)


def test_rows_are_taken_evenly_over_time_and_patches(lorenz96: rfm.Dataset) -> None:
    spec = rfm.ModelSpec("LocalSkip", width=20, G=2, I=1, rows=600)
    report = last(fit_events(spec, lorenz96)).units[0]
    assert report.rows == 600  # 100 snapshots of 6 patches
    assert last(fit_events(spec.replace(patches="one"), lorenz96)).units[0].rows == 600
    default = last(fit_events(spec.replace(rows=None), lorenz96)).units[0]
    assert default.rows == lorenz96.pairs
    everything = last(fit_events(spec.replace(rows=10**9), lorenz96)).units[0]
    assert everything.rows == 6 * lorenz96.pairs


@pytest.mark.parametrize("name", ["LocalSkip", "LocalDeepRFM"])
def test_regression_uses_exactly_the_stated_rows(name: str, lorenz96: rfm.Dataset) -> None:
    spec = rfm.ModelSpec(name, width=25, G=3, I=1, beta=1e-3, rows=400, centred=False)
    model = rfm.fit(spec, lorenz96)
    pairs = lorenz96.pairs
    chosen = np.linspace(0, pairs - 1, 100).round().astype(int)
    u, truth = lorenz96.train[0, chosen], lorenz96.train[0, chosen + 1]
    scheme = spec.scheme(12)
    inputs = [u[:, scheme.halo]]
    if spec.choices.deep:
        inputs.append(u[:, scheme.own])
    target = truth - u if spec.choices.skip else truth
    unit = model.units[0]
    z = np.concatenate(inputs, axis=-1).reshape(400, -1)
    phi = np.tanh(z @ unit.features.weights.numpy().T + unit.features.bias.numpy())
    t = target[:, scheme.own].reshape(400, 3)
    expected = np.linalg.solve(phi.T @ phi + 1e-3 * np.eye(25), phi.T @ t)
    assert np.abs(unit.weights.numpy() - expected).max() < 1e-6 * np.abs(expected).max()


@pytest.mark.parametrize("rows", [400, None])
def test_noise_on_the_series_or_on_the_input(lorenz63: rfm.Dataset, rows: int | None) -> None:
    """A row's target carries the noise that the next row's input carries."""
    from rfm_core.model.fit import _snapshots

    data = replace(lorenz63, train=np.concatenate([lorenz63.train, lorenz63.train[:, ::-1]]))
    spec = rfm.ModelSpec(noise=0.1, rows=rows)
    clean_u, clean_next = _snapshots(spec.replace(noise=0.0), data, 1, 0, 0)
    u, following = _snapshots(spec, data, 1, 0, 0)
    assert np.std(u - clean_u) == pytest.approx(0.1, rel=0.1)
    assert np.std(following - clean_next) == pytest.approx(0.1, rel=0.1)
    if rows is None:
        half = len(u) // 2  # within a trajectory the next input is this target
        assert np.array_equal(u[1:half], following[: half - 1])
    only, target = _snapshots(spec.replace(noise_on="input"), data, 1, 0, 0)
    assert np.array_equal(target, clean_next)
    assert np.std(only - clean_u) == pytest.approx(0.1, rel=0.1)


def test_pairs_never_cross_trajectories() -> None:
    from rfm_core.model.fit import _snapshots

    train = np.arange(30.0).reshape(3, 5, 2)  # rows rise by 2 within and across trajectories
    train[1] += 100
    train[2] += 1000
    data = rfm.Dataset(train, train, 1.0, 0.5, None, "steps")
    u, following = _snapshots(rfm.ModelSpec(), data, 1, 0, 0)
    assert len(u) == 12
    assert np.array_equal(following - u, np.full((12, 2), 2.0))


def test_exchange_sees_the_neighbours_estimates(lorenz96: rfm.Dataset) -> None:
    spec = rfm.ModelSpec(
        "LocalDeepSkip", width=200, depth=2, G=1, left=2, right=1, exchange=(2, 1), beta=1e-14
    )
    alone = spec.replace(exchange=0)
    errors = [unit.error for unit in last(fit_events(spec, lorenz96)).units]
    theirs = [unit.error for unit in last(fit_events(alone, lorenz96)).units]
    # own estimates cannot widen the receptive field, the neighbours' do
    assert theirs[1] > 0.5 * theirs[0]
    assert errors[1] < 0.2 * errors[0]


def weight_sizes(unit: Unit) -> np.ndarray:
    """Root mean square over features of each input's weights."""
    return unit.features.weights.square().mean(0).sqrt().numpy()


def test_tapered_weights_fall_with_the_distance(lorenz96: rfm.Dataset) -> None:
    """In the state that a unit sees and in the estimates that it sees, each by its own halo."""
    spec = rfm.ModelSpec(
        "LocalDeepSkip", width=800, depth=2, G=1, left=4, right=2, exchange=(2, 1), beta=1e-8
    )
    alike, tapered = (
        rfm.fit(spec.replace(taper=taper, rows=900), lorenz96) for taper in (None, 0.4)
    )
    seen, estimates = np.array([4, 3, 2, 1, 0, 2, 4]) / 4, np.array([2, 1, 0, 2]) / 2
    for number, distance in enumerate([seen, np.concatenate([seen, estimates])]):
        assert tapered.wiring.distance(number).tolist() == distance.tolist()
        even, falling = (weight_sizes(model.units[number]) for model in (alike, tapered))
        assert even.max() < 1.2 * even.min()
        for part in (slice(0, 7), slice(7, None)):
            for one, size in zip(distance[part], falling[part], strict=True):
                assert (falling[part][distance[part] > one] < size).all()
        # in half of the rows a weight is above its emphasis times that of the patch itself
        weights = np.abs(tapered.units[number].features.weights.numpy())
        share = np.median(weights / weights[:, 4:5], axis=0)
        np.testing.assert_allclose(share, np.exp(-((distance / 0.4) ** 2) / 2), rtol=0.15)


def test_a_taper_takes_all_of_the_patch_itself(lorenz96: rfm.Dataset) -> None:
    """Its own state and, where deep units see only their own, its own estimate."""
    spec = rfm.ModelSpec("LocalDeepSkip", width=600, depth=2, G=3, I=1, taper=0.5, rows=900)
    model = rfm.fit(spec, lorenz96)
    side = np.array([1, 2, 3]) / 3
    distance = [*side[::-1], 0, 0, 0, *side, 0, 0, 0]
    for number, unit in enumerate(model.units):
        assert model.wiring.distance(number).tolist() == distance
        size = weight_sizes(unit)
        own = size[[3, 4, 5, 9, 10, 11]]
        assert own.max() < 1.2 * own.min()
        assert size[[0, 8]].max() < 0.2 * own.min()


def test_a_wide_taper_is_none_and_shared_units_have_the_same(lorenz96: rfm.Dataset) -> None:
    spec = rfm.ModelSpec("LocalDeepSkip", width=60, depth=2, G=2, I=1, rows=900)
    alike, wide = (rfm.fit(spec.replace(taper=taper), lorenz96) for taper in (None, 1e3))
    for one, other in zip(alike.units, wide.units, strict=True):
        assert torch.allclose(one.features.weights, other.features.weights, rtol=1e-4)
    shared = rfm.fit(spec.replace(taper=0.4, unit_weights="shared"), lorenz96).units
    assert torch.equal(shared[0].features.weights, shared[1].features.weights)


@pytest.mark.parametrize("solver", ["qr", "normal"])
def test_centred_features_lose_fewer_digits(solver: str, lorenz63: rfm.Dataset) -> None:
    """The same tanh functions, trained on the same rows, with as many parameters."""
    plain = rfm.ModelSpec("SkipRFM", width=250, beta=1e-26, solver=solver, centred=False)
    models = [rfm.fit(spec, lorenz63) for spec in (plain, plain.replace(centred=True))]
    u, truth = lorenz63.test[:, :-1], lorenz63.test[:, 1:]
    errors = [float(np.median(np.abs(model.predict(u) - truth))) for model in models]
    assert models[0].size == models[1].size
    assert errors[1] < 0.3 * errors[0]


def test_refinement_takes_rounding_away_and_leaves_the_solution(lorenz63: rfm.Dataset) -> None:
    """With a beta that rounding cannot touch nothing changes; with a tiny one errors fall."""

    def error(refine: int, beta: float) -> float:
        spec = rfm.ModelSpec("SkipRFM", width=200, beta=beta, refine=refine)
        return float(np.mean([_error(rfm.fit(spec, lorenz63, seed=s), lorenz63) for s in range(3)]))

    assert error(1, 1e-28) < 0.85 * error(0, 1e-28)
    assert error(2, 1e-3) == pytest.approx(error(0, 1e-3), rel=1e-6)
    deep = rfm.ModelSpec("DeepSkip", width=20, depth=2, refine=2)
    stages = [e.stage for e in rfm.fit_events(deep, lorenz63) if isinstance(e, rfm.Progress)]
    assert "unit 1 of 2: refinement 2 of 2" in stages
    assert "unit 2 of 2: refinement 1 of 2" in stages


def _error(model: rfm.Model, data: rfm.Dataset) -> float:
    return float(np.sqrt(np.mean((model.predict(data.train[:, :-1]) - data.train[:, 1:]) ** 2)))


def test_centred_features_of_an_exchanging_model(lorenz96: rfm.Dataset) -> None:
    spec = rfm.ModelSpec("LocalDeepSkip", width=60, depth=2, G=1, left=4, right=2, exchange=(2, 1))
    fitted = last(fit_events(spec.replace(beta=1e-16), lorenz96))
    assert [unit.features.width for unit in fitted.model.units] == [60, 60]
    assert fitted.units[1].error < fitted.units[0].error
    # given its own weights again, it finds its own centre again
    internal = [(u.features.weights.numpy(), u.features.bias.numpy()) for u in fitted.model.units]
    again = last(fit_events(fitted.model.spec, lorenz96, internal=internal)).model
    states = lorenz96.test[:, 0]
    assert np.array_equal(again.predict(states), fitted.model.predict(states))


def test_polynomials_behind_the_same_interface(
    lorenz63: rfm.Dataset, lorenz96: rfm.Dataset
) -> None:
    cubic = rfm.ModelSpec("SkipRFM", features="polynomial", degree=4, beta=1e-26)
    model = rfm.fit(cubic, lorenz63)
    assert model.size == 35 * 3
    assert rfm.evaluate(model, lorenz63).summary()["mean"] > 8
    local = rfm.ModelSpec("LocalSkip", features="polynomial", degree=2, G=1, left=2, right=1)
    fitted = last(fit_events(local.replace(beta=1e-20), lorenz96))
    assert fitted.model.size == 15
    # degree 2 holds the vector field itself: what is left is the second order in dt
    assert fitted.units[0].error < 0.05


def test_beta_path_from_one_factorization(lorenz63: rfm.Dataset) -> None:
    betas = [1e-20, 1e-12, 1e-6, 1.0]
    spec = rfm.ModelSpec("SkipRFM", width=60, beta=1e-12)
    fitted = last(fit_events(spec, lorenz63, betas=betas))
    path = fitted.units[0].path
    assert path is not None
    assert np.all(np.diff(path.training) >= 0)
    assert path.best in betas[:2]
    # held-out rows were used too in the end: the same weights as without a path
    plain = last(fit_events(spec, lorenz63)).model.units[0].weights
    assert torch.allclose(fitted.model.units[0].weights, plain, rtol=1e-5, atol=1e-7)


def test_events_count_up_and_stopping_is_cancelling(lorenz63: rfm.Dataset) -> None:
    spec = rfm.ModelSpec("DeepSkip", width=64, depth=2)
    seen = [e for e in fit_events(spec, lorenz63) if not isinstance(e, Fitted)]
    for number in (1, 2):
        done = [e.done for e in seen if e.stage == f"unit {number} of 2"]
        assert done == sorted(done)
        assert done[-1] == lorenz63.pairs
    token = rfm.CancelToken()

    def listener(event: rfm.Progress) -> None:
        if event.done > 0:
            token.cancel()

    with pytest.raises(rfm.Cancelled):
        rfm.fit(spec, lorenz63, report=rfm.Reporter(listener, token))


def test_refusals_name_value_limit_and_remedy(lorenz63: rfm.Dataset, lorenz96: rfm.Dataset) -> None:
    local = rfm.ModelSpec("LocalSkip", width=10, G=2, I=1)
    with pytest.raises(rfm.InvalidInput, match=r"G=2 .* divisor of the dimension 3"):
        rfm.fit(local, lorenz63)
    with pytest.raises(rfm.InvalidInput, match="homogeneous=True or set patches='all'"):
        rfm.fit(local, replace(lorenz96, homogeneous=False))
    with pytest.raises(rfm.InvalidInput, match="sees 18 components, but the state has 12"):
        rfm.fit(local.replace(I=4), lorenz96)
    with pytest.raises(rfm.InvalidInput, match="ModelSpec"):
        rfm.fit("SkipRFM", lorenz63)
    with pytest.raises(rfm.InvalidInput, match="make_dataset or load_series"):
        rfm.fit(rfm.ModelSpec(), lorenz63.train)
    with pytest.raises(rfm.InvalidInput, match="seed=-1"):
        rfm.fit(rfm.ModelSpec(), lorenz63, seed=-1)
    with pytest.raises(rfm.InvalidInput, match="'cpu' or 'cuda'"):
        rfm.fit(rfm.ModelSpec(), lorenz63, device="gpu please")


def test_accumulators_take_what_training_gives(lorenz63: rfm.Dataset) -> None:
    """Fewer rows than features is a legal if unwise regression."""
    model = rfm.fit(rfm.ModelSpec("SkipRFM", width=100, rows=20, beta=1e-8), lorenz63)
    assert torch.isfinite(model.units[0].weights).all()
    assert QR(3, 1).solve(1.0).abs().max() == 0


def test_a_map_is_not_scored_on_data_of_another_step(lorenz63: rfm.Dataset) -> None:
    model = rfm.fit(rfm.ModelSpec("SkipRFM", width=16), lorenz63)
    other = rfm.make_dataset(rfm.DataSpec("L63", n_train=100, n_test=2, dt=0.02, test_steps=20))
    with pytest.raises(rfm.InvalidInput, match=r"dt of the data=0\.02.*0\.01.*train on these"):
        rfm.evaluate(model, other)
