// One answer from the inside: which characters it looks at, and how the answer forms layer by layer.
import { post, unpacked } from "./api.js";
import { colour, el, field, percent } from "./ui.js";

export async function insideOf(run, question) {
  const seen = await post("/api/look", { run, question });
  const attention = unpacked(seen.attention);
  const [layers, heads, length] = attention.shape;
  const from = seen.n_prompt - 1;
  const strip = el("p", { class: "strip" });
  const shades = (layer) => {
    const weights = new Float32Array(length);
    const chosen = layer < 0 ? [...Array(layers).keys()] : [layer];
    for (const l of chosen) for (let h = 0; h < heads; h++) for (let t = 0; t < length; t++) weights[t] += attention.values[((l * heads + h) * length + from) * length + t] / (heads * chosen.length);
    const most = Math.max(...weights);
    strip.replaceChildren(...seen.symbols.slice(0, seen.n_prompt).map((symbol, t) => el("span", { title: percent(weights[t]), style: { background: `color-mix(in srgb, ${colour("accent")} ${Math.round((70 * weights[t]) / most)}%, transparent)` } }, symbol)));
  };
  shades(-1);
  const select = el("select", { on: { change: () => shades(Number(select.value)) } }, el("option", { value: "-1" }, "all layers"), [...Array(layers).keys()].map((l) => el("option", { value: String(l) }, `layer ${l + 1}`)));
  const lens = seen.lens;
  return el("div", {}, el("h3", {}, "Where it looks as it begins to answer"), field("Layer", select), strip,
    el("h3", {}, "The answer forming, layer by layer"),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "probability of each character after each layer" }, el("table", { class: "lens" },
      el("thead", {}, el("tr", {}, el("th", {}, "after layer"), lens.symbols.map((symbol) => el("th", {}, symbol === "⁇" ? "end" : symbol)))),
      el("tbody", {}, lens.probability.map((row, layer) => el("tr", {}, el("th", {}, layer === 0 ? "input" : String(layer)),
        row.map((p) => el("td", { style: { background: `color-mix(in srgb, ${colour("good")} ${Math.round(65 * p)}%, transparent)` } }, percent(p)))))))),
    el("p", { class: "note" }, "Each cell: the probability the model would give this character if it stopped after that layer."));
}
