// What is said of jobs, intervals and instants.

const UNITS = [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9]];

function unitOf(ns) {
  let unit = UNITS[0];
  for (const other of UNITS) if (ns >= other[1]) unit = other;
  return unit;
}

/** An instant or a span, exact to the ns if `step` is small enough. */
function time(ns, step) {
  if (ns === 0) return "0";
  const [name, scale] = unitOf(Math.max(Math.abs(ns), 1));
  const digits = Math.max(0, Math.ceil(Math.log10(scale / Math.max(step || 1, 1)) - 1e-9));
  const text = (ns / scale).toFixed(Math.min(digits, 9));
  return (text.includes(".") ? text.replace(/\.?0+$/, "") : text) + " " + name;
}

function spanWords(run, k) { return time(run.from[k]) + " – " + time(run.to[k]) + " (" + time(lengthOf(run, k)) + ")"; }

function jobName(place, number) { return tasks[place].name + "." + number; }

function jobWords(place, number) {
  const { jobs, about, name } = tasks[place], lines = [];
  const k = from(jobs.number, number);
  if (jobs.number[k] === number) {
    const release = jobs.release[k], deadline = jobs.deadline[k], complete = jobs.complete[k];
    if (!Number.isNaN(release)) lines.push("released " + time(release));
    if (!Number.isNaN(deadline)) lines.push("deadline " + time(deadline) + (missed(jobs, k) ? ", missed" : ""));
    if (!Number.isNaN(complete)) {
      const laxity = deadline - complete;
      lines.push((aborted(jobs, k) ? "aborted " : "complete ") + time(complete));
      if (!Number.isNaN(laxity) && !aborted(jobs, k)) lines.push(laxity < 0 ? time(-laxity) + " late" : "laxity " + time(laxity));
    } else lines.push("not complete in this window");
  }
  if (about) lines.push(name + ": " + about);
  return lines.join("\n");
}

/** The interval around an instant, or -1. */
function within(run, ns) {
  const k = after(run.reach, ns);
  return k < run.from.length && run.from[k] <= ns ? k : -1;
}

/** What has a CPU that no job has. */
function otherWork(what) { return what < 0 ? "taken from the scheduler" : "background task " + (what - 1) / 2; }

function wordsOfCpu({ run, kernel }, label, ns) {
  const k = within(run, ns), o = within(kernel, ns), lines = [];
  if (o >= 0) lines.push(header.overheads[kernel.what[o]] + " " + spanWords(kernel, o));
  if (k >= 0) {
    const what = run.what[k], background = what % 2 !== 0, place = (what - (background ? 1 : 0)) / 2;
    lines.push((background ? otherWork(what) : jobName(place, run.job[k])) + " on " + label);
    lines.push("runs " + spanWords(run, k));
    if (!background) lines.push(jobWords(place, run.job[k]));
  }
  return lines.join("\n");
}

function wordsOfTask({ run, jobs }, place, ns, near) {
  const k = within(run, ns);
  if (k >= 0) return jobName(place, run.job[k]) + " on CPU " + cpus[run.cpu[k]].id + "\nruns " + spanWords(run, k) + "\n" + jobWords(place, run.job[k]);
  const first = after(jobs.over, ns);
  if (first < jobs.begin.length && jobs.begin[first] <= ns) return jobName(place, jobs.number[first]) + " waits\n" + jobWords(place, jobs.number[first]);
  for (const order of [jobs.due, jobs.begin]) {
    const at = from(order, ns - near);
    if (at < order.length && order[at] <= ns + near) return jobName(place, jobs.number[at]) + "\n" + jobWords(place, jobs.number[at]);
  }
  return "";
}
