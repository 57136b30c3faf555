// Buttons, keys, wheel, pointers and links.

const bar = document.createElement("div"), output = document.createElement("output"), link = document.createElement("a");

function readout() {
  const span = view.to - view.from, step = Math.max(1, Math.pow(10, Math.floor(Math.log10(span)) - 4));
  const task = misses.count > 0 && missShown() ? misses.task[current] : -1;
  const miss = task < 0 ? "" : "; miss " + (current + 1) + " of " + misses.count + ": " + jobName(task, tasks[task].jobs.number[misses.job[current]]);
  output.textContent = time(view.from, step) + " – " + time(view.to, step) + " (" + time(span, step) + ")" + miss;
  link.href = "#schedule=" + root.dataset.schedule + "&from=" + Math.floor(view.from) + "ns&to=" + Math.ceil(view.to) + "ns";
}

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

function addControls() {
  bar.className = "schedule-bar";
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", "View of the schedule");
  button("−", "Zoom out", () => zoom(2));
  button("+", "Zoom in", () => zoom(0.5));
  button("←", "Move to earlier times", () => pan(-0.2));
  button("→", "Move to later times", () => pan(0.2));
  button("All", "Show all", showAll);
  for (const element of [button("‹ miss", "Previous missed deadline", previousMiss), button("miss ›", "Next missed deadline", nextMiss)]) element.disabled = header.misses === 0;
  output.setAttribute("aria-live", "polite");
  link.textContent = "link to this view";
  link.href = "#schedule=" + root.dataset.schedule;
  bar.append(output, link);
  root.insertBefore(bar, root.querySelector(".schedule-view"));
}

canvas.addEventListener("keydown", (event) => {
  const keys = {
    ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2),
    ArrowUp: () => rowsBox.scrollBy(0, -TASK_HEIGHT), ArrowDown: () => rowsBox.scrollBy(0, TASK_HEIGHT),
    0: showAll, Home: showStart, End: showEnd, n: nextMiss, p: previousMiss,
  };
  if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
  const scrolls = rowsBox.scrollHeight > rowsBox.clientHeight;
  if (!scrolls && (event.key === "ArrowUp" || event.key === "ArrowDown")) return;
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
  const y = event.offsetY + rowsBox.scrollTop, ns = timeAt(event.offsetX);
  const row = event.offsetX < left ? void 0 : rows.find((row) => y >= row.top && y < row.top + row.height);
  const near = 5 * (view.to - view.from) / (width - left);
  const text = !row ? "" : row.cpu ? wordsOfCpu(row.cpu, row.label, ns) : wordsOfTask(row.task, row.place, ns, near);
  tip.hidden = text === "";
  if (tip.hidden) return;
  tip.textContent = text;
  const box = tip.parentElement.getBoundingClientRect();
  const atX = event.clientX - box.left + 14, atY = event.clientY - box.top + 14;
  tip.style.left = Math.max(4, Math.min(atX, box.width - tip.offsetWidth - 6)) + "px";
  tip.style.top = Math.max(4, atY + tip.offsetHeight > box.height ? atY - tip.offsetHeight - 24 : atY) + "px";
}

function instantOf(text) {
  const match = /^(\d+(?:\.\d+)?)(ns|us|µs|ms|s)?$/.exec(text || "");
  const scale = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9 };
  return match ? Number(match[1]) * scale[match[2] || "ns"] : NaN;
}

/** Shows what the address asks for, if that is of this schedule. */
function follow() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const mine = wanted.has("schedule") ? wanted.get("schedule") === root.dataset.schedule : document.querySelector(".schedule") === root;
  const begin = instantOf(wanted.get("from")), end = instantOf(wanted.get("to")), miss = Number(wanted.get("miss"));
  if (!mine || !(begin < end || miss >= 1)) return;
  wake();
  if (begin < end) { current = -1; show(begin, end); }
  if (miss >= 1) showMiss(Math.min(miss, misses.count) - 1);
  if (wanted.has("schedule")) root.scrollIntoView({ behavior: "instant" });
}

addControls();
rowsBox.addEventListener("scroll", draw);
window.addEventListener("resize", draw);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
new ResizeObserver(() => { if (rowsBox.clientWidth !== width) draw(); }).observe(rowsBox);
new IntersectionObserver((seen, observer) => {
  if (!seen.some((entry) => entry.isIntersecting)) return;
  observer.disconnect();
  wake();
  draw();
}, { rootMargin: "300px" }).observe(root);
// Paper is white, and has no bar to scroll with.
window.addEventListener("beforeprint", () => { wake(); root.classList.add("schedule-print"); paint(); });
window.addEventListener("afterprint", () => { root.classList.remove("schedule-print"); draw(); });
window.addEventListener("hashchange", follow);
follow();
