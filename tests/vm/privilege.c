// SPDX-License-Identifier: GPL-2.0-only
/*
 * Users of several kinds, and every way in which they can ask for a real-time task. Usage, as root:
 *
 *   privilege as USER PROGRAM ARGUMENTS...   becomes that user, and then that program
 *   privilege ask WAY                        0 not a real-time task, 128 one; or, refused, the error's number
 *   privilege all                            every user and every way, with the attached policy: `ok:` or `NOT OK:` each
 *
 * What is right the kernel itself says: SCHED_DEADLINE takes the same privilege. Each check is also told what to expect.
 */
#include "children.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/stat.h>

#define NOBODY 65534
#define CAP_SYS_NICE 23
#define IS_MEMBER 128
/* The program's own end, not the kernel's answer. */
#define NO_ANSWER 99

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	int failed = fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return failed;
}

/* As `unshare -Ur`: root in a user namespace of its own, with all capabilities there. */
static int enter_namespace(void)
{
	char uids[32], gids[32];

	snprintf(uids, sizeof(uids), "0 %d 1", geteuid());
	snprintf(gids, sizeof(gids), "0 %d 1", getegid());
	return unshare(CLONE_NEWUSER) || write_file("/proc/self/setgroups", "deny") || write_file("/proc/self/uid_map", uids) ||
	       write_file("/proc/self/gid_map", gids);
}

static int set_capabilities(uint64_t wanted)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	for (int i = 0; i < 2; i++)
		data[i].effective = data[i].permitted = data[i].inheritable = wanted >> (32 * i);
	return syscall(SYS_capset, &header, data);
}

static int become_nobody(void)
{
	int failed = setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY);

	/* It is still the owner of its own files in /proc. */
	return failed || prctl(PR_SET_DUMPABLE, 1);
}

static int become_ambient(void)
{
	return prctl(PR_SET_KEEPCAPS, 1) || become_nobody() || set_capabilities(1ull << CAP_SYS_NICE) ||
	       prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_NICE, 0, 0);
}

/* Root, with all but this capability whatever it executes. */
static int become_bounded(void)
{
	return prctl(PR_CAPBSET_DROP, CAP_SYS_NICE);
}

static int stay_root(void)
{
	return 0;
}

static const struct user {
	const char *name;
	int (*become)(void);
	/* User namespaces, one in another. */
	int namespaces;
	/* May have a deadline. */
	int may;
} users[] = {
	{"root", stay_root, 0, 1},
	{"ambient", become_ambient, 0, 1},
	{"nobody", become_nobody, 0, 0},
	{"bounded-root", become_bounded, 0, 0},
	{"nobody-in-a-namespace", become_nobody, 1, 0},
	{"nobody-in-two-namespaces", become_nobody, 2, 0},
	{"root-in-a-namespace", stay_root, 1, 0},
	{"ambient-in-a-namespace", become_ambient, 1, 0},
};
#define USERS ((int)(sizeof(users) / sizeof(*users)))

static int become(const struct user *user)
{
	if (user->become())
		return 1;
	for (int i = 0; i < user->namespaces; i++)
		if (enter_namespace())
			return 1;
	return 0;
}

/* A real-time task is not kept from a CPU of its cell, which has several here; nor is one of SCHED_DEADLINE. */
static int is_member(pid_t pid)
{
	return set_cpus(pid, 0, 1) == EBUSY;
}

static struct attributes wanted(int policy, uint64_t runtime)
{
	struct attributes a = {.size = sizeof(a), .policy = policy, .runtime = runtime, .deadline = 50 * MS, .period = 50 * MS};

	return a;
}

static int by_setattr(pid_t pid, int policy, uint64_t runtime)
{
	struct attributes a = wanted(policy, runtime);

	return syscall(SYS_sched_setattr, pid, &a, 0) ? errno : 0;
}

/* A call of the 32-bit interface, which has numbers of its own. Its argument is below 4 GiB. */
#ifdef __x86_64__
#define SETATTR_32 351
#define SETSCHEDULER_32 156
#define SETPARAM_32 154
#define GETPID_32 20

static long call_32(long number, long first, long second, long third)
{
	long result;

	asm volatile("int $0x80"
		     : "=a"(result)
		     : "a"(number), "b"(first), "c"(second), "d"(third)
		     : "memory", "r8", "r9", "r10", "r11");
	return (int)result;
}

static void *low(const void *value, size_t size)
{
	void *place = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (place == MAP_FAILED)
		exit(NO_ANSWER);
	return memcpy(place, value, size);
}
#endif

static int ask_setattr(void)
{
	return by_setattr(0, SCHED_EXT, 5 * MS);
}

/* Where it runs without laxity's help, this is the kernel's answer; under `laxity exec`, laxity's. */
static int ask_deadline(void)
{
	return by_setattr(0, SCHED_DEADLINE, 5 * MS);
}

/* What a process asks for another one of the same user. */
static int ask_for_another(void)
{
	int error;
	pid_t other = fork();

	if (other == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	if (other < 0)
		exit(NO_ANSWER);
	error = by_setattr(other, SCHED_EXT, 5 * MS);
	error = error ?: is_member(other) ? IS_MEMBER : 0;
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	return error;
}

/* These two calls have no room for a runtime and a period: SCHED_EXT by them is background work, for everybody. */
static int ask_setscheduler(void)
{
	return set_policy(0, SCHED_EXT);
}

static int ask_setparam(void)
{
	struct sched_param parameter = {};

	return set_policy(0, SCHED_EXT) ?: sched_setparam(0, &parameter) ? errno : 0;
}

#ifdef __x86_64__
static int ask_setattr_32(void)
{
	struct attributes a = wanted(SCHED_EXT, 5 * MS);

	return -call_32(SETATTR_32, 0, (long)low(&a, sizeof(a)), 0);
}

static int ask_setscheduler_32(void)
{
	struct sched_param parameter = {};

	return -call_32(SETSCHEDULER_32, 0, SCHED_EXT, (long)low(&parameter, sizeof(parameter)));
}

static int ask_setparam_32(void)
{
	struct sched_param parameter = {};

	return set_policy(0, SCHED_EXT) ?: -call_32(SETPARAM_32, 0, (long)low(&parameter, sizeof(parameter)), 0);
}

static int ask_getpid_32(void)
{
	return call_32(GETPID_32, 0, 0, 0) == getpid() ? 0 : NO_ANSWER;
}
#endif

static const struct way {
	const char *name;
	int (*ask)(void);
	/* 1: it makes a real-time task of one that has the privilege. 0: it makes none of anybody's. -1: no way into the policy. */
	int admits;
	/* It is one already when it asks, and asks for more. */
	int again;
} ways[] = {
	{"setattr", ask_setattr, 1, 0},
	{"setattr-again", ask_setattr, 1, 1},
	{"setattr-for-another", ask_for_another, 1, 0},
	{"setscheduler", ask_setscheduler, 0, 0},
	{"setparam", ask_setparam, 0, 0},
#ifdef __x86_64__
	{"setattr-32", ask_setattr_32, 1, 0},
	{"setscheduler-32", ask_setscheduler_32, 0, 0},
	{"setparam-32", ask_setparam_32, 0, 0},
#endif
	{"deadline", ask_deadline, -1, 0},
#ifdef __x86_64__
	{"getpid-32", ask_getpid_32, -1, 0},
#endif
};
#define WAYS ((int)(sizeof(ways) / sizeof(*ways)))

static int ask_by(const char *name)
{
	for (int i = 0; i < WAYS; i++)
		if (!strcmp(ways[i].name, name)) {
			int error = ways[i].ask();

			return error ?: is_member(0) ? IS_MEMBER : 0;
		}
	return NO_ANSWER;
}

/* What a user hears by a way, as `privilege as USER privilege ask WAY` ends; -1: it does not end by itself. */
static int answer_to(const struct user *user, const struct way *way)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (way->again && ask(0, MS, 50 * MS, 50 * MS, 0))
			_exit(NO_ANSWER);
		if (become(user))
			_exit(NO_ANSWER);
		execl("/proc/self/exe", "privilege", "ask", way->name, NULL);
		_exit(NO_ANSWER);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static const struct way *way_of(const char *name)
{
	for (int i = 0; i < WAYS; i++)
		if (!strcmp(ways[i].name, name))
			return &ways[i];
	exit(3);
}

static int check(const struct user *user, const struct way *way)
{
	int found = answer_to(user, way);
	int right = !way->admits ? 0 : user->may ? IS_MEMBER : EPERM;

	if (found == right)
		printf("ok: %s by %s: %s\n", user->name, way->name, right == EPERM ? "refused" : right ? "admitted" : "background");
	else
		printf("NOT OK: %s by %s: %d, expected %d\n", user->name, way->name, found, right);
	return found != right;
}

/* The kernel's own rule says the same of this user. */
static int check_kernel(const struct user *user)
{
	int found = answer_to(user, way_of("deadline"));
	int right = user->may ? IS_MEMBER : EPERM;

	if (found == right)
		printf("ok: %s: the kernel says the same\n", user->name);
	else
		printf("NOT OK: %s: the kernel answers %d, expected %d\n", user->name, found, right);
	return found != right;
}

static int all(void)
{
	int failed = 0, may_32 = 0;

#ifdef __x86_64__
	may_32 = answer_to(&users[0], way_of("getpid-32")) == 0;
#endif
	if (!may_32)
		printf("the kernel has no 32-bit calls: not tried\n");
	for (int u = 0; u < USERS; u++) {
		failed += check_kernel(&users[u]);
		for (int w = 0; w < WAYS; w++)
			if (ways[w].admits >= 0 && (may_32 || !strstr(ways[w].name, "-32")))
				failed += check(&users[u], &ways[w]);
	}
	if (!is_attached()) {
		printf("NOT OK: the kernel has ended the policy meanwhile\n");
		failed++;
	}
	return failed != 0;
}

int main(int count, char **words)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (count == 2 && !strcmp(words[1], "all"))
		return all();
	if (count == 3 && !strcmp(words[1], "ask"))
		return ask_by(words[2]);
	if (count > 3 && !strcmp(words[1], "as")) {
		for (int u = 0; u < USERS; u++)
			if (!strcmp(users[u].name, words[2])) {
				if (become(&users[u]))
					return NO_ANSWER;
				execvp(words[3], words + 3);
				return NO_ANSWER;
			}
	}
	fprintf(stderr, "privilege: as USER PROGRAM ..., ask WAY, or all\n");
	return 2;
}
