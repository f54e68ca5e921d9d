// A timeline on a canvas: spans, critical path, messages, labels of ranks, axis. Loaded before timeline.js, which has the
// window that is shown.

const kPathColour = dark ? "#ff8a8a" : "#b3001b";  // on an outline in kPage
const kSearchColour = dark ? "#ffe066" : "#111111";
const kAxisHeight = 22;
const kTallest = 420;      // pixels, if rows may be as high as they want; more in a high window
const kTallestRow = 48;
const kMostPixelRows = 512;  // more rows share lines of pixels
const kFewMessages = 500;
const kFewLinks = 400;     // of the critical path, between ranks

const colourParts = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

/** Rounded up to 1, 2, 5, 10, 20, ... */
function roundStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.9999);
}

/** Tells ticks of a narrow window apart: with as many digits as their distance needs. */
function showTime(seconds, step) {
  if (seconds === 0) return "0";
  const [scale, name] = unitFor(Math.max(Math.abs(seconds), step));
  const decimals = Math.max(0, Math.min(12, -Math.floor(Math.log10(step * scale * 1.0001))));
  return `${parseFloat((seconds * scale).toFixed(decimals))} ${name}`;
}

/** Ticks of a window below a picture. */
function drawTimeAxis(context, {from, to}, left, width, top) {
  context.fillStyle = kText;
  context.font = Chart.helpers.toFont({size: 12}).string;
  context.textBaseline = "top";
  const step = roundStep((to - from) / (width / 110));
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    const x = left + (at - from) / (to - from) * width;
    context.fillRect(x, top, 1, 4);
    const words = showTime(Math.abs(at) < step / 1e6 ? 0 : at, step);
    const half = context.measureText(words).width / 2;
    context.textAlign = "center";
    context.fillText(words, Math.max(half, Math.min(left + width - half, x)), top + 6);
  }
}

class TimelineView {
  /** `tools`: shown() is {from, to, firstRow, lastRow, selection, marks, target, row} for this view, in its time. */
  constructor(scenario, tools) {
    this.scenario = scenario;
    this.data = timelineData(scenario);
    this.tools = tools;
    this.box = element("figure", undefined, {className: "timeline"});
    this.caption = element("h3", `${scenario.name}: ${showSeconds(scenario.elapsed)}`);
    this.canvas = element("canvas");
    this.tip = element("p", undefined, {className: "tip", hidden: true});
    this.note = element("p", undefined, {className: "explain"});
    const frame = element("div", undefined, {className: "frame"});
    frame.append(this.canvas, this.tip);
    this.box.append(this.caption, frame, this.note);
    if (scenario.timeline.path) this.box.append(element("p", scenario.timeline.path, {className: "explain"}));
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `Timeline of ${scenario.name}. ${scenario.timeline.path}`);
    this.canvas.tabIndex = 0;
    exportButtons(this.box, `timeline ${scenario.name}`, {picture: () => this.canvas, title: () => this.caption.textContent,
      table: () => timelineCsv(this.data, this.shown.selection || this.shown)});
    this.strip = hasEfficiencies(scenario) ? new EfficiencyStrip(this) : null;
  }

  get shown() { return this.tools.shown(this); }

  /** Time and row at a position on the canvas; null outside of the rows. */
  at({offsetX, offsetY}) {
    const {from, to, firstRow, lastRow} = this.shown;
    const row = firstRow + Math.floor(offsetY / this.rowHeight);
    const share = (offsetX - this.left) / this.width;
    return {time: from + share * (to - from), row: Math.min(lastRow, Math.max(firstRow, row)), share,
      inside: share >= 0 && share <= 1 && offsetY >= 0 && row <= lastRow};
  }

  /** Describes what is under the pointer. */
  tell(event) {
    const {time, row, inside} = this.at(event);
    this.tip.hidden = !inside || time < 0 || time >= this.data.elapsed;
    if (this.tip.hidden) return;
    const level = this.levels ? Math.floor((event.offsetY - (row - this.shown.firstRow) * this.rowHeight - kLane) / kStackHeight) : -1;
    const inStack = level >= 0 && level < this.levels;
    const lines = inStack ? stackWords(this.data, row, time, level + this.skipped) : this.data.words(row, time);
    this.tip.hidden = !lines;
    if (!lines) return;
    this.tip.replaceChildren(...lines.flatMap((line) => [line, element("br")]));
    const wide = this.canvas.clientWidth;
    this.tip.style.left = `${Math.max(0, Math.min(event.offsetX + 14, wide - this.tip.offsetWidth))}px`;
    this.tip.style.top = `${Math.min(event.offsetY, this.height) + 18}px`;
  }

  draw() {
    const shown = this.shown;
    const {from, to, firstRow, lastRow} = shown;
    const rows = lastRow - firstRow + 1;
    const tallest = matchMedia("print").matches ? kTallest : Math.max(kTallest, Math.min(900, 0.42 * innerHeight));
    this.rowHeight = Math.min(kTallestRow, Math.max(tallest / rows, Math.min(1, kMostPixelRows / rows)));
    if (this.rowHeight > 1) this.rowHeight = Math.max(1, Math.floor(this.rowHeight));
    Object.assign(this, stackLevels(this.data, shown));
    if (this.levels) this.rowHeight = kLane + this.levels * kStackHeight + 3;
    this.lane = this.levels ? kLane - 1 : this.rowHeight;
    this.height = Math.ceil(rows * this.rowHeight);
    const whole = this.canvas.clientWidth || 600;
    const scale = window.devicePixelRatio || 1;
    const context = this.canvas.getContext("2d");
    const labels = this.labels(context, firstRow, lastRow);
    this.width = whole - this.left;
    this.canvas.width = Math.round(whole * scale);
    this.canvas.height = Math.round((this.height + kAxisHeight) * scale);
    this.canvas.style.height = `${this.height + kAxisHeight}px`;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    this.drawRows(context, shown, Math.round(this.width * scale), Math.max(1, Math.round(this.rowHeight * scale)));
    context.save();
    context.beginPath();
    context.rect(this.left, 0, this.width, this.height);
    context.clip();
    if (this.levels) drawStacks(this, context, shown);
    this.x = (time) => this.left + (time - from) / (to - from) * this.width;
    this.y = (row) => (row - firstRow) * this.rowHeight + this.lane / 2;
    this.drawPath(context, shown);
    this.drawMessages(context, shown);
    this.drawMarks(context, shown);
    context.restore();
    this.drawLabels(context, labels, shown);
    drawTimeAxis(context, shown, this.left, this.width, this.height);
    if (this.strip) this.strip.draw();
  }

  labels(context, firstRow, lastRow) {
    context.font = Chart.helpers.toFont({size: 12}).string;
    const step = roundStep(Math.max(1, 14 / this.rowHeight));
    const rows = [];
    for (let row = firstRow; row <= lastRow; ++row) if (row % step === 0) rows.push(row);
    const word = this.rowHeight >= 14 && !narrow() ? "rank " : "";
    const labels = rows.map((row) => [row, word + this.data.rows[row].label]);
    const least = data.scenarios.some(hasEfficiencies) ? context.measureText("100 %").width : 18;  // all axes begin at one place
    this.left = Math.ceil(Math.max(least, ...labels.map(([, label]) => context.measureText(label).width))) + 8;
    return labels;
  }

  /** A pixel has the colour of the activity with most time in it; what is not searched for is pale. */
  drawRows(context, {from, to, firstRow, lastRow, marks}, width, rowPixels) {
    const rows = lastRow - firstRow + 1;
    const perLine = Math.max(1, Math.ceil(rows / kMostPixelRows));
    const lines = Math.ceil(rows / perLine);
    const image = new ImageData(width, lines);
    const pixels = new Uint32Array(image.data.buffer);
    const packed = ([red, green, blue]) => (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
    const page = colourParts(kPage);
    const bright = this.data.activities.map(([, colour]) => packed(colourParts(colour)));
    const pale = this.data.activities.map(([, colour]) =>
      packed(colourParts(colour).map((part, i) => Math.round(0.25 * part + 0.75 * page[i]))));
    const [sums, found] = [new Float32Array(width * kKinds), new Float32Array(marks ? width * kKinds : 0)];
    for (let line = 0; line < lines; ++line) {
      sums.fill(0);
      found.fill(0);
      for (let row = firstRow + line * perLine; row < Math.min(firstRow + (line + 1) * perLine, lastRow + 1); ++row)
        this.data.addPixels(row, from, to, width, sums, marks, found);
      for (let pixel = 0; pixel < width; ++pixel) {
        const largest = (values) => {
          let [most, kind] = [0, -1];
          for (let at = pixel * kKinds, each = 0; each < kKinds; ++each) if (values[at + each] > most) [most, kind] = [values[at + each], each];
          return kind;
        };
        const marked = marks ? largest(found) : -1;
        const kind = marked >= 0 ? marked : largest(sums);
        pixels[line * width + pixel] = kind < 0 ? 0 : (marks && marked < 0 ? pale : bright)[kind];
      }
    }
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [width, lines];
    canvas.getContext("2d").putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    for (let line = 0; line < lines && this.levels; ++line)
      context.drawImage(canvas, 0, line, width, 1, this.left, line * this.rowHeight, this.width, this.lane);
    if (this.levels) return;
    context.drawImage(canvas, 0, 0, width, lines, this.left, 0, this.width, this.height);
    if (this.rowHeight < 4) return;
    context.fillStyle = kPage;  // rows are told apart
    for (let row = 1; row < rows; ++row) context.fillRect(this.left, row * this.rowHeight - 0.5, this.width, 1);
  }

  drawPath(context, {from, to}) {
    const pieces = this.data.path.filter(([, begin, end]) => end >= from && begin <= to);
    if (pieces.length === 0) return;
    const connected = pieces.length <= (this.levels ? kFewLinks / 10 : kFewLinks);
    context.beginPath();
    pieces.forEach(([row, begin, end], index) => {
      if (connected && index > 0) context.lineTo(this.x(begin), this.y(row));
      else context.moveTo(this.x(begin), this.y(row));
      context.lineTo(Math.max(this.x(end), this.x(begin) + 0.5), this.y(row));
    });
    context.lineJoin = "round";
    const wide = Math.min(2.5, Math.max(1, this.lane / 4));
    // The outline separates the path from every colour below it.
    [[kPage, wide + (this.rowHeight < 4 ? 0.5 : 2)], [kPathColour, wide]].forEach(([colour, lineWidth]) => {
      [context.strokeStyle, context.lineWidth] = [colour, lineWidth];
      context.stroke();
    });
  }

  /** Draws the messages in view, unless there are too many. */
  drawMessages(context, {from, to, firstRow, lastRow}) {
    const isIn = (row) => row >= firstRow && row <= lastRow;
    const shown = this.data.messages.filter(([sender, sent, receiver, received]) =>
      received >= from && sent <= to && (isIn(sender) || isIn(receiver)) && sender !== receiver);
    const few = this.levels ? kFewMessages / 10 : kFewMessages;  // names stay legible
    const {all_messages: all} = this.scenario.timeline;
    const known = this.data.messages.length;
    const fewer = !this.levels && this.data.stacks && this.data.stacks.deepest > 0 && byId("timeline-stacks").checked;
    this.note.textContent = [
      fewer ? "Zoom to fewer ranks (drag, Enter) to see their call paths." : "",
      shown.length > few ? `${showCount(shown.length)} messages in view; zoom in until at most ${few} remain to see them as lines.` : "",
      known < all ? `Of ${showCount(all)} messages this page has the ${showCount(known)} that took longest.` : "",
    ].join(" ").trim();
    if (shown.length > few) return;
    context.beginPath();
    shown.forEach(([sender, sent, receiver, received]) => {
      context.moveTo(this.x(sent), this.y(sender));
      context.lineTo(this.x(received), this.y(receiver));
    });
    [[kPage, 2.5], [kText, 1]].forEach(([colour, lineWidth]) => {
      [context.strokeStyle, context.lineWidth] = [colour, lineWidth];
      context.stroke();
    });
    context.fillStyle = kText;
    if (shown.length <= kFewMessages / 5) shown.forEach(([, , receiver, received]) => {
      context.beginPath();
      context.arc(this.x(received), this.y(receiver), 2.5, 0, 2 * Math.PI);
      context.fill();
    });
  }

  /** The selection, the span that was found, and the row that was searched for. */
  drawMarks(context, {selection, target, row}) {
    const frame = (from, to, first, last, colour) => {
      const [left, top] = [this.x(from), this.y(first) - this.lane / 2];
      const [wide, high] = [Math.max(2, this.x(to) - left), (last - first + 1) * this.rowHeight];
      [[kPage, 4], [colour, 2]].forEach(([stroke, lineWidth]) => {
        [context.strokeStyle, context.lineWidth] = [stroke, lineWidth];
        context.strokeRect(left, top + 1, wide, Math.max(2, high - 2));
      });
    };
    if (row !== null) frame(-this.data.elapsed, 2 * this.data.elapsed, row, row, kSearchColour);
    if (target) frame(target.start, target.end, target.row, target.row, kSearchColour);
    if (!selection) return;
    context.fillStyle = dark ? "rgba(255,255,255,0.12)" : "rgba(0,0,0,0.12)";
    context.fillRect(this.x(selection.from), this.y(selection.firstRow) - this.lane / 2,
      this.x(selection.to) - this.x(selection.from), (selection.lastRow - selection.firstRow + 1) * this.rowHeight);
    frame(selection.from, selection.to, selection.firstRow, selection.lastRow, kText);
  }

  drawLabels(context, labels, {row: found}) {
    context.font = Chart.helpers.toFont({size: 12}).string;
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillStyle = kText;
    if (found !== null) labels = [...labels.filter(([row]) => Math.abs(row - found) * this.rowHeight >= 14), [found, this.data.rows[found].label]];
    labels.forEach(([row, label]) => {
      context.font = Chart.helpers.toFont({size: 12, weight: row === found ? "bold" : "normal"}).string;
      context.fillText(label, this.left - 5, Math.min(this.height - 6, Math.max(7, this.y(row))));
    });
  }
}
