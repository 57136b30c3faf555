/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * g-edf-mp: mailboxes, in which clients leave messages for the DSP (cerqueira2014, III-B): one per socket, a FIFO
 * ring with many writers and one reader. As with Feather-Trace buffers, writing is wait-free: a writer takes a slot
 * by one atomic addition, fills it, and publishes it through its kind; it waits for no other. Which socket a client
 * is on, the host says.
 *
 * A mailbox never overflows: at most two messages per task are on the way, and it has 2n slots or more. For a task's
 * client says once that its job has left (complete, suspend, exhaust), and the job cannot leave again before the DSP
 * has read that and linked the task again; and between the two the host says at most once that it is back (resume, or
 * arrive).
 *
 * A message that another client has taken a slot for but not published yet hides what is behind it: lx_mailbox_take
 * then finds nothing there. So a kernel host calls message until the mailboxes are empty rather than once per
 * interrupt.
 */
#ifndef LX_MAILBOX_H
#define LX_MAILBOX_H

#include "../list.h"

enum lx_message_kind {
	LX_MESSAGE_NONE = 0,
	/* The job has ended; the next one arrives at `release_at`, or LX_NEVER. */
	LX_MESSAGE_COMPLETE = 1,
	/* The job waits for something. */
	LX_MESSAGE_SUSPEND = 2,
	/* The job has no budget left. */
	LX_MESSAGE_EXHAUST = 3,
	/* The suspended job goes on. */
	LX_MESSAGE_RESUME = 4,
	/* A job arrives at `release_at`. */
	LX_MESSAGE_ARRIVE = 5,
};

LX_INLINE struct lx_mailbox *lx_mailbox(struct lx_state *s, u32 socket)
{
	LX_ASSERT(socket < s->config.sockets);
	return LX_AT(s->mailbox, socket, LX_SOCKETS_MAX);
}

/* The n-th message ever of a mailbox. */
LX_INLINE struct lx_message *lx_mailbox_slot(struct lx_state *s, u32 socket, u32 n)
{
	u32 slots = s->message_mask + 1;

	return LX_AT(s->message, socket * slots + (n & s->message_mask), LX_MESSAGES_MAX);
}

/* Leaves a message of `sender`, sent now, and tells the DSP. */
LX_INLINE void lx_mailbox_post(struct lx_state *s, u32 sender, u32 kind, u32 task, u64 release_at, u64 now)
{
	u32 socket = lx_cpu(s, sender)->socket;
	u32 n = LX_FETCH_ADD(lx_mailbox(s, socket)->written, 1);
	struct lx_message *m = lx_mailbox_slot(s, socket, n);

	LX_ASSERT(LX_READ(m->kind) == LX_MESSAGE_NONE);
	m->release_at = release_at;
	m->sent_at = now;
	m->sender = sender;
	m->task = task;
	(void)LX_EXCHANGE(m->kind, kind);
	lx_list_add(s, sender, LX_NOTIFY, s->config.dedicated_cpu);
}

/*
 * Reads the next message into `copy`, from the mailboxes in turn so that none starves. Returns its kind, or
 * LX_MESSAGE_NONE. For the DSP alone. O(sockets).
 */
LX_FN u32 lx_mailbox_take(struct lx_state *s, struct lx_message *copy)
{
	u32 tried = 0;

	while (tried < s->config.sockets && LX_MAY_LOOP) {
		u32 socket = s->mailbox_next;
		struct lx_mailbox *box = lx_mailbox(s, socket);
		struct lx_message *m = lx_mailbox_slot(s, socket, box->read);
		u32 kind = LX_FETCH_ADD(m->kind, 0);

		s->mailbox_next = socket + 1 < s->config.sockets ? socket + 1 : 0;
		if (kind != LX_MESSAGE_NONE) {
			*copy = *m;
			s->message_sent_at = m->sent_at;
			box->read++;
			(void)LX_EXCHANGE(m->kind, LX_MESSAGE_NONE);
			return kind;
		}
		tried++;
		LX_FORGET(s, tried);
	}
	return LX_MESSAGE_NONE;
}

/* Whether lx_mailbox_take would find a message. O(sockets). */
LX_INLINE u32 lx_mailbox_has_mail(struct lx_state *s)
{
	u32 socket = 0;

	while (socket < s->config.sockets && LX_MAY_LOOP) {
		if (LX_READ(lx_mailbox_slot(s, socket, lx_mailbox(s, socket)->read)->kind) != LX_MESSAGE_NONE)
			return 1;
		socket++;
		LX_FORGET(s, socket);
	}
	return 0;
}

LX_INLINE void lx_mailboxes_init(struct lx_state *s)
{
	u32 slots = 1;
	u32 i = 0;

	LX_ASSERT(s->config.sockets > 0);
	while (slots < 2 * s->config.tasks && LX_MAY_LOOP) {
		slots *= 2;
		LX_FORGET(s, slots);
	}
	s->message_mask = slots - 1;
	s->mailbox_next = 0;
	s->message_sent_at = 0;
	while (i < s->config.sockets && LX_MAY_LOOP) {
		lx_mailbox(s, i)->written = 0;
		lx_mailbox(s, i)->read = 0;
		i++;
		LX_FORGET(s, i);
	}
	i = 0;
	while (i < s->config.sockets * slots && LX_MAY_LOOP) {
		LX_AT(s->message, i, LX_MESSAGES_MAX)->kind = LX_MESSAGE_NONE;
		i++;
		LX_FORGET(s, i);
	}
}

#endif
