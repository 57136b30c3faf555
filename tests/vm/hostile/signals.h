/* SPDX-License-Identifier: GPL-2.0-only */
/* Signals and ptrace among the user's threads. */
#include <sys/ptrace.h>
#include <sys/time.h>

static volatile int signals;

static void on_signal(int number)
{
	(void)number;
	if (++signals % 4 == 0)
		sched_yield();
}

static void handle_signals(void)
{
	signal(SIGUSR1, on_signal);
	signal(SIGALRM, on_signal);
	signal(SIGPROF, on_signal);
	signal(SIGPIPE, SIG_IGN);
	/* Children are reaped by themselves. */
	signal(SIGCHLD, SIG_IGN);
}

/* Most that are stopped go on soon. */
static int sends_a_signal(void)
{
	static const int numbers[] = {SIGSTOP, SIGCONT, SIGCONT, SIGCONT, SIGUSR1, SIGUSR1, SIGUSR1, SIGTSTP};

	return answer(syscall(SYS_tkill, one_target(), numbers[draw(8)]));
}

static int kills(void)
{
	return answer(syscall(SYS_tkill, one_target(), draw(4) ? SIGKILL : SIGTERM));
}

static int sets_a_timer(void)
{
	struct itimerval value = {{0, draw(3) ? 0 : 1000 + draw(50000)}, {0, 1 + draw(50000)}};

	return answer(setitimer(draw(2) ? ITIMER_REAL : ITIMER_PROF, &value, NULL));
}

/* It has stopped. It may wait for a CPU until it does, or be frozen. */
static int has_stopped(pid_t tid)
{
	for (int i = 0; i < 100; i++) {
		pid_t found = waitpid(tid, NULL, __WALL | WNOHANG);

		if (found)
			return found == tid;
		usleep(2000);
	}
	return 0;
}

/* Another thread is traced, and let go; or kept until this one ends, as it then is. */
static int traces(void)
{
	pid_t tid = one_target();
	long options = draw(2) ? 0 : draw(3) ? PTRACE_O_TRACEEXEC : draw(2) ? PTRACE_O_TRACECLONE : PTRACE_O_EXITKILL;

	if (draw(3) ? ptrace(PTRACE_SEIZE, tid, NULL, options) : ptrace(PTRACE_ATTACH, tid, NULL, NULL))
		return errno;
	for (int i = draw(4); i >= 0; i--) {
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
		if (!has_stopped(tid))
			return EAGAIN;
		usleep(draw(4) ? 0 : draw(5000));
		ptrace(draw(3) ? PTRACE_CONT : draw(2) ? PTRACE_SYSCALL : PTRACE_SINGLESTEP, tid, NULL, NULL);
	}
	if (draw(16) == 0)
		return 0;
	ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	if (!has_stopped(tid))
		return EAGAIN;
	return answer(ptrace(PTRACE_DETACH, tid, NULL, draw(6) ? 0 : SIGCONT));
}
