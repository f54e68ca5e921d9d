// Timelines of scenarios: the window that is shown, moved by mouse, wheel, keys, search and the link of the page. The
// recording is drawn above the chosen scenario, over the same time if one is not much longer than the other, else each
// over its own. Loaded before report.js.

const drawn = data.scenarios.filter((scenario) => scenario.timeline);
const kNearElapsed = 2.5;  // the longer of two runs over the shorter, up to which one scale is legible for both
const kNarrowest = 4e-9;   // seconds

const knownTimelines = new Map();
function timelineData(scenario) {
  if (!knownTimelines.has(scenario)) knownTimelines.set(scenario, new TimelineData(scenario));
  return knownTimelines.get(scenario);
}

let timelineViews = [];
/** Times are those of the chosen scenario. `found`: {marks by scenario, words, row}; `target`: {scenario, start, end, row}. */
const timelineState = {from: 0, to: 0, firstRow: 0, lastRow: 0, selection: null, search: "", row: null, target: null, ownScale: false};

const chosenTimeline = () => drawn[byId("timeline-choice").value];
const whole = () => timelineState.ownScale ? timelineData(chosenTimeline()).elapsed
  : Math.max(...timelineViews.map((view) => view.data.elapsed));
/** A time of a view over one of the chosen scenario. */
const timeFactor = (view) => timelineState.ownScale ? view.data.elapsed / timelineData(chosenTimeline()).elapsed : 1;

const timelineTools = {
  shown(view) {
    const {from, to, firstRow, lastRow, selection, row, target} = timelineState;
    const factor = timeFactor(view);
    return {from: from * factor, to: to * factor, firstRow, lastRow, row,
      selection: selection && {...selection, from: selection.from * factor, to: selection.to * factor},
      target: target && target.view === view ? target : null, marks: marksOf(view.data)};
  },
};

/** By state of a timeline, whether its call, line, activity or a function on its call path has the searched text in it; null: no search. */
function marksOf(timeline) {
  const text = timelineState.search.trim().toLowerCase();
  if (!timeline.exact || text === "" || timelineState.row !== null) return null;
  const {names, pathOf} = timeline.stacks;
  return timeline.states.map(({activity, call, place}, state) =>
    [call, place, timeline.activities[activity][0], ...pathOf[state].map((each) => names[each])].join("\n").toLowerCase().includes(text) ? 1 : 0);
}

let sumsLater = 0;
function drawTimelines() {
  timelineViews.forEach((view) => view.draw());
  if (counterStrip) counterStrip.draw();
  clearTimeout(sumsLater);
  sumsLater = setTimeout(() => {
    writeTimelineSums();
    writeTimelineLink();
  }, 60);
}

function writeTimelineSums() {
  const windows = timelineViews.map((view) => {
    const shown = view.shown;
    return shown.selection || shown;
  });
  const {selection} = timelineState;
  const {from, to, firstRow, lastRow} = selection || timelineState;
  const all = !selection && from === 0 && to === whole();
  showSums(timelineViews, windows, `${selection ? "selection, " : all ? "" : "window, "}` +
    `${all ? "whole run" : `${showTime(from, (to - from) / 1000)} to ${showTime(to, (to - from) / 1000)}`}, ${rowWords(timelineViews[0].data, firstRow, lastRow)}`);
}

// --- The window ------------------------------------------------------------------------------------

function setWindow(from, to, firstRow = timelineState.firstRow, lastRow = timelineState.lastRow) {
  const end = whole();
  const length = Math.min(end, Math.max(kNarrowest, to - from));
  const begin = Math.max(0, Math.min(end - length, from));
  const rows = timelineViews[0].data.rows.length;
  const count = Math.min(rows, Math.max(1, lastRow - firstRow + 1));
  const first = Math.max(0, Math.min(rows - count, firstRow));
  Object.assign(timelineState, {from: begin, to: length === end ? end : begin + length, firstRow: first, lastRow: first + count - 1});
  drawTimelines();
}

/** Zooms around a share of the window. */
function zoomTimeline(factor, share = 0.5) {
  const {from, to} = timelineState;
  const middle = from + share * (to - from);
  setWindow(middle - share * (to - from) * factor, middle + (1 - share) * (to - from) * factor);
}

function panTimeline(share, rows = 0) {
  const {from, to, firstRow, lastRow} = timelineState;
  setWindow(from + share * (to - from), to + share * (to - from), firstRow + rows, lastRow + rows);
}

const wholeTimeline = () => setWindow(0, whole(), 0, timelineViews[0].data.rows.length - 1);

function zoomToSelection() {
  const {selection} = timelineState;
  if (!selection) return;
  timelineState.selection = null;
  setWindow(selection.from, selection.to, selection.firstRow, selection.lastRow);
}

function clearSelection() {
  Object.assign(timelineState, {selection: null, target: null});
  drawTimelines();
}

/** True if the key means something. */
function timelineKey(key, focused) {
  const {firstRow, lastRow} = timelineState;
  const page = Math.max(1, Math.round((lastRow - firstRow + 1) / 4));
  const act = {
    w: () => zoomTimeline(0.7), s: () => zoomTimeline(1 / 0.7), a: () => panTimeline(-0.15), d: () => panTimeline(0.15),
    "+": () => zoomTimeline(0.7), "=": () => zoomTimeline(0.7), "-": () => zoomTimeline(1 / 0.7), "0": wholeTimeline,
    Enter: zoomToSelection, Escape: clearSelection,
    ...focused ? {ArrowLeft: () => panTimeline(-0.15), ArrowRight: () => panTimeline(0.15), ArrowUp: () => panTimeline(0, -page),
      ArrowDown: () => panTimeline(0, page)} : {},
  }[key.length === 1 ? key.toLowerCase() : key];
  if (act) act();
  return Boolean(act);
}

function listenTo(view) {
  const {canvas} = view;
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button > 1) return;
    drag = {start: view.at(event), x: event.offsetX, moved: false, pans: event.shiftKey || event.button === 1 ||
      event.offsetY > view.height, state: {...timelineState}};
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return view.tell(event);
    drag.moved ||= Math.abs(event.offsetX - drag.x) > 3;
    if (!drag.moved) return;
    view.tip.hidden = true;
    const {from, to} = drag.state;
    if (drag.pans) {
      const by = (drag.x - event.offsetX) / view.width * (to - from);
      setWindow(from + by, to + by);
      return;
    }
    const [now, factor] = [view.at(event), timeFactor(view)];
    const times = [drag.start.time, now.time].map((time) => Math.min(to, Math.max(from, time / factor))).sort((a, b) => a - b);
    const rows = [drag.start.row, now.row].sort((a, b) => a - b);
    timelineState.selection = {from: times[0], to: times[1], firstRow: rows[0], lastRow: rows[1]};
    drawTimelines();
  });
  const end = () => { drag = null; };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", () => { view.tip.hidden = true; });
  canvas.addEventListener("dblclick", wholeTimeline);
  canvas.addEventListener("wheel", (event) => {
    // The page scrolls unless the reader has chosen the timeline.
    const sideways = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
    if (document.activeElement !== canvas && !event.ctrlKey && !event.metaKey && sideways === 0) return;
    event.preventDefault();
    if (sideways !== 0) panTimeline(Math.sign(sideways) * 0.1);
    else zoomTimeline(event.deltaY > 0 ? 1.25 : 0.8, Math.min(1, Math.max(0, view.at(event).share)));
  }, {passive: false});
}

// --- Search ----------------------------------------------------------------------------------------

/** A rank, or a part of the name of a call, function or line. */
function searchTimeline(text) {
  Object.assign(timelineState, {search: text, row: null, target: null});
  const [view] = timelineViews.slice(-1);
  const number = /^\s*(?:rank\s*)?(\d+(?:\.\d+)?)\s*$/i.exec(text);
  const say = (words, failed = false) => {
    byId("timeline-found").textContent = words;
    byId("timeline-search").setAttribute("aria-invalid", failed);
  };
  if (number) {
    const row = view.data.rows.findIndex(({label}) => label === number[1]);
    if (row >= 0) {
      const {firstRow, lastRow} = timelineState;
      timelineState.row = row;
      const high = Math.min(lastRow - firstRow + 1, 64);  // so that a row can be seen
      setWindow(timelineState.from, timelineState.to, row - Math.floor(high / 2), row - Math.floor(high / 2) + high - 1);
    }
    say(row < 0 ? `Not found: rank ${number[1]}.` : "", row < 0);
    return;
  }
  const marks = marksOf(view.data);
  say("");
  if (!marks && text.trim() !== "") say("Not found: with so many ranks this page has no single calls, only ranks.", true);
  if (marks) {
    const all = {calls: 0, seconds: 0, rows: new Set()};
    view.data.forEachPart({from: 0, to: view.data.elapsed, firstRow: 0, lastRow: view.data.rows.length - 1}, (part, seconds, calls, row) => {
      if (!marks[view.data.state[part]]) return;
      all.calls += calls;
      all.seconds += seconds;
      all.rows.add(row);
    });
    const combined = view.data.grain > 0 ? "; lines and functions are known for calls that are not combined" : "";
    if (all.rows.size === 0) say(`Not found: no call, function or line of ${view.scenario.name} has “${text.trim()}” in its name${combined}.`, true);
    else say(`${view.scenario.name}: ${showCount(all.calls)} calls, ${showSeconds(all.seconds)}, on ${showCount(all.rows.size)} ranks${combined}.`);
  }
  drawTimelines();
}

/** Shows the next span that was searched for. */
function searchNext(backwards) {
  const [view] = timelineViews.slice(-1);
  const marks = marksOf(view.data);
  if (!marks) return;
  const {target, from, to} = timelineState;
  const factor = timeFactor(view);
  const start = target && target.view === view ? [target.start, target.row] : [backwards ? to * factor : from * factor, backwards ? Infinity : -1];
  const next = view.data.next(marks, ...start, backwards);
  if (!next && byId("timeline-search").getAttribute("aria-invalid") === "true") return;
  if (!next) {
    byId("timeline-found").textContent = backwards ? "None before." : "None after.";
    return;
  }
  timelineState.target = {...next, view};
  byId("timeline-found").textContent = view.data.words(next.row, (next.start + next.end) / 2).join("; ");
  const [begin, end] = [next.start / factor, next.end / factor];
  const length = Math.max(to - from, 1.5 * (end - begin));
  const {firstRow, lastRow} = timelineState;
  const rows = next.row >= firstRow && next.row <= lastRow ? [firstRow, lastRow] : [next.row - 2, next.row - 2 + lastRow - firstRow];
  const visible = begin >= from && end <= to;
  const middle = (begin + end) / 2;
  setWindow(...visible ? [from, to] : [middle - length / 2, middle + length / 2], ...rows);
}

// --- The link of the page --------------------------------------------------------------------------

function writeTimelineLink() {
  const {from, to, firstRow, lastRow, selection, search, ownScale} = timelineState;
  const words = new URLSearchParams();
  const number = (seconds) => parseFloat(seconds.toPrecision(12));
  const window = (part) => `${number(part.from)}_${number(part.to)}_${part.firstRow}_${part.lastRow}`;
  if (chosenTimeline() !== defaultTimeline()) words.set("scenario", chosenTimeline().name);
  if (ownScale !== defaultScale()) words.set("scale", ownScale ? "own" : "common");
  if (from > 0 || to < whole() || lastRow - firstRow + 1 < timelineViews[0].data.rows.length) words.set("window", window({from, to, firstRow, lastRow}));
  if (selection) words.set("selection", window(selection));
  if (search) words.set("search", search);
  const hash = `#${words}`;
  if (hash === (location.hash || "#")) return;
  try {
    history.replaceState(null, "", hash);
  } catch {
    // (Inside of another page.)
  }
}

function readTimelineLink() {
  const words = new URLSearchParams(location.hash.slice(1));
  const index = drawn.findIndex((scenario) => scenario.name === words.get("scenario"));
  byId("timeline-choice").value = index >= 0 ? index : drawn.indexOf(defaultTimeline());
  chooseTimeline(words.has("scale") ? words.get("scale") === "own" : undefined);
  const window = (name) => {
    const parts = (words.get(name) || "").split("_").map(Number);
    return parts.length === 4 && parts.every(isFinite) && parts[1] > parts[0] ? parts : null;
  };
  const rows = timelineViews[0].data.rows.length;
  const selection = window("selection");
  if (selection) {
    const row = (number) => Math.min(rows - 1, Math.max(0, Math.round(number)));
    timelineState.selection = {from: selection[0], to: selection[1], firstRow: row(selection[2]), lastRow: row(selection[3])};
  }
  byId("timeline-search").value = words.get("search") || "";
  searchTimeline(byId("timeline-search").value);
  const shown = window("window");
  if (shown) setWindow(...shown.map((value, at) => at > 1 ? Math.round(value) : value));
}

// --- The section -----------------------------------------------------------------------------------

const referenceTimeline = () => drawn.find((scenario) => scenario.name === data.reference);
const defaultTimeline = () => drawn.find((scenario) => scenario.name === "perfect") || drawn[drawn.length - 1];

/** Each its own time, if one scale for both would squeeze one of them. */
function defaultScale() {
  const [a, b] = [referenceTimeline() || chosenTimeline(), chosenTimeline()].map((scenario) => scenario.elapsed);
  return Math.max(a / b, b / a) > kNearElapsed;
}

/** Shows the scenario of the list, all of it. */
function chooseTimeline(ownScale = undefined) {
  const [reference, chosen] = [referenceTimeline(), chosenTimeline()];
  timelineViews = (reference && reference !== chosen ? [reference, chosen] : [chosen])
    .map((scenario) => new TimelineView(scenario, timelineTools));
  timelineViews.forEach(listenTo);
  byId("timeline-pictures").replaceChildren(...timelineViews.map((view) => view.box));
  byId("timeline-own").parentElement.hidden = timelineViews.length < 2;
  Object.assign(timelineState, {ownScale: ownScale === undefined ? defaultScale() : ownScale, selection: null, target: null, row: null});
  byId("timeline-own").checked = timelineState.ownScale;
  timelineViews.forEach((view) => {
    view.caption.textContent = `${view.scenario.name}: ${showSeconds(view.scenario.elapsed)}` +
      (timelineState.ownScale && timelineViews.length > 1 ? " (own time scale)" : "");
  });
  wholeTimeline();
  byId("timeline-stack-words").textContent = stackExplanation(timelineViews.map((view) => view.data));
  byId("timeline-stacks").parentElement.hidden = byId("timeline-stack-words").textContent === "";
  const grain = Math.max(...timelineViews.map((view) => view.data.grain));
  const known = timelineViews.every((view) => view.data.exact);
  byId("timeline-resolution").textContent = !known ? `Too many ranks for single calls: cells of ${showSeconds(grain)}.`
    : grain === 0 ? "Every call is on this page, to 1 ns."
      : `Calls and compute shorter than ${showSeconds(grain)} are combined with their neighbours where this page has not enough space; ` +
        "sums of the whole run are complete, at the edges of a window combined calls count in proportion.";
}

function writeTimelineLegend() {
  const list = activitiesOf(drawn[0].timeline).map(([name, colour]) => [name, colour]);
  const used = new Set(drawn.flatMap((scenario) => {
    const {cells, pieces} = scenario.timeline;
    return [...[...new Set(cells)].map((letter) => letter.charCodeAt(0) - 64), ...(pieces && pieces.states || []).map(([activity]) => activity)];
  }));
  const legend = list.filter((_, number) => number > 0 && used.has(number));
  if (drawn.some((scenario) => scenario.timeline.path)) legend.push(["Critical path", kPathColour]);
  legend.forEach(([name, colour]) => {
    const item = element("li");
    const patch = element("i");
    patch.style.background = colour;
    item.append(patch, name);
    byId("timeline-legend").append(item);
  });
}

function setUpTimelines() {
  if (drawn.length === 0) {
    byId("timeline").remove();
    return;
  }
  writeTimelineLegend();
  setUpCounters();
  drawn.forEach((scenario, index) => byId("timeline-choice").append(element("option", scenario.name, {value: index})));
  const undrawn = data.scenarios.filter((scenario) => !scenario.timeline && scenario.elapsed > 0);
  byId("timeline-undrawn").textContent = undrawn.length === 0 ? ""
    : `Not drawn, because a page has at most ${drawn.length} timelines: ${undrawn.map((scenario) => scenario.name).join(", ")}.`;
  byId("timeline-choice").addEventListener("change", () => {
    chooseTimeline();
    searchTimeline(byId("timeline-search").value);
  });
  byId("timeline-stacks").addEventListener("change", drawTimelines);
  byId("timeline-own").addEventListener("change", () => chooseTimeline(byId("timeline-own").checked));
  [["in", () => zoomTimeline(0.5)], ["out", () => zoomTimeline(2)], ["all", wholeTimeline], ["selected", zoomToSelection]].forEach(
    ([name, act]) => byId(`timeline-zoom-${name}`).addEventListener("click", act));
  const search = byId("timeline-search");
  search.addEventListener("input", () => searchTimeline(search.value));
  search.addEventListener("keydown", (event) => { if (event.key === "Enter") searchNext(event.shiftKey); });
  byId("timeline-next").addEventListener("click", () => searchNext(false));
  byId("timeline-before").addEventListener("click", () => searchNext(true));
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA|BUTTON|SUMMARY)$/.test(event.target.tagName)) return;
    const {top, bottom} = byId("timeline-pictures").getBoundingClientRect();
    if (bottom < 0 || top > innerHeight) return;
    if (timelineKey(event.key, event.target.tagName === "CANVAS")) event.preventDefault();
  });
  addEventListener("resize", drawTimelines);
  matchMedia("print").addEventListener("change", drawTimelines);
  addEventListener("hashchange", readTimelineLink);
  readTimelineLink();
}
