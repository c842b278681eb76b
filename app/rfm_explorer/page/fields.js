// Native inputs for a table of fields: the browser brings keyboard, touch and screen readers.
// Everything that is told to Python is text, and Python alone decides what it means: what a field
// shows is what the last state said, except where somebody is typing or has not been answered yet.

// Another text in an input: what is all selected, as after a Tab, stays so, or the next key would
// be added to the text instead of taking its place.
const put = (input, text) => {
  if (input.value === text) { return }
  const here = input.getRootNode().activeElement === input
  const all = here && input.selectionStart === 0 && input.selectionEnd === input.value.length
  input.value = text
  if (all) { input.select() }
}

const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) { element.setAttribute(name, "") }
    else if (value !== false && value != null) { element.setAttribute(name, value) }
  }
  element.append(...children)
  return element
}

export function render({model}) {
  const root = make("div", {class: "fields"})
  const views = new Map() // by name of the field
  const open = new Map() // sections that somebody opened or closed
  let sent = model.told.answered // number of the last edit

  const tell = (name, text, final = true) => {
    sent += 1
    views.get(name).asked = sent
    model.edit = {number: sent, name, text, final}
  }

  const hint = (view, place) => {
    view.problem = make("p", {class: "problem", id: `${view.id}-problem`, role: "alert"})
    view.note = make("p", {class: "note", id: `${view.id}-note`})
    place.append(view.problem, view.note)
  }

  // ids are looked up within one shadow root, so a name is enough
  const heading = (field, view, target) => {
    const head = make("div", {class: "head"})
    const label = make("label", {for: target}, field.label)
    head.append(label)
    if (field.help) {
      const id = `${view.id}-help`
      const button = make(
        "button",
        {type: "button", class: "help", "aria-label": `About ${field.label}`,
         "aria-expanded": "false", "aria-controls": id, title: field.help},
        "?",
      )
      view.help = make("p", {class: "note", id, hidden: true}, field.help)
      button.addEventListener("click", () => {
        view.help.hidden = !view.help.hidden
        button.setAttribute("aria-expanded", String(!view.help.hidden))
      })
      head.append(button)
    }
    return head
  }

  const text_input = (field, view) => {
    const input = make("input", {
      type: "text", id: view.id, autocomplete: "off", spellcheck: "false",
      inputmode: field.kind === "text" ? "text" : "decimal",
      "aria-describedby": `${view.id}-problem ${view.id}-note`,
      "aria-label": field.kind === "slider" ? `${field.label}, typed` : null,
    })
    const commit = () => {
      if (view.typing) {
        view.typing = false
        tell(field.name, input.value)
      }
    }
    input.addEventListener("input", () => { view.typing = true })
    input.addEventListener("focus", () => {
      if (!view.typing && input.value !== view.exact) {
        input.value = view.exact
        input.select() // as a key that came here has it: what is typed replaces all of it
      }
    })
    input.addEventListener("blur", () => {
      commit()
      if (view.asked <= model.told.answered) { input.value = view.shown }
    })
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        commit()
      } else if (event.key === "Escape") {
        view.typing = false
        input.value = view.exact
      } else if (field.kind === "number" && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
        event.preventDefault()
        view.typing = false
        tell(field.name, `${event.key === "ArrowUp" ? "+" : "-"}step`)
      }
    })
    return input
  }

  const kinds = {
    choice: (field, view) => {
      const select = make("select", {
        id: view.id, "aria-describedby": `${view.id}-problem ${view.id}-note`,
      })
      select.addEventListener("change", () => tell(field.name, select.value))
      view.show = (state) => {
        const options = state.options ?? field.options ?? []
        const known = JSON.stringify(options)
        if (view.known !== known) {
          view.known = known
          select.replaceChildren(
            ...options.map(([value, words]) => make("option", {value}, words)),
          )
        }
        select.value = state.text
      }
      view.lock = (off) => { select.disabled = off }
      return [heading(field, view, view.id), select]
    },
    switch: (field, view) => {
      const box = make("input", {
        type: "checkbox", role: "switch", id: view.id,
        "aria-describedby": `${view.id}-problem ${view.id}-note`,
      })
      box.addEventListener("change", () => tell(field.name, box.checked ? "true" : "false"))
      view.show = (state) => { box.checked = state.text === "true" }
      view.lock = (off) => { box.disabled = off }
      const head = heading(field, view, view.id)
      head.prepend(box)
      return [head]
    },
    many: (field, view) => {
      const boxes = make("div", {class: "boxes", role: "group", "aria-label": field.label})
      view.show = (state) => {
        const chosen = new Set(JSON.parse(state.text || "[]"))
        const options = state.options ?? field.options ?? []
        boxes.replaceChildren(...options.map(([value, words]) => {
          const box = make("input", {type: "checkbox", value})
          box.checked = chosen.has(value)
          box.addEventListener("change", () => {
            const marked = [...boxes.querySelectorAll("input")].filter((b) => b.checked)
            tell(field.name, JSON.stringify(marked.map((b) => b.value)))
          })
          return make("label", {}, box, words)
        }))
      }
      view.lock = (off) => { for (const b of boxes.querySelectorAll("input")) { b.disabled = off } }
      return [heading(field, view, view.id), boxes]
    },
    text: (field, view) => kinds.number(field, view),
    number: (field, view) => {
      const input = text_input(field, view)
      view.show = (state) => {
        const here = input.getRootNode().activeElement === input
        if (!view.typing) { put(input, here ? state.text : state.shown ?? state.text) }
      }
      view.lock = (off) => { input.disabled = off }
      const line = make("div", {class: "line"}, input)
      if (field.unit) { line.append(make("span", {class: "unit"}, field.unit)) }
      return [heading(field, view, view.id), line]
    },
    slider: (field, view) => {
      const input = text_input(field, view)
      const range = make("input", {
        type: "range", min: 0, max: field.steps.length - 1, step: 1, "aria-label": field.label,
        id: `${view.id}-range`, "aria-describedby": `${view.id}-problem ${view.id}-note`,
      })
      const chosen = () => field.steps[Number(range.value)]
      const follow = () => {
        view.typing = false
        input.value = chosen()
        range.setAttribute("aria-valuetext", chosen())
      }
      range.addEventListener("input", () => {
        follow()
        tell(field.name, chosen(), false)
      })
      range.addEventListener("change", () => tell(field.name, chosen()))
      const place = (text) => { // of a value between the steps, the nearest below
        const number = Number(text)
        let at = 0
        field.steps.forEach((step, index) => { if (Number(step) <= number) { at = index } })
        return at
      }
      view.show = (state) => {
        range.value = place(state.text)
        range.setAttribute("aria-valuetext", state.shown ?? state.text)
        const here = input.getRootNode().activeElement === input
        if (!view.typing) { put(input, here ? state.text : state.shown ?? state.text) }
      }
      view.lock = (off) => { input.disabled = range.disabled = off }
      const head = heading(field, view, `${view.id}-range`)
      input.classList.add("beside")
      head.append(input)
      if (field.unit) { head.append(make("span", {class: "unit"}, field.unit)) }
      return [head, range]
    },
  }

  const build = () => {
    views.clear()
    root.replaceChildren()
    for (const section of model.sections) {
      let place = make("div", {class: `section ${section.look ?? ""}`})
      if (section.folded) {
        const details = make("details", {}, make("summary", {}, section.title))
        details.open = open.get(section.title) ?? false
        details.addEventListener("toggle", () => open.set(section.title, details.open))
        details.append(place)
        root.append(details)
      } else {
        if (section.title) {
          place = make("fieldset", {class: place.className}, make("legend", {}, section.title))
        }
        root.append(place)
      }
      for (const field of section.fields) {
        const view = {id: `field-${field.name}`, asked: 0, typing: false, exact: "", shown: ""}
        views.set(field.name, view)
        view.box = make("div", {class: `field ${field.kind}`, "data-field": field.name})
        view.box.append(...kinds[field.kind](field, view))
        hint(view, view.box)
        if (view.help) { view.box.append(view.help) }
        place.append(view.box)
      }
    }
    root.append(absent)
  }

  const absent = make("details", {class: "absent"}, make("summary"), make("dl"))

  const show = () => {
    const off = []
    for (const [name, view] of views) {
      const state = model.told.state[name]
      if (state == null) { continue }
      view.exact = state.text
      view.shown = state.shown ?? state.text
      // an answer to an earlier edit must not take back a later one
      if (view.asked <= model.told.answered) { view.show(state) }
      view.lock(Boolean(state.locked))
      view.problem.textContent = state.problem ?? ""
      view.note.textContent = state.note ?? ""
      view.box.classList.toggle("wrong", Boolean(state.problem))
      const input = view.box.querySelector("input, select")
      if (input) { input.setAttribute("aria-invalid", String(Boolean(state.problem))) }
      view.box.hidden = Boolean(state.off) || Boolean(state.hidden)
      if (state.off && !state.hidden) { off.push([view.box.querySelector("label").textContent, state.off]) }
    }
    absent.hidden = off.length === 0
    const [summary, list] = absent.children
    summary.textContent = off.length === 1
      ? "1 setting does not apply here" : `${off.length} settings do not apply here`
    list.replaceChildren(...off.flatMap(([label, why]) => [make("dt", {}, label), make("dd", {}, why)]))
    for (const section of root.querySelectorAll(".section")) {
      const empty = [...section.querySelectorAll(".field")].every((box) => box.hidden)
      const frame = section.closest("details") ?? section
      frame.hidden = empty
    }
  }

  model.on("sections", () => { build(); show() })
  model.on("told", show)
  build()
  show()
  return root
}
