// Which section is shown, and the address that restores it: #/section?name=value.
import { get } from "./api.js";
import { el, failed, loading, percent } from "./ui.js";

const SECTIONS = ["ask", "attention", "heads", "generate", "runs", "guide"];
const content = document.getElementById("content");
let leave = null;
let knownRuns = null;

export function state() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { section: SECTIONS.includes(path) ? path : "ask", values: new URLSearchParams(query) };
}

// Change the address without drawing anew: what one sees can be sent to somebody else.
export function remember(changes) {
  const { section, values } = state();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === "") values.delete(name); else values.set(name, value);
  }
  const query = values.toString();
  history.replaceState(null, "", `#/${section}${query ? `?${query}` : ""}`);
}

export async function runs(fresh = false) {
  if (fresh || knownRuns === null) knownRuns = await get("/api/runs");
  return knownRuns;
}

export const askable = (all) => all.filter((run) => run.state === "finished" || run.state === "resumable");

export async function runPicker({ label = "Run", chosen, none = null, onChange }) {
  const all = askable(await runs());
  const select = el("select", { on: { change: () => onChange(select.value) } },
    none === null ? null : el("option", { value: "" }, none),
    all.map((run) => el("option", { value: run.run, selected: run.run === chosen }, `${run.run} (${run.recipe})`)));
  return { box: el("label", { class: "field grow" }, el("span", {}, label), select), select, all };
}

async function show() {
  const { section, values } = state();
  for (const link of document.querySelectorAll(".tabs a")) {
    if (link.getAttribute("href") === `#/${section}`) { link.setAttribute("aria-current", "page"); link.scrollIntoView({ block: "nearest", inline: "nearest" }); }
    else link.removeAttribute("aria-current");
  }
  leave?.(); leave = null;
  document.title = `Loci: ${section}`;
  content.replaceChildren(loading());
  try {
    const module = await import(`./${section}.js`);
    const page = el("div");
    leave = (await module.show(page, values)) ?? null;
    content.replaceChildren(page);
  } catch (error) {
    content.replaceChildren(failed(error));
  }
}

document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  try { localStorage.setItem("loci-theme", root.dataset.theme); } catch { /* private windows */ }
  dispatchEvent(new Event("themechange"));
});

// A training goes on whatever section is shown: the header says how far it is.
const chip = document.getElementById("training");
let next = null;
async function follow() {
  clearTimeout(next);
  try {
    const running = (await get("/api/trainings")).find((one) => one.state === "running");
    chip.hidden = !running;
    if (running) {
      chip.textContent = running.stage ? `${running.name}: ${running.run}, ${percent(running.progress ?? 0)}` : `${running.name} begins…`;
      next = setTimeout(follow, 4000);
    }
  } catch { chip.hidden = true; }
}
addEventListener("trainingstarted", () => setTimeout(follow, 500));
follow();
addEventListener("hashchange", show);
show();
