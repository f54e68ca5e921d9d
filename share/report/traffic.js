// Communication matrices of a scenario as heat maps, and message sizes. Loaded after sweep.js, which defines the
// colours of maps, and before report.js.

/** A canvas with a matrix of ranks; the colours of its cells are on a logarithmic scale. */
class TrafficMap {
  constructor(parent) {
    this.canvas = element("canvas", undefined, {className: "map"});
    this.canvas.setAttribute("role", "img");
    this.at = element("p", "\u00a0", {className: "explain"});
    this.at.setAttribute("role", "status");
    parent.append(this.canvas, this.at);
    exportButtons(parent, "communication matrix", {picture: () => this.canvas, title: () => this.name, table: () => ({
      header: ["rank, or first of a group", "peer, or first of a group", this.name],
      rows: this.cells.map(([cell, number]) => [cell[0] * this.picture.ranks_per_row, cell[1] * this.picture.ranks_per_row, number]),
    })});
    this.canvas.addEventListener("pointermove", (event) => this.tell(event));
    addEventListener("resize", () => this.draw());
  }

  /** `value` of a cell, `text` of a value, and `words` to describe the cell of two groups of ranks. */
  show(picture, {value, text, words, name}) {
    this.cells = picture.cells.map((each) => [each, value(each)]).filter(([, number]) => number > 0);
    Object.assign(this, {picture, text, words, name});
    this.values = new Map(this.cells.map(([each, number]) => [each[0] * picture.rows + each[1], number]));
    const all = [...this.values.values()];
    [this.least, this.most] = all.length ? [Math.min(...all), Math.max(...all)] : [0, 0];
    this.at.textContent = all.length ? "\u00a0" : "Nothing.";
    this.canvas.setAttribute("aria-label", `Heat map: ${name}, from ${text(this.least)} to ${text(this.most)}`);
    this.draw();
  }

  ranks(row) {
    const first = row * this.picture.ranks_per_row;
    const last = Math.min(data.trace.ranks, first + this.picture.ranks_per_row) - 1;
    return first === last ? `rank ${first}` : `ranks ${first} to ${last}`;
  }

  tell(event) {
    const column = Math.floor((event.offsetX - this.left) / this.cell);
    const row = Math.floor((event.offsetY - this.top) / this.cell);
    const {rows} = this.picture;
    if (column < 0 || column >= rows || row < 0 || row >= rows) return;
    const value = this.values.get(row * rows + column);
    this.at.textContent = this.words(this.ranks(row), this.ranks(column), value ? this.text(value) : "nothing");
  }

  /** The least value of the scale: values that look equal have equal colours. */
  get low() { return Math.min(this.least, this.most / 10); }

  share(value) {
    const shown = parseFloat(value.toPrecision(3));
    return Math.max(0.12, 0.12 + 0.88 * Math.log(shown / this.low) / Math.log(this.most / this.low));
  }

  draw() {
    if (!this.picture) return;
    const {rows, ranks_per_row} = this.picture;
    const scale = window.devicePixelRatio || 1;
    const font = Chart.helpers.toFont({size: 12}).string;
    [this.left, this.top] = [52, 22];
    const whole = this.canvas.parentElement.clientWidth || 600;
    const side = Math.min(whole - this.left - 12, 460);
    this.cell = Math.min(48, side / rows);
    if (this.cell * scale > 1) this.cell = Math.floor(this.cell * scale) / scale;  // whole pixels, so that cells have one colour
    const size = this.cell * rows;
    const [width, height] = [Math.max(this.left + size + 12, Math.min(whole, 330)), this.top + size + 52];
    [this.canvas.width, this.canvas.height] = [width * scale, height * scale];
    [this.canvas.style.width, this.canvas.style.height] = [`${width}px`, `${height}px`];
    const context = this.canvas.getContext("2d");
    context.scale(scale, scale);
    context.font = font;
    context.fillStyle = kIdleColour;
    context.fillRect(this.left, this.top, size, size);
    const gap = this.cell > 12 ? 1 : 0;
    this.values.forEach((value, at) => {
      context.fillStyle = rampColour(this.share(value));
      const [x, y] = [this.left + at % rows * this.cell, this.top + Math.floor(at / rows) * this.cell];
      const to = gap ? this.cell - gap : Math.max(1, this.cell + 0.5);
      context.fillRect(x, y, Math.min(to, this.left + size - x), Math.min(to, this.top + size - y));
    });
    context.fillStyle = kText;
    const middles = (pixels) => [...Array(rows).keys()].filter((row) => row % Math.ceil(pixels / this.cell) === 0)
      .map((row) => [row * ranks_per_row, (row + 0.5) * this.cell]);
    context.textAlign = "right";
    context.textBaseline = "middle";
    middles(24).forEach(([rank, middle]) => context.fillText(rank, this.left - 6, this.top + middle));
    context.textAlign = "center";
    context.textBaseline = "bottom";
    middles(44).forEach(([rank, middle]) => context.fillText(rank, this.left + middle, this.top - 4));
    if (this.values.size > 0) this.drawLegend(context, this.top + size + 14);
  }

  drawLegend(context, top) {
    const width = 220;
    for (let pixel = 0; pixel < width; ++pixel) {
      context.fillStyle = rampColour(0.12 + 0.88 * pixel / (width - 1));
      context.fillRect(this.left + pixel, top, 1, 10);
    }
    context.fillStyle = kText;
    context.textBaseline = "top";
    context.textAlign = "left";
    context.fillText(this.text(this.low), this.left, top + 15);
    context.textAlign = "right";
    context.fillText(this.text(this.most), this.left + width, top + 15);
  }
}

/** A power of two that is about a quarter of `most`. */
const binaryStep = (most) => 2 ** Math.max(0, Math.ceil(Math.log2(most / 4)));

/** Bars by size class: messages, or their bytes. */
function drawSizes(parent, sizes) {
  const box = element("div", undefined, {className: "halves"});
  parent.append(box);
  const names = sizes.map(([least]) => showBytes(least));
  [["Messages", 1, showCount], ["Bytes", 2, showBytes]].forEach(([name, column, show]) => {
    const part = element("div");
    box.append(part);
    part.append(element("h3", `${name} by size of message`));
    const values = sizes.map((row) => row[column]);
    new Chart(chartBox(part, 220, `${name} by size of message, from ${names[0]} to ${names[names.length - 1]}`), {
      type: "bar",
      data: {labels: names, datasets: [{data: values, backgroundColor: kSweepCurve}]},
      options: {
        scales: {
          x: {title: {display: true, text: "Message size, from"}, grid: {display: false}, ticks: {maxRotation: 0, autoSkipPadding: 14}},
          y: {min: 0, ticks: {callback: show, maxTicksLimit: 6, ...column === 2 ? {stepSize: binaryStep(Math.max(...values))} : {}}},
        },
        plugins: {tooltip: {callbacks: {
          title: ([item]) => item.dataIndex + 1 < names.length || sizes[item.dataIndex][0] > 0
            ? `${names[item.dataIndex]} to less than ${showBytes(2 * Math.max(0.5, sizes[item.dataIndex][0]))}` : "0 B",
          label: (item) => `${show(item.raw)}, ${showShare(item.raw, sum(values))}`,
        }}},
      },
    });
  });
}

function setUpTraffic() {
  const known = data.scenarios.filter((scenario) => scenario.traffic_map);
  if (known.length === 0 || known.every((scenario) => scenario.traffic_map.cells.length === 0)) {
    byId("talks").remove();
    return;
  }
  const first = known[0].traffic_map;
  const sends = (from, to, value) => `From ${from} to ${to}: ${value}`;
  const choices = [
    {name: "bytes sent", scenario: known[0], value: (cell) => cell[3], text: showBytes, words: sends},
    {name: "messages sent", scenario: known[0], value: (cell) => cell[2], text: showCount, words: sends},
    ...known.map((scenario) => ({
      name: `time in calls that receive, ${scenario.name}`, scenario, value: (cell) => cell[4], text: showSeconds,
      words: (who, from, value) => `${value === "nothing" ? "No time" : value} of ${who} in calls that receive from ${from}`,
    })),
  ];
  const map = new TrafficMap(byId("traffic-map"));
  const choice = byId("traffic-choice");
  choices.forEach(({name}, index) => choice.append(element("option", name, {value: index})));
  const show = () => {
    const chosen = choices[choice.value];
    byId("traffic-words").textContent = choice.value < 2
      ? "Rows send, columns receive: messages and one-sided operations, without collectives."
      : "Rows wait and receive, columns send.";
    map.show(chosen.scenario.traffic_map, chosen);
  };
  choice.addEventListener("change", show);
  show();
  if (first.sizes.length > 0) drawSizes(byId("traffic-sizes"), first.sizes);
}
