/**
 * Rules of other programs that act when a share of MemTotal is used. They misfire if a GPU shares the host's memory:
 * healthy Sparks rest at 4 % available, and a process that such a program kills does not hold the memory, because CUDA
 * memory is in no process's resident set and in no cgroup.
 */

import { formatBytes, formatPercent } from '../../base/format.ts';
import type { HostMemory } from '../../types/index.ts';

export interface ForeignRule {
  /** Name in a sentence, at its beginning. */
  name: string;
  /** `/proc/<pid>/comm` of the program that applies it; null: it runs elsewhere. */
  process: string | null;
  /** Its rule: "kills workers below 6.0 GiB available". */
  text(): string;
  /** True if it acts on the memory as it is now. */
  actsNow: boolean;
  remedy: string;
}

/** Share of MemTotal available at which each acts, by its default. */
const RAY = 0.05;
const EARLYOOM = 0.1;
const OOMD = 0.1;
const ALERT = 0.1;

/** Share of swap that is free at which earlyoom and systemd-oomd act; both need little memory besides. */
const SWAP_FREE = 0.1;

/** null: MemAvailable is unknown. */
export function foreignRules(host: HostMemory): ForeignRule[] | null {
  const { available, swapFree, swapTotal, total } = host;
  if (available === null) return null;
  const below = (share: number): boolean => available < total * share;
  const size = (share: number): string => `${formatBytes(total * share)} available`;
  const hasSwap = (swapTotal ?? 0) > 0;
  const littleSwap = swapFree !== null && swapFree <= (swapTotal ?? 0) * SWAP_FREE;
  const swap = () => `and ${formatPercent(SWAP_FREE * 100, 0)} of swap free`;
  return [
    {
      // used = MemTotal − MemAvailable, limit 95 % (RAY_memory_usage_threshold). NVIDIA's playbook for vLLM on a Spark
      // switches it off.
      name: 'Ray’s memory monitor',
      process: 'raylet',
      text: () => `kills workers below ${size(RAY)}`,
      actsNow: below(RAY),
      remedy: 'start Ray with RAY_memory_monitor_refresh_ms=0',
    },
    {
      // 10 % of MemTotal up to 1.7, the version of Ubuntu 24.04; later versions count MemAvailable + AnonPages as 100 %.
      // It picks by resident memory.
      name: 'earlyoom',
      process: 'earlyoom',
      text: () => `kills the process with the largest resident memory below ${size(EARLYOOM)} ${swap()}`,
      actsNow: below(EARLYOOM) && (littleSwap || !hasSwap),
      remedy: 'give earlyoom a limit in KiB (-M 2097152) and the server’s name (--prefer)',
    },
    {
      // SwapUsedLimit 90 % counts memory and swap, and only cgroups with ManagedOOMSwap=kill. Ineffective on a Spark
      // (forum 353752).
      name: 'systemd-oomd',
      process: 'systemd-oomd',
      text: () => `kills the cgroup with the most swap below ${size(OOMD)} ${swap()}; no cgroup contains CUDA memory`,
      actsNow: below(OOMD) && hasSwap && littleSwap,
      remedy: 'set ManagedOOMSwap=auto on the server’s unit, or stop systemd-oomd',
    },
    {
      // 3,700 false warnings in three days on two idle Sparks (hermes-agent #90713).
      name: 'an alert at 90 % used',
      process: null,
      text: () => `fires below ${size(ALERT)}`,
      actsNow: below(ALERT),
      remedy: 'alert on sizes with pressure beside them: below 8 GiB while tasks wait, and below 2 GiB',
    },
  ];
}

/** True if any of these programs would act now, if it ran. */
export function anyRuleActs(host: HostMemory): boolean {
  return foreignRules(host)?.some(({ actsNow, process }) => actsNow && process !== null) === true;
}
