// The playground: keys, a query and values one can move; what attention makes of them; the written exercises as presets.
import { get } from "./api.js";
import { remember } from "./main.js";
import { puzzle } from "./puzzle.js";
import { bars, canvas, colour, el, failed, SERIES, slider } from "./ui.js";

// What each exercise sets; the rest stays as it stands in START.
const START = { n: 4, d: 2, beta: 4, noise: 0, stretch: 0, heads: 1, query: "both" };
const PRESETS = {
  distribution: { n: 5, beta: 1, query: "free" },
  copying: { n: 5, beta: 12, query: "a" },
  averaging: { n: 5, d: 8, beta: 12, query: "both" },
  projection: { n: 2, d: 4, beta: 8, query: "both" },
  "noisy-keys": { n: 4, d: 4, beta: 10, noise: 0.002, stretch: 0.5, query: "both" },
  heads: { n: 4, d: 4, beta: 10, noise: 0.002, stretch: 0.5, heads: 2, query: "both" },
  temperature: { n: 8, d: 16, beta: 4, query: "free" },
  folding: {}, design: {}, solve: {}, parse: {},
};
const DRAWS = 240;

export async function show(page, values) {
  const preset = values.has("beta") ? {} : PRESETS[values.get("exercise")] ?? {};
  const number = (name) => (values.has(name) && Number.isFinite(Number(values.get(name))) ? Number(values.get(name)) : preset[name] ?? START[name]);
  const s = { ...START, n: number("n"), d: number("d"), beta: number("beta"), noise: number("noise"), stretch: number("stretch"), heads: number("heads"), query: values.get("query") ?? preset.query ?? START.query };
  let keys = [], query = [0.7, 0.7], cloud = [], dragged = null;

  // Keys lie on a circle; beyond two dimensions those after the first two leave the plane, each in a direction of its own.
  function place() {
    keys = Array.from({ length: s.n }, (_, i) => {
      const angle = s.d > 2 && i < 2 ? i * Math.PI / 2 : (2 * Math.PI * i) / s.n;
      const inside = s.d > 2 && i >= 2 ? 0 : 1;
      return [inside * Math.cos(angle), inside * Math.sin(angle)];
    });
    aim();
  }
  function aim() {
    if (s.query === "a") query = [...keys[0]];
    if (s.query === "both") query = [keys[0][0] + keys[1][0], keys[0][1] + keys[1][1]];
  }
  const vector = (i) => { const v = new Float64Array(s.d); v[0] = keys[i][0]; v[1] = keys[i][1]; if (s.d > 2 && i >= 2) v[2 + ((i - 2) % (s.d - 2))] += 1; return v; };
  const queries = () => (s.heads === 2 ? [vector(0), vector(1)] : [Float64Array.from({ length: s.d }, (_, j) => query[j] ?? 0)]);
  const dot = (u, v) => u.reduce((sum, x, j) => sum + x * v[j], 0);
  function softmax(scores) { const most = Math.max(...scores); const e = scores.map((x) => Math.exp(x - most)); const sum = e.reduce((p, q) => p + q); return e.map((x) => x / sum); }
  const normal = () => Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
  function attend(noisy) {
    const now = keys.map((_, i) => vector(i));
    if (noisy) now.forEach((k, i) => {
      const gamma = i === 0 ? 1 + Math.sqrt(s.stretch) * normal() : 1;
      for (let j = 0; j < s.d; j++) k[j] = gamma * k[j] + Math.sqrt(s.noise) * normal();
    });
    const weights = queries().map((q) => softmax(now.map((k) => s.beta * dot(q, k))));
    const output = [0, 1].map((j) => weights.reduce((sum, w) => sum + w.reduce((part, a, i) => part + a * keys[i][j], 0), 0) / weights.length);
    return { weights, output };
  }
  function draw() { cloud = s.noise || s.stretch ? Array.from({ length: DRAWS }, () => attend(true).output) : []; paint(); }

  const alphas = el("div"), says = el("p", { class: "note" });
  const board = canvas((width) => Math.min(460, width), (context, width, height) => {
    const scale = Math.min(width, height) / 3.4, at = ([x, y]) => [width / 2 + x * scale, height / 2 - y * scale];
    const arrow = (to, hue, label, wide = 2) => {
      const [x, y] = at(to), [ox, oy] = at([0, 0]);
      context.strokeStyle = context.fillStyle = hue; context.lineWidth = wide;
      context.beginPath(); context.moveTo(ox, oy); context.lineTo(x, y); context.stroke();
      context.beginPath(); context.arc(x, y, 6, 0, 7); context.fill();
      context.font = "15px " + colour("sans"); context.fillText(label, x + 9, y - 8);
    };
    context.strokeStyle = colour("line");
    for (const r of [0.5, 1]) { context.beginPath(); context.arc(width / 2, height / 2, r * scale, 0, 7); context.stroke(); }
    context.fillStyle = SERIES[1] + "66";
    for (const point of cloud) { const [x, y] = at(point); context.beginPath(); context.arc(x, y, 2.6, 0, 7); context.fill(); }
    const outside = s.d > 2 ? keys.slice(2) : [];
    keys.slice(0, keys.length - outside.length).forEach((key, i) => arrow(key, SERIES[0], `k${"abcdefgh"[i]}`));
    for (const key of outside) arrow(key, SERIES[0], "");
    if (outside.length) { context.fillStyle = colour("soft"); context.font = "12px " + colour("sans"); context.textAlign = "center"; context.fillText(`${outside.length === 1 ? "kc points" : `kc ${outside.length === 2 ? "and" : "to"} k${"abcdefgh"[s.n - 1]} point`} out of this plane`, width / 2, height - 10); context.textAlign = "start"; }
    if (s.heads === 1) arrow(query, SERIES[2], "q", 3); else [0, 1].forEach((i) => arrow(keys[i].map((v) => v * 0.75), SERIES[2], `q${i + 1}`, 3));
    const [x, y] = at(attend(false).output);
    context.fillStyle = SERIES[1]; context.fillRect(x - 6, y - 6, 12, 12); context.fillText("c", x + 10, y + 5);
  }, { "aria-label": "keys, query and output in the plane; drag keys and query", tabindex: "0" });

  function paint() {
    board.paint();
    const { weights, output } = attend(false);
    alphas.replaceChildren(...weights.map((w, h) => el("div", {}, weights.length > 1 ? el("h3", {}, `Head ${h + 1}`) : null, bars(w.map((value, i) => ({ name: `α ${"abcdefgh"[i]}`, value, of: 1, text: value.toFixed(3) }))))));
    const spread = cloud.length ? Math.sqrt(cloud.reduce((sum, c) => sum + (c[0] - output[0]) ** 2 + (c[1] - output[1]) ** 2, 0) / cloud.length) : 0;
    says.textContent = cloud.length ? `Orange dots: the output for ${DRAWS} draws of the noisy keys. Their spread is ${spread.toFixed(2)}.` : "The orange square is the output c = Σ αᵢ vᵢ, with every value vᵢ at its key.";
  }

  const position = (event) => { const box = board.getBoundingClientRect(), scale = Math.min(box.width, box.height) / 3.4; return [(event.clientX - box.left - box.width / 2) / scale, -(event.clientY - box.top - box.height / 2) / scale]; };
  board.addEventListener("pointerdown", (event) => {
    const p = position(event), near = (v) => Math.hypot(v[0] - p[0], v[1] - p[1]);
    const options = [...keys.map((key, i) => [near(key), i]), ...(s.heads === 1 ? [[near(query) - 0.02, "q"]] : [])].sort((u, v) => u[0] - v[0]);
    if (options[0][0] < 0.25) { dragged = options[0][1]; board.setPointerCapture(event.pointerId); }
  });
  board.addEventListener("pointermove", (event) => {
    if (dragged === null) return;
    if (dragged === "q") { query = position(event); s.query = "free"; } else { keys[dragged] = position(event); aim(); }
    paint();
  });
  board.addEventListener("pointerup", () => { if (dragged !== null) { dragged = null; draw(); } });
  board.addEventListener("keydown", (event) => {  // the query by arrow keys
    const step = { ArrowLeft: [-0.05, 0], ArrowRight: [0.05, 0], ArrowUp: [0, 0.05], ArrowDown: [0, -0.05] }[event.key];
    if (step && s.heads === 1) { event.preventDefault(); s.query = "free"; query = [query[0] + step[0], query[1] + step[1]]; draw(); }
  });

  const sliders = {};
  const control = (name, label, options, again = draw) => (sliders[name] = slider(label, { value: s[name], ...options, onInput: (value) => { s[name] = value; remember({ [name]: value }); again(); } }));
  const replace = () => { place(); draw(); };
  const exercise = el("div", { class: "card", "aria-live": "polite" });
  const catalogue = el("div", { class: "chips" }), details = el("div", { class: "card" });
  function mark(one) {
    for (const chip of catalogue.children) chip.setAttribute("aria-pressed", String(chip.dataset.name === one.name));
    exercise.replaceChildren(...describe(one));
    details.replaceChildren(...derive(one));
  }
  function choose(one) {
    Object.assign(s, START, PRESETS[one.name] ?? {});
    for (const [name, box] of Object.entries(sliders)) box.set(s[name]);
    remember({ exercise: one.name, ...s });
    mark(one);
    replace();
  }
  page.append(el("h1", {}, "Attention"), el("p", { class: "lead" }, "Drag the keys (blue) and the query (green). Attention turns the products of query and keys into weights α, and mixes the values by them: the orange square."),
    el("h2", {}, "Exercises"), catalogue, exercise,
    el("div", { class: "split" }, el("div", { class: "card" }, board, says), el("aside", { class: "card", "aria-label": "Settings" },
      control("n", "Keys", { min: 2, max: 8, step: 1 }, replace), control("d", "Dimensions", { min: 2, max: 16, step: 1 }, replace),
      control("beta", "β, the sharpness", { min: 0, max: 30, step: 0.5 }), control("noise", "Noise of the keys (variance)", { min: 0, max: 0.3, step: 0.002 }),
      control("stretch", "Stretch of key a (variance)", { min: 0, max: 1, step: 0.05 }), control("heads", "Heads", { min: 1, max: 2, step: 1 }),
      el("p", {}), el("button", { class: "quiet", type: "button", on: { click: draw } }, "Draw the noise again"), el("h2", {}, "Weights"), alphas)), details);
  place();
  try {
    const all = await get("/api/lab");
    catalogue.append(...all.map((one) => el("button", { class: "chip", type: "button", "data-name": one.name, "aria-pressed": "false", on: { click: () => choose(one) } }, one.title)));
    const chosen = all.find((one) => one.name === values.get("exercise")) ?? all[0];
    if (chosen) mark(chosen);
  } catch (error) { catalogue.append(failed(error)); }
  requestAnimationFrame(draw);
  const repaint = () => paint();
  addEventListener("themechange", repaint);
  return () => removeEventListener("themechange", repaint);
}

// Texts and formulas of the exercises are part of Loci itself: the formulas come as MathML.
// One that is too wide for the screen scrolls, and then the keyboard must reach it.
function typeset(markup) {
  const box = el("span", { class: "formula" });
  box.innerHTML = markup;
  new ResizeObserver(() => { if (box.scrollWidth > box.clientWidth) box.tabIndex = 0; else box.removeAttribute("tabindex"); }).observe(box);
  return box;
}
const sentence = (text) => text[0].toUpperCase() + text.slice(1);
const subscripts = (text) => text.split(/_(\w)/).map((part, i) => (i % 2 ? el("sub", {}, part) : part));
function describe(one) {
  return [el("h2", {}, sentence(one.title)), ...one.text.split("\n\n").map((text) => el("p", {}, subscripts(sentence(text) + (/[.?!]$/.test(text) ? "" : ".")))),
    one.name === "design" || one.name === "solve" ? puzzle() : null].filter(Boolean);
}
function derive(one) {
  return [el("h2", {}, "Formulas"), ...one.formulas.map(([says, markup]) => el("p", {}, subscripts(says.replace(/[.:]?$/, ":")), typeset(markup))),
    one.symbols.length ? el("details", {}, el("summary", {}, "Symbols"), el("dl", {}, one.symbols.map(([markup, meaning]) => [el("dt", {}, typeset(markup)), el("dd", {}, meaning)]))) : null,
    picture(one)].filter(Boolean);
}

// The exercise's own page, as loci lab writes it: drawn when it is opened, in a frame without access to this page.
function picture(one) {
  const frame = el("div");
  const box = el("details", { on: { toggle: () => { if (box.open && !frame.firstChild) frame.append(el("iframe", { class: "report", title: `figures of ${one.title}`, sandbox: "allow-scripts", src: `/reports/lab/${encodeURIComponent(one.name)}.html` })); } } }, el("summary", {}, "Its figures and what they show"), frame);
  return box;
}
