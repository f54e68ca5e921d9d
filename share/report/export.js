// Buttons that save a table as CSV or a picture as PNG. Loaded after page.js on all pages.

function saveFile(name, blob) {
  const link = element("a", undefined, {href: URL.createObjectURL(blob), download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const fileName = (name, ending) => `rubato-${name.toLowerCase().replace(/[^a-z0-9.]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 80)}.${ending}`;

/** Texts that a spreadsheet would read as a formula begin with an apostrophe. */
function csvField(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) && !/^[+-]?[\d.]+(e[+-]?\d+)?$/i.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

const csvText = ({header, rows}) => [header, ...rows].map((row) => `${row.map(csvField).join(",")}\n`).join("");

/** A cell that shows `text` and is saved as `value`. */
const cell = (text, value) => ({text, value});
const secondsCell = (seconds) => cell(showSeconds(seconds), seconds);
const shareCell = (part, whole) => cell(showShare(part, whole), whole > 0 ? parseFloat((part / whole).toPrecision(6)) : 0);
const textOf = (each) => each !== null && typeof each === "object" ? each.text : each;
const valueOf = (each) => each !== null && typeof each === "object" ? each.value : each;

/** Numbers behind a chart of Chart.js: a row per label and dataset, or per point. */
function chartCsv(chart) {
  const {labels, datasets} = chart.data;
  const isPoint = (value) => value !== null && typeof value === "object";
  if (datasets.some(({data: values}) => values.some(isPoint)))
    return {header: ["series", "x", "y"], rows: datasets.flatMap((set) => set.data.map(({x, y, bytes}) => [set.label || "", bytes === undefined ? x : bytes, y]))};
  const name = (label) => Array.isArray(label) ? label.join("") : label;
  return {header: ["", ...datasets.map(({label}) => label || "value")],
    rows: labels.map((label, index) => [name(label), ...datasets.map((set) => set.data[index])])};
}

/** A canvas, or a drawing, below its title on the colour of the page. */
async function pictureBlob(picture, title) {
  let source = picture;
  let [width, height] = [picture.width, picture.height];
  const scale = picture.tagName === "CANVAS" ? width / picture.clientWidth : 2;
  if (picture.tagName !== "CANVAS") {
    [width, height] = [picture.clientWidth * scale, picture.clientHeight * scale];
    source = new Image();
    source.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(picture))}`;
    await source.decode();
  }
  const canvas = document.createElement("canvas");
  const top = title ? 30 * scale : 8 * scale;
  [canvas.width, canvas.height] = [width + 16 * scale, height + top + 8 * scale];
  const context = canvas.getContext("2d");
  context.fillStyle = kPage;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = kText;
  context.font = `600 ${14 * scale}px ${Chart.defaults.font.family}`;
  context.textBaseline = "middle";
  context.fillText(title, 8 * scale, 16 * scale, canvas.width - 16 * scale);
  context.drawImage(source, 8 * scale, top, width, height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/** Buttons after `box`, or at its end: picture() is a canvas or drawing, table() is {header, rows}. */
function exportButtons(box, name, {picture, table, title = () => name, after = false}) {
  const buttons = element("div", undefined, {className: "export"});
  const add = (ending, words, act) => {
    const button = element("button", ending, {type: "button", title: words});
    button.setAttribute("aria-label", `${words}: ${name}`);
    button.addEventListener("click", act);
    buttons.append(button);
  };
  if (picture) add("PNG", "Save as a picture", async () => saveFile(fileName(name, "png"), await pictureBlob(picture(), title())));
  if (table) add("CSV", "Save the numbers", () => saveFile(fileName(name, "csv"), new Blob([csvText(table())], {type: "text/csv"})));
  if (after) box.after(buttons);
  else box.append(buttons);
}

/** The same for the chart on a canvas, which may be drawn later. */
function exportChart(canvas, name) {
  exportButtons(canvas.parentElement, name, {after: true, picture: () => canvas, table: () => chartCsv(Chart.getChart(canvas))});
}
