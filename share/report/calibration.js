// Draws a calibration from the JSON that tools/calibration/calibration_report.cc writes, with the help of page.js.

const kSampleColour = "#d55e00";
const kCurveColour = dark ? "#56b4e9" : "#0072b2";

function showBandwidth(perByte) {
  if (!(perByte > 0)) return "∞";
  return perByte < 1e-9 ? `${(1e-9 / perByte).toPrecision(4)} GB/s` : `${(1e-6 / perByte).toPrecision(4)} MB/s`;
}
const showPercent = (share) => `${(100 * share).toFixed(1)} %`;
/** Q below 0.001 is shown as "<0.001". */
const showQ = (call, q) => !call.from_launches ? "–" : q < 0.001 ? "<0.001" : q.toPrecision(2);
const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

function writeHead() {
  byId("version").textContent = byId("version-again").textContent = data.rubato;
  byId("headline").textContent = `${data.name}: ${count(data.levels.length, "level")}, ` +
    count(data.calls.length, "call");
  Object.entries(data.measured).forEach(([key, value]) =>
    byId("measured").append(element("dt", key), element("dd", value)));
}

/** A vertical line at each size where a curve is cut. */
const breakpoints = {
  id: "breakpoints",
  beforeDatasetsDraw(chart) {
    const {ctx, chartArea, scales} = chart;
    ctx.save();
    ctx.strokeStyle = kOthersColour;
    ctx.setLineDash([3, 4]);
    for (const bytes of chart.options.breakpoints || []) {
      const x = scales.x.getPixelForValue(onLogAxis(bytes));
      ctx.beginPath();
      ctx.moveTo(x, chartArea.top);
      ctx.lineTo(x, chartArea.bottom);
      ctx.stroke();
    }
    ctx.restore();
  },
};

const legend = {display: true, position: "top", align: "start", labels: {usePointStyle: true, boxHeight: 7}};

/** Times over sizes, both logarithmic. */
function drawTimes(canvas, datasets, largest, cuts) {
  new Chart(canvas, {
    type: "scatter",
    data: {datasets},
    plugins: [breakpoints],
    options: {
      breakpoints: cuts,
      scales: {
        x: bytesAxis(largest, narrow() ? 64 : 8),
        y: {type: "logarithmic", title: {display: true, text: "Time"}, afterBuildTicks: decades,
          ticks: {callback: showTick}},
      },
      plugins: {
        legend,
        tooltip: {callbacks: {label: (item) =>
          `${item.dataset.label}: ${showBytes(item.raw.bytes)} in ${showSeconds(item.raw.y)}`}},
      },
    },
  });
}

/** Deviations of samples from their curve, in percent of it; dashed: the stated error of each segment. */
function drawResiduals(canvas, datasets, largest, cuts, segments = []) {
  const points = datasets.flatMap((dataset) => dataset.data);
  const limit = Math.max(5, ...points.map((point) => Math.abs(point.y))) * 1.15;
  const stated = [1, -1].map((sign) => line("Stated error", kCurveColour, segments.flatMap((segment, index) =>
    [segment.from, index + 1 < segments.length ? segments[index + 1].from : Math.max(largest, segment.from)]
      .map((bytes) => ({x: onLogAxis(bytes), y: sign * 100 * segment.error, bytes}))), [5, 4]));
  new Chart(canvas, {
    type: "scatter",
    data: {datasets: [...datasets, ...stated]},
    plugins: [breakpoints],
    options: {
      breakpoints: cuts,
      scales: {
        x: bytesAxis(largest, narrow() ? 64 : 16),
        y: {min: -limit, max: limit, title: {display: true, text: "Measured / fitted − 1"},
          ticks: {callback: (value) => `${Math.round(value)} %`, maxTicksLimit: 7, includeBounds: false},
          grid: {color: (context) => context.tick.value === 0 ? kText : kGrid}},
      },
      plugins: {tooltip: {callbacks: {label: (item) =>
        `${item.dataset.label}: ${showBytes(item.raw.bytes)}, ${item.raw.y.toFixed(1)} %`}}},
    },
  });
}

/** Two boxes for charts side by side. */
function chartPair(section) {
  const pair = element("div", undefined, {className: "pair"});
  const boxes = [element("div"), element("div")];
  pair.append(...boxes);
  section.append(pair);
  return boxes;
}

const dots = (label, colour, points) =>
  ({label, data: points, backgroundColor: colour, borderColor: colour, pointRadius: 3});
const line = (label, colour, points, dash = []) =>
  ({label, data: points, showLine: true, borderColor: colour, backgroundColor: colour, borderWidth: 2,
    borderDash: dash, pointRadius: 0, pointHitRadius: 0});

function drawCurve(section, level, curve) {
  const point = (bytes, seconds) => ({x: onLogAxis(bytes), y: seconds, bytes});
  const largest = Math.max(...curve.curve.map(([bytes]) => bytes));
  const cuts = curve.segments.slice(1).map((segment) => segment.from);
  const fitted = line("Fitted", kCurveColour, curve.curve.filter(([, seconds]) => seconds > 0)
    .map(([bytes, seconds]) => point(bytes, seconds)));
  const title = `${curve.title}, level ${level.level}`;
  section.append(element("h3", curve.title));
  if (curve.samples.length > 0) {
    const samples = curve.samples.map(([bytes, seconds]) => point(bytes, seconds));
    const [left, right] = chartPair(section);
    drawTimes(chartBox(left, 320, title), [dots("Measured", kSampleColour, samples), fitted], largest, cuts);
    const residuals = curve.samples.filter(([, , at]) => at > 0)
      .map(([bytes, seconds, at]) => point(bytes, 100 * (seconds / at - 1)));
    drawResiduals(chartBox(right, 320, `Residuals of ${title}`), [dots("Measured", kSampleColour, residuals)],
      largest, cuts, curve.segments);
  } else {
    drawTimes(chartBox(section, 320, title), [fitted], largest, cuts);
  }
  const table = element("table");
  const box = element("div", undefined, {className: "table-box"});
  box.append(table);
  section.append(box);
  fillTable(table, ["From", "between", "Latency", "Bandwidth", "rms error"], curve.segments.map((segment, index) =>
    [showBytes(segment.from), index === 0 ? "" : `${showBytes(segment.low)} and ${showBytes(segment.high)}`,
      showSeconds(segment.latency), showBandwidth(segment.per_byte), showPercent(segment.error)]));
}

function drawLevels() {
  for (const level of data.levels) {
    const section = element("section");
    byId("levels").append(section);
    section.append(element("h2", `Level ${level.level}`));
    section.append(element("p", "Dashed lines are breakpoints; the table has the 95 % confidence interval of each. The small chart shows the " +
      "deviation of each sample from the curve, and between dashed lines the error that the platform file states for " +
      "each segment.", {className: "explain"}));
    level.curves.forEach((curve) => drawCurve(section, level, curve));
  }
}

/** A call over its sizes, a colour per number of processes; without sizes over the processes. */
function drawCall(call) {
  const section = element("section");
  byId("calls").append(section);
  section.append(element("h2", call.name));
  const colour = (index) => kCallColours[index % kCallColours.length];
  const largest = Math.max(...call.samples.map(([, bytes]) => bytes));
  const overProcesses = largest === 0;
  const point = (p, bytes, y) => ({x: overProcesses ? p : onLogAxis(bytes), y, bytes});
  const cuts = call.pieces.slice(1).map((piece) => piece.from);
  const [left, right] = chartPair(section);
  const times = [], residuals = [];
  call.curves.forEach(({processes, points}, index) => {
    const own = call.samples.filter(([p]) => p === processes);
    const label = `p = ${processes}`;
    times.push(dots(label, colour(index), own.map(([p, bytes, seconds]) => point(p, bytes, seconds))));
    residuals.push(dots(label, colour(index),
      own.filter((sample) => sample[4] > 0).map(([p, bytes, seconds, , fitted]) =>
        point(p, bytes, 100 * (seconds / fitted - 1)))));
    if (overProcesses) return;
    const drawn = (column) => points.filter((one) => one[column] > 0).map((one) => point(processes, one[0], one[column]));
    times.push(line("", colour(index), drawn(1)));
    if (call.pieces.length > 1) times.push({...line("", colour(index), drawn(2), [2, 4]), borderWidth: 1});
  });
  const canvas = chartBox(left, 320, `Times of ${call.name} with their formula`);
  const small = chartBox(right, 320, `Residuals of ${call.name}`);
  if (overProcesses) {
    times.push(line("Fitted", kCurveColour, call.samples.map(([p, , , , fitted]) => point(p, 0, fitted))));
  }
  if (overProcesses) drawOverProcesses(canvas, small, times, residuals);
  else {
    drawTimes(canvas, times, largest, cuts);
    Chart.getChart(canvas).options.plugins.legend.labels.filter = (item) => item.text !== "";
    Chart.getChart(canvas).update();
    drawResiduals(small, residuals, largest, cuts);
  }
  const table = element("table");
  const box = element("div", undefined, {className: "table-box"});
  box.append(table);
  section.append(box);
  fillTable(table, ["From", "Time (µs)", "Q", "rms error"], call.pieces.map((piece) =>
    [showBytes(piece.from), piece.formula, showQ(call, piece.q),
      showPercent(piece.error)]));
}

/** A barrier has no sizes. */
function drawOverProcesses(canvas, small, times, residuals) {
  const x = {type: "linear", title: {display: true, text: "Processes"}, ticks: {precision: 0}};
  const draw = (where, datasets, text, callback) => new Chart(where, {
    type: "scatter",
    data: {datasets},
    options: {scales: {x, y: {title: {display: true, text}, ticks: {callback}}}, plugins: {legend}},
  });
  draw(canvas, times, "Time", showTick);
  draw(small, residuals, "Measured / fitted − 1", (value) => `${value} %`);
}

writeHead();
drawLevels();
if (data.calls.length > 0) {
  fillTable(byId("formula-table"), ["MPI function", "Time (µs)", "Goodness of fit (Q)"],
    data.calls.map((call) => [call.name, call.formula, showQ(call, call.q)]));
  data.calls.forEach(drawCall);
} else {
  byId("formulas").remove();
}
