// Sums of a window of a timeline: seconds by function and MPI call, waits, number of calls; as a table and as CSV.
// Loaded before timeline.js.

const kSumRows = 12;

/** By function or call: {name, calls, seconds, waits}. */
function windowSums(timeline, window) {
  const sums = new Map();
  timeline.forEachPart(window, (part, seconds, calls) => {
    const {activity, call, place} = timeline.states[timeline.state[part]];
    const lost = activity === kLost || activity === 0;
    const name = call && !lost ? call : activity === 1 && place ? `Compute in ${place}` : timeline.activities[activity][0];
    const row = sums.get(name) || {name, calls: 0, seconds: 0, waits: 0};
    row.calls += calls;
    row.seconds += seconds;
    if (isWait(activity)) row.waits += seconds;
    sums.set(name, row);
  });
  return sums;
}

/** By rank and state, exact: [rank, thread, what, call, place, seconds, calls]. */
function timelineCsv(timeline, window) {
  const rows = new Map();
  if (!timeline.exact) return {header: [], rows: []};
  timeline.forEachPart(window, (part, seconds, calls, row) => {
    const key = row * timeline.states.length + timeline.state[part];
    const sum = rows.get(key) || [0, 0];
    rows.set(key, [sum[0] + seconds, sum[1] + calls]);
  });
  return {
    header: ["scenario", "from (s)", "to (s)", "rank", "thread", "activity", "call", "place", "seconds", "calls"],
    rows: [...rows].sort(([a], [b]) => a - b).map(([key, [seconds, calls]]) => {
      const {rank, thread} = timeline.rows[Math.floor(key / timeline.states.length)];
      const {activity, call, place} = timeline.states[key % timeline.states.length];
      return [timeline.name, window.from, window.to, rank, thread, timeline.activities[activity][0], call, place, seconds, calls];
    }),
  };
}

const rowWords = (timeline, first, last) => {
  const [a, b] = [timeline.rows[first].label, timeline.rows[last].label];
  return last - first + 1 === timeline.rows.length ? "all ranks" : first === last ? `rank ${a}` : `ranks ${a} to ${b}`;
};

/** Fills the table of sums for the views; `windows` has the window of each, in its own time. */
function showSums(views, windows, words) {
  const known = views.map((view, index) => [view.data, windows[index]]).filter(([timeline]) => timeline.exact);
  byId("timeline-sums").hidden = known.length === 0;
  if (known.length === 0) return;
  const sums = known.map(([timeline, window]) => windowSums(timeline, window));
  const names = [...new Set(sums.flatMap((each) => [...each.keys()]))];
  const total = (name) => Math.max(...sums.map((each) => each.get(name) ? each.get(name).seconds : 0));
  names.sort((a, b) => total(b) - total(a));
  const empty = {calls: 0, seconds: 0, waits: 0};
  const add = (each, list) => list.map((name) => each.get(name) || empty).reduce((a, b) =>
    ({calls: a.calls + b.calls, seconds: a.seconds + b.seconds, waits: a.waits + b.waits}), empty);
  const rest = names.slice(kSumRows);
  const rows = [...names.slice(0, kSumRows).map((name) => [name, [name]]), ...rest.length ? [[`${rest.length} others`, rest]] : [],
    ["Sum", names]];
  const wholes = sums.map((each) => add(each, names).seconds);
  byId("timeline-sums-title").textContent = `Sums: ${words}`;
  const count = (number) => number ? cell(showCount(number), number) : "";
  const fixed = rest.length ? 2 : 1;  // rows at the end
  fillTable(byId("timeline-sum-table"),
    ["", ...known.flatMap(([{name}]) => [cell(name, `${name} (s)`), "Share", cell("Waits", "Waits (s)"), "Calls"])],
    rows.map(([name, list]) => [name, ...sums.flatMap((each, index) => {
      const sum = add(each, list);
      return [secondsCell(sum.seconds), shareCell(sum.seconds, wholes[index]), sum.waits > 0 ? secondsCell(sum.waits) : "", count(sum.calls)];
    })]), fixed);
}
