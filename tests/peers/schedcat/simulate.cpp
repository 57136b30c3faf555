// SchedCAT's native simulator of global EDF from the command line: SET.csv (name,wcet_ns,period_ns) CPUS MILLISECONDS.
// Prints how many jobs met their deadlines, and how many did not.
#include "tasks.h"
// It is of tasks, which it does not include.
#include "edf/sim.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

int main(int count, char **words)
{
    if (count != 4) {
        std::fprintf(stderr, "usage: %s SET.csv CPUS MILLISECONDS\n", words[0]);
        return 2;
    }
    TaskSet tasks;
    std::ifstream file(words[1]);
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
        size_t first = line.find(','), second = line.find(',', first + 1);
        tasks.add_task(std::strtoul(line.c_str() + first + 1, nullptr, 10),
                       std::strtoul(line.c_str() + second + 1, nullptr, 10));
    }
    unsigned long end = std::strtoul(words[3], nullptr, 10) * 1000000UL;
    Stats stats = edf_observe_tardiness(std::strtoul(words[2], nullptr, 10), tasks, end);
    std::printf("%lu %lu\n", stats.num_ok_jobs, stats.num_tardy_jobs);
    return 0;
}
