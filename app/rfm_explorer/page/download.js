// A button that hands over files. Python makes them when it is pressed; the pictures are here, in
// the browser, as Bokeh itself exports them.

function pictures_in_sight(doc) {
  const found = [];
  const walk = (view) => {
    if (view == null) return;
    const seen = view.model?.type === "Figure" && view.el.getClientRects().length > 0;
    if (seen && view.export != null) found.push(view);
    for (const child of (view.children != null ? Array.from(view.children()) : [])) walk(child);
  };
  // a notebook's page holds other cells, too: only what belongs to the button's document is ours
  for (const root of Array.from(Bokeh.index.roots)) if (root.model.document === doc) walk(root);
  return found;
}

async function exported(doc) {
  const files = [];
  for (const view of pictures_in_sight(doc)) {
    const marks = view.model.css_classes.map((c) => /^rfm-picture-(.+)$/.exec(c)?.[1]);
    const name = marks.find((mark) => mark != null) ?? `picture-${files.length / 2 + 1}`;
    for (const kind of ["png", "svg"]) {
      const blob = await view.export(kind, true).to_blob();
      files.push([`${name}.${kind}`, new Uint8Array(await blob.arrayBuffer())]);
    }
  }
  return files;
}

const TABLE = Array.from({length: 256}, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n >>> 0;
});

function crc32(bytes) {
  let sum = ~0;
  for (const byte of bytes) sum = TABLE[(sum ^ byte) & 255] ^ (sum >>> 8);
  return ~sum >>> 0;
}

// The fields of a ZIP header: [bytes, value] each, little-endian.
function packed(...fields) {
  const bytes = [];
  for (const [size, value] of fields)
    for (let k = 0; k < size; k++) bytes.push((value >>> (8 * k)) & 255);
  return new Uint8Array(bytes);
}

// A ZIP archive of [name, bytes] pairs, stored as they are.
function zipped(files) {
  const now = new Date();
  const time = (now.getHours() << 11) | (now.getMinutes() << 5) | (now.getSeconds() >> 1);
  const date = ((now.getFullYear() - 1980) << 9) | ((now.getMonth() + 1) << 5) | now.getDate();
  const parts = [], index = [];
  let at = 0;
  for (const [name, bytes] of files) {
    const text = new TextEncoder().encode(name), size = bytes.length;
    const both = [[2, 20], [2, 0x800], [2, 0], [2, time], [2, date], [4, crc32(bytes)],
                  [4, size], [4, size], [2, text.length], [2, 0]];
    const head = packed([4, 0x04034b50], ...both);
    index.push(packed([4, 0x02014b50], [2, 20], ...both, [2, 0], [2, 0], [2, 0], [4, 0], [4, at]),
               text);
    parts.push(head, text, bytes);
    at += head.length + text.length + size;
  }
  const length = index.reduce((sum, part) => sum + part.length, 0);
  const end = packed([4, 0x06054b50], [4, 0], [2, files.length], [2, files.length], [4, length],
                     [4, at], [2, 0]);
  return new Blob([...parts, ...index, end], {type: "application/zip"});
}

function hand_over(name, blob) {
  const link = document.createElement("a");
  link.download = name;
  link.href = URL.createObjectURL(blob);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export function render({model, view}) {
  const box = document.createElement("div");
  const button = document.createElement("button");
  const said = document.createElement("span");
  button.type = "button";
  button.textContent = model.text;
  button.title = model.why;
  said.setAttribute("role", "status");
  box.append(button, said);
  let waiting = false;  // this button was pressed, not its twin in another cell
  button.addEventListener("click", () => {
    if (waiting) return;
    waiting = true;
    said.textContent = "";
    button.setAttribute("aria-busy", "true");
    model.asked += 1;
  });
  model.on("answer", async () => {
    const {name, files, trouble} = model.answer;
    if (!waiting || (name == null && trouble == null)) return;
    try {
      if (trouble != null) {
        said.textContent = trouble;
      } else {
        const given = files.map(([file, text]) =>
          [file, Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))]);
        const own = model.pictures ? await exported(view.model.document) : [];
        const archive = name.endsWith(".zip");
        hand_over(name, archive ? zipped([...own, ...given]) : new Blob([given[0][1]]));
        said.textContent = `Saved ${name}`;
      }
    } catch (error) {
      said.textContent = `The browser could not make the file: ${error.message}`;
    } finally {
      waiting = false;
      button.removeAttribute("aria-busy");
      model.answer = {};  // it may be large
    }
  });
  return box;
}
