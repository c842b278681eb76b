// A file of the visitor's, chosen or dropped, sent in the pieces that Python asks for.

export function render({model}) {
  const root = document.createElement("div")
  root.className = "picker"
  const label = document.createElement("label")
  label.htmlFor = "file"
  label.textContent = model.label
  const input = document.createElement("input")
  input.type = "file"
  input.id = "file"
  input.accept = model.accept
  root.append(label, input)

  let offered = null // the file that Python may ask for pieces of
  let number = 0

  const offer = (file) => {
    if (file == null) { return }
    offered = file
    number += 1
    model.send_msg({kind: "offer", number, name: file.name, size: file.size})
  }

  input.addEventListener("change", () => offer(input.files[0]))
  // the same file again is a choice, too
  input.addEventListener("click", () => { input.value = "" })
  root.addEventListener("dragover", (event) => {
    event.preventDefault()
    root.classList.add("over")
  })
  root.addEventListener("dragleave", () => root.classList.remove("over"))
  root.addEventListener("drop", (event) => {
    event.preventDefault()
    root.classList.remove("over")
    offer(event.dataTransfer.files[0])
  })

  model.on("msg:custom", async (asked) => {
    if (offered == null || asked.number !== number) { return }
    const file = offered
    try {
      const piece = await file.slice(asked.from, asked.to).arrayBuffer()
      model.send_msg({kind: "piece", number: asked.number, from: asked.from, data: piece})
    } catch (error) {
      model.send_msg({kind: "unreadable", number: asked.number})
    }
  })
  return root
}
