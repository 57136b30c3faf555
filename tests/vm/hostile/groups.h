/* SPDX-License-Identifier: GPL-2.0-only */
/* Control groups that are the user's: moves, the freezer, limits, weights, CPUs. */

#define ROOT_GROUP "/sys/fs/cgroup"
#define GROUPS 4
/* The last one has threads in groups of its own. */
static const char *const groups[GROUPS] = {"hostile/a", "hostile/b", "hostile/c", "hostile/t"};
static const char *const all_groups[] = {"hostile",   "hostile/a",   "hostile/b",  "hostile/c",
					 "hostile/t", "hostile/t/u", "hostile/t/v"};
static const char *const files[] = {"cgroup.procs", "cgroup.threads", "cgroup.subtree_control", "cgroup.freeze", "cgroup.kill",
				    "cpu.max",      "cpu.weight",     "cpu.idle",               "cpuset.cpus"};

static int write_group(const char *group, const char *file, const char *text)
{
	char path[128];
	int fd, error;

	snprintf(path, sizeof(path), ROOT_GROUP "/%s/%s", group, file);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return errno;
	error = answer(write(fd, text, strlen(text)));
	close(fd);
	return error;
}

static int write_number(const char *group, const char *file, int number)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	return write_group(group, file, text);
}

/* As root: the subtree, delegated to the user. */
static int make_groups(void)
{
	char path[128];

	write_group("", "cgroup.subtree_control", "+cpu +cpuset");
	for (size_t g = 0; g < sizeof(all_groups) / sizeof(*all_groups); g++) {
		snprintf(path, sizeof(path), ROOT_GROUP "/%s", all_groups[g]);
		if (mkdir(path, 0755) || chown(path, USER, USER))
			return errno;
		if (g == 0)
			write_group("hostile", "cgroup.subtree_control", "+cpu +cpuset");
		if (g > 4)
			write_group(all_groups[g], "cgroup.type", "threaded");
		for (size_t f = 0; f < sizeof(files) / sizeof(*files); f++) {
			snprintf(path, sizeof(path), ROOT_GROUP "/%s/%s", all_groups[g], files[f]);
			/* A kernel may be built without some. */
			if (chown(path, USER, USER) && errno != ENOENT)
				return errno;
		}
	}
	return 0;
}

/* All of them go on, on all CPUs. */
static void thaw_groups(void)
{
	for (int g = 0; g < GROUPS; g++) {
		write_group(groups[g], "cgroup.freeze", "0");
		write_group(groups[g], "cpuset.cpus", "\n");
	}
}

/* As root, when no process is left in them. */
static int remove_groups(void)
{
	char path[128];
	int error = 0;

	for (int g = sizeof(all_groups) / sizeof(*all_groups) - 1; g >= 0; g--) {
		snprintf(path, sizeof(path), ROOT_GROUP "/%s/more", all_groups[g]);
		rmdir(path);
		snprintf(path, sizeof(path), ROOT_GROUP "/%s", all_groups[g]);
		if (rmdir(path))
			error = errno;
	}
	return error;
}

static int moves(void)
{
	static const char *const of_threads[] = {"hostile/t", "hostile/t/u", "hostile/t/v"};

	if (draw(4) == 0)
		return write_number(of_threads[draw(3)], "cgroup.threads", one_target());
	return write_number(groups[draw(GROUPS)], "cgroup.procs", one_target());
}

static int freezes(void)
{
	return write_group(groups[draw(GROUPS)], "cgroup.freeze", draw(3) ? "0" : "1");
}

static int limits(void)
{
	static const char *const limits[] = {"max", "1000 100000", "20000 100000", "90000 100000", "5000 5000"};
	const char *group = groups[draw(GROUPS)];

	switch (draw(4)) {
	case 0:
		return write_number(group, "cpu.weight", 1 + draw(10000));
	case 1:
		return write_number(group, "cpu.idle", draw(2));
	default:
		return write_group(group, "cpu.max", limits[draw(5)]);
	}
}

/* Members that are kept from a CPU of theirs are none any more. */
static int sets_cpus_of_a_group(void)
{
	char text[16] = "0";

	if (draw(10) == 0)
		snprintf(text, sizeof(text), "%d", draw(pool->cpus));
	else if (draw(10))
		snprintf(text, sizeof(text), "0-%d", pool->cpus - 1);
	return write_group(groups[draw(GROUPS)], "cpuset.cpus", text);
}

static int makes_a_group(void)
{
	char path[128];

	snprintf(path, sizeof(path), ROOT_GROUP "/%s/more", groups[draw(GROUPS)]);
	return answer(draw(2) ? mkdir(path, 0755) : rmdir(path));
}

static int kills_a_group(void)
{
	return draw(4) ? EAGAIN : write_group(groups[draw(GROUPS)], "cgroup.kill", "1");
}
