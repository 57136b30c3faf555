"use strict";
// One schedule: the element around this script. Every schedule of a page brings its own copy.
(function (root) {
  const data = JSON.parse(root.querySelector(".schedule-data").textContent);
  const canvas = root.querySelector(".schedule-canvas"), axis = root.querySelector(".schedule-axis");
  const tip = root.querySelector(".schedule-tip"), rowsBox = root.querySelector(".schedule-rows");
  // Okabe and Ito's colours and some more, without vermillion and orange, which are for misses; and what is read on them.
  const COLORS = ["#0072b2", "#56b4e9", "#009e73", "#cc79a7", "#7a5195", "#c9bb2d", "#64748b"];
  const INKS = ["#fff", "#111", "#111", "#111", "#fff", "#111", "#fff"];
  const CPU_HEIGHT = 26, TASK_HEIGHT = 22, AXIS_HEIGHT = 26;
  const UNITS = [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9]];

  // ---- Data (the layout is described where it is written: data.rs) ----

  function reader(text) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    let at = 0;
    return function () {
      // No shifts: numbers go beyond 32 bits.
      let code = 0, scale = 1, byte;
      do { byte = bytes[at++]; code += (byte & 127) * scale; scale *= 128; } while (byte > 127);
      return code % 2 ? -(code + 1) / 2 : code / 2;
    };
  }

  function layer(next, kernel) {
    const count = next(), from = new Float64Array(count), to = new Float64Array(count);
    const what = new Int32Array(count), job = new Int32Array(count), last = new Map();
    let end = data.from;
    for (let k = 0; k < count; k++) {
      from[k] = end + next();
      to[k] = end = from[k] + next();
      what[k] = next();
      if (!kernel && what[k] % 2 === 0) {
        job[k] = (last.get(what[k]) || 0) + next();
        last.set(what[k], job[k]);
      }
    }
    return { from, to, what, job };
  }

  const next = reader(data.numbers);
  const cpus = data.cpus.map((id) => ({ id, run: layer(next, false), kernel: layer(next, true) }));
  const tasks = data.tasks.map((task) => ({ ...task, jobs: new Map(), order: [], segments: [] }));
  for (const task of tasks.filter((task) => task.row)) {
    let number = 0, release = 0;
    for (let left = next(); left > 0; left--) {
      const job = { number: (number += next()) }, flags = next();
      if (flags & 1) job.release = release += next();
      if (flags & 2) job.deadline = release + next();
      if (flags & 4) job.complete = release + next();
      job.missed = (flags & 8) !== 0;
      job.aborted = (flags & 16) !== 0;
      task.jobs.set(job.number, job);
      task.order.push(job);
    }
  }
  cpus.forEach((cpu, place) => {
    const run = cpu.run;
    for (let k = 0; k < run.from.length; k++) {
      if (run.what[k] % 2 === 0) tasks[run.what[k] / 2].segments.push({ from: run.from[k], to: run.to[k], cpu: place, job: run.job[k] });
    }
  });
  for (const task of tasks) {
    task.segments.sort((a, b) => a.from - b.from);
    const from = Float64Array.from(task.segments, (s) => s.from), to = Float64Array.from(task.segments, (s) => s.to);
    task.run = { from, to };
    // Late jobs overlap the next ones: the search by completion needs the latest so far.
    let latest = -Infinity;
    task.latest = task.order.map((job) => (latest = Math.max(latest, job.complete ?? Infinity, job.deadline ?? -Infinity)));
  }
  const misses = [];
  tasks.forEach((task, place) => {
    for (const job of task.order) {
      if (job.missed && job.deadline >= data.from && job.deadline < data.until) misses.push({ task: place, job });
    }
  });
  misses.sort((a, b) => a.job.deadline - b.job.deadline || a.task - b.task);
  const rows = [];
  let height = 0;
  cpus.forEach((cpu) => { rows.push({ cpu, top: height, height: CPU_HEIGHT, label: "CPU " + cpu.id }); height += CPU_HEIGHT; });
  height += 6;
  tasks.forEach((task, place) => {
    if (!task.row) return;
    rows.push({ task, place, top: height, height: TASK_HEIGHT, label: task.name });
    height += TASK_HEIGHT;
  });

  // ---- Words ----

  function unitOf(ns) {
    let unit = UNITS[0];
    for (const other of UNITS) if (ns >= other[1]) unit = other;
    return unit;
  }

  /** An instant or a span, exact to the ns if `step` is small enough. */
  function time(ns, step) {
    const [name, scale] = unitOf(Math.max(Math.abs(ns), 1));
    const digits = Math.max(0, Math.ceil(Math.log10(scale / Math.max(step || 1, 1)) - 1e-9));
    const text = (ns / scale).toFixed(Math.min(digits, 9));
    return (text.includes(".") ? text.replace(/\.?0+$/, "") : text) + " " + name;
  }

  function jobName(place, number) { return tasks[place].name + "." + number; }

  function jobWords(place, number) {
    const task = tasks[place], job = task.jobs.get(number), lines = [];
    if (job) {
      if (job.release !== void 0) lines.push("released " + time(job.release));
      if (job.deadline !== void 0) lines.push("deadline " + time(job.deadline) + (job.missed ? ", missed" : ""));
      if (job.complete !== void 0) {
        const laxity = job.deadline - job.complete;
        lines.push((job.aborted ? "aborted " : "complete ") + time(job.complete));
        if (job.deadline !== void 0 && !job.aborted) lines.push(laxity < 0 ? time(-laxity) + " late" : "laxity " + time(laxity));
      } else lines.push("not complete in this window");
    }
    if (task.about) lines.push(task.name + ": " + task.about);
    return lines.join("\n");
  }

  // ---- View ----

  const view = { from: data.from, to: data.to };
  let width = 0, left = 0, colors = {}, current = -1;

  function x(ns) { return left + (ns - view.from) / (view.to - view.from) * (width - left); }
  function timeAt(px) { return view.from + (px - left) / (width - left) * (view.to - view.from); }

  function show(from, to) {
    const least = 20, all = Math.max(data.to - data.from, least);
    const span = Math.min(Math.max(to - from, least), all);
    from = Math.min(Math.max(from, data.from), data.from + all - span);
    view.from = from;
    view.to = from + span;
    draw();
  }

  function zoom(factor, around) {
    const at = around === void 0 ? (view.from + view.to) / 2 : around;
    show(at - (at - view.from) * factor, at + (view.to - at) * factor);
  }

  function pan(share) { const by = (view.to - view.from) * share; show(view.from + by, view.to + by); }

  function showMiss(index) {
    if (index < 0 || index >= misses.length) return;
    current = index;
    const { task, job } = misses[index];
    const release = job.release ?? job.deadline, end = Math.max(job.deadline, job.complete ?? job.deadline);
    const wanted = Math.max((end - release) * 2, 100);
    // A closer view of the reader's own stays as it is.
    const span = Math.min(wanted, view.to - view.from);
    const middle = wanted <= span ? (release + end) / 2 : job.deadline;
    show(middle - span / 2, middle + span / 2);
    const row = rows.find((row) => row.place === task);
    if (row) rowsBox.scrollTop = Math.max(0, row.top - rowsBox.clientHeight / 2);
  }

  function nextMiss() {
    const middle = (view.from + view.to) / 2;
    const shown = current >= 0 && inView(misses[current].job.deadline);
    showMiss(shown ? current + 1 : misses.findIndex((miss) => miss.job.deadline > middle || view.to - view.from >= data.to - data.from));
  }

  function previousMiss() {
    const shown = current >= 0 && inView(misses[current].job.deadline);
    const before = shown ? current - 1 : misses.findLastIndex((miss) => miss.job.deadline < (view.from + view.to) / 2);
    showMiss(before);
  }

  function inView(ns) { return ns >= view.from && ns <= view.to; }

  // ---- Drawing ----

  function prepare(canvas, cssHeight) {
    const ratio = window.devicePixelRatio || 1;
    canvas.style.height = cssHeight + "px";
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(cssHeight * ratio);
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, cssHeight);
    context.font = "11.5px system-ui, sans-serif";
    context.textBaseline = "middle";
    return context;
  }

  function firstAfter(ends, ns) {
    let low = 0, high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle] > ns) high = middle; else low = middle + 1;
    }
    return low;
  }

  /** Boxes of one layer. What is narrower than a pixel is gathered by pixel: its colour is that of the longest part. */
  function boxes(context, run, top, boxHeight, colorOf, label) {
    let pixel = -1, covered = 0, longest = 0, color = "";
    const scale = (width - left) / (view.to - view.from);
    function flush() {
      if (pixel < 0) return;
      context.globalAlpha = Math.min(1, 0.25 + 0.75 * covered);
      context.fillStyle = color;
      context.fillRect(pixel, top, 1, boxHeight);
      context.globalAlpha = 1;
      pixel = -1;
    }
    for (let k = firstAfter(run.to, view.from); k < run.from.length && run.from[k] < view.to; k++) {
      const a = Math.max(x(run.from[k]), left), b = Math.min(x(run.to[k]), width);
      if ((run.to[k] - run.from[k]) * scale >= 1.5) {
        flush();
        context.fillStyle = colorOf(k);
        // A hair of background tells neighbours apart.
        context.fillRect(a, top, Math.max(b - a - (b - a > 4 ? 1 : 0), 1), boxHeight);
        if (label && b - a > 12) write(context, label(k), a + 4, top + boxHeight / 2, b - a - 6, inkOf(context.fillStyle));
        continue;
      }
      const column = Math.floor(a);
      if (column !== pixel) { flush(); pixel = column; covered = 0; longest = 0; }
      const length = run.to[k] - run.from[k];
      covered += length * scale;
      if (length > longest) { longest = length; color = colorOf(k); }
    }
    flush();
  }

  function inkOf(color) { return INKS[COLORS.indexOf(color)] || colors.ink; }

  function write(context, text, at, y, room, ink) {
    context.fillStyle = ink;
    if (context.measureText(text).width <= room) context.fillText(text, at, y);
  }

  function taskColor(place) { return COLORS[place % COLORS.length]; }

  function drawCpu(context, row) {
    const { run, kernel } = row.cpu;
    const color = (k) => (run.what[k] % 2 ? colors.wait : taskColor(run.what[k] / 2));
    const label = (k) => (run.what[k] % 2 ? "background task " + (run.what[k] - 1) / 2 : jobName(run.what[k] / 2, run.job[k]));
    boxes(context, run, row.top + 3, row.height - 6, color, label);
    boxes(context, kernel, row.top + row.height - 8, 5, () => colors.kernel);
  }

  function drawTask(context, row) {
    const task = row.task, base = row.top + row.height - 3;
    const scale = (width - left) / (view.to - view.from);
    const first = firstAfter(task.latest, view.from);
    context.fillStyle = colors.wait;
    let drawnTo = -1;
    for (let k = first; k < task.order.length; k++) {
      const job = task.order[k], release = job.release ?? data.from;
      if (release >= view.to) break;
      const a = Math.max(x(release), left), b = Math.min(x(job.complete ?? data.to), width);
      if (b <= drawnTo) continue;
      context.fillRect(a, base - 5, Math.max(b - a, 0.5), 3);
      drawnTo = b;
    }
    const label = (k) => "" + cpus[task.segments[k].cpu].id;
    boxes(context, task.run, row.top + 7, row.height - 10, () => taskColor(row.place), label);
    const period = (task.order.length > 1 ? (data.to - data.from) / task.order.length : data.to - data.from) * scale;
    let lastMiss = -10;
    for (let k = first; k < task.order.length; k++) {
      const job = task.order[k];
      if ((job.release ?? data.from) >= view.to) break;
      if (period > 14 && inView(job.release)) arrow(context, x(job.release), row.top + 1, base, colors.soft, true);
      if (!inView(job.deadline)) continue;
      const at = x(job.deadline);
      if (!job.missed) {
        if (period > 14) arrow(context, at, row.top + 1, base, colors.soft, false);
        continue;
      }
      const end = Math.min(x(Math.min(job.complete ?? data.to, view.to)), width);
      context.fillStyle = colors.miss;
      context.fillRect(at, base - 2, Math.max(end - at, 1), 3);
      if (at - lastMiss < 3) continue;
      lastMiss = at;
      cross(context, at, row.top + row.height / 2, period > 14 ? 5 : 3.5);
    }
  }

  function arrow(context, at, top, base, color, up) {
    context.strokeStyle = context.fillStyle = color;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(at, top);
    context.lineTo(at, base);
    context.stroke();
    context.beginPath();
    const tipY = up ? top : base, backY = up ? top + 5 : base - 5;
    context.moveTo(at, tipY);
    context.lineTo(at - 3, backY);
    context.lineTo(at + 3, backY);
    context.fill();
  }

  function cross(context, at, y, size) {
    context.lineCap = "round";
    for (const [color, line] of [[colors.back, 5], [colors.miss, 2.5]]) {
      context.strokeStyle = color;
      context.lineWidth = line;
      context.beginPath();
      context.moveTo(at - size, y - size);
      context.lineTo(at + size, y + size);
      context.moveTo(at + size, y - size);
      context.lineTo(at - size, y + size);
      context.stroke();
    }
  }

  function tickStep() {
    const least = (view.to - view.from) / Math.max(2, (width - left) / 90);
    let step = Math.pow(10, Math.floor(Math.log10(Math.max(least, 1))));
    for (const factor of [1, 2, 5, 10]) if (step * factor >= least) return Math.max(1, step * factor);
    return step * 10;
  }

  function drawAxis(body) {
    const context = prepare(axis, AXIS_HEIGHT), step = tickStep();
    context.fillStyle = colors.ink;
    for (let ns = Math.ceil(view.from / step) * step; ns <= view.to; ns += step) {
      const at = x(ns);
      context.fillStyle = colors.ink;
      context.textAlign = at > width - 40 ? "right" : "center";
      context.fillText(ns === 0 ? "0" : time(ns, step), at, AXIS_HEIGHT / 2);
      body.fillStyle = colors.line;
      body.fillRect(at, 0, 1, height);
    }
    context.textAlign = "left";
  }

  function draw() {
    const style = getComputedStyle(root);
    for (const name of ["ink", "soft", "line", "panel", "back", "miss", "kernel", "wait"]) colors[name] = style.getPropertyValue("--s-" + name);
    width = rowsBox.clientWidth;
    const context = prepare(canvas, height + 4);
    left = Math.min(width / 3, 14 + Math.max(...rows.map((row) => context.measureText(row.label).width)));
    drawAxis(context);
    for (const row of rows) {
      context.save();
      context.beginPath();
      context.rect(left, row.top, width - left, row.height);
      context.clip();
      if (row.cpu) drawCpu(context, row); else drawTask(context, row);
      context.restore();
      context.fillStyle = colors.back;
      context.fillRect(0, row.top, left - 1, row.height);
      context.fillStyle = colors.ink;
      context.fillText(row.label, 6, row.top + row.height / 2, left - 10);
      context.fillStyle = colors.line;
      context.fillRect(0, row.top + row.height - 0.5, width, 0.5);
    }
    readout();
  }

  function readout() {
    const span = view.to - view.from, step = Math.max(1, Math.pow(10, Math.floor(Math.log10(span)) - 4));
    output.textContent = time(view.from, step) + " – " + time(view.to, step) + " (" + time(span, step) + ")"
      + (current >= 0 && inView(misses[current].job.deadline) ? "; miss " + (current + 1) + " of " + misses.length + ": " + jobName(misses[current].task, misses[current].job.number) : "");
    link.href = "#schedule=" + root.dataset.schedule + "&from=" + Math.floor(view.from) + "ns&to=" + Math.ceil(view.to) + "ns";
  }

  // ---- Controls ----

  const bar = document.createElement("div"), output = document.createElement("output"), link = document.createElement("a");
  bar.className = "schedule-bar";
  function button(text, title, action) {
    const element = document.createElement("button");
    element.type = "button";
    element.textContent = text;
    element.title = title;
    element.setAttribute("aria-label", title);
    element.addEventListener("click", action);
    bar.append(element);
    return element;
  }
  button("−", "Zoom out", () => zoom(2));
  button("+", "Zoom in", () => zoom(0.5));
  button("All", "Show all", () => show(data.from, data.to));
  for (const element of [button("‹ miss", "Previous missed deadline", previousMiss), button("miss ›", "Next missed deadline", nextMiss)]) element.disabled = misses.length === 0;
  output.setAttribute("aria-live", "polite");
  link.textContent = "link to this view";
  bar.append(output, link);
  root.insertBefore(bar, root.querySelector(".schedule-view"));
  const help = document.createElement("p");
  help.className = "schedule-help";
  help.textContent = "Drag or ← → to move; wheel (after a click, or with Ctrl), pinch, + and − to zoom; n and p for the next and previous miss. "
    + "CPU rows show jobs, task.job counted from 0, with kernel work as a dark strip below; task rows show where they run (↑ release, ↓ deadline, ✗ missed, grey waiting).";
  root.append(help);

  canvas.addEventListener("keydown", (event) => {
    const keys = {
      ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2),
      0: () => show(data.from, data.to), Home: () => show(data.from, data.from + view.to - view.from),
      End: () => show(data.to - (view.to - view.from), data.to), n: nextMiss, p: previousMiss,
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });

  canvas.addEventListener("wheel", (event) => {
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!event.ctrlKey && !sideways && document.activeElement !== canvas) return;
    event.preventDefault();
    if (sideways) pan(event.deltaX / 1000);
    else zoom(Math.exp(Math.max(-100, Math.min(100, event.deltaY)) / 250), timeAt(event.offsetX));
  }, { passive: false });

  const pointers = new Map();
  canvas.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, event.offsetX);
    canvas.setPointerCapture(event.pointerId);
    canvas.classList.add("dragging");
    tip.hidden = true;
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (before === void 0) return hover(event);
    const others = [...pointers].filter(([id]) => id !== event.pointerId).map((entry) => entry[1]);
    pointers.set(event.pointerId, event.offsetX);
    if (others.length === 0) return pan((before - event.offsetX) / (width - left));
    // Two fingers: what was between them stays between them.
    const was = Math.max(Math.abs(before - others[0]), 10), is = Math.max(Math.abs(event.offsetX - others[0]), 10);
    zoom(was / is, timeAt((before + others[0]) / 2));
  });
  function release(event) {
    pointers.delete(event.pointerId);
    if (pointers.size === 0) canvas.classList.remove("dragging");
  }
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });

  function hover(event) {
    const row = rows.find((row) => event.offsetY >= row.top && event.offsetY < row.top + row.height);
    const text = row && event.offsetX >= left ? wordsAt(row, timeAt(event.offsetX)) : "";
    tip.hidden = text === "";
    if (tip.hidden) return;
    tip.textContent = text;
    const box = tip.parentElement.getBoundingClientRect();
    const atX = event.clientX - box.left + 14, atY = event.clientY - box.top + 14;
    tip.style.left = Math.max(4, Math.min(atX, box.width - tip.offsetWidth - 6)) + "px";
    tip.style.top = Math.max(4, atY + tip.offsetHeight > box.height ? atY - tip.offsetHeight - 24 : atY) + "px";
  }

  function spanWords(run, k) { return time(run.from[k]) + " – " + time(run.to[k]) + " (" + time(run.to[k] - run.from[k]) + ")"; }

  function wordsAt(row, ns) {
    const within = (run) => { const k = firstAfter(run.to, ns); return k < run.from.length && run.from[k] <= ns ? k : -1; };
    if (row.cpu) {
      const k = within(row.cpu.run), o = within(row.cpu.kernel);
      const lines = [];
      if (o >= 0) lines.push(data.overheads[row.cpu.kernel.what[o]] + " " + spanWords(row.cpu.kernel, o));
      if (k >= 0) {
        const what = row.cpu.run.what[k], background = what % 2 === 1, place = (what - (background ? 1 : 0)) / 2;
        lines.push((background ? "background task " + place : jobName(place, row.cpu.run.job[k])) + " on " + row.label);
        lines.push("runs " + spanWords(row.cpu.run, k));
        if (!background) lines.push(jobWords(place, row.cpu.run.job[k]));
      }
      return lines.join("\n");
    }
    const k = within(row.task.run);
    if (k >= 0) {
      const segment = row.task.segments[k];
      return jobName(row.place, segment.job) + " on CPU " + cpus[segment.cpu].id + "\nruns " + spanWords(row.task.run, k) + "\n" + jobWords(row.place, segment.job);
    }
    const waiting = row.task.order.find((job) => (job.release ?? data.from) <= ns && (job.complete ?? data.to) > ns);
    if (waiting) return jobName(row.place, waiting.number) + " waits\n" + jobWords(row.place, waiting.number);
    const near = row.task.order.find((job) => Math.abs(x(job.deadline) - x(ns)) < 5 || Math.abs(x(job.release) - x(ns)) < 5);
    return near ? jobName(row.place, near.number) + "\n" + jobWords(row.place, near.number) : "";
  }

  // ---- Links ----

  function instantOf(text) {
    const match = /^(\d+(?:\.\d+)?)(ns|us|µs|ms|s)?$/.exec(text || "");
    const scale = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9 };
    return match ? Number(match[1]) * scale[match[2] || "ns"] : NaN;
  }

  function follow() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const mine = wanted.has("schedule") ? wanted.get("schedule") === root.dataset.schedule : document.querySelector(".schedule") === root;
    if (!mine) return;
    const from = instantOf(wanted.get("from")), to = instantOf(wanted.get("to"));
    if (from < to) { current = -1; show(from, to); }
    const miss = Number(wanted.get("miss"));
    if (miss >= 1) showMiss(Math.min(miss, misses.length) - 1);
    if ((from < to || miss >= 1) && wanted.has("schedule")) root.scrollIntoView({ behavior: "instant" });
  }

  window.addEventListener("resize", draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  // A closed <details> around the schedule has no width.
  new ResizeObserver(() => { if (rowsBox.clientWidth !== width) draw(); }).observe(rowsBox);
  window.addEventListener("hashchange", follow);
  draw();
  follow();
})(document.currentScript.closest(".schedule"));
