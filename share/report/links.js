// Utilisation of the links of a network: by kind over time, and the busiest links. Loaded before report.js.

/** A line for each kind of link; `links` is the "links" of a scenario. */
function linkDatasets(links) {
  return links.kinds.map((kind, index) => ({
    label: `${kind.name} (${showCount(kind.links)})`,
    data: kind.by_bin.map((share, bin) => ({x: links.begin + (bin + 0.5) * links.bin, y: 100 * share})),
    borderColor: kCallColours[index % kCallColours.length],
    backgroundColor: kCallColours[index % kCallColours.length],
    borderWidth: 2,
    pointRadius: 0,
    pointHitRadius: 6,
  }));
}

/** The time that calls lose to contention, relative to the same replay without contention. */
function drawContention(parent, {contention, elapsed}) {
  if (!contention) return;
  const lost = elapsed - contention.elapsed_alone;
  parent.append(element("p", `Without contention the run would take ${showSeconds(contention.elapsed_alone)}; ` +
    `contention costs ${showSeconds(lost)} (${(100 * lost / elapsed).toFixed(1)} %).`));
  const calls = Object.entries(contention.calls).filter(([, seconds]) => seconds > 0).slice(0, 10);
  if (calls.length === 0) return;
  const box = element("div", undefined, {className: "table-box"});
  const table = element("table");
  box.append(table);
  parent.append(box);
  fillTable(table, ["Lost to contention, all ranks", "Time", "Share of the additional MPI time"],
    calls.map(([call, seconds]) => [call, secondsCell(seconds),
      contention.mpi > 0 ? `${(100 * seconds / contention.mpi).toFixed(0)} %` : ""]));
}

function drawLinks(parent, scenario) {
  const {links} = scenario;
  parent.replaceChildren();
  parent.append(element("p", links.slowed === 0 ? "No message was slowed down by a link."
    : `${showCount(links.slowed)} of ${showCount(links.flows)} messages on links were slowed down, by ` +
      `${showSeconds(links.delay / links.slowed)} on average.`, {className: "explain"}));
  drawTopology(parent, scenario);
  drawContention(parent, scenario);
  const label = `Lines: utilisation of links over time on ${scenario.name}, by kind`;
  new Chart(chartBox(parent, 260, label), {
    type: "scatter",
    data: {datasets: linkDatasets(links).map((dataset) => ({...dataset, showLine: true}))},
    options: {
      scales: {
        x: {title: {display: true, text: "Time since the start of the run"}, ticks: {callback: showTick, maxRotation: 0}},
        y: {min: 0, suggestedMax: 1, title: {display: true, text: "Busy, % of all links of a kind"}},
      },
      plugins: {
        legend: {display: true, labels: {boxWidth: 12, boxHeight: 12}},
        tooltip: {callbacks: {label: (item) => `${item.dataset.label}: ${item.raw.y.toFixed(1)} % at ${showSeconds(item.raw.x)}`}},
      },
    },
  });
  const box = element("div", undefined, {className: "table-box"});
  const table = element("table");
  box.append(table);
  parent.append(box);
  fillTable(table, ["Busiest links", "Busy", "Bytes"],
    links.hottest.map((link) => [link.name, cell(`${(100 * link.mean).toFixed(1)} %`, link.mean), cell(showBytes(link.bytes), link.bytes)]));
}

function setUpLinks() {
  const known = data.scenarios.filter((scenario) => scenario.links && scenario.links.flows > 0);
  if (known.length === 0) {
    byId("links").remove();
    return;
  }
  const choice = byId("links-choice");
  known.forEach((scenario, index) => choice.append(element("option", scenario.name, {value: index})));
  const show = () => drawLinks(byId("links-picture"), known[choice.value]);
  choice.addEventListener("change", show);
  show();
}
