// A picture of a network: nodes, switches and cables, coloured by utilisation. Loaded after sweep.js, which defines the
// colours, and before links.js.

const kTopologyHeight = 430;
const kRoundHeight = 620;
const kTopologyMargin = 14;

function svgElement(tag, attributes, title) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
  if (title) made.append(svgElement("title", {}));
  if (title) made.firstChild.textContent = title;
  return made;
}

const showBusy = (share) => `${(100 * share).toFixed(1)} %`;

/** A straight line, or a curve around vertices between the ends. */
function cablePath([x, y], [toX, toY], bends) {
  if (!bends) return `M${x.toFixed(1)} ${y.toFixed(1)}L${toX.toFixed(1)} ${toY.toFixed(1)}`;
  const [midX, midY] = [(x + toX) / 2 - 0.12 * (toY - y), (y + toY) / 2 + 0.12 * (toX - x)];
  return `M${x.toFixed(1)} ${y.toFixed(1)}Q${midX.toFixed(1)} ${midY.toFixed(1)} ${toX.toFixed(1)} ${toY.toFixed(1)}`;
}

function drawTopology(parent, scenario) {
  const {topology} = scenario;
  if (!topology) return;
  const most = Math.max(...topology.cables.map(([, , there, back]) => Math.max(there, back)));
  const whole = topology.round ? kRoundHeight : kTopologyHeight;
  const width = Math.min(parent.clientWidth || 1000, 1100);
  const picture = svgElement("svg", {width, height: whole, viewBox: `0 0 ${width} ${whole}`, role: "img",
    "aria-label": `The network of ${scenario.name}, its cables coloured by utilisation, at most ${showBusy(most)}`});
  const height = whole - 2 * kTopologyMargin;
  const across = topology.round ? Math.min(height, width - 2 * kTopologyMargin) : width - 2 * kTopologyMargin;
  const place = ([x, y]) => [(width - across) / 2 + x * across, kTopologyMargin + y * height];
  const at = topology.vertices.map(place);
  const name = (index) => topology.vertices[index][2];
  // The busiest cables come first in the data and are drawn last, above all others.
  [...topology.cables].reverse().forEach(([from, to, there, back, bends]) => {
    const busy = Math.max(there, back);
    picture.append(svgElement("path", {d: cablePath(at[from], at[to], bends), fill: "none",
      stroke: busy > 0 ? rampColour(0.12 + 0.88 * busy / most) : kIdleColour,
      "stroke-width": busy > 0 ? 1 + 3 * busy / most : 1},
    `${name(from)} to ${name(to)}: ${showBusy(there)} busy, ${showBusy(back)} on the way back`));
  });
  const radius = Math.max(1, Math.min(4, 150 / Math.sqrt(at.length) / 4));
  topology.vertices.forEach(([, , words, isNode], index) => {
    const [x, y] = at[index];
    picture.append(isNode
      ? svgElement("circle", {cx: x.toFixed(1), cy: y.toFixed(1), r: radius, fill: kComputeColour}, words)
      : svgElement("rect", {x: (x - 1.4 * radius).toFixed(1), y: (y - 1.4 * radius).toFixed(1),
        width: 2.8 * radius, height: 2.8 * radius, fill: kText}, words));
  });
  const left_out = topology.all_cables - topology.cables.length;
  exportButtons(parent, `network of ${scenario.name}`, {picture: () => picture, table: () => ({
    header: ["from", "to", "busy", "busy on the way back"],
    rows: topology.cables.map(([from, to, there, back]) => [name(from), name(to), there, back]),
  })});
  parent.append(picture, element("p", "Dots are nodes, squares are switches. Darker and thicker cables are busier, by the busier " +
    `direction over the whole run, up to ${showBusy(most)}; grey ones carried nothing.` +
    (left_out > 0 ? ` ${showCount(left_out)} less busy cables are not drawn.` : ""), {className: "explain"}));
}
