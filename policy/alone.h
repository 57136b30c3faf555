/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One policy by itself, as BPF objects have it: the one that the build names (-DPOLICY=fpp). Its header then leaves defined
 * what the code around it has to know:
 *
 *   LX_POLICY    prefix of its entry points, such as lx_edf_bh
 *   LX_QUEUE     prefix of its ready queue, if that is one of queues/
 *   LX_STEPS     it has step and lock_of; it has finish otherwise
 *   LX_AWAITS    it has await
 *   LX_PARTS     it has complete and exhaust in two parts, complete_here and exhaust_here
 *   LX_MESSAGES  it has message
 *   LX_TIMER     it has timer
 *   LX_SERVERS   its cores can have deferrable servers
 */
#define LX_ALONE
#define LX_TEXT(words) #words
#define LX_HEADER(policy) LX_TEXT(policy.h)
#include LX_HEADER(POLICY)
