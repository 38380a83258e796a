// What one can do here, and the same from a program.
import { el } from "./ui.js";

const PYTHON = `import json, urllib.request

def ask(question, run, server="http://127.0.0.1:8137"):
    body = json.dumps({"run": run, "question": question}).encode()
    request = urllib.request.Request(f"{server}/api/ask", body, {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request))`;

export function show(page) {
  const section = (title, ...texts) => [el("h2", {}, title), texts.map((text) => (typeof text === "string" ? el("p", {}, text) : text))];
  page.append(el("h1", {}, "Guide"), el("div", { class: "card" },
    section("What this is", "Loci teaches small transformers from text about people (or anything with a name), asks them questions, and shows what they know, how they know it, and when they are making it up. A model here answers from its weights alone: no text is looked up while it answers."),
    section("How to read an answer", "The bar is the run’s confidence. The dark mark is its threshold: below it the run says “I don’t know”. It also says why: it never read about the subject, it read about it but was not told, or it is unsure between answers. The lines below an answer come from the text it was trained on, if that is still there; they support the answer, they are not how it was found."),
    section("The sections", "Ask: one question, one or two runs, or a whole file. Attention: how a query, keys and values make an output, with every written exercise as a preset. Heads: what each head of a run looks at, and what happens without it. Generate: let a run write. Runs: train, watch, read reports."),
    section("From a program", el("pre", { tabindex: "0" }, PYTHON), el("p", {}, "The full description of the interface is at ", el("a", { href: "/api/openapi.json" }, "/api/openapi.json"), ".")),
    section("From the command line", el("pre", { tabindex: "0" }, 'loci ask RUN "Where was Letizia Tagliaferri born?"\nloci ask --server http://127.0.0.1:8137 RUN "Where was Letizia Tagliaferri born?"'))));
}
