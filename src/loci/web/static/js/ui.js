// Elements from data. Text always goes in as text: nothing a corpus or a model says is ever parsed as HTML.
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (name === "style") Object.assign(element.style, value);
    else if (name === "class") element.className = value;
    else if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const percent = (p) => (p > 0 && p < 0.01 ? "<\u00a01\u00a0%" : p > 0.99 && p < 1 ? ">\u00a099\u00a0%" : `${Math.round(100 * p)}\u00a0%`);

export function field(label, control, className = "field") {
  return el("label", { class: className }, el("span", {}, label), control);
}

export function slider(label, { min, max, step, value, show = (v) => v, onInput }) {
  const output = el("output", {}, ` ${show(value)}`);
  const input = el("input", { type: "range", min: String(min), max: String(max), step: String(step), value: String(value) });
  input.addEventListener("input", () => { output.textContent = ` ${show(Number(input.value))}`; onInput(Number(input.value)); });
  const box = el("label", { class: "field" }, el("span", {}, label, output), input);
  box.set = (v) => { input.value = v; output.textContent = ` ${show(Number(v))}`; };
  return box;
}

export function bars(rows) {
  const most = Math.max(...rows.map((row) => row.value), 1e-9);
  return el("div", { class: "bars" }, rows.map((row) => [
    el("span", { class: "name" }, row.name),
    el("div", { class: "track" }, el("div", { class: "part", style: { width: `${(100 * row.value) / (row.of ?? most)}%` } })),
    el("span", { class: "value" }, row.text ?? percent(row.value)),
  ]));
}

export function failed(error) {
  return el("p", { class: "error", role: "alert" }, error.message ?? String(error));
}

export function loading(text = "Loading…") {
  return el("p", { class: "loading", role: "status" }, text);
}

export function empty(title, text, ...actions) {
  return el("div", { class: "card empty" }, el("h2", {}, title), el("p", { class: "note" }, text), ...actions);
}

export function download(name, text, type = "text/plain") {
  const url = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// A canvas that is sharp on every screen; `draw(context, width, height)` is called again when the size changes.
export function canvas(height, draw, attributes = {}) {
  const board = el("canvas", { class: "board", role: "img", ...attributes });
  const paint = () => {
    const width = board.clientWidth || 320;
    const tall = typeof height === "function" ? height(width) : height;
    const ratio = devicePixelRatio || 1;
    board.width = width * ratio; board.height = tall * ratio; board.style.height = `${tall}px`;
    const context = board.getContext("2d");
    context.scale(ratio, ratio);
    draw(context, width, tall);
  };
  new ResizeObserver(paint).observe(board);
  board.paint = paint;
  return board;
}

export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
export const SERIES = ["#3d7fc1", "#d97a2b", "#2f9b78", "#b4589b", "#b8962a", "#6f6ad1", "#c65353", "#5d8f3c"];
