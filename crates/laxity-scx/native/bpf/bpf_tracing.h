/* SPDX-License-Identifier: GPL-2.0-only */
/* libbpf's header for the host under the model: a program is a function with the arguments that it names. */
#ifndef LX_SCX_BPF_TRACING_H
#define LX_SCX_BPF_TRACING_H

#define BPF_PROG(name, args...) name(args)

#endif
