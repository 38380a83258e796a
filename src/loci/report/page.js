/* Draws each figure from the data next to it in the page's own colours, and again when the colour scheme changes. */
(() => {
  "use strict";
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const touch = matchMedia("(pointer: coarse)").matches;
  const template = read("figure-template");

  function coloured() {
    const ink = css("--ink"), line = css("--line"), paper = css("--paper");
    const layout = structuredClone(template.layout);
    Object.assign(layout.font, { color: ink });
    for (const axis of ["xaxis", "yaxis"]) Object.assign(layout[axis], { gridcolor: line, linecolor: line, zerolinecolor: line });
    Object.assign(layout.hoverlabel, { bgcolor: paper, bordercolor: line, font: { ...layout.hoverlabel.font, color: ink } });
    layout.modebar = { bgcolor: "rgba(0,0,0,0)", color: css("--quiet"), activecolor: css("--accent") };
    return { ...template, layout };
  }

  function draw() {
    const house = coloured();
    for (const place of document.querySelectorAll(".plot")) {
      const figure = read(place.dataset.figure);
      for (const trace of figure.data) // intervals in the colour of the text, unless the figure says otherwise
        for (const bars of [trace.error_x, trace.error_y]) if (bars && !bars.color) bars.color = css("--quiet");
      figure.layout = { ...figure.layout, template: house, autosize: true };
      delete figure.layout.width;
      // On a phone a legend takes a line an entry: room for it is added, not taken from the plot.
      const shown = figure.data.filter((trace) => trace.showlegend !== false && trace.name).length;
      const height = parseInt(place.dataset.height) + (place.clientWidth < 560 && shown > 2 ? 20 * (shown - 1) : 0);
      place.style.height = `${height}px`;
      figure.layout.height = height;
      if (touch) figure.layout.dragmode = false; // a finger on a chart scrolls the page
      const config = { responsive: true, displaylogo: false, displayModeBar: touch ? false : "hover",
                       modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"], ...figure.config };
      Plotly.react(place, figure.data, figure.layout, config);
    }
  }

  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
})();
