// Draws a comparison from the JSON that tools/calibration/compare_report.cc writes, with the help of page.js.

const kColourA = dark ? "#56b4e9" : "#0072b2";
const kColourB = "#d55e00";

const asterisks = (p) => p <= 0.001 ? "***" : p <= 0.01 ? "**" : p <= 0.05 ? "*" : "";
const showP = (p) => p < 0.0001 ? "<0.0001" : p.toFixed(4);

function writeHead() {
  byId("version").textContent = byId("version-again").textContent = data.rubato;
  byId("headline").textContent = `${data.differing} of ${data.cells.length - data.with_too_few_launches} ` +
    `measurements differ between ${data.a} and ${data.b}`;
  data.notes.forEach((note) => byId("trust-lines").append(element("li", note)));
}

/** The range of launches of each point. */
const ranges = {
  id: "ranges",
  beforeDatasetsDraw(chart) {
    const context = chart.ctx;
    context.save();
    context.lineWidth = 2;
    for (const dataset of chart.data.datasets) {
      context.strokeStyle = dataset.borderColor;
      for (const point of dataset.data) {
        const x = chart.scales.x.getPixelForValue(point.x);
        context.beginPath();
        context.moveTo(x, chart.scales.y.getPixelForValue(point.low));
        context.lineTo(x, chart.scales.y.getPixelForValue(point.high));
        context.stroke();
      }
    }
    context.restore();
  },
};

function drawTimes(canvas, cells) {
  const side = (label, colour, times, median) => ({
    label, borderColor: colour, backgroundColor: colour, borderWidth: 1, pointRadius: 3, showLine: true,
    data: cells.map((cell) => ({x: onLogAxis(cell.bytes), y: cell[median], bytes: cell.bytes,
      low: Math.min(...cell[times]), high: Math.max(...cell[times])})),
  });
  new Chart(canvas, {
    type: "scatter",
    data: {datasets: [side("A", kColourA, "a", "median_a"), side("B", kColourB, "b", "median_b")]},
    plugins: [ranges],
    options: {
      scales: {
        x: bytesAxis(Math.max(...cells.map((cell) => cell.bytes)), narrow() ? 64 : 8),
        y: {type: "logarithmic", title: {display: true, text: "Time"}, afterBuildTicks: decades,
          ticks: {callback: showTick}},
      },
      plugins: {
        legend: {display: true, position: "top", align: "start", labels: {usePointStyle: true, boxHeight: 7}},
        tooltip: {callbacks: {label: (item) => `${item.dataset.label}: ${showBytes(item.raw.bytes)} in ` +
          `${showSeconds(item.raw.y)}, ${showSeconds(item.raw.low)} to ${showSeconds(item.raw.high)}`}},
      },
    },
  });
}

/** The relative difference of B; points are filled if it is significant, and larger for smaller p. */
function drawRatios(canvas, cells) {
  const points = cells.map((cell) => ({x: onLogAxis(cell.bytes), y: 100 * (cell.median_b / cell.median_a - 1),
    bytes: cell.bytes, p: cell.p_two_sided}));
  const limit = Math.max(5, ...points.map((point) => Math.abs(point.y))) * 1.15;
  new Chart(canvas, {
    type: "scatter",
    data: {datasets: [{
      data: points,
      borderColor: kText,
      backgroundColor: points.map((point) => point.p <= 0.05 ? kColourB : "transparent"),
      pointRadius: points.map((point) => 3 + asterisks(point.p).length),
    }]},
    options: {
      scales: {
        x: bytesAxis(Math.max(...points.map((point) => point.bytes)), narrow() ? 64 : 16),
        y: {min: -limit, max: limit, title: {display: true, text: "B − A"},
          ticks: {callback: (value) => `${Math.round(value)} %`, maxTicksLimit: 7, includeBounds: false},
          grid: {color: (context) => context.tick.value === 0 ? kText : kGrid}},
      },
      plugins: {tooltip: {callbacks: {label: (item) =>
        `${showBytes(item.raw.bytes)}: ${item.raw.y.toFixed(1)} %, p = ${showP(item.raw.p)} ${asterisks(item.raw.p)}`}}},
    },
  });
}

function drawOperation(operation, cells) {
  const section = element("section");
  byId("operations").append(section);
  section.append(element("h2", operation));
  const differing = cells.filter((cell) => cell.p_two_sided <= 0.05).length;
  const able = cells.filter((cell) => cell.least_p <= 0.05).length;
  section.append(element("p", `${differing} of ${able} sizes differ at significance level 0.05. They are the filled ` +
    "points in the small chart, which are larger for smaller p.", {className: "explain"}));
  const pair = element("div", undefined, {className: "pair"});
  const left = element("div");
  const right = element("div");
  pair.append(left, right);
  section.append(pair);
  drawTimes(chartBox(left, 320, `Times of A and B over message size, ${operation}`), cells);
  drawRatios(chartBox(right, 320, `How much slower B is than A over message size, ${operation}`), cells);

  const format = columnFormat(cells.flatMap((cell) => [cell.median_a, cell.median_b]));
  const table = element("table");
  const details = element("details");
  const box = element("div", undefined, {className: "table-box tall"});
  box.append(table);
  details.append(element("summary", "Table of all sizes"), box);
  details.open = cells.length <= 16;
  section.append(details);
  fillTable(table, ["Size", `A (${format.name})`, `B (${format.name})`, "B / A", "p", "Differ", "A faster", "B faster", "p (t)"],
    cells.map((cell) => [showBytes(cell.bytes), format.show(cell.median_a), format.show(cell.median_b),
      (cell.median_b / cell.median_a).toFixed(3), showP(cell.p_two_sided), asterisks(cell.p_two_sided),
      asterisks(cell.p_a_faster), asterisks(cell.p_b_faster),
      Math.min(cell.a.length, cell.b.length) < 2 ? "-" : showP(cell.p_welch)]));
}

writeHead();
for (const operation of new Set(data.cells.map((cell) => cell.operation))) {
  drawOperation(operation, data.cells.filter((cell) => cell.operation === operation));
}
