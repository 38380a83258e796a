// Ask one or two runs; see the answer, its probability and threshold, the reason for silence, evidence and the inside.
import { get, post } from "./api.js";
import { noRun } from "./runs.js";
import { insideOf } from "./inside.js";
import { remember, runPicker, runs, askable } from "./main.js";
import { bars, download, el, failed, field, loading, percent } from "./ui.js";

const REASONS = {
  "never read about": "never read about them",
  "not told": "read about them, but was not told this",
  "unsure": "unsure which answer is right",
};

function why(answer) {
  if (answer.silence === "unreadable") return answer.note ? `It cannot read this question: ${answer.note}.` : "It cannot read this question.";
  const who = answer.subject ?? "this subject", rival = answer.alternatives?.[0]?.text;
  if (answer.silence === "never read about") return `It never read about ${who}.`;
  if (answer.silence === "not told") return `It read about ${who}, but was not told this.`;
  return answer.text && rival ? `It is unsure between ${answer.text} and ${rival}.` : "It is unsure.";
}

export async function show(page, values) {
  page.append(el("h1", {}, "Ask"), el("p", { class: "lead" },
    "A closed-book memory: the run answers from its weights alone. It shows how sure it is, and says “I don’t know” with the reason."));
  if (!askable(await runs()).length) {
    page.append(noRun());
    return;
  }
  const all = askable(await runs());
  let run = all.some((one) => one.run === values.get("run")) ? values.get("run") : all.at(-1).run;
  let other = all.some((one) => one.run === values.get("with")) ? values.get("with") : "";
  const results = el("div", { class: "grid", "aria-live": "polite" });
  const people = el("div");
  const input = el("input", { type: "text", value: values.get("q") ?? "", placeholder: "Where was … born?", maxlength: "1000", autocomplete: "off" });
  const button = el("button", { type: "submit" }, "Ask");

  async function ask() {
    const question = input.value.trim();
    if (!question) { input.focus(); return; }
    remember({ q: question, run, with: other });
    button.disabled = true;
    const asked = [run, other].filter(Boolean);
    results.replaceChildren(...asked.map(() => el("div", { class: "card" }, loading("Asking…"))));
    await Promise.all(asked.map(async (name, index) => {
      const card = results.children[index];
      try { card.replaceChildren(answerCard(await post("/api/ask", { run: name, question }), name)); }
      catch (error) { card.replaceChildren(failed(error)); }
    }));
    button.disabled = false;
  }

  const first = await runPicker({ chosen: run, onChange: (name) => { run = name; remember({ run }); listPeople(); } });
  const second = await runPicker({ label: "Compare with", chosen: other, none: "nobody", onChange: (name) => { other = name; remember({ with: other }); } });
  const form = el("form", { class: "card", on: { submit: (event) => { event.preventDefault(); ask(); } } },
    el("div", { class: "row" }, first.box, second.box),
    el("div", { class: "row", style: { marginTop: ".6rem" } }, field("Question or name", input, "field grow"), button));

  async function listPeople() {
    people.replaceChildren(loading("Looking for people to try…"));
    try {
      const kinds = await get(`/api/runs/${encodeURIComponent(run)}/people`);
      const groups = Object.entries(kinds);
      people.replaceChildren(el("h2", {}, "Somebody to try"), ...(groups.length ? groups.map(([kind, questions]) => el("div", {}, el("h3", {}, kind), el("div", { class: "chips" },
        questions.slice(0, 8).map(({ subject, question }) => el("button", { class: "chip", type: "button", title: question, on: { click: () => { input.value = question; ask(); form.scrollIntoView({ behavior: "smooth" }); } } }, subject))))) : [el("p", { class: "note" }, "The run’s text is not next to it, so no names can be offered. Any question will do.")]));
    } catch (error) { people.replaceChildren(failed(error)); }
  }

  page.append(form, el("div", { class: "split" }, el("div", {}, results, manyQuestions(() => run)), el("aside", { class: "card", "aria-label": "People to try" }, people)));
  listPeople();
  if (input.value) ask();
}

function answerCard(answer, run) {
  const inside = el("div");
  const opener = el("button", { class: "quiet", type: "button", on: { click: async () => {
    opener.disabled = true;
    inside.replaceChildren(loading("Looking inside…"));
    try { inside.replaceChildren(await insideOf(run, answer.question)); } catch (error) { inside.replaceChildren(failed(error)); }
  } } }, "Look inside this answer");
  const rivals = answer.alternatives ?? [];
  const reasons = Object.entries(answer.reason_probabilities ?? {}).filter(([, p]) => p > 0.005);
  return el("div", {},
    el("p", { class: "note" }, run), el("p", { class: "question" }, answer.question),
    el("p", { class: `answer ${answer.known ? "known" : "silent"}` }, answer.answer),
    answer.silence ? el("p", { class: "why" }, why(answer)) : null,
    answer.silence === "unreadable" ? null : scale(answer),
    answer.known || !reasons.length ? null : [el("h3", {}, "Why it is silent"), bars(reasons.map(([name, value]) => ({ name: REASONS[name] ?? name, value, of: 1 })))],
    answer.probability < 0.01 && !answer.known ? null : [!answer.known && answer.text ? el("p", { class: "note" }, `Its best guess would be ${answer.text}.`) : null,
      rivals.length ? [el("h3", {}, "Answers it considered"), bars([{ name: answer.text, value: answer.probability, of: 1 }, ...rivals.map((rival) => ({ name: rival.text, value: rival.probability, of: 1 }))])] : null],
    answer.recited ? [el("h3", {}, "What it remembered"), el("p", { class: "evidence" }, marked(answer.recited, answer.text))] : null,
    (answer.evidence ?? []).length ? [el("h3", {}, answer.in_corpus === false ? "The nearest lines of the text" : "Lines of the text"), answer.evidence.map((line) => el("p", { class: `evidence${line.marks.length ? " supports" : ""}` }, segments(line.text, line.marks), el("span", { class: "note" }, ` ${line.file ? `${line.file}, ` : ""}line ${line.line}`)))] : null,
    opener, inside);
}

function scale(answer) {
  const tick = answer.threshold;
  return el("div", { class: "scale", role: "img", "aria-label": `probability ${percent(answer.probability)}${tick === null ? "" : `, threshold ${percent(tick)}`}` },
    el("div", { class: `fill${answer.known ? "" : " low"}`, style: { width: `${100 * answer.probability}%` } }),
    tick === null || tick === undefined ? null : el("div", { class: "tick", style: { left: `${100 * tick}%` } }),
    tick === null || tick === undefined ? null : el("span", { class: "label", style: { left: `${Math.min(90, Math.max(10, 100 * tick))}%` } }, `threshold ${percent(tick)}`),
    el("span", { class: "label", style: { left: `${Math.min(94, Math.max(6, 100 * answer.probability))}%`, top: "-20px" } }, percent(answer.probability)));
}

function segments(text, marks) {
  const characters = [...text];
  const parts = [];
  let at = 0;
  for (const [start, end] of marks) {
    parts.push(characters.slice(at, start).join(""), el("mark", {}, characters.slice(start, end).join("")));
    at = end;
  }
  return [...parts, characters.slice(at).join("")];
}

function marked(text, words) {
  const at = words ? text.indexOf(words) : -1;
  return at < 0 ? [text] : [text.slice(0, at), el("mark", {}, words), text.slice(at + words.length)];
}

function manyQuestions(run) {
  const box = el("textarea", { placeholder: "One question a line. Answers after a tab are compared." });
  const file = el("input", { type: "file", accept: ".txt,.tsv" });
  const out = el("div", { "aria-live": "polite" });
  file.addEventListener("change", async () => { if (file.files[0]) box.value = (await file.files[0].text()).slice(0, 900_000); });
  const button = el("button", { type: "button", on: { click: async () => {
    const rows = box.value.split("\n").map((line) => line.replace(/\r$/, "").split("\t")).filter(([question]) => question.trim());
    if (!rows.length) { box.focus(); return; }
    button.disabled = true;
    out.replaceChildren(loading(`Asking ${rows.length} questions…`));
    try {
      const { answers } = await post("/api/ask/batch", { run: run(), questions: rows.map(([question]) => question.trim()) });
      out.replaceChildren(table(answers, rows));
    } catch (error) { out.replaceChildren(failed(error)); }
    button.disabled = false;
  } } }, "Ask all");
  return el("details", { class: "card" }, el("summary", {}, "Ask a whole file"), field("Questions", box), field("or choose a file", file),
    el("p", {}), button, out);
}

function table(answers, rows) {
  const scored = answers.map((answer, index) => ({ answer, truth: rows[index][1]?.trim() ?? "" }));
  const withTruth = scored.filter((row) => row.truth);
  const right = withTruth.filter((row) => row.answer.known && row.answer.text === row.truth).length;
  const given = answers.filter((answer) => answer.known).length;
  const jsonl = answers.map((answer) => JSON.stringify(answer)).join("\n") + "\n";
  return el("div", {},
    el("p", {}, `${given} of ${answers.length} answered`, withTruth.length ? `, ${right} of ${withTruth.length} rightly` : "", ". ",
      el("button", { class: "quiet", type: "button", on: { click: () => download("answers.jsonl", jsonl, "application/x-ndjson") } }, "Download rows")),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "answers" }, el("table", {}, el("thead", {}, el("tr", {}, ["question", "answer", "probability", "truth"].map((name) => el("th", {}, name)))),
      el("tbody", {}, scored.slice(0, 300).map(({ answer, truth }) => el("tr", {}, el("td", {}, answer.question), el("td", {}, answer.answer), el("td", { class: "number" }, percent(answer.probability)), el("td", {}, truth)))))));
}
