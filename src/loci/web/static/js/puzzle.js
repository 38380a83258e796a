// The designed Q/K/V puzzle: inputs x1 = d + b, x2 = a, x3 = c + b of orthogonal symbols; find matrices that copy as asked.
import { el } from "./ui.js";

const SYMBOLS = "abcd", BETA = 10, INPUTS = ["d + b", "a", "c + b"], WANTED = { 0: "b - c", 1: "b" };

// "da + cd" is (u_d u_aᵀ + u_c u_dᵀ)/β²: it turns a into d and d into c. "I" is the identity.
export function matrix(text) {
  const m = SYMBOLS.split("").map(() => [0, 0, 0, 0]);
  const terms = text.replace(/\s+/g, "").replace(/-/g, "+-").split("+").filter(Boolean);
  for (const term of terms) {
    const found = /^(-?)(\d*\.?\d*)(I|[abcd][abcd])$/.exec(term);
    if (!found) throw new Error(`“${term}” is no term: write pairs such as da, with + and -, or I`);
    const factor = (found[1] ? -1 : 1) * (found[2] ? Number(found[2]) : 1);
    if (found[3] === "I") for (let i = 0; i < 4; i++) m[i][i] += factor;
    else m[SYMBOLS.indexOf(found[3][0])][SYMBOLS.indexOf(found[3][1])] += factor;
  }
  return m;
}
const sum = (text) => { const v = [0, 0, 0, 0]; for (const term of text.replace(/\s+/g, "").replace(/-/g, "+-").split("+").filter(Boolean)) v[SYMBOLS.indexOf(term.at(-1))] += term[0] === "-" ? -1 : 1; return v; };
const apply = (m, v) => m.map((row) => row.reduce((total, x, j) => total + x * v[j], 0));

export function outputs(Q, K, V) {
  const x = INPUTS.map(sum), keys = x.map((v) => apply(K, v)), values = x.map((v) => apply(V, v));
  return x.map((v) => {
    const q = apply(Q, v), scores = keys.map((k) => BETA * BETA * k.reduce((total, y, j) => total + y * q[j], 0));
    const most = Math.max(...scores), e = scores.map((score) => Math.exp(score - most)), all = e.reduce((p, r) => p + r);
    return [0, 1, 2, 3].map((j) => values.reduce((total, value, i) => total + (e[i] / all) * value[j], 0));
  });
}
const shown = (v) => v.map((x, i) => (Math.abs(x) < 0.005 ? "" : `${x < 0 ? " − " : " + "}${Math.abs(Math.abs(x) - 1) < 0.005 ? "" : Math.abs(x).toFixed(2) + " "}${SYMBOLS[i]}`)).join("").replace(/^ \+ /, "") || "0";

export function puzzle() {
  const inputs = { Q: el("input", { value: "I" }), K: el("input", { value: "I" }), V: el("input", { value: "I" }) };
  const result = el("div", { role: "status" });
  const check = () => {
    try {
      const c = outputs(matrix(inputs.Q.value), matrix(inputs.K.value), matrix(inputs.V.value));
      result.replaceChildren(...c.map((v, i) => {
        const wanted = WANTED[i] ? sum(WANTED[i]) : null, right = wanted?.every((x, j) => Math.abs(x - v[j]) < 0.05);
        return el("p", { class: right ? "ok" : "" }, `c${i + 1} ≈ ${shown(v)}`, wanted ? (right ? " ✓" : `, wanted ${WANTED[i].replace("-", "−")}`) : "");
      }));
    } catch (error) { result.replaceChildren(el("p", { class: "error" }, error.message)); }
  };
  for (const input of Object.values(inputs)) input.addEventListener("input", check);
  check();
  return el("div", {}, el("h3", {}, "Try it"), el("p", {}, "The inputs are x1 = d + b, x2 = a, x3 = c + b. Find matrices so that c2 copies b and c1 is b − c. Write u_d u_aᵀ as da: it turns a into d."),
    el("div", { class: "puzzle" }, Object.entries(inputs).map(([name, input]) => { input.setAttribute("aria-label", `matrix ${name}`); return [el("strong", {}, name), input]; })), result,
    el("details", {}, el("summary", {}, "One solution"), el("p", {}, "Q = da + cd, K = I, V = bb − cc")));
}
