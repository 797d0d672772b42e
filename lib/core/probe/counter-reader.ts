/** Reads the counters in the child, which is the process that allocates. */

import type { Failure } from '../../base/errors.ts';
import { isFailure, reason } from '../../base/facts.ts';
import type { Counter, DeviceSnapshot } from '../../types/index.ts';
import { cgroupUsageFile } from '../host/cgroup.ts';
import { kernelFiles } from '../host/files.ts';
import { hostMemorySync } from '../host/meminfo.ts';
import { parseCgroup, parseNumber } from '../host/procfs.ts';
import type { NativeBinding, NativeNvmlDevice, NativeNvmlReport } from '../native/contract.ts';
import type { CounterSources, Counters } from './counters.ts';

/** The device as NVML lists it, and the processes that held memory on it before the child started. */
export interface NvmlTarget {
  /** null: NVML does not list the device. */
  index: number | null;
  otherPids: readonly number[];
}

/** The device and the other processes, as the parent read them before it started the child. */
export function nvmlTarget({ nvmlIndex, processes }: DeviceSnapshot): NvmlTarget {
  return { index: nvmlIndex, otherPids: (processes ?? []).map(({ pid }) => pid) };
}

const STATM = '/proc/self/statm';

/** NVML can block for minutes on a hung driver; a counter is not worth a longer wait than this. */
const NVML_DEADLINE_MS = 2_000;

const LATE = 'NVML did not answer in time';

export class CounterReader {
  /** Sources of the last reading. */
  readonly sources: CounterSources = {
    memFree: '/proc/meminfo MemFree',
    memAvailable: '/proc/meminfo MemAvailable',
    cudaFree: 'cudaMemGetInfo in the process that allocates',
    nvmlProcess: 'NVML does not list this device',
    nvmlDeviceUsed: 'NVML does not list this device',
    rss: `${STATM} of the process that allocates`,
    cgroup: 'this process has no readable memory cgroup',
  };
  readonly #binding: NativeBinding;
  readonly #device: number;
  readonly #deadlineMs: number;
  readonly #nvml: NvmlTarget;
  readonly #pageSize: number;
  readonly #cgroupFile: string | null;

  static async open(
    binding: NativeBinding,
    device: number,
    deadlineMs: number,
    nvml: NvmlTarget,
  ): Promise<CounterReader> {
    const files = kernelFiles(binding);
    const [text] = await files.read(['/proc/self/cgroup']);
    const cgroup = typeof text === 'string' ? parseCgroup(text) : null;
    const cgroupFile = cgroup === null ? null : await cgroupUsageFile(files, cgroup);
    return new CounterReader(binding, device, deadlineMs, nvml, cgroupFile);
  }

  private constructor(
    binding: NativeBinding,
    device: number,
    deadlineMs: number,
    nvml: NvmlTarget,
    cgroupFile: string | null,
  ) {
    this.#binding = binding;
    this.#device = device;
    this.#deadlineMs = deadlineMs;
    this.#nvml = nvml;
    this.#pageSize = binding.pageSize();
    this.#cgroupFile = cgroupFile;
    if (this.#cgroupFile !== null) this.sources.cgroup = this.#cgroupFile;
  }

  /** Takes 0.2 ms on an H200: NVML and CUDA answer on their threads while this thread reads the kernel's files. */
  async read(): Promise<Counters> {
    const libraries = Promise.all([
      this.#binding.memGetInfo(this.#device, this.#deadlineMs),
      this.#nvml.index === null ? null : this.#binding.readNvml(NVML_DEADLINE_MS),
    ]);
    const { free, available } = hostMemorySync();
    const kernel = { memFree: free, memAvailable: available, rss: this.#rss(), cgroup: this.#cgroup() };
    const [cuda, nvml] = await libraries;
    if (isFailure(cuda)) this.sources.cudaFree = reason(cuda);
    return { ...kernel, cudaFree: isFailure(cuda) ? null : cuda[0], ...this.#nvmlCounters(nvml) };
  }

  /** Notes the failure as the source of a counter; without one `otherwise`. */
  #unread(counter: Counter, failure: Failure | undefined, otherwise: string): null {
    this.sources[counter] = failure === undefined ? otherwise : reason(failure);
    return null;
  }

  #rss(): number | null {
    const [text] = this.#binding.readFiles([STATM]);
    if (text === undefined || isFailure(text)) return this.#unread('rss', text, 'not read');
    const pages = parseNumber(text.split(' ')[1] ?? '');
    return pages === null ? null : pages * this.#pageSize;
  }

  #cgroup(): number | null {
    if (this.#cgroupFile === null) return null;
    const [text] = this.#binding.readFiles([this.#cgroupFile]);
    return text === undefined || isFailure(text) ? null : parseNumber(text);
  }

  #nvmlCounters(report: NativeNvmlReport | null): Pick<Counters, 'nvmlProcess' | 'nvmlDeviceUsed'> {
    if (report === null) return { nvmlProcess: null, nvmlDeviceUsed: null };
    const device = report.devices.find(({ index }) => index === this.#nvml.index);
    if (device === undefined) {
      const failure = report.library.failure ?? report.timedOut ?? undefined;
      const unread = (counter: Counter): null => this.#unread(counter, failure, 'NVML no longer lists this device');
      return { nvmlProcess: unread('nvmlProcess'), nvmlDeviceUsed: unread('nvmlDeviceUsed') };
    }
    return { nvmlProcess: this.#processBytes(device), nvmlDeviceUsed: this.#deviceUsed(device) };
  }

  #deviceUsed({ memory }: NativeNvmlDevice): number | null {
    if (memory === undefined || isFailure(memory)) return this.#unread('nvmlDeviceUsed', memory, LATE);
    this.sources.nvmlDeviceUsed = memory.call;
    return memory.used;
  }

  /**
   * NVML's pids are those of the first PID namespace. This process has another pid there if it is in a container: the
   * new one, if NVML lists exactly one new pid.
   */
  #processBytes({ processes }: NativeNvmlDevice): number | null {
    if (processes === undefined || isFailure(processes)) return this.#unread('nvmlProcess', processes, LATE);
    const newProcesses = processes.filter(({ pid }) => !this.#nvml.otherPids.includes(pid));
    const onlyNew = newProcesses.length === 1 ? newProcesses[0] : undefined;
    const self = newProcesses.find(({ pid }) => pid === process.pid) ?? onlyNew;
    if (self === undefined) {
      const why =
        newProcesses.length === 0
          ? 'NVML does not list the process that allocates'
          : 'NVML lists several new processes, none with the pid of the one that allocates (another PID namespace)';
      return this.#unread('nvmlProcess', undefined, why);
    }
    const identity = self.pid === process.pid ? 'this process' : `pid ${self.pid}, the only new one`;
    this.sources.nvmlProcess = `NVML’s list of processes: ${identity}`;
    return self.gpuBytes;
  }
}
