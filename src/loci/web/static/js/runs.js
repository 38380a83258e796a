// Runs, trainings with live curves, experiments and reports.
import { get, post } from "./api.js";
import { remember, runs } from "./main.js";
import { chart } from "./chart.js";
import { el, empty, failed, field, percent, SERIES } from "./ui.js";

export async function show(page, values) {
  page.append(el("h1", {}, "Runs"), el("p", { class: "lead" }, "Trainings in progress with their loss, every run offered here, and the reports of experiments."));
  const trainings = el("div"), live = el("div"), table = el("div"), experiments = el("div"), frame = el("div");
  let stream = null, timer = null, watched = null, left = false;

  function watch(name) {
    if (watched === name) return;
    watched = name; stream?.close();
    let points = {};
    const plot = el("div"), bar = el("div", { style: { width: "0%" } }), say = el("p", { class: "note", role: "status" }, "Waiting for the first step…");
    const done = el("div", { class: "progress", role: "progressbar", "aria-label": `how far ${name} is`, "aria-valuemin": "0", "aria-valuemax": "100" }, bar);
    live.replaceChildren(el("div", { class: "card" }, el("h2", {}, `Loss of ${name}`), done, say, plot));
    let waiting = false;
    stream = new EventSource(`/api/runs/${encodeURIComponent(name)}/metrics`);
    stream.onopen = () => { points = {}; };  // a new connection begins with the first step again
    stream.onmessage = (event) => {
      const rows = JSON.parse(event.data);
      for (const row of rows) (points[row.stage] ??= []).push([row.total_steps, row.loss]);
      const last = rows.at(-1), share = Math.round(100 * (last.progress ?? 0));
      bar.style.width = `${share}%`; done.setAttribute("aria-valuenow", String(share));
      say.textContent = `stage ${last.stage}, ${share} %, step ${last.total_steps.toLocaleString()}, ${last.characters.toLocaleString()} characters, loss ${last.loss?.toFixed(3) ?? "–"}`;
      if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; plot.replaceChildren(chart(Object.entries(points).map(([stage, xy], i) => ({ name: stage, points: xy, colour: SERIES[i % SERIES.length] })), { x: "step", y: "loss, nats per character", width: Math.max(320, plot.clientWidth) })); }); }
    };
    stream.addEventListener("end", () => { stream.close(); if (!Object.keys(points).length) { say.textContent = "No step was recorded yet."; watched = null; } refresh(); });
  }

  const redrawn = new Map();
  function draw(box, data, make) {  // only what changed: a button under the finger stays where it is
    const now = JSON.stringify(data);
    if (redrawn.get(box) !== now) { redrawn.set(box, now); box.replaceChildren(...[make(data)].flat().filter(Boolean)); }
  }

  async function refresh() {
    clearTimeout(timer);
    try {
      const [all, started, found] = await Promise.all([runs(true), get("/api/trainings"), get("/api/experiments")]);
      if (left) return;
      draw(trainings, started, trainingList);
      draw(table, all, runTable);
      draw(experiments, found, experimentCards);
      const busy = all.filter((run) => run.training).at(-1);
      if (busy) watch(busy.run);
      if (busy || started.some((one) => one.state === "running")) timer = setTimeout(refresh, 2500);
    } catch (error) { redrawn.clear(); table.replaceChildren(failed(error)); timer = setTimeout(refresh, 10000); }
  }

  function trainingList(all) {
    if (!all.length) return null;
    const act = (name, what, button) => async () => {
      button.disabled = true;
      try { await post(`/api/trainings/${encodeURIComponent(name)}/${what}`, {}); } catch (error) { trainings.append(failed(error)); }
      redrawn.delete(trainings); setTimeout(refresh, 400);
    };
    const button = (one, what, text) => { const made = el("button", { class: "quiet", type: "button" }, text); made.addEventListener("click", act(one.name, what, made)); return made; };
    return el("div", { class: "card" }, el("h2", {}, "Started here"), all.map((one) => el("div", { class: "training" },
      el("strong", {}, one.name), el("span", { class: `state ${one.state}` }, one.state),
      el("span", { class: one.state === "failed" ? "error" : "note" }, one.message || (one.state === "running" && one.run ? `${one.run}, ${one.stage}: ${percent(one.progress ?? 0)}` : "")),
      one.state === "running" ? button(one, "stop", "Stop") : null,
      one.state === "stopped" || one.state === "failed" ? button(one, "resume", "Resume") : null)));
  }

  function runTable(all) {
    if (!all.length) return empty("No run yet", "Start the demo above: a small world, three ways of teaching, a report. The rest of the page can be used while it trains.");
    const chip = (text, click) => el("button", { class: "chip", type: "button", on: { click } }, text);
    return el("div", { class: "card" }, el("h2", {}, "All runs"), el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "runs" }, el("table", {}, el("thead", {}, el("tr", {}, ["run", "recipe", "state", "steps", "loss", "look"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, all.map((run) => el("tr", {}, el("td", { title: run.note ?? "" }, run.run), el("td", {}, run.recipe ?? ""), el("td", {}, run.error ?? el("span", { class: `state ${run.training ? "running" : run.state}` }, run.training ? "training" : run.state)),
        el("td", { class: "number" }, (run.steps ?? 0).toLocaleString()), el("td", { class: "number" }, run.loss === null || run.loss === undefined ? "–" : run.loss.toFixed(3)),
        el("td", {}, el("div", { class: "chips tight" }, run.steps ? chip("curve", () => { remember({ curve: run.run }); watch(run.run); live.scrollIntoView({ block: "nearest", behavior: "smooth" }); }) : null,
          run.state === "finished" || run.state === "resumable" ? el("a", { class: "chip", href: `#/ask?run=${encodeURIComponent(run.run)}` }, "ask") : null,
          (run.reports ?? []).map((report) => chip(report, () => open(`${encodeURIComponent(run.run)}/${encodeURIComponent(report)}`, `${report} of ${run.run}`)))))))))));
  }

  function experimentCards(found) {
    const opener = (one) => (one.page ? el("button", { class: "quiet", type: "button", on: { click: () => { remember({ report: one.name }); open(encodeURIComponent(one.name), one.name); } } }, "Open its report") : el("span", { class: "note" }, "no report yet"));
    const others = found.filter((one) => !one.table.length);
    return [...found.filter((one) => one.table.length).map((one) => el("div", { class: "card" }, el("h2", {}, "The course’s table"), courseTable(one), el("div", { class: "row" }, opener(one), el("span", { class: "note" }, one.name)))),
      others.length ? el("div", { class: "card" }, el("h2", {}, "Experiments"), others.map((one) => el("div", { class: "training" }, el("strong", {}, one.name), el("span", { class: "note" }, `${one.experiment}${one.quick ? ", quick" : ""}`), opener(one)))) : null,
      found.some((one) => one.table.length) ? null : el("p", { class: "note" }, "The course’s table appears here when an experiment folder is given: ", el("code", {}, "loci experiment course --quick --out course"), ", then ", el("code", {}, "loci web course"), ". It can also be started above.")];
  }

  function open(address, title) {
    frame.replaceChildren(el("h2", {}, title), el("iframe", { class: "report", title, sandbox: "allow-scripts", src: `/reports/${address}` }));
    frame.scrollIntoView({ behavior: "smooth" });
  }

  page.append(starter(refresh), trainings, live, table, experiments, frame);
  await refresh();
  if (values.get("curve")) watch(values.get("curve"));
  if (values.get("report")) open(encodeURIComponent(values.get("report")), values.get("report"));
  return () => { left = true; stream?.close(); clearTimeout(timer); };
}

function courseTable({ table, quick }) {
  const rate = (r) => (r ? `${(100 * r.value).toFixed(1)} %` : "–");
  const cell = (r) => el("td", { class: "number" }, rate(r), r ? el("div", { class: "interval", role: "img", "aria-label": `between ${(100 * r.low).toFixed(1)} and ${(100 * r.high).toFixed(1)} %` },
    el("div", { class: "range", style: { left: `${100 * r.low}%`, width: `${Math.max(1, 100 * (r.high - r.low))}%` } }), el("div", { class: "dot", style: { left: `${100 * r.value}%` } })) : null);
  return [el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "the course’s table" }, el("table", {}, el("thead", {}, el("tr", {}, ["system", "held-out people", "train people", "minutes", "published"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, table.map((row) => el("tr", {}, el("td", {}, row.name, el("div", { class: "note" }, row.explanation)), cell(row.held_out), cell(row.taught), el("td", { class: "number" }, row.training ? (row.training.seconds / 60).toFixed(1) : "–"), el("td", {}, row.published)))))),
    el("p", { class: "note" }, `Exact match with 95 % intervals. ${quick ? "Small budgets on a small world: the effect and its order, not the published figures. " : ""}“Published” is what others report about the course’s own files.`)];
}

function starter(refresh) {
  const kinds = [["quick-demo", "quick demo (about a minute, proves nothing)"], ["demo", "demo (about five minutes)"], ["course", "the course’s table, quick (seven systems, minutes each)"], ["recipe", "one recipe on a new world"]];
  const kind = el("select", {}, kinds.map(([value, text]) => el("option", { value }, text)));
  const recipe = el("select", {}, ["self-training", "recite", "demo"].map((name) => el("option", { value: name }, name)));
  const people = el("input", { type: "number", min: "20", max: "1000", value: "60" });
  const characters = el("input", { type: "number", min: "10000", max: "20000000", step: "10000", value: "400000" });
  const seed = el("input", { type: "number", min: "0", max: "1000000", value: "0" });
  const more = el("div", { class: "row more", hidden: true }, field("Recipe", recipe), field("People", people), field("Characters", characters));
  const seedField = field("Seed", seed, "field short");
  kind.addEventListener("change", () => { more.hidden = kind.value !== "recipe"; seedField.hidden = kind.value === "course"; });
  const said = el("div");
  const button = el("button", { type: "submit" }, "Start");
  return el("form", { class: "card", on: { submit: async (event) => {
    event.preventDefault(); button.disabled = true; said.replaceChildren();
    try { await post("/api/trainings", { kind: kind.value, recipe: recipe.value, people: Number(people.value), characters: Number(characters.value), seed: Number(seed.value) }); dispatchEvent(new Event("trainingstarted")); setTimeout(refresh, 600); }
    catch (error) { said.replaceChildren(failed(error)); }
    button.disabled = false;
  } } }, el("h2", {}, "Train"), el("div", { class: "row" }, field("What", kind, "field grow"), seedField, button), more, said);
}

// What the sections that need a run show without one.
export function noRun() {
  const said = el("div");
  const button = el("button", { type: "button", on: { click: async () => {
    button.disabled = true;
    try { await post("/api/trainings", { kind: "demo" }); dispatchEvent(new Event("trainingstarted")); location.hash = "#/runs"; }
    catch (error) { said.replaceChildren(failed(error)); button.disabled = false; }
  } } }, "Train the demo");
  return empty("No run yet", "A run is a trained model. The demo trains three small ones in some minutes; the playground and the guide can be used meanwhile. Runs of your own: loci web RUN.",
    el("p", {}, button, " ", el("a", { class: "note", href: "#/runs" }, "Choose what to train")), said);
}
