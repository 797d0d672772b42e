/** Reads, in the child that allocates, every counter that an allocation may move. */

import { isFailure, reason } from '../base/facts.ts';
import { cgroupUsageFile } from '../host/cgroup.ts';
import { hostMemorySync } from '../host/meminfo.ts';
import { parseCgroup, parseNumber } from '../host/procfs.ts';
import type { NativeBinding, NativeNvmlDevice, NativeNvmlReport } from '../native/contract.ts';
import type { Counter, CounterChange, CountersMoved, DeviceSnapshot } from '../types/index.ts';

/** Where NVML has the device, and who held memory on it before the child did. */
export interface NvmlTarget {
  /** null: NVML does not see the device. */
  index: number | null;
  /** Pids that NVML listed before. */
  strangers: readonly number[];
}

export interface Reader {
  read(): Promise<Counters>;
  /** For each counter what it is read from, or why it is null: as of the last reading. */
  readonly origins: Record<Counter, string>;
}

const STATM = '/proc/self/statm';
/** NVML has blocked for minutes on a wedged machine; a counter is not worth more than this. */
const NVML_DEADLINE_MS = 2_000;

export class CounterReader implements Reader {
  readonly origins: Record<Counter, string> = {
    memFree: '/proc/meminfo MemFree',
    memAvailable: '/proc/meminfo MemAvailable',
    cudaFree: 'cudaMemGetInfo in the process that allocates',
    nvmlProcess: 'NVML does not see this device',
    nvmlDeviceUsed: 'NVML does not see this device',
    rss: `${STATM} of the process that allocates`,
    cgroup: 'this process is in no memory cgroup that can be read',
  };
  readonly #binding: NativeBinding;
  readonly #device: number;
  readonly #deadlineMs: number;
  readonly #nvml: NvmlTarget;
  readonly #pageSize: number;
  readonly #cgroupFile: string | null;

  constructor(binding: NativeBinding, device: number, deadlineMs: number, nvml: NvmlTarget) {
    this.#binding = binding;
    this.#device = device;
    this.#deadlineMs = deadlineMs;
    this.#nvml = nvml;
    this.#pageSize = binding.pageSize();
    const [own] = binding.readFiles(['/proc/self/cgroup']);
    const path = own === undefined || isFailure(own) ? null : parseCgroup(own);
    this.#cgroupFile = path === null ? null : cgroupUsageFile(binding, path);
    if (this.#cgroupFile !== null) this.origins.cgroup = this.#cgroupFile;
  }

  /** Some 0.2 ms on an H200: NVML and CUDA are asked on their threads while this one reads the kernel's files. */
  async read(): Promise<Counters> {
    const asked = Promise.all([
      this.#binding.memGetInfo(this.#device, this.#deadlineMs),
      this.#nvml.index === null ? null : this.#binding.readNvml(NVML_DEADLINE_MS),
    ]);
    const { free, available } = hostMemorySync();
    const kernel = { memFree: free, memAvailable: available, rss: this.#rss(), cgroup: this.#cgroup() };
    const [cuda, nvml] = await asked;
    if (isFailure(cuda)) this.origins.cudaFree = reason(cuda);
    return { ...kernel, cudaFree: isFailure(cuda) ? null : cuda[0], ...this.#ofNvml(nvml) };
  }

  #rss(): number | null {
    const [text] = this.#binding.readFiles([STATM]);
    if (text === undefined || isFailure(text)) {
      this.origins.rss = text === undefined ? 'not read' : reason(text);
      return null;
    }
    const pages = parseNumber(text.split(' ')[1] ?? '');
    return pages === null ? null : pages * this.#pageSize;
  }

  #cgroup(): number | null {
    if (this.#cgroupFile === null) return null;
    const [text] = this.#binding.readFiles([this.#cgroupFile]);
    return text === undefined || isFailure(text) ? null : parseNumber(text);
  }

  #ofNvml(report: NativeNvmlReport | null): Pick<Counters, 'nvmlProcess' | 'nvmlDeviceUsed'> {
    if (report === null) return { nvmlProcess: null, nvmlDeviceUsed: null };
    const device = report.devices.find(({ index }) => index === this.#nvml.index);
    if (device === undefined) {
      const why = report.library.failure ?? report.timedOut;
      const words = why === undefined || why === null ? 'NVML no longer lists this device' : reason(why);
      this.origins.nvmlProcess = words;
      this.origins.nvmlDeviceUsed = words;
      return { nvmlProcess: null, nvmlDeviceUsed: null };
    }
    return { nvmlProcess: this.#ownBytes(device), nvmlDeviceUsed: this.#deviceUsed(device) };
  }

  #deviceUsed({ memory }: NativeNvmlDevice): number | null {
    if (memory === undefined || isFailure(memory)) {
      this.origins.nvmlDeviceUsed = memory === undefined ? 'NVML did not answer in time' : reason(memory);
      return null;
    }
    this.origins.nvmlDeviceUsed = memory.call;
    return memory.used;
  }

  /**
   * NVML's pids are those of the first PID namespace. In a container this process has another number there: then it is
   * the one that was not listed before, if that is only one.
   */
  #ownBytes({ processes }: NativeNvmlDevice): number | null {
    if (processes === undefined || isFailure(processes)) {
      this.origins.nvmlProcess = processes === undefined ? 'NVML did not answer in time' : reason(processes);
      return null;
    }
    const newcomers = processes.filter(({ pid }) => !this.#nvml.strangers.includes(pid));
    const own = newcomers.find(({ pid }) => pid === process.pid) ?? (newcomers.length === 1 ? newcomers[0] : undefined);
    if (own === undefined) {
      this.origins.nvmlProcess =
        newcomers.length === 0
          ? 'NVML does not list the process that allocates'
          : 'NVML lists several new processes, none by the number of the one that allocates (another PID namespace)';
      return null;
    }
    const how = own.pid === process.pid ? 'this process' : `pid ${own.pid}, the only one that was not there before`;
    this.origins.nvmlProcess = `NVML’s list of processes: ${how}`;
    return own.gpuBytes;
  }
}

export const COUNTERS = [
  'memFree',
  'memAvailable',
  'cudaFree',
  'nvmlProcess',
  'nvmlDeviceUsed',
  'rss',
  'cgroup',
] as const satisfies readonly Counter[];

/** All counters at one instant, in bytes; null: cannot be read. */
export type Counters = Record<Counter, number | null>;

/** The counters around one allocation. */
export interface CounterSeries {
  before: Counters;
  afterAlloc: Counters | null;
  afterTouch: Counters | null;
  afterFree: Counters | null;
}

const PHASES = ['afterAlloc', 'afterTouch', 'afterFree'] as const;

/** The middle of them, or the mean of the middle two; null of none. */
export function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

/** Change against before, counter by counter, median over the repeats in which it could be read. null: nothing was allocated. */
export function movedOver(repeats: readonly CounterSeries[]): CountersMoved | null {
  if (repeats.every(({ afterAlloc }) => afterAlloc === null)) return null;
  const change = (counter: Counter): CounterChange => {
    const of = (phase: (typeof PHASES)[number]): number | null => {
      const changes = repeats.flatMap(({ before, [phase]: after }) => {
        const [from, to] = [before[counter], after?.[counter] ?? null];
        return from === null || to === null ? [] : [to - from];
      });
      const middle = median(changes);
      return middle === null ? null : Math.round(middle);
    };
    return { afterAlloc: of('afterAlloc'), afterTouch: of('afterTouch'), afterFree: of('afterFree') };
  };
  return Object.fromEntries(COUNTERS.map((counter) => [counter, change(counter)])) as CountersMoved;
}

/** Where the child finds the device in NVML, and who is not the child. */
export function nvmlTarget({ nvmlIndex, processes }: DeviceSnapshot): NvmlTarget {
  return { index: nvmlIndex, strangers: (processes ?? []).map(({ pid }) => pid) };
}
