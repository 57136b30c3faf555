# What threads do, step by step, where the policy has two CPUs. README.md beside this says how a story is written.
cpus 3
policy 1-2
thread a 1-2
thread b 1-2 from 2
thread c 1-2
thread o 1-2 from 2
thread f 2
aside x 0

[100] two members run; a third one, whose deadline is earlier, takes the CPU of the one whose deadline is later, which goes on elsewhere
x +0 member a 80 200
x +4 member b 80 400
x +8 member c 40 100
a +20 compute 40
b +24 compute 60
c +32 compute 36
a yield
b yield
c yield

[700] SCHED_FIFO takes one of both CPUs, and gives it back
f +0 fifo f
a +20 compute 40
b +24 compute 60
f +32 compute 20
a yield
b yield

[1400] background work has what members leave
a +0 compute 40
b +4 compute 60
o +12 compute 20

[1800] a member becomes background work while it waits
a +0 compute 40
b +4 compute 40
c +8 compute 12
x +12 other b
c yield

[2200] members end
a +0 exit
x +20 kill b
c +40 compute 40
x +60 kill c
x +80 kill f
o +100 exit

[2600] the end
