//! What the simulated system spends on scheduling and on cold caches. Every cost is off by default.
