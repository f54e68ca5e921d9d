#!/usr/bin/env python3
"""The HTML page in a browser, used as a reader does: page.py REPORT_DEMO RUBATO

Sums of timelines are compared with `rubato profile`; layout and contrast are measured at 1920, 1400, 420 and 390 pixels, dark,
and on paper."""

import csv
import glob
import json
import os
import random
import subprocess
import sys
import tempfile
import time

from chromium import Chromium, browser

DEMO, RUBATO = sys.argv[1:3]
FAILED = []


def expect(what, is_so, seen=""):
    if not is_so:
        FAILED.append(what)
        print(f"{what}: {seen}")


def text_trace(rounds, ranks=4):
    """A ring with an allreduce; rank 1 computes longest. Ranks leave the allreduce together."""
    rng = random.Random(1)
    lines = [f"{rank}: {rank}..100 init" for rank in range(ranks)]
    now = [100] * ranks
    for number in range(rounds):
        sent = []
        for rank in range(ranks):
            now[rank] += rng.randint(500, 900) + (700 if rank == 1 else 0)
            line = f"{rank}: {now[rank]}..{now[rank] + 10} "
            lines.append(line + f"isend {(rank + 1) % ranks} 1KiB req {2 * number + 1} at ring.c:41")
            lines.append(f"{rank}: {now[rank] + 10}..{now[rank] + 20} irecv {(rank - 1) % ranks} 1KiB "
                         f"req {2 * number + 2} at ring.c:42")
            sent.append(now[rank])
        for rank in range(ranks):
            leave = max(now[rank], sent[(rank - 1) % ranks]) + 60
            lines.append(f"{rank}: {now[rank] + 20}..{leave} waitall {2 * number + 1} {2 * number + 2} at ring.c:50")
            now[rank] = leave
        end = max(now) + 150
        for rank in range(ranks):
            lines.append(f"{rank}: {now[rank] + 30}..{end} allreduce 8B 8B at ring.c:60")
        now = [end] * ranks
    for rank in range(ranks):
        lines.append(f"{rank}: {now[rank] + 50}..{now[rank] + 60} finalize")
    return "\n".join(lines) + "\n"


def compare_with_profile(page, trace, places):
    """Of each drawn scenario: calls, time and waits by call, to 1 ns a call; compute."""
    for view in range(page.run("timelineViews.length")):
        name = page.run(f"timelineViews[{view}].scenario.name")
        sums = {row["name"]: row for row in page.run(
            f"(({{data}}) => [...windowSums(data, {{from: 0, to: data.elapsed, firstRow: 0, "
            f"lastRow: data.rows.length - 1}}).values()])(timelineViews[{view}])")}
        subprocess.run([RUBATO, "profile", trace, "--on", name, "--json", trace + ".json"], check=True,
                       stdout=subprocess.DEVNULL)
        with open(trace + ".json", encoding="utf-8") as file:
            scenario = json.load(file)["scenarios"][0]
        for call, row in scenario["calls"].items():
            if call in ("MPI_Init", "MPI_Finalize"):
                continue
            seen = sums.get(call, {"calls": 0, "seconds": 0, "waits": 0})
            known = (row["calls"], row["time"], sum(row["waits"].values()))
            close = seen["calls"] == known[0] and all(
                abs(a - b) <= max(places, 1e-9 * known[0]) for a, b in zip((seen["seconds"], seen["waits"]), known[1:]))
            expect(f"{name}: {call} is that of the profile", close, (seen, known))
        compute = sum(rank["compute"] + rank["overhead"] for rank in scenario["ranks"])
        seen = sum(row["seconds"] for key, row in sums.items() if key.startswith("Compute"))
        expect(f"{name}: compute is that of the profile", abs(compute - seen) <= max(places, 1e-6 * compute), (compute, seen))


def sums_of_windows(page):
    """What a rank does in a window is as long as the window."""
    worst = page.run("""Math.max(...timelineViews.flatMap(({data}) => [...Array(50).keys()].map((number) => {
      const [from, to] = [number / 70 * data.elapsed, (number / 70 + 0.013 * (number % 20 + 1)) * data.elapsed];
      let sum = 0;
      const row = number % data.rows.length;
      data.forEachPart({from, to, firstRow: row, lastRow: row}, (part, seconds) => { sum += seconds; });
      return Math.abs(sum - (Math.min(to, data.elapsed) - from)) / data.elapsed;
    })))""")
    expect("sums of a window add up to its length", worst < 1e-9, worst)


def box_of(page):
    return page.run("""(() => {
      byId("timeline-pictures").scrollIntoView();
      const view = timelineViews[timelineViews.length - 1];
      const {left, top, width} = view.canvas.getBoundingClientRect();
      return [left + view.left, top, width - view.left, view.height];
    })()""")


def use(page, path):
    """Mouse, wheel, keys, search, link."""
    x, y, wide, high = box_of(page)
    state = "[timelineState.from, timelineState.to, timelineState.firstRow, timelineState.lastRow]"
    whole = page.run(state)
    page.mouse("Moved", x + wide * 0.5, y + 3)
    tip = page.run("timelineViews[timelineViews.length - 1].tip.innerText")
    expect("hover names the rank and a duration", "rank 0" in tip and " from " in tip, tip)
    page.drag((x + wide * 0.25, y + 2), (x + wide * 0.5, y + high / 2 - 4))
    time.sleep(0.3)
    selection = page.run("timelineState.selection")
    expect("a drag selects", selection and abs(selection["to"] / whole[1] - 0.5) < 0.02 and selection["lastRow"] == 1, selection)
    rows = page.run("byId('timeline-sum-table').saved.rows")
    expect("the selection is summed up", abs(rows[-1][1] / (2 * (selection["to"] - selection["from"])) - 1) < 1e-6, rows[-1])
    link = page.run("location.hash")
    page.key("Enter")
    zoomed = page.run(state)
    expect("Enter zooms to the selection", abs(zoomed[0] / whole[1] - 0.25) < 0.02 and zoomed[2:] == [0, 1], zoomed)
    page.key("w")
    closer = page.run(state)
    expect("W zooms in", closer[1] - closer[0] < 0.8 * (zoomed[1] - zoomed[0]), closer)
    page.key("d")
    expect("D moves on", page.run(state)[0] > closer[0], page.run(state))
    page.send("Input.dispatchMouseEvent", type="mouseWheel", x=x + wide / 2, y=y + 5, deltaX=0, deltaY=-100)
    time.sleep(0.3)
    wheel = page.run(state)
    expect("the wheel zooms a chosen timeline", wheel[1] - wheel[0] < 0.9 * (closer[1] - closer[0]), wheel)
    page.key("0")
    expect("0 shows all", page.run(state) == whole, page.run(state))
    page.run("byId('timeline-search').value = 'ring.c:60'; byId('timeline-search').dispatchEvent(new Event('input'))")
    found = page.run("byId('timeline-found').textContent")
    expect("a line is found", "160 calls" in found, found)
    page.run("searchNext(false); searchNext(false)")
    expect("the next one is shown", "MPI_Allreduce" in page.run("byId('timeline-found').textContent") and
           page.run("timelineState.target.start") > 0, page.run("byId('timeline-found').textContent"))
    page.run("byId('timeline-search').value = 'rank 2'; byId('timeline-search').dispatchEvent(new Event('input'))")
    expect("a rank is found", page.run("timelineState.row") == 2)
    page.open(path, hash_=link)
    expect("the link restores the view", page.run("timelineState.selection && timelineState.selection.lastRow") == 1 and
           page.run("location.hash") == link, page.run("location.hash"))


def head(page):
    """The answer is one line where there is space; all sections are in the contents, which open them and keep the address."""
    for width in (390, 1440):
        page.open(page.path, width=width)
        lines = page.run("(({clientHeight}, {lineHeight}) => clientHeight / parseFloat(lineHeight))(byId('headline'), "
                         "getComputedStyle(byId('headline')))")
        words = page.run("byId('headline').textContent")
        # (The first finding of the ring is certain.)
        expect(f"the answer at {width}", lines < (1.1 if width == 1440 else 2.1) and words ==
               page.run("(([finding]) => `${finding.kind[0].toUpperCase()}${finding.kind.slice(1)}: ${(100 * finding.of_elapsed)"
                        ".toFixed(0)} % of ${showSeconds(data.judged_elapsed)}`)(data.findings)"), (lines, words))
    titles = page.run("[...document.querySelectorAll('section h2')].map(({textContent}) => textContent)")
    expect("contents", page.run("[...byId('contents').querySelectorAll('a')].map(({textContent}) => textContent)") == titles and
           len(titles) == 7, titles)
    address = page.run("location.hash")
    page.run("byId('ranks-title').closest('details').open = false; [...byId('contents').querySelectorAll('a')].find("
             "({textContent}) => textContent === 'Each rank').click()")
    expect("a link opens its section", page.run("byId('ranks-title').closest('details').open && byId('ranks-title')."
                                                "getBoundingClientRect().top < innerHeight") and page.run("location.hash") == address)


def error_bars(page):
    """At the height of a bar with an interval, the pixels beside the line of the interval have the colour of text."""
    script = """(() => {
      %s
      const at = pixelsOf(scenarioChart.canvas);
      const {x, y} = scenarioChart.scales;
      return scenarios.map(({interval}, index) => interval && interval.every((seconds) =>
        [-4, 4].every((up) => at(x.getPixelForValue(seconds), y.getPixelForValue(index) + up) === colourOf(kText))));
    })()""" % DRAWN
    expect("error bars of both ends", page.run(script) == [None, None, True], page.run(script))
    wide = page.run("scenarios[2].interval.map((seconds) => scenarioChart.scales.x.getPixelForValue(seconds))")
    expect("an error bar has a length", wide[1] - wide[0] > 1, wide)
    page.run("scenarios[2].interval[1] = 2 * Math.max(...scenarios.map(({elapsed}) => elapsed)); drawScenarios()")
    expect("the axis holds the interval", page.run(script) == [None, None, True])


def sort(page):
    """A heading sorts by its column: descending, ascending, as it was; texts the other way round; sums stay last."""
    column = "[...byId('rank-table').tBodies[0].rows].map(({cells}) => cells[%d].textContent)"
    page.run("byId('rank-details').open = true; writeRankTable(finished[0])")
    times = page.run(column % 1)
    numbers = sorted(map(float, times))
    for state, expected in (("descending", numbers[::-1]), ("ascending", numbers), ("none", list(map(float, times)))):
        page.run("byId('rank-table').tHead.rows[0].cells[1].querySelector('button').click()")
        seen = [float(text) for text in page.run(column % 1)]
        expect(f"sorted: {state}", seen == expected and page.run("byId('rank-table').tHead.rows[0].cells[1].ariaSort") == state, seen)
        expect("the button keeps the focus", page.run("document.activeElement.closest('th').cellIndex") == 1)
    expect("ranks differ in compute", len(set(numbers)) > 1, times)
    # A column is known by its heading: another one in its place is not sorted. The list of orders is the last word.
    heads = "[...byId('rank-table').tHead.rows[0].cells]"
    ordered = f"{heads}.filter(({{ariaSort}}) => ariaSort && ariaSort !== 'none').map(({{textContent}}) => textContent)"
    choose = "byId('%s').value = '%s'; byId('%s').dispatchEvent(new Event('change'))"
    by_call = page.run(f"{heads}[3].querySelector('button').click(); {heads}[3].textContent")
    expect("sorted by a call", page.run(ordered) == [by_call], page.run(ordered))
    for divided, state in (("wait", []), ("call", [by_call])):
        page.run(choose % ("divide-by", divided, "divide-by"))
        expect(f"sorted, by {divided}", page.run(ordered) == state, page.run(ordered))
    page.run(choose % ("rank-order", "compute", "rank-order"))
    seen = [float(text) for text in page.run(column % 1)]
    expect("the chosen order of ranks", seen == sorted(seen, reverse=True) and page.run(ordered) == [], seen)
    page.run(choose % ("rank-order", "rank", "rank-order"))
    page.run("byId('timeline-sum-table').tHead.rows[0].cells[4].querySelector('button').click()")
    rows = page.run("byId('timeline-sum-table').saved.rows")
    values = [row[4] for row in rows[:-1]]
    numbers = sorted((value for value in values if value != ""), reverse=True)
    expect("the sum stays last, the saved table is in the shown order", rows[-1][0] == "Sum" and len(numbers) > 1 and
           values == numbers + [""] * (len(values) - len(numbers)), rows)


def failed_search(page):
    """What is not found is said, also after Enter, and on a page without single calls."""
    state = "[byId('timeline-found').textContent, byId('timeline-search').ariaInvalid]"
    for text, words in (("qqq", "Not found: no call, function or line of perfect has “qqq” in its name."), ("rank 77", "Not found: rank 77.")):
        page.run(f"byId('timeline-search').value = '{text}'; byId('timeline-search').dispatchEvent(new Event('input'))")
        expect(f"search for {text}", page.run(state) == [words, "true"], page.run(state))
        page.run("searchNext(false)")
        expect("the next one of none", page.run(state) == [words, "true"], page.run(state))
    page.run("timelineViews.at(-1).data.exact = false; searchTimeline('allreduce')")
    expect("search without calls", page.run(state) == ["Not found: with so many ranks this page has no single calls, only ranks.", "true"],
           page.run(state))
    page.run("timelineViews.at(-1).data.exact = true; searchTimeline('allreduce')")
    expect("found again", page.run(state)[1] == "false" and "calls" in page.run(state)[0], page.run(state))


def save(page):
    """The buttons write files."""
    with tempfile.TemporaryDirectory() as folder:
        page.send("Page.setDownloadBehavior", behavior="allow", downloadPath=folder)
        page.run("document.querySelectorAll('.timeline .export button, #scenario-table').forEach((button) => button.click())")
        page.run("[...document.querySelectorAll('.export button')].filter((each) => /Elapsed time|matrix/i.test("
                 "each.getAttribute('aria-label'))).forEach((button) => button.click())")
        for _ in range(50):
            names = sorted(os.path.basename(name) for name in glob.glob(folder + "/*") if not name.endswith("crdownload"))
            if len(names) >= 8:
                break
            time.sleep(0.2)
        expect("CSV and PNG of tables and pictures", len(names) >= 8, names)
        for name in glob.glob(folder + "/*.png"):
            with open(name, "rb") as file:
                expect(name + " is a PNG", file.read(8) == b"\x89PNG\r\n\x1a\n")
        for name in glob.glob(folder + "/*timeline*.csv"):
            with open(name, encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            whole = float(rows[0]["to (s)"]) - float(rows[0]["from (s)"])
            ranks = {row["rank"] for row in rows}
            total = sum(float(row["seconds"]) for row in rows)
            expect(name + " adds up", abs(total / (whole * len(ranks)) - 1) < 1e-6, (total, whole, len(ranks)))


DRAWN = """
const colourOf = (css) => css.startsWith("#") ? colourParts(css).join() : css.match(/[\\d.]+/g).slice(0, 3).map(Number).join();
const pixelsOf = (canvas) => {
  const {width, height} = canvas;
  const copy = Object.assign(document.createElement("canvas"), {width, height}).getContext("2d");
  copy.drawImage(canvas, 0, 0);
  const {data: all} = copy.getImageData(0, 0, width, height);
  return (x, y) => [...all.slice(4 * (Math.floor(y) * width + Math.floor(x)), 4 * (Math.floor(y) * width + Math.floor(x)) + 3)].join();
};
"""

LINES = """(() => {
  %s
  const {strip} = timelineViews[0];
  const at = pixelsOf(strip.canvas);
  const {left, from, to} = strip.shown;
  const bad = [];
  const count = strip.windows.length;
  let checked = 0;
  known.forEach((factors, number) => {
    const x = (share) => left + ((number + share) / count * strip.end - from) / (to - from) * strip.width;
    const [begin, end] = [Math.ceil(x(0.2)), Math.floor(x(0.8))];
    if (begin < left + 1 || end > left + strip.width - 1 || end - begin < 6) return;
    const y = (share) => 7 + (1 - share) * 112;
    const product = factors.reduce((a, b) => a * b);
    kFactors.forEach(([name, colour], index) => {
      const rows = [];
      for (let row = 0; row < 120; ++row) for (let column = begin; column < end; ++column)
        if (at(column, row) === colourOf(colour)) rows.push(row + 0.5);
      checked += rows.length > 0;
      const covered = factors.slice(index + 1).some((other) => Math.abs(y(other) - y(factors[index])) < 3);
      if (rows.length === 0 && !covered) bad.push([number, name, "is not drawn"]);
      const off = rows.filter((row) => Math.abs(row - y(factors[index])) > 1.6);
      if (off.length) bad.push([number, name, factors[index], off[0], y(factors[index])]);
    });
    if (factors.some((factor) => Math.abs(y(factor) - y(product)) < 4)) return;
    let top = 0;
    while (top < 120 && at(begin + 1, top) !== colourOf(kProductColour)) ++top;
    if (Math.abs(top - y(product)) > 1.6) bad.push([number, "product", product, top, y(product)]);
    checked += 1;
  });
  return [checked, bad];
})()"""


def efficiencies(page, trace):
    """The lines over time have the numbers of `rubato profile`, in the window of the timeline."""
    subprocess.run([RUBATO, "profile", trace, "--on", "measured", "--csv", trace + ".csv"], check=True, stdout=subprocess.DEVNULL)
    kinds = ["over_time_load_balance", "over_time_serialisation", "over_time_transfer"]
    with open(trace + ".csv", encoding="utf-8") as file:
        rows = [(row["kind"], float(row["value"])) for row in csv.DictReader(file) if row["kind"] in kinds]
    known = list(zip(*([value for kind, value in rows if kind == each] for each in kinds)))
    expect("windows of the profile", len(known) == 100 and len(set(known)) > 10, len(known))
    drawn = page.run("timelineViews.map(({strip}) => strip && strip.windows)")
    close = all(abs(a - b) < 0.00051 for ours, theirs in zip(drawn[0], known) for a, b in zip(ours, theirs))
    expect("efficiencies are those of the profile", len(drawn[0]) == 100 and close)
    expect("only the recording has efficiencies over time", drawn[1:] == [None] * len(drawn[1:]))
    same = ("(({canvas, strip, left, width}) => [canvas, strip.canvas].map((each) => each.getBoundingClientRect())"
            ".every(({left: at, width: wide}, i, all) => at === all[0].left && wide === all[0].width) && "
            "strip.shown.left === left && strip.width === width)(timelineViews[0])")
    script = LINES % (DRAWN + f"const known = {json.dumps(known)};")
    for window, least in (("wholeTimeline()", 120), ("setWindow(0.31 * whole(), 0.52 * whole())", 40)):
        page.run(window)
        checked, bad = page.run(script)
        expect(f"lines of efficiencies after {window}", checked >= least and not bad, (checked, bad[:5]))
        expect("efficiencies are below their timeline", page.run(same))
    page.run("wholeTimeline()")
    x, y, wide, _ = page.run("(({strip}) => { strip.canvas.scrollIntoView({block: 'center'}); const box = "
                             "strip.canvas.getBoundingClientRect(); return [box.left + strip.shown.left, box.top, strip.width, 0]; })(timelineViews[0])")
    page.mouse("Moved", x + wide * 0.425, y + 60)
    tip = page.run("timelineViews[0].strip.tip.innerText")
    product = known[42][0] * known[42][1] * known[42][2]
    words = [f"Load balance {100 * known[42][0]:.1f} %", f"Serialisation {100 * known[42][1]:.1f} %",
             f"Transfer {100 * known[42][2]:.1f} %", f"Parallel efficiency {100 * product:.1f} %"]
    near = [float(line.split()[-2]) for line in tip.splitlines()[1:]]
    far = [float(line.split()[-2]) for line in words]
    expect("hover has the efficiencies", [line.rsplit(" ", 2)[0] for line in tip.splitlines()[1:]] ==
           [line.rsplit(" ", 2)[0] for line in words] and all(abs(a - b) < 0.16 for a, b in zip(near, far)), (tip, words))


CELLS = """(() => {
  %s
  const at = pixelsOf(counterStrip.canvas);
  const bad = [];
  let checked = 0;
  const {left, from, to} = counterStrip.shown;
  known.forEach(([row, time, count]) => {
    const x = left + (time - from) / (to - from) * counterStrip.width;
    if (x < left || x >= left + counterStrip.width) return;
    checked += 1;
    const [seen, expected] = [at(x, (row - counterStrip.firstRow + 0.5) * counterStrip.rowHeight - 0.5), colourOf(counterStrip.colour(count))];
    const apart = Math.max(...seen.split(",").map((part, i) => Math.abs(part - expected.split(",")[i])));
    if (apart > 1) bad.push([row, time, count, seen, expected]);
  });
  return [checked, bad];
})()"""


def counts_of(ranks, counter):
    """In the middle of each interval of the run counted.py makes, from its begin: [time, count of the mean of `ranks`].
    Intervals have 10 of the 200 ticks that a round computes, or half of them at the begin."""
    known = []
    for interval in range(12, 232):
        number, within = divmod(10 * interval - 120, 220)
        of_rank = [(rank + 1) * (number + 1) * 1000 if counter == 0 else (200 - 10 * (rank % 20)) * 1e6 for rank in ranks]
        known.append(((10 * interval + 5 - 120) / 1000, sum(of_rank) / len(of_rank) / 20 if within < 200 else 0))
    return known


def counters(page, folder):
    """Counters over time are what counted.py wrote."""
    for ranks, per_row in ((3, 1), (300, 3)):
        archive, path = f"{folder}/counted{ranks}", f"{folder}/counted{ranks}.html"
        made = subprocess.run(["/usr/bin/python3", os.path.dirname(os.path.abspath(__file__)) + "/counted.py", archive, str(ranks)], check=False)
        if made.returncode == 77:
            return
        subprocess.run([RUBATO, "replay", archive, "--html", path], check=True, stdout=subprocess.DEVNULL)
        page.open(path)
        expect("counters have names", page.run("[...byId('counter-choice').options].map(({text}) => text)") == ["EVENTS", "BUSY"])
        for counter in range(2):
            page.run(f"byId('counter-choice').value = {counter}; byId('counter-choice').dispatchEvent(new Event('change'))")
            known = [(row, *cell) for row in range(ranks // per_row)
                     for cell in counts_of(range(row * per_row, (row + 1) * per_row), counter)]
            worst = page.run("((known) => Math.max(...known.map(([row, time, count]) => Math.abs(count - counterStrip.chosen[row * 240 + "
                             "Math.floor((time - counterStrip.start) / counterStrip.seconds)])) ) / counterStrip.most)"
                             f"({json.dumps(known)})")
            expect(f"{ranks} ranks: counts are those of the archive", worst < 2e-5, worst)
            script = CELLS % (DRAWN + f"const known = {json.dumps(known)};")
            for window in ("wholeTimeline()", "setWindow(0.4, 0.9, 1, 2)"):
                page.run(window)
                checked, bad = page.run(script.replace("known.forEach", "known.filter(([row]) => row >= counterStrip.firstRow && "
                                                       "row <= counterStrip.lastRow).forEach"))
                expect(f"{ranks} ranks: cells of counter {counter} after {window}", checked >= 50 and not bad, (checked, bad[:5]))
            page.run("wholeTimeline()")
        # Of BUSY, rank 1 has 190 of 200 ms, so that 9.5 of 10 ms; ranks 3 to 5 have 160.
        x, y = page.run("(() => { counterStrip.canvas.scrollIntoView({block: 'center'}); const box = counterStrip.canvas.getBoundingClientRect(); "
                        "return [box.left + counterStrip.x(0.505), box.top + 1.5 * counterStrip.rowHeight]; })()")
        page.mouse("Moved", x, y)
        tip = page.run("counterStrip.tip.innerText")
        words = ["BUSY, rank 1", "500 ms to 510 ms: 9.500 ms", "95.0 % of the time"] if per_row == 1 else \
            ["BUSY, mean of ranks 3 to 5", "500 ms to 510 ms: 8.000 ms", "80.0 % of the time"]
        expect("hover has the count", tip.split("\n")[:3] == words, tip)


LAYOUT = """(() => {
  const wide = document.documentElement.clientWidth;
  const bad = [];
  if (document.documentElement.scrollWidth > wide) bad.push(`page of ${document.documentElement.scrollWidth} in ${wide}`);
  document.querySelectorAll("details").forEach((each) => { each.open = true; });
  const print = matchMedia("print").matches;
  document.querySelectorAll("table, canvas, h1, h2, h3, p, li, pre, select, button, summary").forEach((each) => {
    const {right, width} = each.getBoundingClientRect();
    if (width === 0) return;
    const box = each.closest(".table-box");
    const edge = box && !print ? box.scrollLeft + box.getBoundingClientRect().left + box.scrollWidth : wide;
    if (right > edge + 2) bad.push(`${each.tagName} ${each.id || each.textContent.slice(0, 30)} ends at ${right} of ${edge}`);
  });
  document.querySelectorAll("td, th").forEach((each) => {
    if (each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0) bad.push(`${each.tagName} ${each.textContent} is cut`);
  });
  document.querySelectorAll("td:not(.name)").forEach((each) => {
    const range = document.createRange();
    range.selectNodeContents(each);
    if (/^[\\d.,]+$/.test(each.textContent) && range.getClientRects().length > 1) bad.push(`${each.textContent} is broken`);
  });
  return bad;
})()"""

CONTRAST = """(() => {
  const parts = (colour) => colour.startsWith("#") ? [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16))
    : colour.match(/[\\d.]+/g).map(Number);
  const luminance = (colour) => parts(colour).slice(0, 3).map((value) => value / 255)
    .map((value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, i) => sum + [0.2126, 0.7152, 0.0722][i] * value, 0);
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const behind = (node) => {
    for (let each = node; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if ((parts(colour)[3] ?? 1) > 0) return colour;
    }
    return kPage;
  };
  const pairs = [["path and its outline", kPathColour, kPage], ["text of pictures", kText, kPage], ["limits of sweeps", kLimitColour, kPage],
    ...kFactors.flatMap(([name, colour]) => [kPage, kProductColour].map((other) => [name, colour, other]))];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.textContent.trim() || parent.closest("script, style") || parent.getClientRects().length === 0) continue;
    pairs.push([node.textContent.trim().slice(0, 40), getComputedStyle(parent).color, behind(parent)]);
  }
  return pairs.map(([name, a, b]) => [name, contrast(a, b)]).filter(([, ratio]) => ratio < 4.5);
})()"""


def looks(page, path, name):
    for width, dark, media in ((1920, False, ""), (390, False, ""), (1400, True, ""), (420, True, ""), (718, False, "print")):
        page.open(path, width=width, dark=dark, media=media)
        how = f"{name} at {width}{' dark' if dark else ''}{' on paper' if media else ''}"
        bad = page.run(LAYOUT)
        expect(how + ": nothing is cut", not bad, bad[:5])
        bad = page.run(CONTRAST)
        expect(how + ": contrast", not bad, bad[:5])
        if media:
            shown = page.run("[...document.querySelectorAll('select')].filter((each) => each.getClientRects().length).length")
            expect(how + ": the scenario is printed", shown >= 2, shown)


def stacks(page, folder):
    """Functions below each rank: 10 rounds of 1 us in main, 4 us in burn, called by assemble, and 5 us of a barrier in main."""
    trace, path = folder + "/stacks.txt", folder + "/stacks.html"
    for ranks in (2, 64):
        lines = []
        for rank in range(ranks):
            lines += [f"{rank}: 0..0 init", f"{rank}: 0 enter main"]
            for time in range(0, 100000, 10000):
                lines += [f"{rank}: {time + 1000} enter assemble", f"{rank}: {time + 1000}..{time + 5000} function burn",
                          f"{rank}: {time + 5000} leave assemble", f"{rank}: {time + 5000}..{time + 10000} barrier"]
            lines += [f"{rank}: 100000 leave main", f"{rank}: 100000..100000 finalize"]
        with open(trace, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        subprocess.run([RUBATO, "replay", trace, "--html", path], check=True, stdout=subprocess.DEVNULL)
        page.open(path)
        levels = page.run("timelineViews[0].levels")
        expect(f"{ranks} ranks: call paths where they have space", levels == (3 if ranks == 2 else 0), levels)
        note = page.run("timelineViews[0].note.textContent")
        expect(f"{ranks} ranks: words on the space", ("fewer ranks" in note) == (ranks == 64), note)
    page.run("setWindow(0, whole(), 3, 4)")
    expect("two of 64 ranks have space", page.run("timelineViews[0].levels") == 3)
    words = page.run("[0, 1, 2, 3].map((level) => stackWords(timelineViews[0].data, 3, 13e-6, level))")
    expect("main is whole", words[0] == ["main: 100.0 µs, from 0 s"] or words[0][0].startswith("main: 100"), words[0])
    expect("burn has its time and callers", words[2] and words[2][0].startswith("burn: 4") and words[2][1] == "called by assemble ← main", words[2])
    expect("there is nothing below burn", words[3] is None, words[3])
    # The pixels of main, assemble and burn: all, 4 of 10 us, 4 of 10 us.
    pixels = page.run("stackPixels(timelineViews[0].data, 3, {from: 0, to: 100e-6}, 1000, 3, 0).map((each) => "
                      "each.filter((name) => name >= 0).length)")
    expect("boxes are as long as their functions", pixels == [1000, 400, 400], pixels)
    page.run("byId('timeline-search').value = 'assemble'; byId('timeline-search').dispatchEvent(new Event('input'))")
    found = page.run("byId('timeline-found').textContent")
    expect("a caller is found", "2.560 ms" in found, found)  # 64 ranks, 40 us
    page.run("byId('timeline-stacks').click()")
    expect("call paths can be left out", page.run("timelineViews[0].levels") == 0)


def main():
    if not browser():
        print("skipped: there is no chromium")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        trace, path = folder + "/ring.txt", folder + "/ring.html"
        with open(trace, "w", encoding="utf-8") as file:
            file.write(text_trace(40))
        subprocess.run([RUBATO, "replay", trace, "--on", "ethernet-1g:latency*20,name=slow", "--html", path], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([DEMO, "40", folder, "troubled"], check=True, stdout=subprocess.DEVNULL)
        page = Chromium()
        page.open(path)
        expect("every call is on the page", page.run("timelineViews.every(({data}) => data.grain === 0)"))
        compare_with_profile(page, trace, 0)
        efficiencies(page, trace)
        expect("a page without counters has no place for them", page.run("byId('counters') === null && data.counters === undefined"))
        sums_of_windows(page)
        page.path = path
        for check in (head, error_bars, sort, failed_search):
            check(page)
            page.open(path)
        use(page, path)
        save(page)
        stacks(page, folder)
        counters(page, folder)
        page.open(path)
        # A message takes as long as hundreds of rounds of compute.
        page.run("byId('timeline-choice').value = drawn.findIndex(({name}) => name === 'slow'); chooseTimeline()")
        expect("runs of very different length have their own scales", page.run("timelineState.ownScale") and
               "own time scale" in page.run("timelineViews[1].caption.textContent"))
        equal = page.run("""(() => {
          const map = new TrafficMap(document.body);
          map.show({rows: 2, ranks_per_row: 1, cells: [[0, 1, 1, 310378496, 0], [1, 0, 1, 310378000, 0]]},
            {value: (cell) => cell[3], text: showBytes, words: () => "", name: ""});
          return rampColour(map.share(310378496)) === rampColour(map.share(310378000));
        })()""")
        expect("cells of equal text have equal colours", equal)
        for each in ("ring", "stacks", "report", "map", "counted3"):
            if os.path.exists(f"{folder}/{each}.html"):
                looks(page, f"{folder}/{each}.html", each)
        expect("no complaints", not page.console, page.console[:3])
        page.close()
    if FAILED:
        sys.exit(f"{len(FAILED)} failed")
    print("the page shows what the profile says, and is used as described")


main()
