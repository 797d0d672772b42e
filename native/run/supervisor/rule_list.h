// RULE(name with its unit, value, least, most): the rules of the guard's judgement, with the
// evidence. rules.h and rules.cc include it.
//
// Several signs are needed, because each alone has killed healthy programs: MemFree below 2 GiB did
// with 7 GiB available (MiaAI Qwen3.8-Single PR 54), 6 GiB of it killed healthy loads, PSI full at
// 98.5 % for two minutes was healthy (lcasarin/blackbox), and idle Sparks rest at 4.9 GiB available
// (hermes-agent #90713). MemAvailable alone misses the wedges that begin with 38 to 46 GB
// available.

// SIGTERM is sent when the floor is nearer than this after the grace; SIGKILL at once when nothing
// will be left within this time. A load that wedged went from 29 to 6 GiB in 8 s, 2.9 GiB/s: a
// second is time for SIGKILL, after the grace of SIGTERM.
RULE(horizon_s, 1, 0, kDay)
// SIGKILL is sent when the floor is nearer than this.
RULE(kill_horizon_s, 0.25, 0, kDay)

// SIGTERM also needs the floor to be nearer than this many bytes. An engine that reserves 38 GiB at
// once falls as fast as a runaway, and ends with 9 GiB left (util 0.75, MiaAI PR 115), 0.6 GiB
// above the floor of a Spark. SIGKILL is sent 64 ms before the floor at 4 GiB/s, twice the time
// that a machine with all cores busy takes.
RULE(near_bytes, 512 * kMiB, 0, kMostBytes)
// SIGKILL also needs the floor to be nearer than this many bytes: half of the above, because a
// program that got SIGTERM may end by itself.
RULE(kill_near_bytes, 256 * kMiB, 0, kMostBytes)
// SIGTERM is sent this far above the floor, however slow the fall. A program that takes 20 MiB/s,
// too slow to be seen as a fall, has 6 s from here to the floor: its grace, and time to be killed.
RULE(crossing_bytes, 128 * kMiB, 0, kMostBytes)

// A fall that is over within this time is a burst. A program that takes 2 GiB in 70 ms, and rests,
// is past the floor when the fall is seen. After one burst, the next one that is as fast is
// expected to be as large. An engine that reserves its KV cache has done nothing alike in the
// seconds before.
RULE(burst_for_s, 0.25, 0, kDay)
// Time between two looks for a burst.
RULE(burst_every_s, 0.008, 0, kDay)
// Least fall of a burst between two looks.
RULE(burst_step_bytes, 16 * kMiB, 1, kMostBytes)
// A burst is over when memory has not fallen for this time.
RULE(burst_rest_s, 0.1, kMs, kDay)
// Time for which the largest burst is expected again.
RULE(burst_memory_s, 10, 0, kDay)

// The program is measured more often when the floor is nearer than this.
RULE(group_horizon_s, 2, 0, kDay)

// Half of the time in which a fall must be seen; then twice that, and so on. It is ten readings. An
// engine that allocates one block and goes on computing makes a step, and no fall: memory that fell
// only in the first half of this time does not count.
RULE(slope_half_s, 0.05, 5 * kMs, 5)
// Half of the time in which a slow fall is looked for. A fall is looked for over 100, 200, 400 ms
// and so on: one of 20 MiB/s is no more than noise in three seconds.
RULE(longest_slope_half_s, 3.2, 5 * kMs, 5)
// A fall by less is noise. It is twice the margin that a probe keeps for small allocations of other
// programs (floor.ts). In 100 ms it is a fall of 1.25 GiB/s; a slower one is seen over a longer
// time.
RULE(min_fall_bytes, 128 * kMiB, 1, kMostBytes)
// Each half of a lasting fall has this share of it: a single jump is over when it is seen.
RULE(least_half_share, 0.25, 0, 1)

// Share of a fall that others must have taken: the guard then warns, and does not stop the program.
RULE(others_share, 0.75, 0, 1)
// The program is not stopped for a fall either if all that it can give back is less than this share
// of it: a program of 2 MiB was stopped for what another one took, where 64 MiB were nobody's for
// some milliseconds (free page reporting of a virtual machine). A fall counts as min_fall_bytes at
// least.
RULE(given_back_share, 0.75, 0, 1)
// Greatest age of the holdings, as a share of the time of a fall. GPU memory is read twice a second
// and a fall is seen in a tenth of a second. A reading older than a quarter of the fall says
// nothing about it; then the fall between the last two readings does, unless the present fall is
// twice as fast.
RULE(held_age_share, 0.25, 0, 1)
// A fall that is this many times faster than the last one is a new one.
RULE(faster_factor, 2, 0, 1000)

// SIGTERM is sent after this time below the floor with another sign. A healthy spike of 2 s at 98 %
// holds avg10 above 10 % for 6 s after it began to fall (98 × (1 − e^(−2/10)) = 17.8 %), and idle
// Sparks are below the floor all day: the two together must not be enough.
RULE(low_for_s, 10, kMs, kDay)
// PSI full from here on is a sign: lib/core/memory/pressure.ts has the evidence.
RULE(pressure_full_percent, 10, 1, 100)
// Missing blocks and full swap are signs from this PSI full on. Both are normal at rest: they count
// while tasks wait for memory at all, at a tenth of a stall.
RULE(some_pressure_percent, 1, 0, 100)
// PSI full above its limit for this time is enough by itself. "full ≥ 10 % for 300 s": no miss and
// no false alarm in 19,696 samples with four wedges (lcasarin/blackbox).
RULE(pressure_for_s, 300, kMs, kDay)
// Less memory in free blocks of 2 MiB and more is a sign. A healthy machine had 500 to 650 MiB in
// blocks of 2 MiB after 90 GiB were pinned (tonyd2wild PR 19). Four nodes that were about to wedge
// had no block of 4 MiB (MiaAI DeepSeek-v4.1-Flash #23).
RULE(min_blocks_bytes, 128 * kMiB, 0, kMostBytes)
// Free swap below this share of swap is a sign: in the wedges all of swap was used up.
RULE(swap_used_up_share, 0.05, 0, 1)

// Memory comes back within this time after a target has ended; then the next one may be stopped.
RULE(settle_s, 1, 0, kDay)
// Time after SIGKILL at which a target is given up. A process in an uninterruptible call may
// outlive SIGKILL by minutes: it is not waited for any longer.
RULE(give_up_s, 5, 0, kDay)

// Time between two drops, while MemFree is below the value of LoadOptions. The guard that ended the
// load-time wedges of two Sparks dropped caches and compacted each second while MemFree was below 8
// GiB; MemFree then never went below 2.6 GiB (tonyd2wild PR 19).
RULE(load_every_s, 1, 10 * kMs, kDay)
// The program has loaded when its memory has not grown for this time. Engines pause between weights
// and KV cache for some seconds, while kernels are compiled: a program that has not grown by a
// percent of memory for half a minute serves. A first compilation takes minutes, so a program whose
// least memory is known loads until it holds that.
RULE(load_plateau_s, 30, kMs, kDay)
// The program has loaded after this time in any case. A load from a network share takes 20 minutes
// for 100 GB.
RULE(load_limit_s, 1800, kMs, kDay)
// Added to the nice value of the program if the guard cannot be urgent. A guard without more rights
// than the program gets the processor before thousands of processes at this nice value.
RULE(program_nicer, 10, 0, 19)

// Age at which MemAvailable is read again, if the guard's own interval is no longer: numbers that
// move slowly need not be read each millisecond. /proc/meminfo takes 20 to 30 µs, the others 10 to
// 15; sysinfo(2), which tells MemFree at each tick, takes 1 to 6.
RULE(read_available_s, 0.05, kMs, kDay)
// The same near the floor, and beside a recorder.
RULE(read_available_near_s, pace::kAvailableNear, kMs, kDay)
// Memory is near the floor while MemFree is less than this above it.
RULE(read_near_bytes, pace::kNearBytes, 0, kMostBytes)
// MemAvailable is read near the floor also when MemFree has moved this far.
RULE(read_moved_bytes, 16 * kMiB, 1, kMostBytes)
// PSI is a mean over 10 s, and the kernel updates it every 2 s.
RULE(read_pressure_s, 0.1, kMs, kDay)
// Free blocks count below the floor, after 10 s.
RULE(read_blocks_s, 0.25, kMs, kDay)
RULE(read_lists_s, pace::kLists, kMs, kDay)
// The same while the guard may act.
RULE(read_lists_near_s, pace::kListsNear, kMs, kDay)
// Time that the guard waits for a measurement of the program before it stops the program. A
// measurement of a few processes takes 0.2 ms, and some more if the processors are busy; the guard
// does not wait for one of thousands.
RULE(wait_s, 0.01, 0, kDay)
// Time between two measurements of the program's processes and memory, whose peak is in the report.
RULE(read_group_s, 0.1, kMs, kDay)
// The same while the floor is near.
RULE(read_group_urgent_s, 0.02, kMs, kDay)
// The same while no memory moves.
RULE(read_group_idle_s, 0.5, kMs, kDay)
// Time between two readings of GPU memory.
RULE(read_gpu_s, 0.5, kMs, kDay)

// Time between two looks at a target that is being stopped.
RULE(look_s, 0.02, kMs, kDay)
// Time between two looks at a control group and at the terminal, at rest.
RULE(look_idle_s, 0.1, kMs, kDay)
// Time between two readings in the report.
RULE(report_s, 0.1, kMs, kDay)
// Time limit of the command that is run after a stop. It may wait for a machine in the network that
// froze as well, and the guard waits for it before the guard ends.
RULE(notify_s, 10, kMs, kDay)
