"""Device discipline on a pretended CUDA device: no operation may fall back to the CPU unseen."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode

import rfm_core as rfm
from rfm_core.model.features.polynomial import Monomials
from rfm_core.model.features.tanh import Tanh
from rfm_core.model.model import Model, Unit, Wiring
from rfm_core.model.ridge import accumulator, beta_path
from rfm_core.model.sampler import Inputs

CUDA = torch.device("cuda", 0)
SPECS = {
    "SkipRFM": rfm.ModelSpec("SkipRFM", width=16, centred=False),
    "DeepRFM": rfm.ModelSpec("DeepRFM", width=16, depth=2),
    "exchange": rfm.ModelSpec("LocalDeepSkip", width=16, depth=2, G=2, I=1, exchange=1),
}


class Indexing(TorchFunctionMode):
    """Two calls by other names: torch without CUDA refuses them even for a pretended device."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.Tensor.contiguous:
            return args[0].clone(memory_format=torch.contiguous_format)
        if function is not torch.Tensor.__getitem__:
            return function(*args, **(kwargs or {}))
        tensor, keys = args
        keys = keys if isinstance(keys, tuple) else (keys,)
        dim = 0
        for place, key in enumerate(keys):
            if key is Ellipsis:
                dim = tensor.ndim - sum(k is not None for k in keys[place + 1 :])
            elif key is None:
                tensor, dim = tensor.unsqueeze(dim), dim + 1
            elif isinstance(key, slice):
                low, high, _ = key.indices(tensor.shape[dim])
                tensor, dim = tensor.narrow(dim, low, high - low), dim + 1
            else:
                picked = tensor.index_select(dim, key.flatten())
                tensor, dim = picked.unflatten(dim, key.shape), dim + key.ndim
        return tensor


@contextmanager
def pretended_cuda():
    with FakeTensorMode(allow_non_fake_inputs=True), Indexing():
        yield


def fake(*shape: int) -> torch.Tensor:
    return torch.empty(shape, dtype=torch.float64, device=CUDA)


@pytest.mark.parametrize("solver", ["qr", "normal"])
@pytest.mark.parametrize("name", SPECS)
def test_training_and_stepping_stay_on_the_device(name: str, solver: str) -> None:
    spec = SPECS[name]
    with pretended_cuda():
        wiring = Wiring(spec, 8, CUDA)
        u, units = fake(40, 8), []
        y = u
        for number, inputs in enumerate(spec.unit_inputs(8)):
            features = Tanh(fake(16, inputs), fake(16))
            if spec.centred:
                features = Tanh(fake(15, inputs), fake(15), fake(inputs))
            fitted = accumulator(solver, 16, wiring.scheme.G, CUDA, spec.centred)
            for _ in range(2):
                phi = features(wiring.read(number, u, y)).flatten(0, 1)
                fitted.add(phi, y[:, wiring.own].flatten(0, 1))
            if solver == "qr":
                weights = fitted.solve(1e-8)
            else:  # its success flag is a number that a pretended device does not have
                weights = fitted.path().weights(1e-8)
            assert weights.device == fitted.path().weights(1e-8).device == CUDA
            units.append(Unit(features, weights))
            y = wiring.apply(number, units[-1], u, y)
        model = Model(spec, tuple(units), 8, 0.01, 1e6, CUDA)
        assert model.step(fake(5, 7, 8)).device == CUDA
        assert all(z.device == CUDA for z in model.unit_inputs(fake(5, 8)))


def test_a_tensor_of_the_wrong_device_is_an_error_here() -> None:
    """The pretended device does catch what it is there to catch."""
    with pretended_cuda():
        features = Tanh(fake(16, 3), fake(16))
        with pytest.raises(RuntimeError, match="device"):
            features(torch.empty(5, 3, dtype=torch.float64, device="cpu"))


def test_other_features_stay_on_the_device() -> None:
    with pretended_cuda():
        centred = Tanh(fake(16, 3), fake(16), fake(3))
        assert centred(fake(10, 3)).device == CUDA
        fitted = accumulator("qr", 17, 2, CUDA, normalised=True)
        fitted.add(centred(fake(40, 3)), fake(40, 2))
        assert fitted.solve(1e-8).device == fitted.path().weights(1e-8).device == CUDA
        assert Monomials(fake(3), fake(3), 4)(fake(10, 3)).device == CUDA


def test_draws_do_not_depend_on_the_device(lorenz63: rfm.Dataset) -> None:
    """Random numbers come from the CPU's streams: the scan alone touches the device's data."""
    rows = torch.from_numpy(lorenz63.train[0, :100].copy())
    scanned = Inputs.scan(lambda: iter(rows.split(30)))
    assert isinstance(scanned.low, np.ndarray)
    assert np.array_equal(scanned.low, rows.numpy().min(axis=0))


def test_missing_cuda_is_refused_with_words(lorenz63: rfm.Dataset) -> None:
    if torch.cuda.is_available():
        assert rfm.fit(rfm.ModelSpec(width=8), lorenz63, device="cuda").device.type == "cuda"
        return
    with pytest.raises(rfm.InvalidInput, match=r"no CUDA device was found\. Use 'cpu'"):
        rfm.fit(rfm.ModelSpec(width=8), lorenz63, device="cuda")
    assert rfm.fit(rfm.ModelSpec(width=8), lorenz63, device="auto").device.type == "cpu"


def test_beta_path_brings_numbers_home(lorenz63: rfm.Dataset) -> None:
    fitted, heldout = accumulator("qr", 4, 1), accumulator("qr", 4, 1)
    phi = torch.tensor(np.random.default_rng(0).standard_normal((20, 4)))
    for one in (fitted, heldout):
        one.add(phi, phi[:, :1])
    path = beta_path(fitted, heldout, [1e-6, 1.0])
    assert isinstance(path.heldout, np.ndarray)
    assert path.best == 1e-6
