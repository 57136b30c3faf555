# What threads do, step by step, where the policy has one CPU. README.md beside this says how a story is written.
cpus 3
policy 1
thread a 1
thread b 1
thread c 1
thread o 1
thread f 1
thread g 1
thread h 0-1 of g from 1
thread e 0-1 from 1
aside x 0

[100] a thread becomes a member while it runs, and ends two jobs by sched_yield
a +0 member a 40 200
a compute 12
a yield
a compute 12
a yield

[600] a job blocks and goes on
a +0 compute 12
a sleep 12
a compute 12
a yield

[1100] a budget runs out, and is replenished
a +0 compute 60
a yield

[1700] a thread becomes a member while it sleeps; its job preempts one whose deadline is later
x +0 member b 20 100
a +4 compute 32
b +12 compute 12
b yield

[2000] a thread becomes a member while it waits
a +0 compute 32
c +12 compute 12
x +20 member c 20 100
c yield

[2300] parameters change: by the member's own call, while it sleeps, while it waits; and to what they are
a +0 member a 32 200
a compute 12
x +20 member b 12 100
a +40 compute 20
b +44 compute 8
x +48 member a 40 200
b yield
x +80 member b 12 100

[2700] a member is not kept from its CPU; a background thread is, and moves: while it sleeps, not at all, while it runs
x +0 refused affinity a 0
x +12 affinity o 0-1
x +20 affinity o 0-1
o +40 compute 16
x +52 affinity o 0
x +100 affinity o 1

[3000] the nice value of a background thread: while it sleeps, while it runs, by itself
x +0 nice o 5
o +12 compute 20
x +20 nice o 0
o nice o 3

[3200] SCHED_FIFO takes the CPU from a member and gives it back
f +0 fifo f
a +12 compute 20
f +20 compute 12

[3500] members go back to SCHED_OTHER: one that runs, one that sleeps, one that waits
b +0 other b
b compute 4
x +20 member b 12 100
x +40 other b
x +60 member b 12 100
a +80 compute 20
b +84 compute 8
x +88 other a
b yield

[3900] and to SCHED_EXT without parameters, with either call
a +0 member a 40 200
a compute 4
a ext a
a compute 4
a member a 40 200
a compute 4
a plain a
a compute 4
a member a 40 200
a compute 4
a yield

[4400] a member has SCHED_FIFO for a while, by another's call: as it runs, as it sleeps
a +0 compute 20
x +8 fifo a
x +16 member a 40 200
x +100 fifo a
x +120 member a 40 200

[4600] a runtime that is longer than a slice of the kernel's fair tasks may be, twice the same
a +0 member a 120 600
a compute 4
a member a 120 600
a compute 4
a member a 40 200
a compute 4

[4700] a second thread, which is a member, calls execve
h +0 member h 40 100
h compute 4
h exec
h compute 4
h yield

[5000] background work forks: on one CPU, on two; a member must not
o +0 fork
o compute 4
e +40 fork
e compute 8
a +100 refused fork

[5300] members end: one by itself, one killed while it waits for the CPU, one as it runs, one between two jobs, one asleep; others
c +0 compute 4
c exit
a +100 compute 20
b +104 compute 8
x +108 kill a
b yield
x +152 kill b
h +200 compute 48
x +220 kill h
o +300 exit
e +320 exit
x +352 kill f

[6000] the end
