// The data (their layout is described where they are written: data.rs), decoded when the schedule is first looked at.
// All of them are arrays of numbers in order of time: a frame finds what it needs by bisection, however much there is.

const FAN = 16;
const header = JSON.parse(root.querySelector(".schedule-data").textContent);
let cpus = [], tasks = [], misses = { count: 0, at: [] };

function bytesOf(text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k);
  return bytes;
}

function reader(text) {
  const bytes = bytesOf(text);
  let at = 0;
  return function () {
    // No shifts: numbers go beyond 32 bits.
    let code = 0, scale = 1, byte;
    do { byte = bytes[at++]; code += (byte & 127) * scale; scale *= 128; } while (byte > 127);
    return code % 2 ? -(code + 1) / 2 : code / 2;
  };
}

/** The first place whose value is beyond `limit`, in values that never fall. */
function after(values, limit) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] > limit) high = middle; else low = middle + 1;
  }
  return low;
}

/** The first place whose value is `limit` or more. */
function from(values, limit) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] >= limit) high = middle; else low = middle + 1;
  }
  return low;
}

/** The largest value so far, at each place. */
function rising(values) {
  const out = new Float64Array(values.length);
  let most = -Infinity;
  for (let k = 0; k < values.length; k++) out[k] = most = Math.max(most, values[k]);
  return out;
}

function lengthOf(run, k) { return run.to[k] - run.from[k]; }

/** Adds what answers for any stretch of intervals, in steps that do not grow with it: their sum and the longest. */
function indexed(run) {
  const count = run.from.length;
  run.reach = rising(run.to);
  run.sum = new Float64Array(count + 1);
  for (let k = 0; k < count; k++) run.sum[k + 1] = run.sum[k] + lengthOf(run, k);
  run.levels = [];
  for (let below = null, size = count; size > FAN; size = below.length) {
    const level = new Uint32Array(Math.ceil(size / FAN));
    for (let k = 0; k < size; k++) {
      const one = below ? below[k] : k, block = Math.floor(k / FAN);
      if (k % FAN === 0 || lengthOf(run, one) > lengthOf(run, level[block])) level[block] = one;
    }
    run.levels.push(level);
    below = level;
  }
  return run;
}

/** The longest of the intervals `[begin, end)`: by blocks of blocks, and one by one at the ends only. */
function longest(run, begin, end) {
  let best = begin;
  for (let depth = 0; begin < end; depth++) {
    const level = depth > 0 ? run.levels[depth - 1] : null, last = depth >= run.levels.length;
    const look = (k) => { const one = level ? level[k] : k; if (lengthOf(run, one) > lengthOf(run, best)) best = one; };
    while (begin < end && (last || begin % FAN)) look(begin++);
    while (begin < end && end % FAN) look(--end);
    begin /= FAN;
    end /= FAN;
  }
  return best;
}

function intervals(count) {
  return { from: new Float64Array(count), to: new Float64Array(count), what: new Int32Array(count), job: new Float64Array(count) };
}

function layer(next, kernel) {
  const count = next(), run = intervals(count), last = new Map();
  let end = header.from;
  for (let k = 0; k < count; k++) {
    run.from[k] = end + next();
    run.to[k] = end = run.from[k] + next();
    run.what[k] = next();
    if (!kernel && run.what[k] % 2 === 0) {
      run.job[k] = (last.get(run.what[k]) || 0) + next();
      last.set(run.what[k], run.job[k]);
    }
  }
  return indexed(run);
}

/** The jobs of a task. What is not known is NaN. */
function jobsOf(next) {
  const count = next(), numbers = () => new Float64Array(count);
  const jobs = { number: numbers(), release: numbers(), deadline: numbers(), complete: numbers(), flags: new Uint8Array(count) };
  let number = 0, release = 0, gap = 0, relative = 0;
  for (let k = 0; k < count; k++) {
    jobs.number[k] = number += next();
    const flags = jobs.flags[k] = next();
    if (flags & 1) release += gap += next();
    jobs.release[k] = flags & 1 ? release : NaN;
    jobs.deadline[k] = flags & 2 ? release + (relative += next()) : NaN;
    jobs.complete[k] = flags & 4 ? release + next() : NaN;
  }
  return jobs;
}

const missed = (jobs, k) => (jobs.flags[k] & 8) !== 0, aborted = (jobs, k) => (jobs.flags[k] & 16) !== 0;
const known = (value, otherwise) => (Number.isNaN(value) ? otherwise : value);

/** Adds the orders by which jobs are found: when they begin, when all up to one are over, and which of them miss. */
function orderedJobs(jobs) {
  const count = jobs.number.length;
  jobs.begin = rising(jobs.release.map((ns) => known(ns, header.from)));
  jobs.due = rising(jobs.deadline.map((ns) => known(ns, -Infinity)));
  jobs.over = rising(jobs.complete.map((ns) => known(ns, Infinity)));
  const late = [];
  for (let k = 0; k < count; k++) {
    if (missed(jobs, k) && jobs.deadline[k] >= header.from && jobs.deadline[k] < header.until) late.push(k);
  }
  late.sort((a, b) => jobs.deadline[a] - jobs.deadline[b]);
  jobs.late = Uint32Array.from(late);
  jobs.lateAt = Float64Array.from(late, (k) => jobs.deadline[k]);
  jobs.lateUntil = rising(late.map((k) => known(jobs.complete[k], header.to)));
  return jobs;
}

/** Where the tasks ran, gathered from the CPUs. */
function gather() {
  const counts = new Uint32Array(tasks.length);
  for (const { run } of cpus) for (const what of run.what) if (what % 2 === 0) counts[what / 2]++;
  tasks.forEach((task, place) => { task.run = { ...intervals(counts[place]), cpu: new Uint16Array(counts[place]) }; });
  const filled = new Uint32Array(tasks.length);
  cpus.forEach(({ run }, cpu) => {
    for (let k = 0; k < run.what.length; k++) {
      if (run.what[k] % 2) continue;
      const own = tasks[run.what[k] / 2].run, at = filled[run.what[k] / 2]++;
      own.from[at] = run.from[k];
      own.to[at] = run.to[k];
      own.job[at] = run.job[k];
      own.cpu[at] = cpu;
    }
  });
  for (const task of tasks) task.run = indexed(inOrder(task.run));
}

function inOrder(run) {
  if (run.from.every((ns, k) => k === 0 || run.from[k - 1] <= ns)) return run;
  const order = Uint32Array.from(run.from.keys()).sort((a, b) => run.from[a] - run.from[b]);
  const sorted = {};
  for (const [name, values] of Object.entries(run)) sorted[name] = values.map((_, k) => values[order[k]]);
  return sorted;
}

/** All misses, in order of their deadlines. */
function gatherMisses() {
  const all = [];
  tasks.forEach((task, place) => { for (const k of task.jobs.late) all.push([task.jobs.deadline[k], place, k]); });
  all.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  misses = { count: all.length, at: Float64Array.from(all, (miss) => miss[0]), task: all.map((miss) => miss[1]), job: all.map((miss) => miss[2]) };
}

function decode() {
  const next = reader(header.numbers);
  cpus = header.cpus.map((id) => ({ id, run: layer(next, false), kernel: layer(next, true) }));
  tasks = header.tasks.map((task) => ({ ...task, jobs: orderedJobs(jobsOf(next)) }));
  gather();
  gatherMisses();
  header.numbers = "";
}
