// What only the browser knows: its history, its width, the theme, the file of this very tab.

export const WIDE = "(min-width: 900px)" // below it the controls lie over the page, closed at first

export function render({model}) {
  const over = new AbortController()
  const listen = (target, type, what) =>
    target.addEventListener(type, what, {signal: over.signal, capture: true})

  // --- history: one entry for what one press, one drag or one run of keys did -----------------
  let gesture = 0 // number of the last one
  let written = 0 // and of the one that the present entry is about
  let touched = null
  for (const type of ["pointerdown", "keydown", "input", "click"]) {
    listen(window, type, (event) => {
      const target = event.composedPath()[0]
      if (type === "pointerdown" || target !== touched) { gesture += 1 }
      touched = target
    })
  }

  const write = () => {
    const {search, ran} = model.address
    if (search == null) { return }
    const same = search === location.search
    if (same && history.state?.ran === ran) { return }
    const anew = !same && gesture !== written
    written = gesture
    history[anew ? "pushState" : "replaceState"]({ran}, "", search + location.hash)
  }
  model.on("address", write)

  listen(window, "popstate", (event) => {
    written = gesture // what the page makes of it is no further step
    touched = null
    model.send_msg({kind: "went", search: location.search, ran: event.state?.ran ?? true})
  })

  // --- theme: the script in the page's head has set it by link, choice or preference ----------
  const root = document.documentElement
  model.on("dark", () => {
    const theme = model.dark ? "dark" : "light"
    if (root.dataset.theme === theme) { return }
    root.dataset.theme = theme
    try { localStorage.setItem("rfm-dark", model.dark ? "1" : "0") } catch { /* not allowed to */ }
  })
  model.dark = root.dataset.theme === "dark"
  // the widgets begin light and follow a frame later: until then a dark page stays hidden
  requestAnimationFrame(() => requestAnimationFrame(() => { root.dataset.drawn = "" }))

  const wide = window.matchMedia(WIDE)
  listen(wide, "change", () => { model.wide = wide.matches })
  model.wide = wide.matches

  // --- the file that was given to this tab: others cannot guess its name -----------------------
  const kept = "rfm-file"
  model.on("file", () => {
    try {
      if (model.file) { sessionStorage.setItem(kept, model.file) } else { sessionStorage.removeItem(kept) }
    } catch { /* not allowed to: a reload will not find it */ }
  })
  let file = ""
  try { file = sessionStorage.getItem(kept) ?? "" } catch { /* as above */ }

  write()
  model.send_msg({kind: "ready", file})
  model.on("remove", () => over.abort())
  return document.createElement("span")
}
