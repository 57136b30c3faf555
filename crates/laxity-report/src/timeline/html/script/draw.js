// One frame. What it costs depends on the pixels, not on the events: whatever is narrower than a pixel is found and added
// up by bisection. A missed deadline is marked at every scale, in the row of its task and above all rows.

const AXIS_HEIGHT = 26, MARK_HEIGHT = 7, TASK_COLORS = 7;
const NAMES = ["ink", "soft", "line", "panel", "back", "miss", "kernel", "wait"];
let colors = {}, palette = [], frame = 0;

/** Draws before the next frame is shown, once, however often it is asked. */
function draw() { if (!frame) frame = requestAnimationFrame(paint); }

function readColors() {
  const style = getComputedStyle(root), color = (name) => style.getPropertyValue("--s-" + name).trim();
  colors = Object.fromEntries(NAMES.map((name) => [name, color(name)]));
  palette = Array.from({ length: TASK_COLORS }, (_, k) => ({ fill: color("task-" + k), ink: color("ink-" + k) }));
}

function prepare(canvas, cssHeight) {
  const ratio = window.devicePixelRatio || 1;
  canvas.style.height = cssHeight + "px";
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(cssHeight * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, cssHeight);
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  return context;
}

/** Boxes of one layer. What is narrower than a pixel is gathered by pixel: its colour is that of the longest part. */
function boxes(context, run, top, boxHeight, colorOf, label) {
  const scale = (width - left) / (view.to - view.from), count = run.from.length;
  const wide = (k) => lengthOf(run, k) * scale >= 1.5;
  for (let k = after(run.reach, view.from); k < count && run.from[k] < view.to;) {
    const a = Math.max(x(run.from[k]), left);
    if (wide(k)) {
      box(context, run, k, a, top, boxHeight, colorOf(k), label);
      k++;
      continue;
    }
    const column = Math.floor(a);
    let end = Math.max(k + 1, from(run.from, timeAt(column + 1)));
    if (end - 1 > k && wide(end - 1)) end--;
    context.globalAlpha = Math.min(1, 0.25 + 0.75 * (run.sum[end] - run.sum[k]) * scale);
    context.fillStyle = colorOf(longest(run, k, end)).fill;
    context.fillRect(column, top, 1, boxHeight);
    context.globalAlpha = 1;
    k = end;
  }
}

function box(context, run, k, a, top, boxHeight, color, label) {
  const b = Math.min(x(run.to[k]), width);
  context.fillStyle = color.fill;
  // A hair of background tells neighbours apart.
  context.fillRect(a, top, Math.max(b - a - (b - a > 4 ? 1 : 0), 1), boxHeight);
  if (!label || b - a <= 12) return;
  const text = label(k);
  context.fillStyle = color.ink;
  if (context.measureText(text).width <= b - a - 6) context.fillText(text, a + 4, top + boxHeight / 2);
}

function taskColor(place) { return palette[place % palette.length]; }

function drawCpu(context, { cpu, height }, top) {
  const { run, kernel } = cpu, background = { fill: colors.wait, ink: colors.ink };
  const color = (k) => (run.what[k] % 2 ? background : taskColor(run.what[k] / 2));
  const label = (k) => (run.what[k] % 2 ? otherWork(run.what[k]) : jobName(run.what[k] / 2, run.job[k]));
  boxes(context, run, top + 3, height - 6, color, label);
  boxes(context, kernel, top + height - 8, 5, () => ({ fill: colors.kernel }));
}

function drawTask(context, { task, place, height }, top) {
  const base = top + height - 3, { jobs, run } = task;
  drawWaiting(context, jobs, base);
  boxes(context, run, top + 7, height - 10, () => taskColor(place), (k) => "" + cpus[run.cpu[k]].id);
  const roomy = (width - left) / Math.max(1, from(jobs.begin, view.to) - from(jobs.due, view.from)) > 14;
  if (roomy) drawArrows(context, jobs, top + 1, base);
  drawMisses(context, jobs, top + height / 2, base, roomy ? 5 : 3.5);
}

/** From the release to the end of jobs, one bar for all that overlap. */
function drawWaiting(context, jobs, base) {
  context.fillStyle = colors.wait;
  let drawn = left;
  for (let k = after(jobs.over, view.from); k < jobs.begin.length && jobs.begin[k] < view.to && drawn < width;) {
    const a = Math.max(x(jobs.begin[k]), drawn), b = Math.min(Math.max(x(Math.min(jobs.over[k], header.to)), a + 0.5), width);
    context.fillRect(a, base - 5, b - a, 3);
    drawn = Math.max(b, Math.floor(a) + 1);
    k = Math.max(k + 1, after(jobs.over, timeAt(drawn)));
  }
}

function drawArrows(context, jobs, top, base) {
  const end = from(jobs.begin, view.to);
  for (let k = from(jobs.due, view.from); k < end; k++) {
    if (inView(jobs.release[k])) arrow(context, x(jobs.release[k]), top, base, true);
    if (!missed(jobs, k) && inView(jobs.deadline[k])) arrow(context, x(jobs.deadline[k]), top, base, false);
  }
}

/** A cross where a deadline is missed and a bar as long as the task is late; crosses that would overlap are one. */
function drawMisses(context, jobs, middle, base, size) {
  let last = -Infinity;
  for (let k = after(jobs.lateUntil, view.from); k < jobs.late.length && jobs.lateAt[k] <= view.to;) {
    const at = x(jobs.lateAt[k]), next = Math.max(k + 1, from(jobs.lateAt, timeAt(Math.max(at, left) + 3)));
    const end = Math.min(x(Math.min(jobs.lateUntil[next - 1], view.to)), width);
    context.fillStyle = colors.miss;
    context.fillRect(Math.max(at, left), base - 2, Math.max(end - Math.max(at, left), 1), 3);
    if (inView(jobs.lateAt[next - 1]) && at - last >= 3) {
      last = Math.max(at, left);
      cross(context, Math.max(at, left), middle, size);
    }
    k = next;
  }
}

function arrow(context, at, top, base, up) {
  context.strokeStyle = context.fillStyle = colors.soft;
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
  const step = Math.pow(10, Math.floor(Math.log10(Math.max(least, 1))));
  return Math.max(1, step * ([1, 2, 5].find((factor) => step * factor >= least) || 10));
}

function drawAxis(body, bodyHeight) {
  const marked = misses.count > 0, context = prepare(axis, AXIS_HEIGHT + (marked ? MARK_HEIGHT : 0)), step = tickStep();
  for (let ns = Math.ceil(view.from / step) * step; ns <= view.to; ns += step) {
    const at = x(ns);
    context.fillStyle = colors.ink;
    context.textAlign = at > width - 40 ? "right" : "center";
    context.fillText(time(ns, step), at > width - 40 ? width - 2 : at, AXIS_HEIGHT / 2);
    body.fillStyle = colors.line;
    body.fillRect(at, 0, 1, bodyHeight);
  }
  context.textAlign = "left";
  if (!marked) return;
  context.fillStyle = colors.miss;
  context.fillText("missed", 6, AXIS_HEIGHT - 1, left - 10);
  for (let k = from(misses.at, view.from); k < misses.count && misses.at[k] <= view.to;) {
    const column = Math.floor(x(misses.at[k]));
    context.fillRect(column, AXIS_HEIGHT, 2, MARK_HEIGHT - 1);
    k = Math.max(k + 1, from(misses.at, timeAt(column + 2)));
  }
}

function paint() {
  cancelAnimationFrame(frame);
  frame = 0;
  width = rowsBox.clientWidth;
  // A closed <details> around the schedule has no width.
  if (!awake || width === 0) return;
  readColors();
  const scrolled = rowsBox.scrollTop, bodyHeight = rowsBox.clientHeight, context = prepare(canvas, bodyHeight);
  left = Math.ceil(Math.min(width / 3, 14 + Math.max(...rows.map((row) => context.measureText(row.label).width), 0)));
  drawAxis(context, bodyHeight);
  for (const row of rows) {
    const top = row.top - scrolled;
    if (top + row.height < 0 || top > bodyHeight) continue;
    context.save();
    context.beginPath();
    context.rect(left, top, width - left, row.height);
    context.clip();
    if (row.cpu) drawCpu(context, row, top); else drawTask(context, row, top);
    context.restore();
    context.fillStyle = colors.back;
    context.fillRect(0, top, left - 1, row.height);
    context.fillStyle = colors.ink;
    context.fillText(row.label, 6, top + row.height / 2, left - 10);
    context.fillStyle = colors.line;
    context.fillRect(0, top + row.height - 0.5, width, 0.5);
  }
  readout();
}
