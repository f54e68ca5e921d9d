// Pictures over the time of a timeline, in the same window: efficiencies as lines. Loaded before
// timeline.js, which has the window that is shown.

/** Name, colour and dashes of a factor: all have a contrast of at least 4.5 to the page. */
const kFactors = [["Load balance", dark ? "#79b8f5" : "#0b5cad", []], ["Serialisation", dark ? "#ffb26b" : "#963f00", [7, 4]],
  ["Transfer", dark ? "#5fd6a8" : "#00694a", [2, 3]]];
const kProductColour = dark ? "#3a4652" : "#d3dae0";
const kStripHeight = 120;

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
    const high = this.height + kAxisHeight;
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
