// Call paths below the lane of each rank, callers above callees: of instrumented functions or of samples. TimelineData has
// the parts, TimelineView the canvas. Loaded before timeline_view.js.

const kLane = 18;          // pixels, above the functions of a rank
const kStackHeight = 14;
const kTallestStacks = 560;
const kStackText = "#14191f";

/** Without file, line and parameters. */
const shortName = (name) => name.replace(/ \([^()]*:\d+\)$/, "").replace(/\([^()]*\)( const)?$/, "");

/** Light enough for kStackText. */
function stackColour(name) {
  let hash = 7;
  for (const letter of shortName(name)) hash = (hash * 31 + letter.charCodeAt(0)) % 65521;
  return `hsl(${hash * 137 % 360}, ${dark ? "25%, 62%" : "45%, 80%"})`;
}

/** The numbers of the functions on each path of a timeline, the outermost first; `common`: those on all of them. */
function readStacks(timeline) {
  const list = timeline.timeline.pieces.stacks;
  const paths = [];
  list.forEach(([caller], number) => paths.push([...caller < 0 ? [] : paths[caller], number]));
  const used = timeline.states.filter(({stack}) => stack >= 0).map(({stack}) => paths[stack]);
  const common = used.length ? used.reduce((a, b) => a.filter((each, level) => b[level] === each)) : [];
  // (Combined calls have no path of their own, and compute between samples may have none.)
  const pathOf = timeline.states.map(({stack, call, activity}) => stack >= 0 ? paths[stack]
    : call || (timeline.timeline.sampling && activity === 1) ? common : []);
  return {names: list.map(([, name]) => name), pathOf, common, deepest: Math.max(0, ...used.map((path) => path.length))};
}

/** The path of a part; of compute between samples that of its neighbours, as far as both have the same. */
function pathAt(timeline, row, part) {
  const {stacks: {pathOf}, states, state} = timeline;
  const path = pathOf[state[part]];
  const {stack, activity} = states[state[part]];
  if (stack >= 0 || activity !== 1 || !timeline.timeline.sampling) return path;
  const [first, end] = [row, row + 1].map((each) => timeline.first[timeline.rowFirst[each]]);
  if (part === first || part + 1 === end) return path;
  return pathOf[state[part - 1]].filter((each, level) => pathOf[state[part + 1]][level] === each);
}

/** Number of levels that are shown below each lane, and of those above that are not: all functions have them in common. A
    hundredth of the window may be deeper. */
function stackLevels(timeline, shown) {
  const {stacks} = timeline;
  if (!stacks || !stacks.deepest || !byId("timeline-stacks").checked) return {levels: 0, skipped: 0};
  const times = Array(stacks.deepest + 1).fill(0);
  timeline.forEachPart(shown, (part, seconds) => { times[stacks.pathOf[timeline.state[part]].length] += seconds; });
  const least = sum(times) / 100;
  let deepest = stacks.deepest;
  for (let left = times[deepest]; deepest > 1 && left <= least; left += times[deepest]) deepest -= 1;
  const most = Math.floor((kTallestStacks / (shown.lastRow - shown.firstRow + 1) - kLane - 2) / kStackHeight);
  const levels = Math.min(deepest, most);
  return levels < Math.min(2, deepest) ? {levels: 0, skipped: 0}
    : {levels, skipped: Math.min(deepest - levels, Math.max(0, stacks.common.length - 1))};
}

/** By level: for each pixel the function with most time in it, -1: none for most of the time. Parts of a combined piece are put
    one behind the other. */
function stackPixels(timeline, row, {from, to}, width, levels, skipped) {
  const found = [...Array(levels)].map(() => new Int32Array(width).fill(-1));
  const perPixel = (to - from) / width;
  let [pixel, sums] = [0, found.map(() => new Map())];
  const settle = () => sums.forEach((times, level) => {
    let [most, covered] = [-1, 0];
    times.forEach((time, each) => {
      covered += time;
      if (most < 0 || time > times.get(most)) most = each;
    });
    if (covered >= 0.5 && pixel < width) found[level][pixel] = most;
    times.clear();
  });
  for (let piece = timeline.pieceAt(row, from); piece < timeline.rowFirst[row + 1] && timeline.starts[piece] < to; ++piece) {
    let begin = timeline.starts[piece];
    for (let part = timeline.first[piece]; part < timeline.first[piece + 1]; ++part) {
      const end = begin + timeline.length[part];
      const path = pathAt(timeline, row, part);
      const last = Math.min(width, (end - from) / perPixel);
      for (let at = Math.max(0, (begin - from) / perPixel); at < last && path.length > skipped;) {
        if (Math.floor(at) !== pixel) {
          settle();
          pixel = Math.floor(at);
        }
        const next = Math.min(last, pixel + 1);
        for (let level = 0; level < levels && level + skipped < path.length; ++level) {
          const each = path[level + skipped];
          sums[level].set(each, (sums[level].get(each) || 0) + next - at);
        }
        at = next;
      }
      begin = end;
    }
  }
  settle();
  return found;
}

/** Draws the functions of the rows in a window as boxes with names. */
function drawStacks(view, context, shown) {
  const {data: timeline, levels, skipped, left} = view;
  const scale = window.devicePixelRatio || 1;
  const width = Math.round(view.width * scale);
  const text = shown.marks ? timelineState.search.trim().toLowerCase() : "";
  context.font = Chart.helpers.toFont({size: 10}).string;
  context.textAlign = "left";
  context.textBaseline = "middle";
  const letter = context.measureText("0").width;
  for (let row = shown.firstRow; row <= shown.lastRow; ++row) {
    stackPixels(timeline, row, shown, width, levels, skipped).forEach((pixels, level) => {
      const top = (row - shown.firstRow) * view.rowHeight + kLane + level * kStackHeight;
      for (let begin = 0, end = 0; begin < width; begin = end) {
        for (end = begin + 1; end < width && pixels[end] === pixels[begin];) end += 1;
        if (pixels[begin] < 0) continue;
        const name = timeline.stacks.names[pixels[begin]];
        context.globalAlpha = name.toLowerCase().includes(text) ? 1 : 0.25;
        context.fillStyle = stackColour(name);
        const wide = (end - begin) / scale;
        context.fillRect(left + begin / scale, top, Math.max(wide - (wide > 3 ? 1 : 0), 1 / scale), kStackHeight - 1);
        const letters = Math.floor((wide - 6) / letter);
        let label = shortName(name);
        if (label.length > letters) label = label.replace(/^.*::/, "");
        if (letters < Math.min(3, label.length)) continue;
        context.fillStyle = kStackText;
        context.fillText(label.length > letters ? `${label.slice(0, letters - 1)}…` : label, left + begin / scale + 3, top + kStackHeight / 2);
      }
    });
  }
  context.globalAlpha = 1;
}

/** The functions on the call path at a time: [] if not known. */
function stackAt(timeline, row, time) {
  const piece = timeline.pieceAt(row, time);
  let [part, start] = [timeline.first[piece], timeline.starts[piece]];
  while (part + 1 < timeline.first[piece + 1] && start + timeline.length[part] <= time) start += timeline.length[part++];
  return {path: pathAt(timeline, row, part), part, start};
}

/** A box in words: the function, how long it is on the path without interruption, its callers; null: there is none. */
function stackWords(timeline, row, time, level) {
  const {path, part, start} = stackAt(timeline, row, time);
  if (level >= path.length) return null;
  const {names} = timeline.stacks;
  const has = (each) => pathAt(timeline, row, each)[level] === path[level];
  let [begin, end] = [start, start + timeline.length[part]];
  for (let each = part - 1; each >= timeline.first[timeline.rowFirst[row]] && has(each); --each) begin -= timeline.length[each];
  for (let each = part + 1; each < timeline.first[timeline.rowFirst[row + 1]] && has(each); ++each) end += timeline.length[each];
  return [`${names[path[level]]}: ${showSeconds(end - begin)}, from ${showSeconds(Math.max(0, begin))}`,
    ...level > 0 ? [`called by ${path.slice(0, level).map((each) => shortName(names[each])).reverse().join(" ← ")}`] : [],
    ...timeline.timeline.sampling ? ["by samples"] : []];
}

/** What the rows of functions are. */
function stackExplanation(timelines) {
  if (!timelines.some(({stacks}) => stacks && stacks.deepest)) return "";
  const {sampling} = timelines[0].timeline;
  return "Below each rank are the functions on its call path, callers above callees" + (sampling
    ? `: by ${showCount(sampling.samples)} samples, one per ${showSeconds(sampling.period)} of processor time. The functions of a gap between ` +
      "calls with ten samples are in their order; shorter gaps have the shares of all gaps between the same two calls." : ".");
}
