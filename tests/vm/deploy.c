/* A program with a thread for each of its arguments, which is the name of a thread of the plan. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "laxity_apply.h"

static void *thread(void *name)
{
	if (laxity_apply(name) == 0)
		puts("done");
	else
		printf("failed: %s\n", laxity_apply_error());
	fflush(stdout);
	for (;;)
		pause();
	return NULL;
}

int main(int count, char **words)
{
	pthread_t made;

	for (int at = 1; at < count; at++)
		if (pthread_create(&made, NULL, thread, words[at]) != 0)
			exit(1);
	for (;;)
		pause();
}
