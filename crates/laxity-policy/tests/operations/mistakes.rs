//! Deliberate mistakes in `policy/`, every one of which must be noticed.

/// A deliberate mistake: in `file`, `right` becomes `wrong`.
pub struct Mistake {
    pub name: &'static str,
    pub file: &'static str,
    pub right: &'static str,
    pub wrong: &'static str,
}

const fn mistake(
    name: &'static str,
    file: &'static str,
    right: &'static str,
    wrong: &'static str,
) -> Mistake {
    Mistake { name, file, right, wrong }
}

/// Mistakes about laxities.
pub const EDZL: [Mistake; 6] = [
    mistake(
        "the timer is not set",
        "queues/laxities.h",
        "\ts->next_timer_at = lx_watched_entry(s, 0)->key;\n",
        "\ts->next_timer_at = LX_NEVER;\n",
    ),
    mistake(
        "a job without laxity keeps its place",
        "queues/laxities.h",
        "\tlx_task(s, task)->key = ends_at;\n",
        "",
    ),
    mistake(
        "a job that has left its CPU is not watched",
        "queues/laxities.h",
        "\telse\n\t\tlx_laxities_watch(s, task);\n",
        "",
    ),
    mistake(
        "a job that has none from the beginning is not seen",
        "queues/laxities.h",
        "\tif (!lx_is_urgent(t) && ends_at <= now)\n",
        "\tif (ends_at > now && ends_at == 0)\n",
    ),
    mistake(
        "what a job has used does not count",
        "queues/laxities.h",
        "\treturn t->deadline_abs_ns > t->budget_left_ns ? t->deadline_abs_ns - t->budget_left_ns : 0;\n",
        "\treturn t->deadline_abs_ns > t->budget_ns ? t->deadline_abs_ns - t->budget_ns : 0;\n",
    ),
    mistake(
        "a job without laxity that waits does not preempt",
        "turns.h",
        "#ifdef LX_TURNS\n\tLX_P(preempt_all)(s);\n",
        "#ifdef LX_TURNS\n\t(void)s;\n",
    ),
];

/// Mistakes about tasks that come and go, each under one policy that has them.
pub const COMING_AND_GOING: [(&str, Mistake); 8] = [
    ("edf_bh", FORGETS_THE_CPU),
    ("push_pull", FORGETS_THE_CPU),
    ("g_edf_mp", FORGETS_THE_CPU),
    (
        "edf_rbt",
        mistake(
            "a task that enters lives on the server period of the one before",
            "core.h",
            "\tt->deadline_abs_ns = 0;\n\tt->replenished_at = LX_NEVER;\n",
            "\tt->deadline_abs_ns = 0;\n",
        ),
    ),
    (
        "fpp",
        mistake(
            "levels are not made anew",
            "queues/promotions.h",
            "entered(struct lx_state *s)\n{\n\tlx_promotions_levels(s);\n",
            "entered(struct lx_state *s)\n{\n\t(void)s;\n",
        ),
    ),
    (
        "g_edf_mp",
        mistake(
            "the message that a task has left is forgotten when its number is used again",
            "g_edf_mp.h",
            "\tlx_task_enter(s, task);\n",
            "\tlx_task_enter(s, task);\n\tlx_flight(s, task)->ended = 0;\n",
        ),
    ),
    (
        "edf_bh",
        mistake(
            "a job with a constrained deadline that wakes up too late is replaced",
            "wake_up.h",
            "\t\tif (t->deadline_rel_ns < t->period_ns) {\n",
            "\t\tif (t->deadline_rel_ns < t->period_ns && span_ns == 0) {\n",
        ),
    ),
    (
        "edf_bh",
        mistake(
            "a constrained task that wakes up has two budgets in one period",
            "wake_up.h",
            "return t->deadline_rel_ns < t->period_ns && next_at > now ? next_at : now;",
            "return next_at > LX_NEVER / 2 ? next_at : now;",
        ),
    ),
];

/// Mistakes about CPUs that are taken and come back.
pub const WITHDRAWN: [(&str, Mistake); 12] = [
    (
        "edf_bh",
        mistake(
            "a CPU that was taken is linked to jobs",
            "linking.h",
            "\tlx_cpu_enter_as(s, cpu, lx_cpu_absent());\n",
            "\tlx_cpu_enter(s, lx_cpu_idle(cpu));\n",
        ),
    ),
    (
        "gsn_edf",
        mistake(
            "the job of a CPU that was taken preempts nothing",
            "linking.h",
            "\tLX_P(turn)(s, now);\n\tLX_P(preempt_all)(s);\n",
            "\tLX_P(turn)(s, now);\n",
        ),
    ),
    (
        "fpp",
        mistake(
            "the job of a CPU that was taken is forgotten",
            "linking.h",
            "\t\tLX_Q(insert_first)(s, linked);\n",
            "",
        ),
    ),
    (
        "edf_rbt",
        mistake(
            "a CPU that is there again takes nothing that waits",
            "linking.h",
            "\tLX_P(link_top)(s, cpu);\n\tLX_P(settle)(s);\n}\n\n/* The task has used",
            "\tlx_cpu_enter(s, lx_cpu_idle(cpu));\n\tLX_P(settle)(s);\n}\n\n/* The task has used",
        ),
    ),
    (
        "edzl",
        mistake(
            "a job that had lost its link is not watched when its CPU is taken",
            "linking.h",
            "\tLX_P(leaves)(s, cpu, before, now);\n\tLX_P(turn)(s, now);\n",
            "\t(void)before;\n\tLX_P(turn)(s, now);\n",
        ),
    ),
    (
        "push_pull",
        mistake(
            "a CPU that was taken looks idle",
            "push_pull/run_queue.h",
            "\tLX_WRITE(q->first_key, withdrawn ? 0 : first_key);\n\tLX_WRITE(q->first, withdrawn ? 0 : first);\n",
            "\tLX_WRITE(q->first_key, withdrawn ? LX_NEVER : first_key);\n\tLX_WRITE(q->first, withdrawn ? LX_NONE : first);\n",
        ),
    ),
    (
        "push_pull",
        mistake(
            "what a CPU that was taken has is not pushed",
            "push_pull.h",
            "\tlx_push_from(s, by, cpu);\n\tlx_push_pull_check(s, cpu);\n}\n\n/* `cpu`, which",
            "\tlx_push_pull_check(s, cpu);\n}\n\n/* `cpu`, which",
        ),
    ),
    (
        "push_pull",
        mistake(
            "what a CPU that was taken has cannot be pulled",
            "push_pull/run_queue.h",
            "\t\tnext = waiting;\n\telse if",
            "\t\tnext = LX_NONE;\n\telse if",
        ),
    ),
    (
        "g_edf_mp",
        mistake(
            "a client that is there again keeps the link that it gave up",
            "g_edf_mp.h",
            "\tLX_WRITE(c->withdrawn, LX_WITHDRAWN | LX_GAVE_UP);\n",
            "\tLX_WRITE(c->withdrawn, LX_WITHDRAWN);\n",
        ),
    ),
    (
        "g_edf_mp",
        mistake(
            "the job of a client that was taken is forgotten",
            "g_edf_mp/dsp.h",
            "\tif (before != LX_NONE)\n\t\tlx_dsp_preempted(s, before);\n}\n\n/* Looks",
            "\t(void)before;\n}\n\n/* Looks",
        ),
    ),
    (
        "g_edf_mp",
        mistake(
            "a link to a client that has just been taken is set all the same",
            "g_edf_mp/dsp.h",
            "\tif (LX_UNLIKELY(lx_cpu(s, op->target)->withdrawn)) {\n",
            "\tif (lx_cpu(s, op->target)->withdrawn > LX_NO_LOCK) {\n",
        ),
    ),
    (
        "g_edf_mp",
        mistake(
            "the DSP counts a withdrawal that it has not looked for",
            "g_edf_mp/dsp.h",
            "\tif (LX_LIKELY(said == s->withdrawals_seen))\n\t\treturn 0;\n",
            "\tif (said == s->withdrawals_seen)\n\t\treturn 0;\n\ts->withdrawals_seen = said;\n",
        ),
    ),
];

pub const FORGETS_THE_CPU: Mistake = mistake(
    "a task that enters is not looked for where the one before has yet to be switched away from",
    "core.h",
    "\tif (lx_scheduled_on(s, task) == LX_NONE)\n\t\tt->last_cpu = LX_NONE;\n",
    "\tt->last_cpu = LX_NONE;\n",
);

pub const PUSH_PULL: [Mistake; 13] = [
    mistake(
        "the release queue is written under the lock of a CPU",
        "push_pull.h",
        "\tlx_list_begin(s, cpu);\n\tif (next_release_at != LX_NEVER)\n\t\tready_at = lx_next_job(s, task, next_release_at);\n",
        "\tlx_list_begin(s, cpu);\n\tif (next_release_at != LX_NEVER)\n\t\tready_at = lx_next_job(s, task, next_release_at);\n\tif (ready_at > now && ready_at != LX_NEVER)\n\t\tlx_due_push(s, ready_at, task);\n",
    ),
    mistake(
        "actions are in the list of the CPU that they are about",
        "push_pull/run_queue.h",
        "\t\tlx_list_kick(s, by, cpu);\n",
        "\t\tlx_list_kick(s, cpu, cpu);\n",
    ),
    mistake(
        "a push does not look again at the target",
        "push_pull/migrate.h",
        "} else if (lx_run_queue_yields(s, target, task)) {",
        "} else if (target != source) {",
    ),
    mistake(
        "a push does not look again at the source",
        "push_pull/migrate.h",
        "if (lx_run_queue(s, source)->next != task) {",
        "if (target == source) {",
    ),
    mistake(
        "a pull does not look again",
        "push_pull/migrate.h",
        "if (lx_run_queue_offers(s, source, cpu)) {\n\t\tu32 task",
        "if (source != cpu) {\n\t\tu32 task",
    ),
    mistake(
        "one push only",
        "push_pull/migrate.h",
        "\t\top->task = LX_NONE;\n\t} else {",
        "\t\treturn 0;\n\t} else {",
    ),
    mistake(
        "no push after a release",
        "push_pull/migrate.h",
        "\tlx_push_from(s, cpu, op->target);\n",
        "\tlx_release_next(s, cpu);\n",
    ),
    mistake(
        "a push is given up in silence",
        "push_pull/migrate.h",
        "\t\t\tlx_note(s, cpu, LX_NOTE_PUSH_ABANDONED, source, target, task);\n",
        "",
    ),
    mistake(
        "one lock instead of two",
        "push_pull/migrate.h",
        "lx_go_on(s, cpu, lx_locks(source, target));",
        "lx_go_on(s, cpu, lx_locks(source, LX_NO_LOCK));",
    ),
    mistake(
        "a CPU that has yet to reschedule offers its running job",
        "push_pull/run_queue.h",
        "\tu32 next = LX_NONE;\n\tu64 first_key;\n",
        "\tu32 next = current;\n\tu64 first_key;\n",
    ),
    mistake(
        "a job wakes up elsewhere before its CPU has switched away",
        "push_pull/run_queue.h",
        "if (held != LX_NONE)\n\t\treturn held;",
        "if (held != LX_NONE)\n\t\town = held;",
    ),
    mistake("no pull", "push_pull.h", "\tlx_operation(s, cpu)->source = 0;\n\tlx_pull_seek(s, cpu);\n", ""),
    mistake(
        "no push after a preemption",
        "push_pull.h",
        "\tlx_push_from(s, cpu, cpu);\n\tlx_push_pull_check(s, cpu);\n\treturn first;\n",
        "\tlx_push_pull_check(s, cpu);\n\treturn first;\n",
    ),
];

pub const G_EDF_MP: [Mistake; 13] = [
    mistake(
        "a job that is to be linked counts as one that waits",
        "g_edf_mp/dsp.h",
        "\tt->place = LX_PLACE_NOWHERE;\n\top->task = task;\n",
        "\top->task = task;\n",
    ),
    mistake(
        "an arrival that overtakes the suspension resumes the job that was given up",
        "g_edf_mp/dsp.h",
        "\tif (early == LX_MESSAGE_RESUME)\n",
        "\tif (early)\n",
    ),
    mistake(
        "a stale job stays in the ready queue",
        "g_edf_mp/dsp.h",
        "\t\tlx_binomial_heap_remove(s, task);\n",
        "",
    ),
    mistake(
        "a job that has ended is swapped back",
        "g_edf_mp/dsp.h",
        "\tif (LX_READ(lx_flight(s, task)->ended)) {\n\t\tlx_dsp_drop(s);\n\t\treturn;\n\t}\n",
        "",
    ),
    mistake(
        "a job that has ended is linked",
        "g_edf_mp/dsp.h",
        "\tif (LX_READ(lx_flight(s, op->task)->ended)) {\n\t\tlx_dsp_drop(s);\n\t\treturn;\n\t}\n",
        "",
    ),
    mistake(
        "no link swap",
        "g_edf_mp/dsp.h",
        "if (held != LX_NONE && held != op->target) {",
        "if (held != LX_NONE && held == LX_NO_LOCK) {",
    ),
    mistake(
        "a swap without looking again",
        "g_edf_mp/dsp.h",
        "if (lx_cpu(s, source)->scheduled == task) {",
        "if (lx_dsp_copy(s, source) != task) {",
    ),
    mistake(
        "a swap under the lock of the wrong client",
        "g_edf_mp/dsp.h",
        "lx_dsp_go_on(s, LX_DSP_SWAP, held);",
        "lx_dsp_go_on(s, LX_DSP_SWAP, op->target);",
    ),
    mistake(
        "a resumption that overtakes the suspension is forgotten",
        "g_edf_mp/dsp.h",
        "\t\tflight->early = LX_MESSAGE_RESUME;\n",
        "\t\treturn;\n",
    ),
    mistake(
        "an arrival that overtakes the completion is forgotten",
        "g_edf_mp/dsp.h",
        "\t\tflight->early = LX_MESSAGE_ARRIVE;\n",
        "",
    ),
    mistake(
        "a preempted job is not kept",
        "g_edf_mp/dsp.h",
        "\tif (!LX_READ(lx_flight(s, task)->ended))\n\t\tlx_dsp_ready(s, task);\n",
        "",
    ),
    mistake(
        "a client gives up a link that is not its job's",
        "g_edf_mp.h",
        "\tif (c->linked == task)\n\t\tc->linked = LX_NONE;",
        "\tc->linked = LX_NONE;",
    ),
    mistake(
        "the first mailbox is always read first",
        "g_edf_mp/mailbox.h",
        "\ts->mailbox_next = socket + 1 < s->config.sockets ? socket + 1 : 0;\n",
        "\ts->mailbox_next = tried + 1 < s->config.sockets && kind == LX_MESSAGE_NONE ? tried + 1 : 0;\n",
    ),
];

/// Mistakes that change no schedule which the host can tell from a right one: only what the headers state is broken.
pub const ONLY_CHECKED: [(&str, Mistake); 6] = [
    (
        "edf_bh",
        mistake(
            "a CPU whose job leaves does not count as kicked",
            "linking.h",
            "\tlx_cpu(s, cpu)->kicked = 1;\n",
            "",
        ),
    ),
    (
        "edf_rbt",
        mistake(
            "a linked task still counts as one that waits",
            "linking.h",
            "\tt->linked_on = cpu;\n\tt->place = LX_PLACE_NOWHERE;\n",
            "\tt->linked_on = cpu;\n",
        ),
    ),
    (
        "push_pull",
        mistake(
            "a job that is chosen from the queue counts as one that waits in it",
            "push_pull.h",
            "\t\tlx_task(s, first)->place = LX_PLACE_NOWHERE;\n",
            "",
        ),
    ),
    (
        "push_pull",
        mistake(
            "a preempted job does not count as one that waits",
            "push_pull.h",
            "\t\t\tlx_task(s, current)->place = LX_PLACE_READY;\n",
            "",
        ),
    ),
    (
        "g_edf_mp",
        mistake(
            "a client whose job leaves does not count as kicked",
            "g_edf_mp.h",
            "\t/* It is going to call reschedule. */\n\tc->kicked = 1;\n",
            "",
        ),
    ),
    (
        "push_pull",
        mistake(
            "a CPU whose job leaves does not count as kicked",
            "push_pull.h",
            "current = LX_NONE;\n\tlx_cpu(s, cpu)->kicked = 1;\n\tif (task",
            "current = LX_NONE;\n\tif (task",
        ),
    ),
];
