"""The controls: one widget for each setting, disabled with a reason where it does not apply."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import panel as pn
import panel_material_ui as pmui

from rfm_core import SYSTEMS

from .controls import CHOICES, HELP, LABELS, label_of, options, shown
from .settings import NAMES, OWN, Settings
from .text import Text

MAIN = (
    "architecture", "width", "depth", "G", "sides", "I", "left", "right",
    "exchange_left", "exchange_right", "beta_auto", "beta", "noise", "noise_on",
)  # fmt: skip
MORE = (
    "n_train", "dt", "eps", "sampler", "L0", "L1", "w", "b", "standardize", "taper", "centred",
    "solver", "refine", "patches", "rows", "unit_weights", "accuracy", "n_test", "realizations",
    "climate_times", "device", "seed",
)  # fmt: skip
GROUPS = {"main": MAIN, "more": MORE, "system": ("system", "parameters")}
CHOICE_WORDS = {
    "system": {**{s.title: s.name for s in SYSTEMS.values()}, "My own data": OWN},
    "architecture": {name: name for name in NAMES},
    "sides": {"the same on both sides": "equal", "left and right apart": "separate"},
    "noise_on": {"inputs alone": "input", "whole series (paper)": "series"},
    "sampler": {
        "hit-and-run, inside the data": "tight",
        "hit-and-run, bounding box (paper)": "hit-and-run",
        "uniform (naive)": "uniform",
        "gaussian (naive)": "gaussian",
    },
    "solver": {"QR": "qr", "normal equations (paper)": "normal"},
    "patches": {"what suits the system": "auto", "all patches": "all", "one patch (paper)": "one"},
    "unit_weights": {"drawn anew": "independent", "shared (paper)": "shared"},
    "accuracy": {"exact to rounding": "fine", "as the paper's": "paper"},
}


class Control:
    """A widget bound both ways to one setting, with a line below it for what is wrong with it."""

    def __init__(self, settings: Settings, name: str) -> None:
        self.settings, self.name = settings, name
        self.widget = self._widget()
        self.layout = pn.Column(self.widget, sizing_mode="stretch_width", margin=0)
        self.hint: Text | None = None  # most never need one, and every pane costs the page
        self._own_change = False
        # not ``value_throttled``: there panel-material-ui leaves the index of the option
        self.widget.param.watch(self._to_settings, "value")
        settings.param.watch(self._from_settings, name)

    def _widget(self) -> Any:
        name, value = self.name, getattr(self.settings, self.name)
        common: dict[str, Any] = {
            "label": LABELS[name],
            "description": HELP[name],
            "size": "small",
            "sizing_mode": "stretch_width",
            "margin": (5, 10),
        }
        if name in CHOICES:
            offered = {shown(name, v): v for v in options(name, value)}
            return pmui.DiscreteSlider(options=offered, value=value, **common)
        kind = type(self.settings.param[name]).__name__
        if kind == "Selector":
            words = CHOICE_WORDS.get(name) or {v: v for v in self.settings.param[name].objects}
            return pmui.Select(options=words, value=value, **common)
        if kind == "Boolean":
            return pmui.Switch(value=value, **common)
        if kind == "Integer":
            return pmui.IntInput(value=value, step=1, **common)
        return pmui.FloatInput(
            value=value, step=abs(value) / 10 or 0.1, format="0.[000000]", **common
        )

    def _to_settings(self, event: Any) -> None:
        if self._own_change or event.new is None:
            return
        if self.name == "system":
            self.settings.choose_system(event.new)
        else:
            self.settings.param.update(**{self.name: event.new})

    def _from_settings(self, event: Any) -> None:
        self._own_change = True
        try:
            if self.name in CHOICES and event.new not in self.widget.options.values():
                offered = {shown(self.name, v): v for v in options(self.name, event.new)}
                self.widget.param.update(options=offered, value=event.new)
            else:
                self.widget.value = event.new
        finally:
            self._own_change = False

    def mark(self, off: str, problem: str, say_off: bool) -> None:
        """Disable it where it does not apply; say why, or what is wrong with its value."""
        self.widget.disabled = bool(off)
        text = problem or (off if say_off else "")
        if text and self.hint is None:
            self.hint = Text("", "hint", margin=(0, 10, 6, 10))
            self.layout.append(self.hint.pane)
        if self.hint is not None:
            self.hint.say(text)


class Sidebar:
    """All controls; those under "more" are made when they are first asked for."""

    def __init__(self, settings: Settings, hidden: Collection[str] = ()) -> None:
        self.settings = settings
        self.hidden = expand(hidden)
        self.controls: dict[str, Control] = {}
        self.parameters = pn.Column(margin=0, sizing_mode="stretch_width")
        self._parameter_widgets: dict[str, Any] = {}
        self.system = self._add("system")
        self.main = self._group(MAIN)
        self.more = pn.Column(sizing_mode="stretch_width", margin=0, visible=False)
        self.more_toggle = pmui.Button(
            label="More settings", variant="text", size="small", icon="expand_more", margin=(0, 10)
        )
        self.more_toggle.visible = not self.hidden.issuperset(MORE)
        self.more_toggle.on_click(self._toggle_more)
        settings.param.watch(lambda *_: self._show_parameters(), ["system", "parameters"])
        self._show_parameters()
        self.mark()

    @property
    def layout(self) -> list[pn.viewable.Viewable]:
        return [self.system, self.parameters, self.main, self.more_toggle, self.more]

    def mark(self) -> None:
        """After a change: what does not apply, what does not fit."""
        off, wrong = self.settings.disabled(), self.settings.problems()
        names = [name for name in (*MAIN, *MORE) if name in self.controls]
        for name, after in zip(names, [*names[1:], ""], strict=True):
            # one reason for neighbours is said once, below the last of them
            say = off.get(name) != off.get(after)
            self.controls[name].mark(off.get(name, ""), wrong.get(name, ""), say)
        self.controls["system"].mark("", wrong.get("system", ""), True)
        for name, widget in self._parameter_widgets.items():
            problem = wrong.get(f"p.{name}", "")
            widget[1].say(problem)

    def _add(self, name: str) -> pn.viewable.Viewable:
        control = self.controls[name] = Control(self.settings, name)
        control.layout.visible = name not in self.hidden
        return control.layout

    def _group(self, names: tuple[str, ...]) -> pn.Column:
        return pn.Column(
            *(self._add(name) for name in names), sizing_mode="stretch_width", margin=0
        )

    def _toggle_more(self, event: object) -> None:
        if not self.more.objects:
            self.more.objects = [self._add(name) for name in MORE]
            self.mark()
        self.more.visible = not self.more.visible
        self.more_toggle.param.update(
            label="Fewer settings" if self.more.visible else "More settings",
            icon="expand_less" if self.more.visible else "expand_more",
        )

    # --- parameters of the system -----------------------------------------------------------

    def _show_parameters(self) -> None:
        """One number for each; made anew for another system."""
        values = {} if self.settings.system == OWN else self.settings.parameters
        if list(self._parameter_widgets) != list(values):
            self._parameter_widgets = {
                name: (self._parameter(name, value), Text("", "hint"))
                for name, value in values.items()
            }
            pairs = list(self._parameter_widgets.values())
            inputs = pn.GridBox(*(widget for widget, _ in pairs), ncols=2, margin=(0, 5))
            self.parameters.objects = [inputs, *(hint.pane for _, hint in pairs)]
        self.parameters.visible = bool(values) and "parameters" not in self.hidden
        for name, value in values.items():
            self._parameter_widgets[name][0].value = float(value)

    def _parameter(self, name: str, value: float) -> Any:
        widget = pmui.FloatInput(
            label=label_of(f"p.{name}").removeprefix("Parameter "),
            value=float(value),
            size="small",
            width=145,
            margin=5,
            format="0.[0000]",
        )

        def changed(event: Any) -> None:
            known = self.settings.parameters
            if event.new is not None and float(event.new) != float(known.get(name, event.new)):
                self.settings.parameters = {**known, name: event.new}

        widget.param.watch(changed, "value")
        return widget


def expand(hidden: Collection[str]) -> set[str]:
    """Names of controls and of groups of them, as links give them."""
    names: set[str] = set()
    for name in hidden:
        names |= set(GROUPS.get(name, (name,)))
    return names
