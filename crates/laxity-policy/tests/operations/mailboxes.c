// SPDX-License-Identifier: GPL-2.0-only
/* Service of the mailboxes: one message at a time, and none waits for more than one of every other mailbox. */
#include "host.h"

void mailboxes_before(const struct host *h, u32 *read)
{
	for (u32 i = 0; i < h->s->config.sockets; i++)
		read[i] = h->s->mailbox[i].read;
}

int mailboxes_fair(struct host *h, const u32 *read)
{
	u32 sockets = h->s->config.sockets;
	u32 messages = 0;

	for (u32 i = 0; i < sockets; i++)
		messages += h->s->mailbox[i].read - read[i];
	/* It was about a client that was withdrawn or has come back. */
	if (messages == 0 && h->s->withdrawals != h->s->withdrawals_seen)
		return 0;
	for (u32 i = 0; i < sockets; i++) {
		u32 served = h->s->mailbox[i].read - read[i];

		if (served || read[i] == h->s->mailbox[i].written)
			h->passed_over[i] = 0;
		else if (++h->passed_over[i] >= sockets)
			return fail(h, "a mailbox starves", i, sockets);
	}
	return messages == 1 ? 0 : fail(h, "not one message", messages, sockets);
}
