// Let a run continue a text, character by character, and see when it falls into a loop.
import { lines } from "./api.js";
import { askable, remember, runPicker, runs } from "./main.js";
import { noRun } from "./runs.js";
import { el, failed, field, slider } from "./ui.js";

export async function show(page, values) {
  page.append(el("h1", {}, "Generate"), el("p", { class: "lead" }, "The model continues a text one character at a time. At temperature 0 it takes the likeliest character every time, and soon repeats itself: the light goes on when it loops."));
  const all = askable(await runs());
  if (!all.length) { page.append(noRun()); return; }
  const number = (name, standard) => (values.has(name) && Number.isFinite(Number(values.get(name))) ? Number(values.get(name)) : standard);
  const settings = { run: all.some((one) => one.run === values.get("run")) ? values.get("run") : all.at(-1).run, temperature: number("temperature", 0.8), top_k: number("top_k", 0), top_p: number("top_p", 1), min_p: number("min_p", 0), length: number("length", 300), seed: number("seed", 0) };
  const set = (name) => (value) => { settings[name] = value; remember({ [name]: value }); };
  const prompt = el("textarea", {}, values.get("prompt") ?? "Born in ");
  const output = el("div", { class: "output card", tabindex: "0", role: "region", "aria-label": "generated text" });
  const light = el("span", { class: "light", role: "status" }, "no loop");
  let stopping = null;
  const button = el("button", { type: "submit" }, "Write");
  const stop = el("button", { class: "quiet", type: "button", disabled: true, on: { click: () => stopping?.abort() } }, "Stop");

  async function write() {
    remember({ prompt: prompt.value });
    stopping?.abort();
    const mine = stopping = new AbortController();
    const text = document.createTextNode("");
    output.replaceChildren(el("span", { class: "prompt" }, prompt.value), text);
    light.className = "light"; light.textContent = "no loop";
    button.disabled = true; stop.disabled = false;
    const body = { run: settings.run, prompt: prompt.value || "\n", length: settings.length, temperature: settings.temperature, top_k: settings.top_k || null, top_p: settings.top_p < 1 ? settings.top_p : null, min_p: settings.min_p || null, seed: settings.seed };
    try {
      for await (const piece of lines("/api/generate", body, mine.signal)) {
        if (piece.text !== undefined) text.appendData(piece.text);
        if (piece.error) throw new Error(piece.error);
        if ("loop" in piece) {
          light.className = piece.loop ? "light on" : "light";
          light.textContent = piece.loop ? `in a loop since character ${piece.loop.entry + 1}, period ${piece.loop.period}` : "no loop";
        }
      }
    } catch (error) { if (error.name !== "AbortError") output.append(failed(error)); }
    if (mine === stopping) { button.disabled = false; stop.disabled = true; }
  }

  const picker = await runPicker({ chosen: settings.run, onChange: set("run") });
  page.append(el("div", { class: "split" },
    el("div", {}, el("form", { class: "card", on: { submit: (event) => { event.preventDefault(); write(); } } }, picker.box, field("Text to continue", prompt), el("p", {}), el("div", { class: "row" }, button, stop, light)), output),
    el("aside", { class: "card", "aria-label": "Sampling" }, el("h2", {}, "Sampling"),
      slider("Temperature", { min: 0, max: 2, step: 0.05, value: settings.temperature, onInput: set("temperature") }),
      slider("Top-k", { min: 0, max: 60, step: 1, value: settings.top_k, show: (v) => v || "off", onInput: set("top_k") }),
      slider("Top-p", { min: 0.05, max: 1, step: 0.05, value: settings.top_p, show: (v) => (v < 1 ? v : "off"), onInput: set("top_p") }),
      slider("Min-p", { min: 0, max: 0.5, step: 0.01, value: settings.min_p, show: (v) => v || "off", onInput: set("min_p") }),
      slider("Length", { min: 20, max: 2000, step: 20, value: settings.length, onInput: set("length") }),
      slider("Seed", { min: 0, max: 50, step: 1, value: settings.seed, onInput: set("seed") }))));
  return () => stopping?.abort();
}
