// Line charts as SVG.
const NS = "http://www.w3.org/2000/svg";
function svg(tag, attributes, text) {
  const element = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}
const round = (value) => Number(value.toPrecision(3)).toLocaleString();

export function chart(series, { x = "", y = "", width = 720, height = 260 } = {}) {
  const left = 52, bottom = 34, top = 22, right = 12;
  const xs = series.flatMap((one) => one.points.map((point) => point[0])), ys = series.flatMap((one) => one.points.map((point) => point[1])).filter(Number.isFinite);
  const [x0, x1] = [Math.min(...xs), Math.max(...xs)], [y0, y1] = [Math.min(0, ...ys), Math.max(...ys)];
  const px = (v) => left + ((v - x0) / (x1 - x0 || 1)) * (width - left - right), py = (v) => height - bottom - ((v - y0) / (y1 - y0 || 1)) * (height - bottom - top);
  const root = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${y} against ${x}` });
  for (let i = 0; i <= 4; i++) {
    const v = y0 + ((y1 - y0) * i) / 4;
    root.append(svg("line", { class: "axis", x1: left, x2: width - right, y1: py(v), y2: py(v) }), svg("text", { x: left - 6, y: py(v) + 4, "text-anchor": "end" }, round(v)));
    const u = x0 + ((x1 - x0) * i) / 4;
    root.append(svg("text", { x: px(u), y: height - bottom + 15, "text-anchor": i === 4 ? "end" : "middle" }, x1 - x0 > 8 ? Math.round(u).toLocaleString() : round(u)));
  }
  root.append(svg("text", { x: width - right, y: height - 4, "text-anchor": "end" }, x), svg("text", { x: left, y: 12 }, y));
  let legend = width - right;
  for (const one of [...series].reverse()) {
    const every = Math.max(1, Math.floor(one.points.length / 700));
    const points = one.points.filter((_, i) => i % every === 0 || i === one.points.length - 1).filter((point) => Number.isFinite(point[1]));
    root.append(svg("polyline", { stroke: one.colour, points: points.map((point) => `${px(point[0]).toFixed(1)},${py(point[1]).toFixed(1)}`).join(" ") }));
    const label = svg("text", { x: legend, y: 12, "text-anchor": "end" }, one.name);
    label.style.fill = one.colour;
    root.append(label);
    legend -= 9 + 6.5 * one.name.length;
  }
  return root;
}
