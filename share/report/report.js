// Draws the report from the JSON that tools/report/report_html.cc writes, with the help of page.js.

// --- Categories of the time of a scenario ---------------------------------------------------------

const scenarios = data.scenarios;
const finished = scenarios.filter((scenario) => scenario.elapsed !== null);
const rankCount = data.trace.ranks;

const callTotal = (call) => sum(finished.map((scenario) => sum(scenario.calls[call].time)));

/** The calls that are part of elapsed, most time first, and the calls outside (MPI_Init, MPI_Finalize). */
const usedCalls = data.calls.map((_, call) => call).filter((call) => callTotal(call) > 0)
  .sort((a, b) => callTotal(b) - callTotal(a));
const callsByTime = usedCalls.filter((call) => !data.outside_elapsed[call]);
const callsOutside = usedCalls.filter((call) => data.outside_elapsed[call]);

/** The calls with a colour of their own: those with the most time in all scenarios together. */
const kColours = kCallColours.length;
const ownColour = callsByTime.length <= kColours + 1 ? callsByTime : callsByTime.slice(0, kColours);
const others = callsByTime.filter((call) => !ownColour.includes(call));

/** The layers of stacked bars, from the axis outwards; seconds(scenario) has a number per rank. */
const layersByCall = [{name: "Compute", colour: kComputeColour, seconds: (scenario) => scenario.compute}];
ownColour.forEach((call, index) => layersByCall.push({
  name: data.calls[call],
  colour: kCallColours[index] || kOthersColour,
  seconds: (scenario) => scenario.calls[call].time,
}));
if (others.length > 0) {
  layersByCall.push({
    name: `${others.length} other MPI calls`,
    colour: kOthersColour,
    seconds: (scenario) => scenario.compute.map(
      (_, rank) => sum(others.map((call) => scenario.calls[call].time[rank]))),
  });
}

/** Time that is neither compute nor MPI, if any: flushes of the tracer, ... */
const kOtherRowColours = ["#8c564b", "#a9a9a9", "#7a3b8f"];
const otherRows = data.other_rows.map((name, row) => (
  {name, colour: kOtherRowColours[row], seconds: (scenario) => scenario.others[row]}))
  .filter((row) => finished.some((scenario) => sum(row.seconds(scenario)) > 0));
layersByCall.push(...otherRows);

/** The same with MPI divided by the wait states that occur; without them if they were not computed. */
const knowsWaits = finished.length > 0 && finished.every((scenario) => scenario.waits !== null);
const waitKinds = data.wait_kinds.map((_, kind) => kind)
  .filter((kind) => knowsWaits && finished.some((scenario) => sum(scenario.waits[kind]) > 0));
const waitName = (kind) => data.wait_kinds[kind].charAt(0).toUpperCase() + data.wait_kinds[kind].slice(1);
const withoutWaits = (scenario) => scenario.mpi.map((seconds, rank) => Math.max(
  0, seconds - scenario.own_work[rank] - sum(waitKinds.map((kind) => scenario.waits[kind][rank]))));
const hasOwnWork = finished.some((scenario) => sum(scenario.own_work) > 0);
const layersByWait = [layersByCall[0],
  ...waitKinds.map((kind) => (
    {name: waitName(kind), colour: kCallColours[kind], seconds: (scenario) => scenario.waits[kind]})),
  ...(hasOwnWork ? [{name: "Own work of calls", colour: kCallColours.at(-1), seconds: (scenario) => scenario.own_work}] : []),
  {name: hasOwnWork ? "Communication" : "MPI without waiting", colour: kOthersColour, seconds: withoutWaits},
  ...otherRows];

let layers = layersByCall;

// --- Head -----------------------------------------------------------------------------------------

function writeHead() {
  const trace = data.trace;
  byId("version").textContent = byId("version-again").textContent = data.rubato;
  byId("archive").textContent = trace.path;
  const [first] = scenarios;
  byId("headline").textContent = data.answer || `${first.name}: ${first.deadlock ? "deadlock" : showSeconds(first.elapsed)}`;
  byId("verdict").append(...data.verdict.map((line) => element("p", line)));
  byId("reference-name").textContent = `“${data.reference}”`;
  byId("interval-words").textContent = scenarios.some(({interval}) => interval) ? ", the line at its end the 95 % interval" : "";
  const plural = (count, word) => `${showCount(count)} ${word}${count === 1 ? "" : "s"}`;
  byId("what-was-run").textContent = `${trace.command ? `“${trace.command}”, ` : ""}${plural(trace.ranks, "rank")} on ${plural(trace.nodes, "node")}, ` +
    `recorded by ${trace.creator || "an unnamed tracer"}${trace.mpi_library ? ` on ${trace.mpi_library.split(",")[0]}` : ""}: ${plural(trace.mpi_calls, "MPI call")}, ` +
    `${plural(trace.messages, "message")}, ${plural(trace.collectives, "collective")}.`;

  if (data.origin)
    byId("origin").append(`Written on ${data.origin.date}, on ${data.origin.host}, by `, element("code", data.origin.command));

  const doubts = [...data.caveats, ...data.scenario_notes];
  [data.runs, data.kept_line, ...doubts].filter(Boolean).forEach((line) => byId("trust-lines").append(element("li", line)));
  byId("trust").className = doubts.length || trace.kept.length ? "doubt" : "quiet";
}

// --- Findings -------------------------------------------------------------------------------------

function writeFindings() {
  if (data.findings.length === 0) {
    byId("findings").remove();
    return;
  }
  const several = new Set(data.findings.map((finding) => finding.scenario)).size > 1;
  const head = ["Costs", several ? "of the scenario" : `of ${data.findings[0].scenario}`, "Finding"];
  const hasIntervals = data.findings.some((finding) => finding.interval);
  fillTable(byId("finding-table"), [...head, ...(several ? ["Scenario"] : []), ...(hasIntervals ? ["95 % interval"] : [])], data.findings.map((finding) => [
    cell((finding.at_most ? "≤ " : "") + showSeconds(finding.seconds), finding.seconds), shareCell(finding.of_elapsed, 1), `${finding.kind}: ${finding.text}`,
    ...(several ? [finding.scenario] : []),
    ...(!hasIntervals ? [] : [finding.interval ? `${showSeconds(finding.interval.low)} – ${showSeconds(finding.interval.high)}` : "–"])]));
  const commands = [...new Set(data.findings.map((finding) => finding.command).filter(Boolean))];
  byId("commands").textContent = commands.join("\n");
  byId("commands").hidden = byId("commands").previousElementSibling.hidden = commands.length === 0;
}

// --- Elapsed per scenario -------------------------------------------------------------------------

/** A line from low to high with ends, on an outline that separates it from the bar. */
function drawErrorBar(context, low, high, y) {
  context.beginPath();
  [[low, y - 6, low, y + 6], [low, y, high, y], [high, y - 6, high, y + 6]].forEach(([fromX, fromY, toX, toY]) => {
    context.moveTo(fromX, fromY);
    context.lineTo(toX, toY);
  });
  [[kPage, 5], [kText, 2]].forEach(([colour, lineWidth]) => {
    Object.assign(context, {strokeStyle: colour, lineWidth, lineCap: "square"});
    context.stroke();
  });
}

/** Writes the elapsed time behind each bar, and draws its 95 % interval. */
const barEnds = {
  id: "barEnds",
  afterDatasetsDraw(chart) {
    const context = chart.ctx;
    const reference = finished.find((scenario) => scenario.name === data.reference);
    context.save();
    context.font = Chart.helpers.toFont({size: 13}).string;
    context.textBaseline = "middle";
    context.fillStyle = kText;
    scenarios.forEach((scenario, index) => {
      const y = chart.scales.y.getPixelForValue(index);
      const at = (seconds) => chart.scales.x.getPixelForValue(seconds || 0);
      const x = at(Math.max(scenario.elapsed, ...scenario.interval || [])) + 8;
      if (scenario.elapsed === null) {
        context.fillText("deadlock", x, y);
        return;
      }
      const ratio = reference && scenario !== reference
        ? `${(scenario.elapsed / reference.elapsed).toFixed(2)} ×` : "";
      if (scenario.interval) drawErrorBar(context, ...scenario.interval.map(at), y);
      context.fillText(showSeconds(scenario.elapsed), x, ratio ? y - 8 : y);
      if (ratio) context.fillText(ratio, x, y + 9);
    });
    context.restore();
  },
};

const barStyle = {borderColor: kPage, borderWidth: {left: 0, right: 1, top: 0, bottom: 0}, borderSkipped: false};

let scenarioChart = null;

function drawScenarios() {
  const idle = scenarios.map((scenario) => scenario.elapsed === null ? 0 : Math.max(
    0, scenario.elapsed - sum(layers.map((layer) => mean(layer.seconds(scenario))))));
  const datasets = layers.map((layer) => ({
    label: layer.name,
    backgroundColor: layer.colour,
    data: scenarios.map((scenario) => scenario.elapsed === null ? 0 : mean(layer.seconds(scenario))),
    ...barStyle,
  }));
  const legend = layers.map((layer) => [layer.name, layer.colour]);
  const longest = Math.max(...finished.map((scenario) => scenario.elapsed), 0);
  if (idle.some((seconds) => seconds > 0.002 * longest)) {
    datasets.push({label: "Not started or already finished", backgroundColor: kIdleColour, data: idle, ...barStyle});
    legend.push(["Not started or already finished", kIdleColour]);
  }
  byId("legend").replaceChildren();
  legend.forEach(([name, colour]) => {
    const item = element("li");
    const patch = element("i");
    patch.style.background = colour;
    if (colour === kIdleColour) patch.style.borderColor = kText;
    item.append(patch, name);
    byId("legend").append(item);
  });

  const labels = scenarios.map((scenario) => nameLines(scenario.name, narrow() ? 14 : 26));
  const lines = sum(labels.map((label) => Math.max(2.6, label.length + 0.6)));
  byId("scenario-chart-box").style.height = `${lines * 19 + 50}px`;
  if (scenarioChart) scenarioChart.destroy();
  scenarioChart = new Chart(byId("scenario-chart"), {
    type: "bar",
    data: {labels, datasets},
    plugins: [barEnds],
    options: {
      indexAxis: "y",
      layout: {padding: {right: 76}},
      datasets: {bar: {categoryPercentage: 0.82, barPercentage: 0.9}},
      interaction: {mode: "index", axis: "y", intersect: false},
      scales: {
        x: {stacked: true, ticks: {callback: showTick, maxTicksLimit: narrow() ? 4 : 8, maxRotation: 0},
          suggestedMax: Math.max(...scenarios.flatMap(({interval}) => interval || [0]))},
        y: {stacked: true, grid: {display: false}, ticks: {autoSkip: false}},
      },
      plugins: {tooltip: {callbacks: {
        title: (items) => scenarios[items[0].dataIndex].name,
        label: (item) => `${item.dataset.label}: ${showSeconds(item.raw)}`,
      }}},
      onClick: (_, items) => { if (items.length) chooseScenario(items[0].index); },
    },
  });
}

function writeScenarioTable() {
  const reference = finished.find((scenario) => scenario.name === data.reference);
  const elapsed = columnFormat(scenarios.map((scenario) => scenario.elapsed));
  const withInit = columnFormat(scenarios.map((scenario) => scenario.elapsed_with_init));
  const used = Object.keys(scenarios[0].traffic)
    .filter((level) => finished.some((scenario) => scenario.traffic[level].messages > 0));
  const showTraffic = ({messages, bytes}) =>
    messages === 0 ? "–" : `${showCount(messages)}, ${showBytes(bytes)}`;
  // One line if all scenarios have the same traffic on each level, columns if a placement differs.
  const same = finished.every((scenario) =>
    JSON.stringify(scenario.traffic) === JSON.stringify(finished[0].traffic));
  const levels = same ? [] : used;
  byId("traffic").textContent = !same || finished.length === 0 ? "" : used.length === 0 ? "No messages between two ranks."
    : `Messages by distance: ${used.map((level) => `${level} ${showTraffic(finished[0].traffic[level])}`).join("; ")}.`;
  const header = ["Scenario", elapsed.head("Elapsed"), `vs ${data.reference}`, "Compute", "MPI",
    ...otherRows.map((row) => row.name),
    withInit.head("With MPI_Init"), ...levels.map((level) => `Messages: ${level}`)];
  const rows = scenarios.map((scenario) => {
    const traffic = levels.map((level) => showTraffic(scenario.traffic[level]));
    if (scenario.elapsed === null) return [scenario.name, "deadlock", "–", "–", "–", ...otherRows.map(() => "–"), "–", ...levels.map(() => "–")];
    const compute = mean(scenario.compute);
    const mpi = mean(scenario.mpi);
    const others = otherRows.map((row) => mean(row.seconds(scenario)));
    const window = compute + mpi + sum(others);
    const interval = scenario.interval;
    return [scenario.name, cell(elapsed.show(scenario.elapsed) +
      (interval ? ` (${elapsed.show(interval[0])}\u2013${elapsed.show(interval[1])})` : ""), scenario.elapsed),
      reference ? cell(`${(scenario.elapsed / reference.elapsed).toFixed(3)} ×`, scenario.elapsed / reference.elapsed) : "–",
      shareCell(compute, window), shareCell(mpi, window), ...others.map((seconds) => shareCell(seconds, window)),
      withInit.cell(scenario.elapsed_with_init), ...traffic];
  });
  fillTable(byId("scenario-table"), header, rows);

  // The same numbers as the bars, for reading and copying.
  const perCall = [["Compute", (scenario) => scenario.compute],
    ...otherRows.map((row) => [row.name, row.seconds]),
    ...[...callsByTime, ...callsOutside].map((call) =>
      [data.calls[call], (scenario) => scenario.calls[call].time])];
  const values = perCall.map(([, seconds]) => finished.map((scenario) => mean(seconds(scenario))));
  const format = columnFormat([Math.max(0, ...values.flat())], 1);
  fillTable(byId("call-table"), [format.head("Mean over ranks"), ...finished.map((s) => s.name)],
    perCall.map(([name], row) => [name, ...values[row].map(format.cell)]));
  if (!knowsWaits) return;
  const perWait = layersByWait.slice(1);
  const waits = perWait.map((layer) => finished.map((scenario) => mean(layer.seconds(scenario))));
  const waitFormat = columnFormat([Math.max(0, ...waits.flat())], 1);
  fillTable(byId("wait-table"), [waitFormat.head("Mean over ranks"), ...finished.map((s) => s.name)],
    perWait.map((layer, row) => [layer.name, ...waits[row].map(waitFormat.cell)]));
}

/** Lets the reader choose how the bars divide the time in MPI. */
function setUpDivision() {
  if (!knowsWaits) {
    byId("division").remove();
    byId("wait-details").remove();
    return;
  }
  byId("divide-by").addEventListener("change", () => {
    layers = byId("divide-by").value === "wait" ? layersByWait : layersByCall;
    drawScenarios();
    showChosenScenario();
  });
}

// --- Each rank ------------------------------------------------------------------------------------

const kMostBars = 1024;  // more ranks share bars
let rankChart = null;

function rankOrder(scenario) {
  const order = scenario.compute.map((_, rank) => rank);
  const by = byId("rank-order").value;
  if (by !== "rank") order.sort((a, b) => scenario[by][b] - scenario[by][a]);
  return order;
}

/** The step between labelled bars: 1, 2, 5, 10, 20, ... */
function labelStep(bars) {
  const most = narrow() ? 7 : 20;
  for (let step = 1; ; step *= 10) {
    for (const round of [step, 2 * step, 5 * step]) {
      if (bars / round <= most) return round;
    }
  }
}

function drawRanks(scenario) {
  const order = rankOrder(scenario);
  const perBar = Math.ceil(order.length / kMostBars);
  const bars = [];
  for (let first = 0; first < order.length; first += perBar) bars.push(order.slice(first, first + perBar));
  const sideways = order.length <= 6;
  const few = order.length <= 64;
  const datasets = layers.map((layer) => {
    const seconds = layer.seconds(scenario);
    return {
      label: layer.name,
      backgroundColor: layer.colour,
      data: bars.map((ranks) => mean(ranks.map((rank) => seconds[rank]))),
      inflateAmount: few ? 0 : 0.6,  // no seams between bars that touch
      ...(few ? {borderColor: kPage, borderWidth: sideways ? barStyle.borderWidth : {top: 1, bottom: 0, left: 0, right: 0}, borderSkipped: false} : {}),
    };
  });
  byId("rank-chart-box").style.height = sideways ? `${bars.length * 44 + 50}px` : "340px";
  if (rankChart) rankChart.destroy();
  const time = {stacked: true, ticks: {callback: showTick, maxTicksLimit: narrow() ? 4 : 8, maxRotation: 0}};
  const ranks = {
    stacked: true,
    grid: {display: false},
    ticks: {
      autoSkip: false,
      maxRotation: 0,
      callback: (index) => index % labelStep(bars.length) === 0 ? bars[index][0] : "",
    },
    title: {display: true, text: byId("rank-order").value === "rank" ? "Rank" : "Rank, in the chosen order"},
  };
  rankChart = new Chart(byId("rank-chart"), {
    type: "bar",
    data: {labels: bars.map((members) => `${members[0]}`), datasets},
    options: {
      indexAxis: sideways ? "y" : "x",
      datasets: {bar: {categoryPercentage: few ? 0.86 : 1, barPercentage: few ? 0.95 : 1}},
      interaction: {mode: "index", axis: sideways ? "y" : "x", intersect: false},
      scales: sideways ? {x: time, y: ranks} : {x: ranks, y: time},
      plugins: {tooltip: {callbacks: {
        title: (items) => `Rank ${bars[items[0].dataIndex].join(", ")}`,
        label: (item) => `${item.dataset.label}: ${showSeconds(item.raw)}`,
      }}},
    },
  });
  const busiest = scenario.compute.indexOf(Math.max(...scenario.compute));
  const imbalance = scenario.compute[busiest] / mean(scenario.compute) - 1;
  byId("rank-note").textContent =
    (order.length > 1 && imbalance > 0 ? `Rank ${busiest} computes longest, ${(100 * imbalance).toFixed(1)} % above the average. ` : "") +
    (perBar > 1 ? `Each bar is the mean of ${perBar} ranks next to each other.` : "");
}

function writeRankTable(scenario) {
  const calls = callsByTime.filter((call) => sum(scenario.calls[call].time) > 0)
    .sort((a, b) => sum(scenario.calls[b].time) - sum(scenario.calls[a].time))
    .concat(callsOutside);
  const columns = layers === layersByWait
    ? layersByWait.slice(1).map((layer) => ({name: layer.name, times: layer.seconds(scenario)}))
    : [...otherRows.map((row) => ({name: row.name, times: row.seconds(scenario)})),
      ...calls.map((call) => ({name: data.calls[call], times: scenario.calls[call].time}))];
  const format = columnFormat([Math.max(...scenario.compute, ...scenario.mpi)], 1);
  fillTable(byId("rank-table"),
    [format.head("Rank"), "Compute", "All MPI", ...columns.map((column) => column.name)],
    rankOrder(scenario).map((rank) => [cell(`${rank}`, rank), format.cell(scenario.compute[rank]),
      format.cell(scenario.mpi[rank]),
      ...columns.map((column) => format.cell(column.times[rank]))]));
}

function showChosenScenario() {
  const scenario = finished[byId("scenario-choice").value];
  drawRanks(scenario);
  byId("ranks-heading").textContent = `${scenario.name}, ${byId("rank-order").selectedOptions[0].textContent}`;
  byId("rank-table").replaceChildren();
  if (byId("rank-details").open) writeRankTable(scenario);
}

/** Shows the ranks of scenarios[index], unless it deadlocks. */
function chooseScenario(index) {
  const choice = finished.indexOf(scenarios[index]);
  if (choice < 0) return;
  byId("scenario-choice").value = choice;
  showChosenScenario();
}

function setUpRanks() {
  finished.forEach((scenario, index) =>
    byId("scenario-choice").append(element("option", scenario.name, {value: index})));
  byId("scenario-choice").addEventListener("change", showChosenScenario);
  byId("rank-order").addEventListener("change", () => {
    delete byId("rank-table").order;
    showChosenScenario();
  });
  byId("rank-details").addEventListener("toggle", () => {
    if (byId("rank-details").open) writeRankTable(finished[byId("scenario-choice").value]);
  });
  exportChart(byId("rank-chart"), "each rank");
  byId("rank-details").open = rankCount <= 16;
  chooseScenario(Math.max(0, scenarios.findIndex((scenario) => scenario.name === data.reference)));
  if (!rankChart) showChosenScenario();
}

// --- Platforms: fitted curves and the samples behind them ------------------------------------------

function drawCurve(canvas, level) {
  const samples = level.samples.map(([bytes, seconds]) => ({x: onLogAxis(bytes), y: seconds, bytes}));
  const curve = level.curve.map(([bytes, seconds]) => ({x: onLogAxis(bytes), y: seconds, bytes}));
  const largest = Math.max(...[...samples, ...curve].map((point) => point.bytes));
  new Chart(canvas, {
    type: "scatter",
    data: {datasets: [
      {label: "Measured", data: samples, backgroundColor: "#d55e00", pointRadius: 3, order: 1},
      {label: "Fitted", data: curve, showLine: true, borderColor: dark ? "#56b4e9" : "#0072b2",
        backgroundColor: "#0072b2", borderWidth: 2, pointRadius: 0, pointHitRadius: 0, order: 0},
    ]},
    options: {
      scales: {
        x: bytesAxis(largest, narrow() ? 64 : 8),
        y: {type: "logarithmic", title: {display: true, text: "One way"}, afterBuildTicks: decades,
          ticks: {callback: showTick}},
      },
      plugins: {
        legend: {display: true, position: "top", align: "start", labels: {usePointStyle: true, boxHeight: 7}},
        tooltip: {callbacks: {label: (item) =>
          `${item.dataset.label}: ${showBytes(item.raw.bytes)} in ${showSeconds(item.raw.y)}`}},
      },
    },
  });
}

function drawResiduals(canvas, level) {
  const points = level.samples.filter(([, , fitted]) => fitted > 0).map(([bytes, seconds, fitted]) =>
    ({x: onLogAxis(bytes), y: 100 * (seconds / fitted - 1), bytes}));
  const limit = Math.max(5, ...points.map((point) => Math.abs(point.y))) * 1.15;
  new Chart(canvas, {
    type: "scatter",
    data: {datasets: [{data: points, backgroundColor: "#d55e00", pointRadius: 3}]},
    options: {
      scales: {
        x: bytesAxis(Math.max(...points.map((point) => point.bytes)), narrow() ? 64 : 16),
        y: {min: -limit, max: limit, title: {display: true, text: "Measured − fitted"},
          ticks: {callback: (value) => `${Math.round(value)} %`, maxTicksLimit: 7, includeBounds: false},
          grid: {color: (context) => context.tick.value === 0 ? kText : kGrid}},
      },
      plugins: {tooltip: {callbacks: {label: (item) =>
        `${showBytes(item.raw.bytes)}: ${item.raw.y.toFixed(1)} %`}}},
    },
  });
}

function drawLevel(section, level) {
  section.append(element("h3", `Level ${level.level}`));
  const errors = level.samples.filter(([, , fitted]) => fitted > 0)
    .map(([, seconds, fitted]) => Math.abs(seconds / fitted - 1)).sort((a, b) => a - b);
  const at = (share) => `${(100 * errors[Math.floor(share * (errors.length - 1))]).toFixed(1)} %`;
  section.append(element("p", `${level.samples.length} samples; 50 % of them are within ${at(0.5)} of the curve, ` +
    `90 % within ${at(0.9)}.`, {className: "explain"}));
  const pair = element("div", undefined, {className: "pair"});
  section.append(pair);
  const left = element("div");
  const right = element("div");
  pair.append(left, right);
  drawCurve(chartBox(left, 320, `Transfer time over message size, level ${level.level}`), level);
  drawResiduals(chartBox(right, 320, `Difference between samples and curve, level ${level.level}`), level);
}

/** Levels are those with samples. */
function drawPlatforms() {
  for (const platform of data.platforms) {
    if (platform.levels.length === 0) continue;
    const section = element("details", undefined, {className: "part", open: true});
    const summary = element("summary");
    summary.append(element("h2", `Platform “${platform.name}”`, {id: `platform-${data.platforms.indexOf(platform)}`}));
    section.append(summary);
    byId("platforms").append(element("section"));
    byId("platforms").lastChild.append(section);
    section.append(element("p", `One-way message time between two ranks, from ${platform.file}. ` +
      "Both axes are logarithmic; the small chart shows how far each sample lies from the curve.", {className: "explain"}));
    platform.levels.forEach((level) => drawLevel(section, level));
    const measured = Object.entries(platform.measured);
    if (measured.length > 0) {
      const details = element("details");
      details.append(element("summary", "How it was measured"));
      const list = element("dl");
      measured.forEach(([key, value]) => list.append(element("dt", key), element("dd", value)));
      details.append(list);
      section.append(details);
    }
  }
}

/** Links to the sections that the page has. (The address keeps the view of the timeline.) */
function writeContents() {
  for (const title of document.querySelectorAll(".part > summary > h2")) {
    const part = title.closest(".part");
    const link = element("a", title.textContent, {href: `#${title.id}`});
    link.addEventListener("click", (event) => {
      event.preventDefault();
      part.open = true;
      part.scrollIntoView();
      title.parentElement.focus({preventScroll: true});
    });
    const item = element("li");
    item.append(link);
    byId("contents").append(item);
    // Pictures have no width in a closed section.
    part.addEventListener("toggle", () => dispatchEvent(new Event("resize")));
  }
}

function drawPage() {
  drawScenarios();
  exportChart(byId("scenario-chart"), "elapsed time in each scenario");
  writeScenarioTable();
  setUpTimelines();
  setUpPlaces();
  setUpTraffic();
  setUpLinks();
  drawSweeps();
  setUpDivision();
  if (finished.length > 0) setUpRanks();
  drawPlatforms();
  writeContents();
  document.body.dataset.drawn = "all";
}

writeHead();
writeFindings();
// The head is shown before the pictures are drawn.
requestAnimationFrame(() => setTimeout(drawPage));
