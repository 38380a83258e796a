// What every head of a run looks at, for any text; what the answer becomes without a head, or with another name patched in.
import { get, post, unpacked } from "./api.js";
import { askable, remember, runPicker, runs } from "./main.js";
import { noRun } from "./runs.js";
import { canvas, colour, el, failed, field, loading, percent } from "./ui.js";

export async function show(page, values) {
  page.append(el("h1", {}, "Heads"), el("p", { class: "lead" }, "Every head of every layer as a map: each row is a character, each column what it looks at. Choose one to see it large, or switch it off and see the answer change."));
  const all = askable(await runs());
  if (!all.length) { page.append(noRun()); return; }
  let run = all.some((one) => one.run === values.get("run")) ? values.get("run") : all.at(-1).run;
  let seen = null, chosen = [Number(values.get("layer") ?? 0), Number(values.get("head") ?? 0)], hovered = null;
  const off = new Set((values.get("off") ?? "").split(",").filter(Boolean));
  const people = values.has("text") ? {} : await get(`/api/runs/${encodeURIComponent(run)}/people`).catch(() => ({}));
  const somebody = Object.values(people).flat()[0]?.question;
  const input = el("input", { type: "text", value: values.get("text") ?? somebody ?? "Where was Ada Lovelace born?", maxlength: "1000" });
  const thumbs = el("div"), message = el("div"), says = el("p", { class: "note" }), change = el("div", { "aria-live": "polite" });
  const patch = el("input", { type: "text", placeholder: "the same question about somebody else", maxlength: "1000" });

  const what = el("select", {}, el("option", { value: "name" }, "its name, at every layer"), el("option", { value: "head" }, "the chosen head only"));

  const weight = (l, h, i, j) => { const { values: v, shape } = seen.layers[l]; return v[(h * shape[1] + i) * shape[2] + j]; };
  const board = canvas((width) => Math.min(width, 620), (context, width, height) => {
    if (!seen) return;
    const [l, h] = chosen, { shape } = seen.layers[l], [, rows, columns] = shape;
    const labels = rows <= 140 ? 22 : 4, cell = Math.min((width - labels) / columns, (height - labels) / rows);
    const image = new ImageData(columns, rows), hue = rgb(colour("accent"));
    for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) { const at = 4 * (i * columns + j); image.data.set([...hue, Math.round(255 * Math.sqrt(weight(l, h, i, j)))], at); }
    const small = new OffscreenCanvas(columns, rows); small.getContext("2d").putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, labels, labels, columns * cell, rows * cell);
    context.fillStyle = colour("soft"); context.font = `${Math.max(7, Math.min(12, cell * 1.1))}px ${colour("mono")}`; context.textAlign = "center";
    if (rows <= 140 && cell > 5) seen.symbols.forEach((symbol, i) => { if (i < rows) context.fillText(symbol, labels / 2, labels + (i + 0.8) * cell); if (i < columns) context.fillText(symbol, labels + (i + 0.5) * cell, labels * 0.7); });
    if (hovered && hovered[0] < rows) { context.strokeStyle = colour("warn"); context.strokeRect(labels, labels + hovered[0] * cell, columns * cell, cell); }
    board.geometry = { labels, cell, rows, columns };
  }, { "aria-label": "attention of the chosen head" });
  const arcs = canvas(150, (context, width, height) => {
    if (!seen) return;
    const [l, h] = chosen, [, rows, columns] = seen.layers[l].shape, step = width / Math.max(rows, 1);
    context.font = `${Math.max(6, Math.min(14, step * 1.4))}px ${colour("mono")}`; context.textAlign = "center"; context.fillStyle = colour("ink");
    if (step > 4) seen.symbols.forEach((symbol, i) => context.fillText(symbol, (i + 0.5) * step, height - 5));
    if (rows !== columns) return;
    for (let i = 1; i < rows; i++) {
      let best = 0;
      for (let j = 1; j <= i; j++) if (weight(l, h, i, j) > weight(l, h, i, best)) best = j;
      if (best === i) continue;
      const from = (i + 0.5) * step, to = (best + 0.5) * step, p = weight(l, h, i, best);
      context.globalAlpha = 0.15 + 0.85 * p; context.strokeStyle = hovered?.[0] === i ? colour("warn") : colour("accent"); context.lineWidth = 0.6 + 2 * p;
      context.beginPath(); context.ellipse((from + to) / 2, height - 20, (from - to) / 2, Math.min(height - 30, (from - to) / 2), 0, Math.PI, 2 * Math.PI); context.stroke();
    }
    context.globalAlpha = 1;
  }, { "aria-label": "for each character an arc to what the chosen head looks at most" });
  board.addEventListener("pointermove", (event) => {
    if (!seen || !board.geometry) return;
    const { labels, cell, rows, columns } = board.geometry, i = Math.floor((event.offsetY - labels) / cell), j = Math.floor((event.offsetX - labels) / cell);
    hovered = i >= 0 && i < rows && j >= 0 && j < columns ? [i, j] : null;
    if (hovered) says.textContent = `“${seen.symbols[i] ?? `latent ${i}`}” (${i + 1}) looks at “${seen.symbols[j] ?? `latent ${j}`}” (${j + 1}): ${percent(weight(...chosen, i, j))}`;
    board.paint(); arcs.paint();
  });

  async function look() {
    remember({ run, text: input.value });
    message.replaceChildren(loading("Reading…"));
    try {
      const found = await post("/api/activations", { run, text: input.value, names: ["blocks.*.attn.pattern"], ablate: [...off].map((pair) => pair.split(".").map(Number)) });
      seen = { symbols: found.symbols, layers: Object.entries(found.activations).sort(([a], [b]) => a.localeCompare(b, undefined, { numeric: true })).map(([, value]) => unpacked(value)) };
      chosen = [Math.min(chosen[0], seen.layers.length - 1), Math.min(chosen[1], seen.layers[0].shape[0] - 1)];
      message.replaceChildren(); draw();
    } catch (error) { seen = null; message.replaceChildren(failed(error)); }
  }
  function draw() {
    const heads = seen.layers[0].shape[0];
    thumbs.replaceChildren(el("div", { class: "thumbs", style: { gridTemplateColumns: `repeat(${heads}, minmax(0, 1fr))` } }, seen.layers.map((layer, l) => [...Array(layer.shape[0]).keys()].map((h) => {
      const pressed = chosen[0] === l && chosen[1] === h;
      return el("button", { type: "button", "aria-pressed": String(pressed), class: off.has(`${l}.${h}`) ? "off" : "", "aria-label": `layer ${l + 1}, head ${h + 1}`, title: `layer ${l + 1}, head ${h + 1}`, on: { click: () => { chosen = [l, h]; remember({ layer: l, head: h }); draw(); } } }, thumbnail(layer, h));
    }))));
    says.textContent = `layer ${chosen[0] + 1}, head ${chosen[1] + 1}${off.has(chosen.join(".")) ? ", switched off" : ""}`;
    toggle.textContent = off.has(chosen.join(".")) ? "Switch this head on again" : "Switch this head off";
    board.paint(); arcs.paint();
  }
  async function compare() {
    change.replaceChildren(loading("Asking twice…"));
    try {
      const found = await post("/api/intervene", { run, question: input.value, ablate: [...off].map((pair) => pair.split(".").map(Number)), patch_from: patch.value.trim() || null, patch_heads: patch.value.trim() && what.value === "head" ? [chosen] : [] });
      change.replaceChildren(el("p", {}, "Untouched: ", el("strong", {}, found.before.text), ` (${percent(found.before.probability)}). Now: `, el("strong", {}, found.after.text), ` (${percent(found.after.probability)}); the first answer has ${percent(found.before_now)} left.`));
    } catch (error) { change.replaceChildren(failed(error)); }
  }
  const toggle = el("button", { class: "quiet", type: "button", on: { click: () => { const key = chosen.join("."); if (off.has(key)) off.delete(key); else off.add(key); remember({ off: [...off].join(",") }); look(); compare(); } } }, "Switch this head off");
  const picker = await runPicker({ chosen: run, onChange: (name) => { run = name; off.clear(); look(); } });
  page.append(el("form", { class: "card row", on: { submit: (event) => { event.preventDefault(); look(); } } }, picker.box, field("Text", input, "field grow"), el("button", { type: "submit" }, "Look"), message),
    el("div", { class: "grid" }, el("div", { class: "card" }, el("h2", {}, "Layers × heads"), thumbs, el("p", {}), toggle, el("p", {}),
      el("h3", {}, "What the answer becomes"), field("Take from another question", patch), field("What is taken", what), el("p", {}), el("button", { class: "quiet", type: "button", on: { click: compare } }, "Ask with these changes"), change),
      el("div", { class: "card" }, el("h2", {}, "The chosen head"), says, board, el("h3", {}, "Its strongest looks"), arcs)));
  await look();
  const repaint = () => { if (seen) draw(); };
  addEventListener("themechange", repaint);
  return () => removeEventListener("themechange", repaint);
}

const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

function thumbnail(layer, head) {
  const [, rows, columns] = layer.shape, side = 48;
  const small = el("canvas", { width: side, height: side, "aria-hidden": "true" });
  const context = small.getContext("2d"), image = context.createImageData(side, side), hue = rgb(colour("accent"));
  for (let y = 0; y < side; y++) for (let x = 0; x < side; x++) {
    const i0 = Math.floor((y * rows) / side), i1 = Math.max(i0 + 1, Math.floor(((y + 1) * rows) / side)), j0 = Math.floor((x * columns) / side), j1 = Math.max(j0 + 1, Math.floor(((x + 1) * columns) / side));
    let most = 0;  // the strongest look of the cell: a mean would hide sharp heads
    for (let i = i0; i < i1; i++) for (let j = j0; j < j1; j++) most = Math.max(most, layer.values[(head * rows + i) * columns + j]);
    image.data.set([...hue, Math.round(255 * Math.sqrt(most))], 4 * (y * side + x));
  }
  context.putImageData(image, 0, 0);
  return small;
}
