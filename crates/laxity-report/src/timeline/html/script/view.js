// Which part is seen, and the ways from one to another.

const CPU_HEIGHT = 26, TASK_HEIGHT = 22;
const canvas = root.querySelector(".schedule-canvas"), axis = root.querySelector(".schedule-axis");
const tip = root.querySelector(".schedule-tip"), rowsBox = root.querySelector(".schedule-rows"), allRows = root.querySelector(".schedule-all");
const view = { from: header.from, to: header.to };
let rows = [], width = 0, left = 0, current = -1, awake = false;

function x(ns) { return left + (ns - view.from) / (view.to - view.from) * (width - left); }
function timeAt(px) { return view.from + (px - left) / (width - left) * (view.to - view.from); }
function inView(ns) { return ns >= view.from && ns <= view.to; }

function layRows() {
  let height = 0;
  const row = (what, rowHeight) => { rows.push({ ...what, top: height, height: rowHeight }); height += rowHeight; };
  cpus.forEach((cpu) => row({ cpu, label: "CPU " + cpu.id }, CPU_HEIGHT));
  height += 6;
  tasks.forEach((task, place) => { if (task.row) row({ task, place, label: task.name }, TASK_HEIGHT); });
  allRows.style.height = height + 4 + "px";
}

/** Decodes and draws; a schedule that is never looked at costs nothing. */
function wake() {
  if (awake) return;
  awake = true;
  decode();
  layRows();
}

function show(begin, end) {
  const least = 20, all = Math.max(header.to - header.from, least);
  const span = Math.min(Math.max(end - begin, least), all);
  view.from = Math.min(Math.max(begin, header.from), header.from + all - span);
  view.to = view.from + span;
  draw();
}

function zoom(factor, around) {
  const at = around === void 0 ? (view.from + view.to) / 2 : around;
  show(at - (at - view.from) * factor, at + (view.to - at) * factor);
}

function pan(share) { const by = (view.to - view.from) * share; show(view.from + by, view.to + by); }
function showAll() { current = -1; show(header.from, header.to); }
function showStart() { show(header.from, header.from + view.to - view.from); }
function showEnd() { show(header.to - (view.to - view.from), header.to); }

function showMiss(index) {
  if (index < 0 || index >= misses.count) return;
  current = index;
  const task = misses.task[index], jobs = tasks[task].jobs, k = misses.job[index], deadline = jobs.deadline[k];
  const release = known(jobs.release[k], deadline), end = Math.max(deadline, known(jobs.complete[k], deadline));
  const wanted = Math.max((end - release) * 2, 100);
  // A closer view of the reader's own stays as it is.
  const span = Math.min(wanted, view.to - view.from);
  const middle = wanted <= span ? (release + end) / 2 : deadline;
  const row = rows.find((row) => row.place === task);
  if (row) rowsBox.scrollTop = Math.max(0, row.top - rowsBox.clientHeight / 2);
  show(middle - span / 2, middle + span / 2);
}

function missShown() { return current >= 0 && inView(misses.at[current]); }

function nextMiss() {
  const everything = view.to - view.from >= header.to - header.from;
  showMiss(missShown() ? current + 1 : everything ? 0 : after(misses.at, (view.from + view.to) / 2));
}

function previousMiss() { showMiss(missShown() ? current - 1 : from(misses.at, (view.from + view.to) / 2) - 1); }
