// Runs, trainings with live curves, reports.
import { get, post } from "./api.js";
import { runs } from "./main.js";
import { chart } from "./chart.js";
import { el, empty, failed, field, SERIES } from "./ui.js";

export async function show(page, values) {
  page.append(el("h1", {}, "Runs"), el("p", { class: "lead" }, "Every run offered here, trainings in progress with their loss, and the reports next to them."));
  const list = el("div"), live = el("div", { "aria-live": "polite" }), frame = el("div");
  let stream = null, timer = null, watched = null;

  function watch(name) {
    if (watched === name) return;
    watched = name; stream?.close();
    const points = {};
    const box = el("div", { class: "card" }, el("h2", {}, `Loss of ${name}`));
    const plot = el("div"), done = el("div", { class: "progress" }, el("div", { style: { width: "0%" } })), say = el("p", { class: "note" });
    box.append(done, say, plot); live.replaceChildren(box);
    let waiting = false;
    stream = new EventSource(`/api/runs/${encodeURIComponent(name)}/metrics`);
    stream.onmessage = (event) => {
      const rows = JSON.parse(event.data);
      for (const row of rows) (points[row.stage] ??= []).push([row.total_steps, row.loss]);
      const last = rows.at(-1);
      done.firstChild.style.width = `${100 * (last.progress ?? 0)}%`;
      say.textContent = `stage ${last.stage}, step ${last.total_steps.toLocaleString()}, ${last.characters.toLocaleString()} characters, loss ${last.loss.toFixed(3)}`;
      if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; plot.replaceChildren(chart(Object.entries(points).map(([stage, xy], i) => ({ name: stage, points: xy, colour: SERIES[i % SERIES.length] })), { x: "step", y: "loss, nats per character" })); }); }
    };
    stream.addEventListener("end", () => { stream.close(); if (!Object.keys(points).length) say.textContent = "no step was recorded yet"; refresh(); });
  }

  async function refresh() {
    try {
      const [all, trainings] = await Promise.all([runs(true), get("/api/trainings")]);
      list.replaceChildren(trainingList(trainings), runTable(all));
      const running = trainings.find((training) => training.state === "running");
      clearTimeout(timer);
      if (running) {
        const newest = all.filter((run) => run.run.startsWith(running.name) && run.state !== "finished").at(-1);
        if (newest) watch(newest.run);
        timer = setTimeout(refresh, 2500);
      }
    } catch (error) { list.replaceChildren(failed(error)); }
  }

  function trainingList(trainings) {
    if (!trainings.length) return el("div");
    const act = (name, what) => async () => { try { await post(`/api/trainings/${encodeURIComponent(name)}/${what}`, {}); } catch (error) { list.prepend(failed(error)); } refresh(); };
    return el("div", { class: "card" }, el("h2", {}, "Trainings"), trainings.map((one) => el("div", { class: "row" }, el("strong", {}, one.name), el("span", { class: one.state === "failed" ? "error" : "note" }, `${one.state}${one.message ? `: ${one.message}` : ""}`),
      one.state === "running" ? el("button", { class: "quiet", type: "button", on: { click: act(one.name, "stop") } }, "Stop") : null,
      one.state === "stopped" || one.state === "failed" ? el("button", { class: "quiet", type: "button", on: { click: act(one.name, "resume") } }, "Resume") : null)));
  }

  function runTable(all) {
    if (!all.length) return empty("No run yet", "Start the demo below: a small world, three ways of teaching, a report. The page stays usable while it trains.");
    return el("div", { class: "card" }, el("h2", {}, "All runs"), el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "runs" }, el("table", {}, el("thead", {}, el("tr", {}, ["run", "recipe", "state", "steps", "loss", "what it is", "look"].map((name) => el("th", {}, name)))),
      el("tbody", {}, all.map((run) => el("tr", {}, el("td", {}, run.run), el("td", {}, run.recipe ?? ""), el("td", {}, run.error ?? run.state), el("td", { class: "number" }, (run.steps ?? 0).toLocaleString()), el("td", { class: "number" }, run.loss === null || run.loss === undefined ? "–" : run.loss.toFixed(3)), el("td", {}, run.note ?? ""),
        el("td", {}, el("div", { class: "chips" }, run.steps ? el("button", { class: "chip", type: "button", on: { click: () => watch(run.run) } }, "curve") : null, el("a", { href: `#/ask?run=${encodeURIComponent(run.run)}` }, "ask"), (run.reports ?? []).map((report) => el("button", { class: "chip", type: "button", on: { click: () => open(run.run, report) } }, report))))))))));
  }

  function open(run, report) {
    frame.replaceChildren(el("h2", {}, report), el("iframe", { class: "report", title: `${report} of ${run}`, sandbox: "allow-scripts", src: `/reports/${encodeURIComponent(run)}/${encodeURIComponent(report)}` }));
    frame.scrollIntoView({ behavior: "smooth" });
  }

  page.append(starter(refresh), live, list, frame);
  await refresh();
  if (values.get("curve")) watch(values.get("curve"));
  return () => { stream?.close(); clearTimeout(timer); };
}

function starter(refresh) {
  const kind = el("select", {}, [["quick-demo", "quick demo (about a minute, proves nothing)"], ["demo", "demo (about five minutes)"], ["recipe", "one recipe on a new world"]].map(([value, text]) => el("option", { value }, text)));
  const recipe = el("select", {}, ["self-training", "recite", "demo"].map((name) => el("option", { value: name }, name)));
  const people = el("input", { type: "number", min: "20", max: "1000", value: "60" });
  const characters = el("input", { type: "number", min: "10000", max: "20000000", step: "10000", value: "400000" });
  const seed = el("input", { type: "number", min: "0", max: "1000000", value: "0" });
  const more = el("div", { class: "row", hidden: true }, field("Recipe", recipe), field("People", people), field("Characters", characters));
  kind.addEventListener("change", () => { more.hidden = kind.value !== "recipe"; });
  const said = el("div");
  const button = el("button", { type: "submit" }, "Start");
  return el("form", { class: "card", on: { submit: async (event) => {
    event.preventDefault(); button.disabled = true; said.replaceChildren();
    try { await post("/api/trainings", { kind: kind.value, recipe: recipe.value, people: Number(people.value), characters: Number(characters.value), seed: Number(seed.value) }); setTimeout(refresh, 600); }
    catch (error) { said.replaceChildren(failed(error)); }
    button.disabled = false;
  } } }, el("h2", {}, "Train"), el("div", { class: "row" }, field("What", kind, "field grow"), field("Seed", seed), button), more, said);
}
