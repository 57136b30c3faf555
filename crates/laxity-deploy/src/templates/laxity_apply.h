/*
 * What laxity has set for the threads of one program: each thread calls laxity_apply() with its name, once, before its
 * first job. Generated; laxity_apply.c has the table.
 */
#ifndef LAXITY_APPLY_H
#define LAXITY_APPLY_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Gives the calling thread the cgroup, the CPUs, the policy and the name of this thread of the plan.
 *
 * Returns 0, or -1 with errno: ENOENT if the plan has no such thread, or what the kernel said. laxity_apply_error() then
 * says in words which step failed; the thread should not go on as a real-time thread.
 *
 * Threads that it makes afterwards begin as SCHED_OTHER (reset-on-fork), and call laxity_apply() themselves. Needs
 * CAP_SYS_NICE; with cells in cgroups also the right to write into them: `start.sh confine threads` makes them.
 *
 * Page faults in a job delay it. Call mlockall(MCL_CURRENT | MCL_FUTURE) once, before the threads are made, and touch their
 * stacks; RLIMIT_MEMLOCK has to allow it.
 */
int laxity_apply(const char *thread);

/* Why the last laxity_apply() of this thread failed; empty if it did not. */
const char *laxity_apply_error(void);

#ifdef __cplusplus
}
#endif

#endif
