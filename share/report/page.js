// Shared by all pages: numbers, colours, tables, axes and charts. The data is in #rubato-data, as JSON. Plain DOM and
// Chart.js 3; nothing is loaded from the network. Numbers are formatted by the rules of tools/format/numbers.cc.
"use strict";

const data = JSON.parse(document.getElementById("rubato-data").textContent);
const byId = (id) => document.getElementById(id);
/** Colours are chosen once; a page that is printed keeps them on its own background. */
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
document.documentElement.classList.toggle("dark", dark);
const narrow = () => document.body.clientWidth < 640;

// --- Numbers -------------------------------------------------------------------------------------

const kUnits = [[1, "s"], [1e3, "ms"], [1e6, "µs"], [1e9, "ns"]];

function unitFor(seconds) {
  const size = Math.abs(seconds);
  if (size === 0) return kUnits[0];
  return kUnits.find(([scale]) => size * scale * 1.00005 >= 1) || kUnits[3];
}

function decimalsFor(value) {
  if (value <= 0) return 3;
  const before = Math.floor(Math.log10(value * 1.00005)) + 1;
  return Math.min(4, Math.max(0, 4 - before));
}

function showSeconds(seconds) {
  if (seconds === null || !isFinite(seconds)) return "–";
  if (seconds === 0) return "0 s";
  const [scale, name] = unitFor(seconds);
  return `${(seconds * scale).toFixed(decimalsFor(Math.abs(seconds) * scale))} ${name}`;
}

/** A tick of a time axis: no more digits than it needs. */
function showTick(seconds) {
  const [scale, name] = unitFor(seconds);
  return `${parseFloat((seconds * scale).toPrecision(4))} ${name}`;
}

function showBytes(bytes) {
  const names = ["B", "KiB", "MiB", "GiB", "TiB"];
  let power = 0;
  while (bytes >= 1024 && power + 1 < names.length) {
    bytes /= 1024;
    power += 1;
  }
  return `${parseFloat(bytes.toFixed(bytes >= 100 ? 0 : bytes >= 10 ? 1 : 2))} ${names[power]}`;
}

const showCount = (count) => count.toLocaleString("en-US");

function showShare(part, whole) {
  if (!(whole > 0) || part === 0) return "0 %";
  const percent = 100 * part / whole;
  return percent < 0.05 ? "<0.1 %" : `${percent.toFixed(1)} %`;
}

const sum = (values) => values.reduce((total, value) => total + value, 0);
const mean = (values) => values.length ? sum(values) / values.length : 0;

/** Shows every value of a column in one unit with the same decimals, `extra` more than it needs. */
function columnFormat(values, extra = 0) {
  const known = values.filter((value) => value !== null && value !== 0);
  const [scale, name] = unitFor(Math.max(0, ...known.map(Math.abs)));
  const smallest = Math.min(...known.map(Math.abs));
  const decimals = Math.min(4, extra + (known.length ? decimalsFor(smallest * scale) : 3));
  const show = (value) => value === null ? "–" : (value * scale).toFixed(decimals);
  return {name, show, cell: (value) => cell(show(value), value), head: (title) => cell(`${title} (${name})`, `${title} (s)`)};
}

// --- Colours: Okabe and Ito's set, told apart with any colour vision; compute stays in the back ----

const kText = dark ? "#c9d3dc" : "#3c4854";
const kGrid = dark ? "#333e49" : "#e4e9ed";
const kPage = dark ? "#14191f" : "#ffffff";
const kComputeColour = dark ? "#5d6b78" : "#b9c4ce";
const kIdleColour = dark ? "#242c35" : "#eef1f4";
const kOthersColour = dark ? "#9aa0a6" : "#7d858c";
const kCallColours = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442"];

Chart.defaults.color = kText;
Chart.defaults.borderColor = kGrid;
Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
Chart.defaults.font.size = 13;
Chart.defaults.animation = false;
Chart.defaults.maintainAspectRatio = false;
Chart.defaults.plugins.legend.display = false;

/** Charts are as wide as the paper. */
addEventListener("beforeprint", () => Object.values(Chart.instances).forEach((chart) => chart.resize()));
addEventListener("afterprint", () => Object.values(Chart.instances).forEach((chart) => chart.resize()));

// --- Small pieces of page -------------------------------------------------------------------------

function element(tag, text, properties = {}) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  return Object.assign(node, properties);
}

/** The heading above a table. */
function tableName(table) {
  const details = table.closest("details:not(.part)");
  if (details) return details.querySelector("summary").textContent;
  const above = [...document.querySelectorAll("h2, h3")].filter((each) =>
    each.compareDocumentPosition(table) & Node.DOCUMENT_POSITION_FOLLOWING);
  return above.length ? above[above.length - 1].textContent : "table";
}

/** Negative if `a` comes before `b`: numbers by size, then texts, with what is missing at the end in either direction. */
function compareCells(a, b, down) {
  const [first, second] = [a, b].map((value) => typeof value === "number");
  if (first !== second) return first ? -1 : 1;
  return (down ? -1 : 1) * (first ? a - b : String(a).localeCompare(String(b), "en", {numeric: true}));
}

/** The heading of a column, as a button that sorts by it: once, the other way, not at all. `sort` gets the next order, of
    the column that `key` names. */
function columnHead(title, key, order, isNumber, sort) {
  const head = element("th", undefined, {scope: "col"});
  if (!sort) return breakable(head, title);
  const isOrdered = order.key === key;
  head.setAttribute("aria-sort", !isOrdered ? "none" : order.down ? "descending" : "ascending");
  const button = element("button", undefined, {type: "button", className: "sort"});
  button.addEventListener("click", () => sort(!isOrdered ? {key, down: isNumber}
    : order.down === isNumber ? {key, down: !isNumber} : {}));
  head.append(breakable(button, title));
  return head;
}

/** Fills a table; the first cell of each row names it. Cells are texts, or {text, value} (export.js). The reader may sort
    it, but the `last` rows stay at the end; table.order is kept as long as there is a column of that heading. */
function fillTable(table, header, rows, last = 0) {
  const isFilled = Boolean(table.saved);
  const given = rows;
  const movable = rows.slice(0, rows.length - last);
  const order = table.order || {};
  const names = header.map(valueOf);
  // (The second of two "Share" is another one.)
  const keys = names.map((name, column) => `${name} ${names.slice(0, column).filter((other) => other === name).length}`);
  const by = keys.indexOf(order.key);
  if (by >= 0) {
    movable.sort((a, b) => compareCells(valueOf(a[by]), valueOf(b[by]), order.down));
    rows = [...movable, ...rows.slice(rows.length - last)];
  }
  table.saved = {header: names, rows: rows.map((row) => row.map(valueOf))};
  if (!isFilled) exportButtons(table.closest(".table-box") || table, tableName(table), {after: true, table: () => table.saved});
  const head = element("thead");
  const headRow = element("tr");
  header.forEach((text, column) => {
    const values = movable.map((row) => valueOf(row[column]));
    // (A text such as "8 KiB" is in no order.)
    const canSort = values.length > 1 && textOf(text) !== "" && values.every((value) => typeof value === "number" || !/^\d/.test(value));
    headRow.append(columnHead(textOf(text), keys[column], order, values.some((value) => typeof value === "number"), canSort && ((next) => {
      table.order = next;
      fillTable(table, header, given, last);
      table.tHead.rows[0].cells[column].firstChild.focus();
    })));
  });
  head.append(headRow);
  const body = element("tbody");
  rows.forEach((cells) => {
    const row = element("tr");
    cells.map(textOf).forEach((text, column) => row.append(column === 0 || text.length > 32
      ? breakable(element("td", undefined, {className: "name"}), text)
      : element("td", text, {className: parseFloat(text) === 0 ? "zero" : ""})));
    body.append(row);
  });
  table.replaceChildren(head, body);
}

/** A long scenario name in pieces, divided behind the marks it has of its own. */
const namePieces = (name) => name.split(/(?<=[:,/_-])/);

/** Puts a name into an element so that it may break between its pieces. */
function breakable(node, name) {
  namePieces(name).forEach((piece, index) => node.append(...index > 0 ? [element("wbr")] : [], piece));
  return node;
}

/** A long scenario name in lines of about `width` letters. */
function nameLines(name, width) {
  const lines = [""];
  for (const piece of namePieces(name)) {
    const last = lines[lines.length - 1];
    if (last !== "" && last.length + piece.length > width) lines.push(piece);
    else lines[lines.length - 1] = last + piece;
  }
  return lines;
}

// --- Axes and boxes of charts ----------------------------------------------------------------------

const kEmptyMessage = 0.5;  // position of 0 bytes on a logarithmic axis
const onLogAxis = (bytes) => Math.max(bytes, kEmptyMessage);

function bytesAxis(largest, step) {
  return {
    type: "logarithmic",
    min: kEmptyMessage * 0.7,
    max: Math.max(2, largest * 1.3),
    title: {display: true, text: "Message size"},
    afterBuildTicks: (axis) => {
      axis.ticks = [{value: kEmptyMessage}];
      for (let bytes = step; bytes <= largest * 1.3; bytes *= step) axis.ticks.push({value: bytes});
    },
    ticks: {
      callback: (bytes) => bytes === kEmptyMessage ? "0" : showBytes(bytes),
      autoSkip: false,
      maxRotation: 0,
    },
  };
}

/** A tick at each power of ten inside the axis. */
function decades(axis) {
  axis.ticks = [];
  for (let power = Math.ceil(Math.log10(axis.min)); power <= Math.log10(axis.max); ++power) {
    axis.ticks.push({value: Math.pow(10, power)});
  }
}

function chartBox(parent, height, label) {
  const box = element("div", undefined, {className: "chart"});
  box.style.height = `${height}px`;
  const canvas = element("canvas");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", label);
  box.append(canvas);
  parent.append(box);
  exportChart(canvas, label.split(/[.,] /)[0]);
  return canvas;
}
