// Pictures over the time of a timeline, in the same window: efficiencies as lines, counters as a heat map. Loaded before
// timeline.js, which has the window that is shown.

/** Name, colour and dashes of a factor: all have a contrast of at least 4.5 to the page. */
const kFactors = [["Load balance", dark ? "#79b8f5" : "#0b5cad", []], ["Serialisation", dark ? "#ffb26b" : "#963f00", [7, 4]],
  ["Transfer", dark ? "#5fd6a8" : "#00694a", [2, 3]]];
const kProductColour = dark ? "#3a4652" : "#d3dae0";
const kStripHeight = 120;
const kTallestCounters = 200;

const showPercent = (share) => `${(100 * share).toFixed(1)} %`;

/** A canvas with a time axis, and words below the pointer. Subclasses have height, paint(context, shown) and
    words(time, offsetY), null where there is nothing. `place` returns {left, from, to, ...}: the window, on the right of labels. */
class TimeStrip {
  constructor(parent, name, place, table) {
    Object.assign(this, {place, box: element("figure", undefined, {className: "timeline"}), canvas: element("canvas"),
      tip: element("p", undefined, {className: "tip", hidden: true})});
    const frame = element("div", undefined, {className: "frame"});
    frame.append(this.canvas, this.tip);
    this.box.append(frame);
    parent.append(this.box);
    this.canvas.setAttribute("role", "img");
    this.canvas.addEventListener("pointermove", (event) => this.tell(event));
    this.canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    exportButtons(this.box, name, {picture: () => this.canvas, table, title: () => this.canvas.getAttribute("aria-label")});
  }

  tell({offsetX, offsetY}) {
    const {left, from, to} = this.shown;
    const share = (offsetX - left) / this.width;
    const lines = share >= 0 && share <= 1 && offsetY < this.height ? this.words(from + share * (to - from), offsetY) : null;
    this.tip.hidden = !lines;
    if (!lines) return;
    this.tip.replaceChildren(...lines.flatMap((line) => [line, element("br")]));
    this.tip.style.left = `${Math.max(0, Math.min(offsetX + 14, this.canvas.clientWidth - this.tip.offsetWidth))}px`;
    this.tip.style.top = `${Math.min(offsetY, this.height) + 18}px`;
  }

  draw() {
    this.shown = this.place();
    const {left, from, to} = this.shown;
    const whole = this.canvas.clientWidth || 600;
    const scale = window.devicePixelRatio || 1;
    this.width = whole - left;
    this.layOut(this.shown);
    const high = this.height + kAxisHeight + (this.legendHeight || 0);
    this.canvas.width = Math.round(whole * scale);
    this.canvas.height = Math.round(high * scale);
    this.canvas.style.height = `${high}px`;
    const context = this.canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.font = Chart.helpers.toFont({size: 12}).string;
    this.x = (time) => left + (time - from) / (to - from) * this.width;
    this.paint(context, this.shown);
    drawTimeAxis(context, this.shown, left, this.width, this.height);
  }

  layOut() {}

  /** The part on the right of the labels. */
  inside(context, paint) {
    context.save();
    context.beginPath();
    context.rect(this.shown.left, 0, this.width, this.height);
    context.clip();
    paint();
    context.restore();
  }
}

// --- Efficiencies ----------------------------------------------------------------------------------

const hasEfficiencies = (scenario) => Boolean(scenario.over_time && scenario.over_time.length);

/** Load balance, serialisation and transfer of the windows of a run, and their product. */
class EfficiencyStrip extends TimeStrip {
  constructor(view) {
    const {name, over_time} = view.scenario;
    const legend = element("ul", undefined, {className: "legend"});
    view.box.append(legend);
    super(view.box, `efficiencies over time ${name}`, () => ({left: view.left, ...view.shown}), () => this.table());
    this.end = view.data.elapsed;
    this.windows = over_time.map((thousandths) => thousandths.map((value) => value / 1000));
    this.height = kStripHeight;
    kFactors.forEach(([factor, colour, dashes], index) => {
      const item = element("li");
      const line = element("i", undefined, {className: "line"});
      line.style.borderTop = `3px ${["solid", "dashed", "dotted"][index]} ${colour}`;
      item.append(line, factor);
      legend.append(item);
    });
    const item = element("li");
    const patch = element("i");
    patch.style.background = kProductColour;
    item.append(patch, "Parallel efficiency, their product");
    legend.append(item);
    const lowers = name === "measured" ? "messages, tracing and lost cores lower transfer" : "messages lower transfer";
    this.canvas.setAttribute("aria-label", `Efficiencies over time of ${name}`);
    this.canvas.parentElement.after(element("p", `Efficiencies of ${this.windows.length} windows of ${showSeconds(this.length)}: ` +
      `unequal compute lowers load balance, waits that remain with free messages lower serialisation, and ${lowers}.`,
      {className: "explain"}));
  }

  get length() { return this.end / this.windows.length; }
  at(time) { return Math.min(this.windows.length - 1, Math.floor(time / this.length)); }
  y(share) { return 7 + (1 - share) * (this.height - 8); }

  words(time) {
    if (time < 0 || time >= this.end) return null;
    const number = this.at(time);
    const factors = this.windows[number];
    return [`${showTick(number * this.length)} to ${showTick((number + 1) * this.length)}`,
      ...kFactors.map(([name], index) => `${name} ${showPercent(factors[index])}`),
      `Parallel efficiency ${showPercent(factors.reduce((a, b) => a * b))}`];
  }

  paint(context, {left, from, to, selection}) {
    context.textAlign = "right";
    context.textBaseline = "middle";
    [0, 0.5, 1].forEach((share) => {
      context.fillStyle = kGrid;
      context.fillRect(left, Math.round(this.y(share)), this.width, 1);
      context.fillStyle = kText;
      context.fillText(share === 1 ? "100 %" : 100 * share, left - 5, Math.min(this.height - 6, this.y(share)));
    });
    const [first, last] = [this.at(Math.max(0, from)), this.at(Math.min(to, this.end))];
    const steps = (value) => {
      context.beginPath();
      for (let number = first; number <= last; ++number) {
        const y = this.y(value(this.windows[number]));
        context.lineTo(this.x(number * this.length), y);
        context.lineTo(this.x((number + 1) * this.length), y);
      }
    };
    this.inside(context, () => {
      steps((factors) => factors.reduce((a, b) => a * b));
      context.lineTo(this.x((last + 1) * this.length), this.y(0));
      context.lineTo(this.x(first * this.length), this.y(0));
      context.fillStyle = kProductColour;
      context.fill();
      if (selection) {
        context.fillStyle = dark ? "rgba(255,255,255,0.12)" : "rgba(0,0,0,0.12)";
        context.fillRect(this.x(selection.from), 0, this.x(selection.to) - this.x(selection.from), this.height);
      }
      kFactors.forEach(([, colour, dashes], index) => {
        steps((factors) => factors[index]);
        [context.strokeStyle, context.lineWidth] = [colour, 2];
        context.setLineDash(dashes);
        context.stroke();
      });
      context.setLineDash([]);
    });
  }

  table() {
    return {header: ["from (s)", "to (s)", ...kFactors.map(([name]) => name.toLowerCase()), "parallel efficiency"],
      rows: this.windows.map((factors, number) => [number * this.length, (number + 1) * this.length, ...factors,
        factors.reduce((a, b) => a * b)])};
  }
}

// --- Counters --------------------------------------------------------------------------------------

/** What each rank counted outside MPI in each interval of the recording; `most` is the largest of the run. */
class CounterStrip extends TimeStrip {
  constructor(parent, place) {
    super(parent, "counters over time", place, () => this.table());
    Object.assign(this, data.counters);
    this.legendHeight = 40;
    this.values = this.list.map(({cells, step}) => {
      const from = new Unpacker(cells);
      return Float64Array.from({length: this.rows * this.intervals}, () => from.next() * step);
    });
  }

  show(number) {
    this.counter = this.list[number];
    this.chosen = this.values[number];
    this.most = this.chosen.reduce((most, count, cell) => {
      const interval = cell % this.intervals;
      return this.timeOf(interval + 1) > 0 && this.timeOf(interval) < recording().elapsed ? Math.max(most, count) : most;
    }, 0);
    this.canvas.setAttribute("aria-label", `${this.counter.name} over time`);
  }

  ranks(row) {
    const first = row * this.ranks_per_row;
    const last = Math.min(data.trace.ranks, first + this.ranks_per_row) - 1;
    return first === last ? `rank ${first}` : `mean of ranks ${first} to ${last}`;
  }

  text(count) {
    const {unit} = this.counter;
    if (unit === "ns") return showSeconds(count * 1e-9);
    if (/^(bytes|B)$/i.test(unit)) return showBytes(count);
    const number = count >= 1000 ? showCount(Math.round(count)) : `${parseFloat(count.toPrecision(3))}`;
    return unit && unit !== "#" ? `${number} ${unit}` : number;
  }

  timeOf(interval) { return this.start + interval * this.seconds; }
  rowAt(offsetY) { return this.firstRow + Math.floor(offsetY / this.rowHeight); }

  words(time, offsetY) {
    const [interval, row] = [Math.floor((time - this.start) / this.seconds), this.rowAt(offsetY)];
    if (interval < 0 || interval >= this.intervals || row < 0 || row > this.lastRow) return null;
    const count = this.chosen[row * this.intervals + interval];
    const perSecond = this.counter.unit === "ns" ? `${showShare(count * 1e-9, this.seconds)} of the time`
      : `${this.text(count / this.seconds)} per second`;
    return [`${this.counter.name}, ${this.ranks(row)}`,
      `${showTick(Math.max(0, this.timeOf(interval)))} to ${showTick(this.timeOf(interval + 1))}: ${this.text(count)}`,
      ...count > 0 ? [perSecond] : []];
  }

  layOut({firstRank, lastRank}) {
    [this.firstRow, this.lastRow] = [firstRank, lastRank].map((rank) => Math.floor(rank / this.ranks_per_row));
    const rows = this.lastRow - this.firstRow + 1;
    this.rowHeight = Math.min(18, kTallestCounters / rows);
    if (this.rowHeight > 1) this.rowHeight = Math.max(1, Math.floor(this.rowHeight));
    this.height = Math.ceil(rows * this.rowHeight);
  }

  /** The square root of a share of the largest count is even: few counts and many are both seen. */
  colour(count) { return count > 0 ? rampColour(0.12 + 0.88 * Math.sqrt(Math.min(1, count / this.most))) : kIdleColour; }

  paint(context, {left, from, to}) {
    const scale = window.devicePixelRatio || 1;
    const snap = (pixels) => Math.round(pixels * scale) / scale;
    const first = Math.max(0, Math.floor((from - this.start) / this.seconds));
    const last = Math.min(this.intervals - 1, Math.floor((to - this.start) / this.seconds));
    this.inside(context, () => {
      for (let row = this.firstRow; row <= this.lastRow; ++row) {
        const [top, bottom] = [row, row + 1].map((each) => snap((each - this.firstRow) * this.rowHeight));
        for (let interval = first; interval <= last; ++interval) {
          const [begin, end] = [interval, interval + 1].map((each) => snap(this.x(this.timeOf(each))));
          context.fillStyle = this.colour(this.chosen[row * this.intervals + interval]);
          context.fillRect(begin, top, end - begin, bottom - top - (this.rowHeight >= 8 ? 1 : 0));
        }
      }
    });
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillStyle = kText;
    const step = roundStep(Math.max(1, 14 / this.rowHeight));
    for (let row = this.firstRow; row <= this.lastRow; ++row) if (row % step === 0)
      context.fillText(`${this.rowHeight >= 14 && !narrow() ? "rank " : ""}${row * this.ranks_per_row}`, left - 5,
        Math.min(this.height - 6, Math.max(7, (row - this.firstRow + 0.5) * this.rowHeight)));
    this.drawLegend(context, left, this.height + kAxisHeight + 6);
  }

  drawLegend(context, left, top) {
    const width = Math.min(260, this.width - 20);
    for (let pixel = 0; pixel < width; ++pixel) {
      context.fillStyle = this.colour(this.most * ((pixel + 0.5) / width) ** 2);
      context.fillRect(left + pixel, top, 1, 10);
    }
    context.fillStyle = kText;
    context.textBaseline = "top";
    [["left", 0], ["center", 0.5], ["right", 1]].forEach(([align, share]) => {
      context.textAlign = align;
      context.fillText(share === 0 ? "0" : this.text(this.most * share ** 2), left + share * width, top + 14);
    });
  }

  table() {
    return {header: ["counter", this.ranks_per_row > 1 ? "first of a group of ranks" : "rank", "from (s)", "to (s)",
      this.ranks_per_row > 1 ? "count of the mean rank" : "count"],
    rows: [...this.chosen].map((count, cell) => {
      const interval = cell % this.intervals;
      return [this.counter.name, Math.floor(cell / this.intervals) * this.ranks_per_row, this.timeOf(interval),
        this.timeOf(interval + 1), parseFloat(count.toPrecision(4))];
    })};
  }
}

let counterStrip = null;
const recording = () => data.scenarios.find((scenario) => scenario.name === "measured");

/** `recorded`: the view of the recording, if it is shown; else the counters have the whole run. */
function counterPlace() {
  const recorded = timelineViews.find((view) => view.scenario === recording());
  if (!recorded) return {left: timelineViews[0].left, from: 0, to: recording().elapsed, firstRank: 0, lastRank: data.trace.ranks - 1};
  const {firstRow, lastRow, from, to} = recorded.shown;
  const {rows, timeline, exact} = recorded.data;
  const more = exact ? 0 : timeline.ranks_per_row - 1;
  return {left: recorded.left, from, to, firstRank: rows[firstRow].rank, lastRank: Math.min(data.trace.ranks - 1, rows[lastRow].rank + more)};
}

function setUpCounters() {
  if (!data.counters) {
    byId("counters").remove();
    return;
  }
  counterStrip = new CounterStrip(byId("counter-picture"), counterPlace);
  counterStrip.list.forEach(({name}, index) => byId("counter-choice").append(element("option", name, {value: index})));
  byId("counter-words").textContent = "Counts of the program outside MPI, by rank, in intervals of " +
    `${showSeconds(counterStrip.seconds)} of measured.`;
  byId("counter-choice").addEventListener("change", () => {
    counterStrip.show(byId("counter-choice").value);
    counterStrip.draw();
  });
  counterStrip.show(0);
}
