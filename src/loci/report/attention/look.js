/* The attention of one answer: a grid of small maps, one large map, and the text coloured by where a character looks. */
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("look-data").textContent);
  const bytes = Uint8Array.from(atob(data.weights), (c) => c.charCodeAt(0));
  const n = data.symbols.length;
  const weight = (map, from, to) => (bytes[(map * n + from) * n + to] / 255) ** 2; // stored as roots, finer near zero
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const shown = (symbol) => (symbol === " " ? "·" : symbol);
  const grid = document.querySelector(".look-grid"), strip = document.querySelector(".strip.pick");
  const said = document.querySelector(".look-said"), canvas = document.querySelector(".look-map");
  const title = document.querySelector(".look-title");
  let map = data.start, from = data.from;

  let together; // the characters of a word stay on one line
  const cells = data.symbols.map((symbol, i) => {
    const cell = document.createElement("span");
    cell.className = "c";
    cell.textContent = shown(symbol);
    if (!together || data.symbols[i - 1] === " ") {
      together = document.createElement("span");
      together.className = "together";
      strip.append(together);
    }
    if (symbol === " ") cell.classList.add("gap");
    if (i >= data.subject[0] && i < data.subject[1]) cell.classList.add("name");
    cell.addEventListener("click", () => { from = i; update(); });
    together.append(cell);
    return cell;
  });

  const buttons = data.maps.map((name, index) => {
    const button = grid.querySelector(`[data-map="${index}"]`);
    button.addEventListener("click", () => { map = index; update(); });
    return button;
  });

  function rgb() {
    const probe = document.createElement("span");
    probe.style.color = css("--accent");
    document.body.append(probe);
    const found = getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number);
    probe.remove();
    return found;
  }

  function thumbnails() {
    const [r, g, b] = rgb();
    buttons.forEach((button, index) => {
      const small = button.querySelector("canvas");
      small.width = small.height = n;
      const image = new ImageData(n, n);
      for (let i = 0; i < n; i++) for (let j = 0; j <= i; j++) {
        image.data.set([r, g, b, Math.min(255, 255 * Math.sqrt(weight(index, i, j)) * 1.15)], 4 * (i * n + j));
      }
      small.getContext("2d").putImageData(image, 0, 0);
    });
  }

  const size = Math.max(11, Math.min(20, Math.floor(980 / (n + 2)))), margin = 2 * size;

  function large() {
    const ratio = window.devicePixelRatio || 1, side = margin + n * size;
    canvas.width = canvas.height = side * ratio;
    canvas.style.width = canvas.style.height = `${side}px`;
    const pen = canvas.getContext("2d"), [r, g, b] = rgb();
    pen.scale(ratio, ratio);
    pen.font = `${Math.min(14, size)}px ui-monospace, "Liberation Mono", monospace`;
    pen.textAlign = "center"; pen.textBaseline = "middle";
    for (let i = 0; i < n; i++) {
      const centre = margin + (i + 0.5) * size, name = i >= data.subject[0] && i < data.subject[1];
      pen.fillStyle = i === from ? css("--accent") : name ? css("--ink") : css("--quiet");
      pen.fillText(shown(data.symbols[i]), margin / 2, centre);
      pen.fillStyle = name ? css("--ink") : css("--quiet");
      pen.fillText(shown(data.symbols[i]), centre, margin / 2);
      for (let j = 0; j <= i; j++) {
        pen.fillStyle = `rgba(${r},${g},${b},${Math.sqrt(weight(map, i, j))})`;
        pen.fillRect(margin + j * size, margin + i * size, size - 1, size - 1);
      }
    }
    pen.strokeStyle = css("--line"); pen.lineWidth = 1;
    for (const position of [data.subject[0], data.subject[1], data.prompt]) {
      if (position >= n) continue;
      const at = margin + position * size - 0.5;
      pen.beginPath(); pen.moveTo(at, margin / 2); pen.lineTo(at, margin + n * size);
      pen.moveTo(margin / 2, at); pen.lineTo(margin + n * size, at); pen.stroke();
    }
    pen.strokeStyle = css("--accent"); pen.lineWidth = 1.5;
    pen.strokeRect(margin - 1, margin + from * size - 1, (from + 1) * size + 1, size + 1);
  }

  function update() {
    buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(index === map)));
    const row = data.symbols.map((_, j) => (j <= from ? weight(map, from, j) : 0));
    const most = Math.max(...row), [r, g, b] = rgb();
    cells.forEach((cell, j) => {
      cell.classList.toggle("from", j === from);
      cell.classList.toggle("later", j > from);
      cell.style.background = j <= from ? `rgba(${r},${g},${b},${most ? 0.85 * row[j] / most : 0})` : "none";
      cell.title = j <= from ? `“${data.symbols[j]}” ${row[j].toFixed(3)}` : "not yet seen";
    });
    const best = row.indexOf(most);
    const onName = row.slice(...data.subject).reduce((sum, value) => sum + value, 0);
    title.textContent = data.maps[map];
    said.textContent = `From “${data.symbols[from]}”, position ${from + 1}: most on “${data.symbols[best]}”, position ${best + 1} ` +
      `(${most.toFixed(2)}); on the name in all ${onName.toFixed(2)}.`;
    large();
  }

  function cellAt(event) {
    const box = canvas.getBoundingClientRect();
    return [event.clientY - box.top, event.clientX - box.left].map((at) => Math.floor((at - margin) / size));
  }
  canvas.addEventListener("mousemove", (event) => {
    const [i, j] = cellAt(event);
    const inside = i >= 0 && i < n && j >= 0 && j <= i;
    canvas.title = inside ? `“${data.symbols[i]}” looks at “${data.symbols[j]}”: ${weight(map, i, j).toFixed(3)}` : "";
  });
  canvas.addEventListener("click", (event) => {
    const [i] = cellAt(event);
    if (i >= 0 && i < n) { from = i; update(); }
  });
  document.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !strip.matches(":hover, :focus-within, :focus")) return;
    from = Math.min(n - 1, Math.max(0, from + step));
    event.preventDefault(); update();
  });

  const redraw = () => { thumbnails(); update(); };
  redraw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
})();
