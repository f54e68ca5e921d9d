// Timelines of scenarios with the critical path. Each cell is coloured by the main activity of its ranks in its time
// interval. The recording is drawn above the chosen scenario, both over the same interval. Waits have the colours of
// the bars (kCallColours). Loaded before report.js.

/** By Activity (replay/analyse/timeline_picture.h). */
const kActivities = [
  ["outside of the run", kIdleColour], ["Compute", kComputeColour], ["Other MPI without waiting", dark ? "#c2c7cb" : "#a9b0b6"],
  ["Late sender", kCallColours[0]], ["Late receiver", kCallColours[1]], ["Collective wait", kCallColours[2]],
  ["One-sided wait", kCallColours[3]], ["Not recorded, flushing, lost core", "#7a3b8f"],
  ["Messages without waiting", kOthersColour], ["Collectives without waiting", dark ? "#7f9a90" : "#5d7a6e"],
  ["One-sided without waiting", dark ? "#a58a99" : "#876a7b"],
];
/** After the activities: compute in functions (kColouredFunctions), in shades not used for waits. */
const kFunctionColours = dark ? ["#8fa5b8", "#a08f6a", "#7d9a86", "#9a86a0", "#a8797a"]
  : ["#8fa9c0", "#c9b68a", "#a3bda9", "#bda8c6", "#cfa3a3"];
const kPathColour = dark ? "#ff6b6b" : "#c1121f";
const kAxisHeight = 22;
const kFewMessages = 500;

/** Name and colour of each letter of a timeline's cells. */
const activitiesOf = (timeline) => [...kActivities,
  ...timeline.functions.map((name, number) => [`Compute in ${name}`, kFunctionColours[number]])];

const drawn = data.scenarios.filter((scenario) => scenario.timeline);
const timelineEnd = Math.max(0, ...drawn.map((scenario) => scenario.elapsed));
let shownTime = [0, timelineEnd];  // seconds

const colourParts = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

/** The cells of a timeline as an image, a pixel each. */
function cellImage(timeline) {
  const image = new ImageData(timeline.columns, timeline.rows);
  const colours = activitiesOf(timeline).map(([, colour]) => colourParts(colour));
  for (let cell = 0; cell < timeline.cells.length; ++cell) {
    const [red, green, blue] = colours[timeline.cells.charCodeAt(cell) - 64];
    image.data.set([red, green, blue, 255], 4 * cell);
  }
  const canvas = document.createElement("canvas");
  canvas.width = timeline.columns;
  canvas.height = timeline.rows;
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

function drawAxis(context, width, top) {
  const [from, to] = shownTime;
  context.fillStyle = kText;
  context.font = Chart.helpers.toFont({size: 12}).string;
  context.textBaseline = "top";
  const rough = (to - from) / (width / 110);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    const x = (at - from) / (to - from) * width;
    context.fillRect(x, top, 1, 4);
    context.textAlign = x < 30 ? "left" : x > width - 40 ? "right" : "center";
    context.fillText(showTick(Math.abs(at) < step / 1e6 ? 0 : at), x, top + 6);
  }
}

/** A canvas with the timeline of a scenario. */
class TimelineView {
  constructor(scenario) {
    this.scenario = scenario;
    this.image = cellImage(scenario.timeline);
    this.canvas = element("canvas");
    this.box = element("div", undefined, {className: "timeline"});
    this.box.append(element("h3", `${scenario.name}: ${showSeconds(scenario.elapsed)}`), this.canvas);
    if (scenario.timeline.path) this.box.append(element("p", scenario.timeline.path, {className: "explain"}));
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `Timeline of ${scenario.name}. ${scenario.timeline.path}`);
    this.dragFrom = null;
    this.canvas.addEventListener("pointerdown", (event) => { this.dragFrom = this.timeAt(event); });
    this.canvas.addEventListener("pointermove", (event) => this.tell(event));
    this.canvas.addEventListener("pointerup", (event) => this.zoom(event));
    this.canvas.addEventListener("dblclick", () => showTime([0, timelineEnd]));
  }

  timeAt(event) {
    const share = event.offsetX / this.canvas.clientWidth;
    return shownTime[0] + share * (shownTime[1] - shownTime[0]);
  }

  zoom(event) {
    const ends = [this.dragFrom, this.timeAt(event)].sort((a, b) => a - b);
    const wide = Math.abs(ends[1] - ends[0]) / (shownTime[1] - shownTime[0]) > 0.01;
    if (this.dragFrom !== null && wide) showTime(ends);
    this.dragFrom = null;
  }

  /** Describes the cell under the pointer. */
  tell(event) {
    const {rows, columns, ranks_per_row, cells} = this.scenario.timeline;
    const time = this.timeAt(event);
    const row = Math.floor(event.offsetY / this.rowHeight);
    const column = Math.floor(time / this.scenario.elapsed * columns);
    if (row < 0 || row >= rows || column < 0 || column >= columns) return;
    const first = row * ranks_per_row;
    const last = Math.min(data.trace.ranks, first + ranks_per_row) - 1;
    byId("timeline-at").textContent = `${this.scenario.name}, ${first === last ? `rank ${first}` : `ranks ${first} to ${last}`}, ` +
      `${showSeconds(time)}: ${activitiesOf(this.scenario.timeline)[cells.charCodeAt(row * columns + column) - 64][0]}`;
  }

  draw() {
    const {rows, columns, path_rows} = this.scenario.timeline;
    const width = this.canvas.clientWidth || 600;
    this.rowHeight = Math.max(1, Math.min(28, Math.floor(420 / rows)));
    const height = Math.ceil(rows * this.rowHeight);
    const scale = window.devicePixelRatio || 1;
    this.canvas.width = width * scale;
    this.canvas.height = (height + kAxisHeight) * scale;
    this.canvas.style.height = `${height + kAxisHeight}px`;
    const context = this.canvas.getContext("2d");
    context.scale(scale, scale);
    context.imageSmoothingEnabled = false;
    const [from, to] = shownTime;
    const perSecond = width / (to - from);
    const left = -from * perSecond;
    const whole = this.scenario.elapsed * perSecond;
    context.drawImage(this.image, 0, 0, columns, rows, left, 0, whole, height);
    context.strokeStyle = kPathColour;
    context.lineWidth = Math.min(2.5, Math.max(1, this.rowHeight / 4));
    context.beginPath();
    // Connect ranks only if columns are wide enough that the lines do not hide the cells.
    const connected = whole / columns > 6;
    let before = -1;
    path_rows.forEach((row, column) => {
      if (row < 0) return;
      const x = left + column / columns * whole;
      const y = (row + 0.5) * this.rowHeight;
      if (before === row || (connected && before >= 0)) context.lineTo(x, y);
      else context.moveTo(x, y);
      context.lineTo(left + (column + 1) / columns * whole, y);
      before = row;
    });
    context.stroke();
    this.drawMessages(context, left, perSecond);
    drawAxis(context, width, height);
  }

  /** Draws the messages in view, unless there are too many. */
  drawMessages(context, left, perSecond) {
    const [from, to] = shownTime;
    const shown = this.scenario.timeline.messages.filter(([, sent, , received]) => received >= from && sent <= to);
    if (shown.length > kFewMessages) return;
    context.strokeStyle = kText;
    context.lineWidth = 1;
    context.beginPath();
    shown.forEach(([sender, sent, receiver, received]) => {
      context.moveTo(left + sent * perSecond, (sender + 0.5) * this.rowHeight);
      context.lineTo(left + received * perSecond, (receiver + 0.5) * this.rowHeight);
    });
    context.stroke();
  }
}

let timelineViews = [];

function showTime(range) {
  shownTime = range;
  timelineViews.forEach((view) => view.draw());
}

function chooseTimeline(index) {
  const reference = drawn.find((scenario) => scenario.name === data.reference);
  const chosen = drawn[index];
  timelineViews = (reference && reference !== chosen ? [reference, chosen] : [chosen])
    .map((scenario) => new TimelineView(scenario));
  byId("timeline-pictures").replaceChildren(...timelineViews.map((view) => view.box));
  showTime(shownTime);
}

function setUpTimelines() {
  if (drawn.length === 0) {
    byId("timeline").remove();
    return;
  }
  const used = new Set(drawn.flatMap((scenario) => [...new Set(scenario.timeline.cells)].map((cell) => cell.charCodeAt(0) - 64)));
  const legend = activitiesOf(drawn[0].timeline).map(([name, colour]) => [name, colour]).filter((_, number) => number > 0 && used.has(number));
  if (drawn.some((scenario) => scenario.timeline.path)) legend.push(["Critical path", kPathColour]);
  legend.forEach(([name, colour]) => {
    const item = element("li");
    const patch = element("i");
    patch.style.background = colour;
    item.append(patch, name);
    byId("timeline-legend").append(item);
  });
  drawn.forEach((scenario, index) => byId("timeline-choice").append(element("option", scenario.name, {value: index})));
  if (drawn.some((scenario) => scenario.timeline.messages.length > 0))
    byId("timeline-words").append(` Messages are lines where ${kFewMessages} or fewer are in view.`);
  const undrawn = data.scenarios.filter((scenario) => !scenario.timeline && scenario.elapsed > 0);
  byId("timeline-undrawn").textContent = undrawn.length === 0 ? ""
    : `Not drawn, because a page has at most ${drawn.length} timelines: ${undrawn.map((scenario) => scenario.name).join(", ")}.`;
  // First show `perfect`.
  const perfect = drawn.findIndex((scenario) => scenario.name === "perfect");
  byId("timeline-choice").value = perfect < 0 ? drawn.length - 1 : perfect;
  byId("timeline-choice").addEventListener("change", () => chooseTimeline(Number(byId("timeline-choice").value)));
  addEventListener("resize", () => showTime(shownTime));
  chooseTimeline(Number(byId("timeline-choice").value));
}
