/* SPDX-License-Identifier: GPL-2.0-only */
/* libbpf's header for the host under the model: its structures are the model's own, so fields are read as they are. */
#ifndef LX_SCX_BPF_CORE_READ_H
#define LX_SCX_BPF_CORE_READ_H

#define LX_SCX_READ1(from, a) ((from)->a)
#define LX_SCX_READ2(from, a, b) ((from)->a->b)
#define LX_SCX_READ(a, b, c, name, ...) name
#define BPF_CORE_READ(from, fields...) LX_SCX_READ(from, fields, LX_SCX_READ2, LX_SCX_READ1)(from, fields)
#define BPF_CORE_READ_BITFIELD(from, field) ((from)->field)
#define bpf_core_field_size(field) sizeof(field)
/* All but those of later kernels. */
#define bpf_core_field_exists(field) (!__builtin_strstr(#field, "___7_0"))
/* Linux 6.18 has none of the types that are asked for. */
#define bpf_core_type_exists(type) 0

#endif
