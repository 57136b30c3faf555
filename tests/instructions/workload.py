"""Task sets that are the same on every machine: integers from a generator of its own."""


class Random:
    """SplitMix64."""

    def __init__(self, seed):
        self.state = seed

    def below(self, bound):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        mixed = (self.state ^ (self.state >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB % 2**64
        return (mixed ^ (mixed >> 31)) % bound


# Periods of 10 to 100 ms on a grid of 1 us, so that few releases coincide: evenly in their logarithms.
PERIODS_US = [int(10_000 * 2 ** (i / 64)) for i in range(213)]


def task_set(count, percent, seed, grid_us=1):
    """As CSV: `count` tasks that ask for so many per cent of one CPU in all; the shares are even random numbers, scaled.

    Periods are multiples of `grid_us`.
    """
    random = Random(seed)
    parts = [1 + random.below(1000) for _ in range(count)]
    lines = ["name,wcet_ns,period_ns"]
    for number, part in enumerate(parts):
        at = random.below(len(PERIODS_US) - 1)
        period_us = PERIODS_US[at] + random.below(PERIODS_US[at + 1] - PERIODS_US[at])
        period_ns = 1000 * (period_us // grid_us * grid_us)
        wcet_ns = max(1000, period_ns * part * percent // (100 * sum(parts)))
        lines.append(f"t{number},{wcet_ns},{period_ns}")
    return "\n".join(lines) + "\n"
