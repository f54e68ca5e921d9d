// Sweeps of scenarios: the elapsed time over one parameter of a machine as a curve, over two as a heat map, with the
// factors from which a parameter matters. Loaded before report.js.

const showFactor = (factor) => `${parseFloat(factor.toPrecision(3)).toLocaleString("en-US")} ×`;
const kSweepRamp = dark ? [[28, 38, 48], [0, 114, 178], [205, 232, 250]] : [[242, 247, 251], [86, 160, 211], [6, 54, 92]];
const kSweepCurve = dark ? "#56b4e9" : "#0072b2";
const kSweepBand = dark ? "rgba(86, 180, 233, 0.22)" : "rgba(0, 114, 178, 0.15)";
const kLimits = [[1, [7, 5]], [10, []]];  // percent above the best, and its dashes
const kLimitColour = dark ? "#ffb26b" : "#c04a00";

/** Colour of a share from 0 to 1. */
function rampColour(share) {
  const at = Math.min(1, Math.max(0, share)) * (kSweepRamp.length - 1);
  const first = Math.min(Math.floor(at), kSweepRamp.length - 2);
  const parts = kSweepRamp[first].map((part, i) => Math.round(part + (at - first) * (kSweepRamp[first + 1][i] - part)));
  return `rgb(${parts.join(",")})`;
}

/** Vertical lines at the crossovers of a curve, with labels. */
const crossoverLines = (crossovers) => ({
  id: "crossoverLines",
  afterDatasetsDraw(chart) {
    const {ctx: context, chartArea: area, scales} = chart;
    context.save();
    context.font = Chart.helpers.toFont({size: 12}).string;
    context.fillStyle = context.strokeStyle = kLimitColour;
    context.lineWidth = 1.5;
    const placed = crossovers.map((crossover, index) => ({...crossover, dashes: kLimits[index][1]}))
      .filter((crossover) => crossover.factor !== null).sort((a, b) => a.factor - b.factor);
    placed.forEach(({percent, factor, dashes}, index) => {
      const x = scales.x.getPixelForValue(factor);
      const words = `+${percent} %${narrow() ? "" : ` at ${showFactor(factor)}`}`;
      const width = context.measureText(words).width + 12;
      const left = x - width < area.left ? false : index === 0 || x + width > area.right;
      context.setLineDash(dashes);
      context.beginPath();
      context.moveTo(x, area.top);
      context.lineTo(x, area.bottom);
      context.stroke();
      context.textAlign = left ? "right" : "left";
      context.fillText(words, x + (left ? -6 : 6), area.top + 12 + 16 * index);
    });
    context.restore();
  },
});

/** The curve, a ring at the unchanged scenario, and the band of intervals. */
function curveDatasets(sweep) {
  const [axis] = sweep.axes;
  const over = (values) => values.map((seconds, index) => ({x: axis.factors[index], y: seconds}));
  const edge = {borderWidth: 0, pointRadius: 0, pointHitRadius: 0, backgroundColor: kSweepBand};
  const inside = axis.factors[0] <= 1 && axis.factors[axis.factors.length - 1] >= 1;
  return [
    ...inside ? [{data: [{x: 1, y: sweep.unchanged}], pointRadius: 6, pointHitRadius: 0, borderWidth: 2, borderColor: kText,
      backgroundColor: kPage}] : [],
    {data: over(sweep.elapsed[0]), isCurve: true, borderColor: kSweepCurve, backgroundColor: kSweepCurve, borderWidth: 2, pointRadius: 2},
    ...sweep.intervals ? [{...edge, data: over(sweep.intervals.map((interval) => interval.low))},
      {...edge, data: over(sweep.intervals.map((interval) => interval.high)), fill: "-1"}] : [],
  ];
}

function drawSweepCurve(parent, sweep) {
  const [axis] = sweep.axes;
  const {factors} = axis;
  const interval = (index) => sweep.intervals
    ? ` (${showSeconds(sweep.intervals[index].low)} to ${showSeconds(sweep.intervals[index].high)})` : "";
  new Chart(chartBox(parent, 320, `Elapsed time of ${sweep.scenario} over ${axis.key}. ${sweep.findings.join(" ")}`), {
    type: "line",
    data: {datasets: curveDatasets(sweep)},
    plugins: [crossoverLines(axis.crossovers)],
    options: {
      interaction: {mode: "nearest", axis: "x", intersect: false},
      scales: {
        x: {type: "logarithmic", min: factors[0], max: factors[factors.length - 1], afterBuildTicks: decades,
          title: {display: true, text: `${axis.key}, times that of the scenario`},
          ticks: {callback: showFactor, autoSkip: false, maxRotation: 0}},
        y: {min: 0, title: {display: !narrow(), text: "Elapsed"}, ticks: {callback: showTick, maxTicksLimit: 7}},
      },
      plugins: {tooltip: {filter: (item) => item.dataset.isCurve, callbacks: {
        title: (items) => `${axis.key} ${showFactor(items[0].parsed.x)}`,
        label: (item) => `${showSeconds(item.parsed.y)}${interval(item.dataIndex)}, ${(item.parsed.y / sweep.unchanged).toFixed(3)} × the scenario`,
      }}},
    },
  });
}

// --- Heat maps --------------------------------------------------------------------------------------

/** Lines through a grid of values along which they equal `limit`, as pairs of [column, row]: marching squares. Between two
    points of an axis the elapsed time is taken for a straight line over the factor, or one over it. */
function contour(values, axes, limit) {
  const steps = axes.map(({key, factors}) => key.endsWith("latency") ? factors[1] / factors[0] : factors[0] / factors[1]);
  const between = (axis, from, to, share) => from === to ? from
    : Math.min(from, to) + Math.log(1 + (to > from ? share : 1 - share) * (steps[axis] - 1)) / Math.log(steps[axis]);
  const lines = [];
  for (let row = 0; row + 1 < values.length; ++row) {
    for (let column = 0; column + 1 < values[row].length; ++column) {
      const corners = [[column, row], [column + 1, row], [column + 1, row + 1], [column, row + 1]];
      const cuts = [];
      corners.forEach(([x, y], index) => {
        const [nextX, nextY] = corners[(index + 1) % 4];
        const [here, there] = [values[y][x], values[nextY][nextX]];
        if ((here < limit) === (there < limit)) return;
        const share = (limit - here) / (there - here);
        cuts.push([between(0, x, nextX, share), between(1, y, nextY, share)]);
      });
      for (let cut = 0; cut + 1 < cuts.length; cut += 2) lines.push([cuts[cut], cuts[cut + 1]]);
    }
  }
  return lines;
}

/** A canvas with a map; its points are the middles of cells. */
class SweepMap {
  constructor(parent, sweep) {
    this.sweep = sweep;
    this.values = sweep.elapsed;
    const all = sweep.elapsed.flat();
    this.best = Math.min(...all);
    this.worst = Math.max(...all);
    this.canvas = element("canvas");
    this.canvas.style.width = "100%";
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `Heat map of ${sweep.scenario}. ${sweep.findings.join(" ")}`);
    this.at = element("p", "\u00a0", {className: "explain"});
    parent.append(this.canvas, this.at);
    exportButtons(parent, `sweep of ${sweep.scenario}`, {picture: () => this.canvas, table: () => ({
      header: [...sweep.axes.map((axis) => `${axis.key} (factor)`), "elapsed (s)"],
      rows: this.values.flatMap((row, y) => row.map((seconds, x) => [sweep.axes[0].factors[x], sweep.axes[1].factors[y], seconds])),
    })});
    this.canvas.addEventListener("pointermove", (event) => this.tell(event));
    this.draw();
    addEventListener("resize", () => this.draw());
  }

  /** 0 at the best, 1 at the worst or at least 10 % above, in equal ratios. */
  get high() { return Math.max(this.worst, 1.1 * this.best); }
  share(seconds) { return Math.log(seconds / this.best) / Math.log(this.high / this.best); }

  get columns() { return this.sweep.axes[0].factors.length; }
  get rows() { return this.sweep.axes[1].factors.length; }
  x(column) { return this.left + (column + 0.5) * this.width / this.columns; }
  y(row) { return this.top + (this.rows - row - 0.5) * this.height / this.rows; }

  tell(event) {
    const column = Math.floor((event.offsetX - this.left) / this.width * this.columns);
    const row = this.rows - 1 - Math.floor((event.offsetY - this.top) / this.height * this.rows);
    const seconds = this.values[row] && this.values[row][column];
    if (seconds === undefined) return;
    const [first, second] = this.sweep.axes;
    this.at.textContent = `${first.key} ${showFactor(first.factors[column])}, ${second.key} ${showFactor(second.factors[row])}: ` +
      `${showSeconds(seconds)}, ${(seconds / this.sweep.unchanged).toFixed(3)} × the scenario`;
  }

  /** The position of a factor on an axis, in cells. */
  static cellOf(axis, factor) {
    const {factors} = axis;
    const last = factors.length - 1;
    return last * Math.log(factor / factors[0]) / Math.log(factors[last] / factors[0]);
  }

  drawAxes(context) {
    const [first, second] = this.sweep.axes;
    const ticks = (axis) => {
      const list = {min: axis.factors[0] * 0.999, max: axis.factors[axis.factors.length - 1] * 1.001};
      decades(list);
      return list.ticks.map((tick) => tick.value);
    };
    context.fillStyle = kText;
    context.textAlign = "center";
    context.textBaseline = "top";
    ticks(first).forEach((factor) => context.fillText(showFactor(factor), this.x(SweepMap.cellOf(first, factor)), this.top + this.height + 6));
    context.fillText(first.key, this.left + this.width / 2, this.top + this.height + 26);
    context.textAlign = "right";
    context.textBaseline = "middle";
    ticks(second).forEach((factor) => context.fillText(showFactor(factor), this.left - 8, this.y(SweepMap.cellOf(second, factor))));
    context.textAlign = "left";
    context.textBaseline = "top";
    context.fillText(second.key, 0, 0);
  }

  drawLegend(context, top) {
    const width = Math.min(260, this.width);
    for (let pixel = 0; pixel < width; ++pixel) {
      context.fillStyle = rampColour(pixel / (width - 1));
      context.fillRect(this.left + pixel, top, 1, 12);
    }
    context.fillStyle = kText;
    context.textBaseline = "top";
    context.textAlign = "left";
    context.fillText(showSeconds(this.best), this.left, top + 17);
    context.textAlign = "right";
    context.fillText(showSeconds(this.high), this.left + width, top + 17);
  }

  draw() {
    const whole = this.canvas.clientWidth || 600;
    const height = Math.min(440, Math.round(whole * 0.75));
    const scale = window.devicePixelRatio || 1;
    [this.left, this.top] = [64, 22];
    [this.width, this.height] = [Math.min(whole - this.left - 24, 760), height];
    this.canvas.width = whole * scale;
    this.canvas.height = (this.top + height + 90) * scale;
    this.canvas.style.height = `${this.top + height + 90}px`;
    const context = this.canvas.getContext("2d");
    context.scale(scale, scale);
    context.font = Chart.helpers.toFont({size: 13}).string;
    const [cellWidth, cellHeight] = [this.width / this.columns, this.height / this.rows];
    this.values.forEach((row, y) => row.forEach((seconds, x) => {
      context.fillStyle = rampColour(this.share(seconds));
      context.fillRect(Math.floor(this.x(x) - cellWidth / 2), Math.floor(this.y(y) - cellHeight / 2), Math.ceil(cellWidth) + 1, Math.ceil(cellHeight) + 1);
    }));
    context.clearRect(this.left + this.width, 0, whole, this.top + this.height);
    context.clearRect(0, this.top + this.height, whole, 100);
    context.strokeStyle = kLimitColour;
    context.lineWidth = 2;
    kLimits.forEach(([percent, dashes]) => {
      context.setLineDash(dashes);
      contour(this.values, this.sweep.axes, this.best * (1 + percent / 100)).forEach(([from, to]) => {
        context.beginPath();
        context.moveTo(this.x(from[0]), this.y(from[1]));
        context.lineTo(this.x(to[0]), this.y(to[1]));
        context.stroke();
      });
    });
    context.setLineDash([]);
    this.drawScenario(context);
    this.drawAxes(context);
    this.drawLegend(context, this.top + this.height + 52);
  }

  /** Draws a ring at the unchanged scenario, if it is on the map. */
  drawScenario(context) {
    const [column, row] = this.sweep.axes.map((axis) => SweepMap.cellOf(axis, 1));
    if (!(column >= 0 && column < this.columns && row >= 0 && row < this.rows)) return;
    context.beginPath();
    context.arc(this.x(column), this.y(row), 5, 0, 2 * Math.PI);
    context.fillStyle = kPage;
    context.fill();
    context.strokeStyle = kText;
    context.stroke();
  }
}

function drawSweeps() {
  if (data.sweeps.length === 0) {
    byId("sweeps").remove();
    return;
  }
  const map = data.sweeps[0].axes.length === 2;
  byId("sweep-words").textContent = map
    ? "Each cell is the elapsed time with two parameters of the machine scaled by a factor; the ring marks the unchanged scenario. Along " +
      "the dashed line the run takes 1 % longer than in the best cell, along the solid line 10 %."
    : "The elapsed time with one parameter of the machine scaled by a factor; the ring marks the unchanged scenario. Vertical lines: where it is " +
      `1 % and 10 % above its best.${data.sweeps.some((sweep) => sweep.intervals) ? " The band is the 95 % confidence interval." : ""}`;
  data.sweeps.forEach((sweep) => {
    const box = element("div");
    byId("sweep-charts").append(box);
    box.append(breakable(element("h3"), sweep.scenario));
    box.append(element("p", sweep.findings.map((line) => line.charAt(0).toUpperCase() + line.slice(1)).join(" ")));
    if (map) new SweepMap(box, sweep);
    else drawSweepCurve(box, sweep);
  });
}
