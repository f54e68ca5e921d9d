// The timeline of a scenario as tools/tables/packed_timeline.h writes it: pieces of one span each, or of combined ones.
// Waits have the colours of the bars (kCallColours). Loaded before timeline_view.js.

/** By Activity (replay/analyse/activities.h). */
const kActivities = [
  ["outside of the run", kIdleColour], ["Compute", kComputeColour], ["Other MPI without waiting", dark ? "#c2c7cb" : "#a9b0b6"],
  ["Late sender", kCallColours[0]], ["Late receiver", kCallColours[1]], ["Collective wait", kCallColours[2]],
  ["One-sided wait", kCallColours[3]], ["Not recorded, flushing, lost core", "#7a3b8f"],
  ["Messages without waiting", kOthersColour], ["Collectives without waiting", dark ? "#7f9a90" : "#5d7a6e"],
  ["One-sided without waiting", dark ? "#a58a99" : "#876a7b"],
];
/** After the activities: compute in functions (kColouredFunctions), in shades not used for waits. */
const kFunctionColours = dark ? ["#8fa5b8", "#a08f6a", "#7d9a86", "#9a86a0", "#a8797a"]
  : ["#8fa9c0", "#c9b68a", "#a3bda9", "#bda8c6", "#cfa3a3"];
const kKinds = kActivities.length + kFunctionColours.length;
const isWait = (activity) => activity >= 3 && activity <= 6;
const kLost = 7;

/** Name and colour of each activity of a timeline. */
const activitiesOf = (timeline) => [...kActivities,
  ...timeline.functions.map((name, number) => [`Compute in ${name}`, kFunctionColours[number]])];

const kDigit = new Uint8Array(128);
[..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"].forEach((letter, value) => { kDigit[letter.charCodeAt(0)] = value; });

/** The numbers of a packed text, one by one. */
class Unpacker {
  constructor(text) { [this.text, this.at] = [text, 0]; }
  get more() { return this.at < this.text.length; }
  next() {
    let [value, factor] = [0, 1];
    for (;;) {
      const digit = kDigit[this.text.charCodeAt(this.at++)];
      value += (digit & 31) * factor;
      if (digit < 32) return value;
      factor *= 32;
    }
  }
}

/** Rows are timelines by rank and thread, or, without pieces, groups of ranks. Times are in seconds from the start. */
class TimelineData {
  constructor({timeline, elapsed, name}) {
    Object.assign(this, {timeline, elapsed, name, activities: activitiesOf(timeline)});
    this.exact = Boolean(timeline.pieces && timeline.pieces.lines);
    this.grain = this.exact ? timeline.pieces.grain : elapsed / timeline.columns;
    const threads = this.exact ? timeline.pieces.threads : [];
    this.rows = this.exact ? timeline.pieces.lines.map((line, number) => {
      const [rank, thread] = number < data.trace.ranks ? [number, 0] : threads[number - data.trace.ranks];
      return {number, rank, thread, line, label: thread ? `${rank}.${thread}` : `${rank}`};
    }).sort((a, b) => a.rank - b.rank || a.thread - b.thread)
      : [...Array(timeline.rows).keys()].map((number) => ({number, rank: number * timeline.ranks_per_row, thread: 0,
        label: `${number * timeline.ranks_per_row}`}));
    this.rowOf = [];  // by number of a timeline
    this.rows.forEach((row, index) => { this.rowOf[row.number] = index; });
    if (!this.exact) for (let rank = 0; rank < data.trace.ranks; ++rank) this.rowOf[rank] = Math.floor(rank / timeline.ranks_per_row);
    if (!this.exact) return;
    this.states = timeline.pieces.states.map(([activity, call, place, stack]) =>
      ({activity, call: call < 0 ? "" : timeline.pieces.calls[call], place, stack}));
    this.stacks = readStacks(this);
    this.unpackPieces();
  }

  unpackPieces() {
    const {unit} = this.timeline.pieces;
    const [starts, first, state, calls, length] = [[], [], [], [], []];
    this.rowFirst = [];
    for (const {line} of this.rows) {
      this.rowFirst.push(starts.length);
      const from = new Unpacker(line);
      let at = 0;
      while (from.more) {
        const head = from.next();
        const number = head >> 2;
        if (!(head & 1)) {
          starts.push(at * unit);
          first.push(state.length);
        }
        const {activity, call} = this.states[number];
        calls.push(head & 2 ? from.next() : call && !isWait(activity) && activity !== kLost ? 1 : 0);
        const units = from.next();
        at += units;
        state.push(number);
        length.push(units * unit);
      }
      // (All rows end with the run; the other number is rounded more.)
      if (at > 0) this.elapsed = at * unit;
    }
    this.rowFirst.push(starts.length);
    first.push(state.length);
    this.starts = Float64Array.from(starts);
    this.first = Uint32Array.from(first);
    this.state = Uint16Array.from(state);
    this.calls = Uint32Array.from(calls);
    this.length = Float64Array.from(length);
  }

  /** End of a piece of a row. */
  endOf(row, piece) { return piece + 1 < this.rowFirst[row + 1] ? this.starts[piece + 1] : this.elapsed; }

  /** The last piece of a row that begins at or before that time. */
  pieceAt(row, time) {
    let [low, high] = [this.rowFirst[row], this.rowFirst[row + 1] - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle] <= time) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  isCombined(piece) { return this.first[piece + 1] > this.first[piece] + 1; }

  /** Calls each(part, seconds, calls, row) for the parts of a window, cut at its edges: combined pieces in proportion.
      A call counts where it ends. */
  forEachPart({from, to, firstRow, lastRow}, each) {
    for (let row = firstRow; row <= lastRow; ++row) {
      for (let piece = this.pieceAt(row, from); piece < this.rowFirst[row + 1] && this.starts[piece] < to; ++piece) {
        const [start, end] = [this.starts[piece], this.endOf(row, piece)];
        const inside = Math.min(end, to) - Math.max(start, from);
        const share = end > start ? Math.max(0, inside) / (end - start) : 1;
        if (inside < 0) continue;
        for (let part = this.first[piece]; part < this.first[piece + 1]; ++part) {
          const calls = share === 1 ? this.calls[part]
            : this.isCombined(piece) ? Math.round(share * this.calls[part]) : end <= to ? this.calls[part] : 0;
          each(part, share * this.length[part], calls, row);
        }
      }
    }
  }

  /** The activity of a cell of the overview, which is finer than combined pieces; -1: there is none. */
  cellAt(row, time) {
    const {cells, columns, ranks_per_row} = this.timeline;
    if (!cells) return -1;
    const column = Math.min(columns - 1, Math.max(0, Math.floor(time / this.elapsed * columns)));
    const cellRow = this.exact ? Math.floor(this.rows[row].rank / ranks_per_row) : row;
    return cells.charCodeAt(cellRow * columns + column) - 64;
  }

  /** Adds the seconds of a row to sums[pixel * kKinds + activity]. `marks`: whether each state is searched for; `found`
      has the seconds of these likewise. */
  addPixels(row, from, to, width, sums, marks, found) {
    const perPixel = (to - from) / width;
    const add = (target, activity, begin, end) => {
      const last = Math.min(width, (end - from) / perPixel);
      let at = Math.max(0, (begin - from) / perPixel);
      while (at < last) {
        const next = Math.min(last, Math.floor(at) + 1);
        target[Math.floor(at) * kKinds + activity] += next - at;
        at = next;
      }
    };
    const addCells = (begin, end) => {
      const wide = this.elapsed / this.timeline.columns;
      for (let at = Math.max(begin, from); at < Math.min(end, to);) {
        const next = Math.min(end, (Math.floor(at / wide + 1e-9) + 1) * wide);
        add(sums, this.cellAt(row, (at + next) / 2), at, next);
        at = next;
      }
    };
    if (!this.exact) {
      addCells(0, this.elapsed);
      return;
    }
    for (let piece = this.pieceAt(row, from); piece < this.rowFirst[row + 1] && this.starts[piece] < to; ++piece) {
      const [start, end] = [this.starts[piece], this.endOf(row, piece)];
      const combined = this.isCombined(piece);
      if (combined && this.timeline.cells) addCells(start, end);
      let most = this.first[piece];
      for (let part = most; part < this.first[piece + 1]; ++part) {
        if (this.length[part] > this.length[most]) most = part;
        if (marks && marks[this.state[part]])
          add(found, this.states[this.state[part]].activity, start, Math.max(end, start + perPixel / 2));
      }
      if (!(combined && this.timeline.cells)) {
        // A combined piece that is wide is drawn as its main activity; a narrow one counts in its pixel by its parts.
        if (combined && end - start < perPixel) {
          const pixel = Math.floor((start - from) / perPixel);
          for (let part = this.first[piece]; part < this.first[piece + 1] && pixel >= 0 && pixel < width; ++part)
            sums[pixel * kKinds + this.states[this.state[part]].activity] += this.length[part] / perPixel;
        } else {
          add(sums, this.states[this.state[most]].activity, start, end);
        }
      }
    }
  }

  /** The span or the combined piece at a time, in words. */
  words(row, time) {
    const {rank, thread} = this.rows[row];
    const {ranks_per_row} = this.timeline;
    const last = Math.min(data.trace.ranks, rank + ranks_per_row) - 1;
    const who = !this.exact && last > rank ? `ranks ${rank} to ${last}` : `rank ${rank}${thread ? ` thread ${thread}` : ""}`;
    const lines = [`${this.name}, ${who}, ${showSeconds(time)}`];
    if (!this.exact) return [...lines, this.activities[this.cellAt(row, time)][0]];
    const piece = this.pieceAt(row, time);
    if (this.isCombined(piece)) return [...lines, ...this.combinedWords(row, piece)];
    const {first, last: lastPiece} = this.callAround(row, piece);
    const state = this.states[this.state[this.first[piece]]];
    const [start, end] = [this.starts[first], this.endOf(row, lastPiece)];
    const what = state.call || this.activities[state.activity][0];
    lines.push(`${what}: ${showSeconds(end - start)}, from ${showSeconds(start)}`);
    if (state.call) {
      const parts = [];
      for (let each = first; each <= lastPiece; ++each) {
        const {activity} = this.states[this.state[this.first[each]]];
        if (isWait(activity) || activity === kLost)
          parts.push(`${this.activities[activity][0].toLowerCase()} ${showSeconds(this.length[this.first[each]])}`);
      }
      if (parts.length) lines.push(parts.join(", "));
    }
    if (state.place && !what.endsWith(state.place)) lines.push(state.place);
    const path = this.stacks.pathOf[this.state[this.first[piece]]];
    if (path.length > 1) lines.push(path.map((each) => shortName(this.stacks.names[each])).join(" → "));
    return lines;
  }

  /** The pieces of the call that a piece with a single part belongs to: its wait, the rest, its losses. */
  callAround(row, piece) {
    const stateOf = (each) => this.states[this.state[this.first[each]]];
    const {call} = stateOf(piece);
    let [first, last] = [piece, piece];
    if (!call) return {first, last};
    const belongs = (each) => each >= this.rowFirst[row] && each < this.rowFirst[row + 1] && !this.isCombined(each) &&
      stateOf(each).call === call;
    const ends = (each) => this.calls[this.first[each]] > 0;
    const isLost = (each) => stateOf(each).activity === kLost;
    while (belongs(first - 1) && !isLost(first - 1) && (isLost(first) || !ends(first - 1))) first -= 1;
    while (belongs(last + 1) && !isLost(last) && (isLost(last + 1) || !ends(last))) last += 1;
    return {first, last};
  }

  combinedWords(row, piece) {
    const [start, end] = [this.starts[piece], this.endOf(row, piece)];
    let calls = 0;
    const parts = [];
    for (let part = this.first[piece]; part < this.first[piece + 1]; ++part) {
      calls += this.calls[part];
      parts.push(part);
    }
    parts.sort((a, b) => this.length[b] - this.length[a]);
    return [`${showSeconds(start)} to ${showSeconds(end)}: ${showCount(calls)} calls, combined`,
      ...parts.slice(0, 5).map((part) => {
        const {activity, call, place} = this.states[this.state[part]];
        return `${showShare(this.length[part], end - start)} ${call}${call ? ": " : ""}` +
          `${call ? this.activities[activity][0].toLowerCase() : this.activities[activity][0]}` +
          (activity === 1 && place ? ` in ${place}` : "");
      })];
  }

  /** Messages as [row, sent, row, received], and the path as [row, from, to], in the order of time. */
  get messages() {
    if (this.unpackedMessages) return this.unpackedMessages;
    const {messages, message_unit: unit} = this.timeline;
    const from = new Unpacker(messages);
    this.unpackedMessages = [];
    for (let sent = 0; from.more;) {
      const [sender, receiver] = [from.next(), from.next()];
      sent += from.next();
      this.unpackedMessages.push([this.rowOf[sender], sent * unit, this.rowOf[receiver], (sent + from.next()) * unit]);
    }
    return this.unpackedMessages;
  }

  get path() {
    if (this.unpackedPath) return this.unpackedPath;
    const {path_pieces, path_rows, message_unit: unit, columns, ranks_per_row} = this.timeline;
    this.unpackedPath = [];
    const from = new Unpacker(path_pieces);
    for (let at = this.elapsed / unit; from.more;) {
      const row = this.rowOf[from.next()];
      const end = at - from.next();
      at = end - from.next();
      this.unpackedPath.push([row, at * unit, end * unit]);
    }
    this.unpackedPath.reverse();
    path_rows.forEach((row, column) => {
      if (row < 0) return;
      const wide = this.elapsed / columns;
      this.unpackedPath.push([this.exact ? this.rowOf[row * ranks_per_row] : row, column * wide, (column + 1) * wide]);
    });
    return this.unpackedPath;
  }

  /** The first span after a time for which marks[state], by start, then row; null: there is none. */
  next(marks, time, row, backwards) {
    let best = null;
    const key = ([at, which]) => backwards ? [-at, -which] : [at, which];
    const before = (a, b) => key(a)[0] < key(b)[0] || (key(a)[0] === key(b)[0] && key(a)[1] < key(b)[1]);
    for (let each = 0; each < this.rows.length; ++each) {
      const [begin, end] = [this.rowFirst[each], this.rowFirst[each + 1]];
      for (let piece = this.pieceAt(each, time); piece >= begin && piece < end; piece += backwards ? -1 : 1) {
        const found = [this.starts[piece], each];
        if (!before([time, row], found)) continue;
        if (best && !before(found, best.found)) break;
        let is = false;
        for (let part = this.first[piece]; part < this.first[piece + 1]; ++part) is ||= marks[this.state[part]];
        if (!is) continue;
        best = {found, row: each, start: this.starts[piece], end: this.endOf(each, piece)};
        break;
      }
    }
    return best;
  }
}
