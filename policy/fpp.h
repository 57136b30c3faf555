/* SPDX-License-Identifier: GPL-2.0-only */
/* fpp: linking core with fixed-priority lists and priority promotions (ackelman2018, 5.4). */
#include "queues/promotions.h"

#define LX_POLICY lx_fpp
#define LX_QUEUE lx_promotions
#include "linking.h"
