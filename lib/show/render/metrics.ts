/**
 * A snapshot in the formats of Prometheus. A number that is not known has no line: never 0, never NaN. Nothing of
 * node_exporter (MemTotal, MemAvailable, pressure) is repeated, and no memory of the host is called memory of a GPU.
 */
import { printable } from '../../base/format.ts';
import { bytesInBlocks } from '../../core/memory/contiguity.ts';
import { heldOn } from '../../core/memory/findings/gpu.ts';
import type { DeviceSnapshot, FreeBlocks, MetricsFormat, Snapshot } from '../../types/index.ts';

type Labels = Readonly<Record<string, string | null>>;
type Sample = readonly [labels: Labels, value: number | null];

interface Metric {
  name: string;
  help: string;
  samples(snapshot: Snapshot, version: string): Sample[];
}

const LEVELS: Readonly<Record<Snapshot['judgement']['level'], number>> = { ok: 0, notice: 1, warning: 2, danger: 3 };
/** `unknown` has no line. */
const MAY_LOAD: Readonly<Partial<Record<Snapshot['judgement']['mayLoad'], number>>> = {
  yes: 1,
  after: 0,
  'not-now': 0,
};
/** `missing` has no line: the machine has no such library. */
const SOURCES: Readonly<Partial<Record<Snapshot['libraries']['cuda']['state'], number>>> = {
  loaded: 1,
  unusable: 0,
  timeout: 0,
};

const one = (value: number | null, labels: Labels = {}): Sample[] => [[labels, value]];

/** Metrics in the order in which they are written. */
const METRICS: readonly Metric[] = [
  {
    name: 'build_info',
    help: 'Version of umaprobe.',
    samples: (_, version) => one(1, { version }),
  },
  {
    name: 'machine_info',
    help: 'Kernel, driver, and the name of the machine where it is simulated.',
    samples: ({ driver, kernel, simulated }) => one(1, { kernel: kernel.release, driver: driver.version, simulated }),
  },
  {
    name: 'gpu_info',
    help: 'GPUs; memory is unified (the memory of the host), coherent or discrete (memory of its own), or unknown.',
    samples: ({ devices }) =>
      devices.map((device) => [{ ...gpu(device), name: device.name, memory: device.memoryModel }, 1]),
  },
  {
    name: 'safe_to_load_bytes',
    help: 'What a program can load now and leave the host what it needs.',
    samples: ({ judgement }) => one(judgement.safe.bytes),
  },
  {
    name: 'gpu_safe_to_load_bytes',
    help: 'The same for each GPU.',
    samples: ({ devices }) => devices.map((device) => [gpu(device), device.allocatable.safe]),
  },
  {
    name: 'may_load',
    help: '1: up to safe_to_load_bytes. 0: nothing, before the remedy of umaprobe doctor is carried out.',
    samples: ({ judgement }) => one(MAY_LOAD[judgement.mayLoad] ?? null),
  },
  {
    name: 'judgement_level',
    help: '0 ok, 1 notice, 2 warning, 3 danger: the highest of the findings.',
    samples: ({ judgement }) => one(LEVELS[judgement.level]),
  },
  {
    name: 'judgement_info',
    help: 'The judgement in words, and the id of its most urgent finding.',
    samples: ({ judgement: { findings, level, mayLoad } }) =>
      one(1, { level, may_load: mayLoad, finding: findings[0]?.id ?? null }),
  },
  {
    name: 'finding',
    help: '1 for each finding that applies; umaprobe doctor has its remedy.',
    samples: ({ judgement }) => judgement.findings.map(({ id, severity }) => [{ finding: id, severity }, 1]),
  },
  {
    name: 'memory_part_bytes',
    help: 'Parts of MemTotal, which they add up to. Part unattributed is in no counter of the kernel; it and gpu_processes are bounds where gpu_processes_bytes is missing.',
    samples: ({ ledger }) => ledger.entries.map(({ bytes, label }) => [{ part: snake(label) }, bytes]),
  },
  {
    name: 'gpu_processes_bytes',
    help: 'Memory that the processes of a GPU hold, where NVML lists all of them.',
    // A list that is not complete has no sum.
    samples: (snapshot) =>
      snapshot.devices.map((device) => [
        gpu(device),
        device.processesComplete === true ? heldOn(device, snapshot) : null,
      ]),
  },
  {
    name: 'gpu_memory_bytes',
    help: 'Memory of GPUs with memory of their own. A unified GPU has none: see node_memory_MemTotal_bytes.',
    samples: ({ devices }) => devices.map((device) => [gpu(device), ownMemory(device)?.total ?? null]),
  },
  {
    name: 'gpu_memory_free_bytes',
    help: 'What is free of it.',
    samples: ({ devices }) => devices.map((device) => [gpu(device), ownMemory(device)?.free ?? null]),
  },
  {
    name: 'tool_free_bytes',
    help: 'What each tool would report as free on a GPU.',
    samples: ({ devices }) =>
      devices.flatMap((device) =>
        Object.entries(device.views).map(([tool, bytes]): Sample => [{ ...gpu(device), tool: snake(tool) }, bytes]),
      ),
  },
  {
    name: 'free_block_bytes',
    help: 'Free memory of the host in blocks of at least this size.',
    samples: ({ contiguity }) => blocks(contiguity ?? []),
  },
  {
    name: 'driver_pool_bytes',
    help: 'Freed memory that the driver keeps in its pools.',
    samples: ({ driver }) => one(driver.poolBytes),
  },
  {
    name: 'source_up',
    help: '1: the library answered. 0: it failed, or did not answer in time.',
    samples: ({ libraries }) =>
      Object.entries(libraries).map(([source, { state }]) => [{ source }, SOURCES[state] ?? null]),
  },
  {
    name: 'reading_timestamp_seconds',
    help: 'When the machine was read.',
    samples: ({ at }) => one(Date.parse(at) / 1000),
  },
  {
    name: 'reading_duration_seconds',
    help: 'How long that took.',
    samples: ({ durationMs }) => one(durationMs / 1000),
  },
];

/** Names of all metrics, in the order in which they are written. */
export const METRIC_NAMES: readonly string[] = METRICS.map(({ name }) => `umaprobe_${name}`);

/** @param version of umaprobe. */
export function metricsText(snapshot: Snapshot, version: string, format: MetricsFormat = 'text'): string {
  const families = METRICS.map((metric) => linesOf(metric, metric.samples(snapshot, version), format)).join('');
  // OpenMetrics has no comments: there the machine's name is a label of machine_info alone.
  if (format === 'openmetrics') return `${families}# EOF\n`;
  if (snapshot.simulated === null) return families;
  return `# SIMULATED  machine ${printable(snapshot.simulated)}: none of these numbers comes from hardware\n${families}`;
}

function linesOf({ help, name }: Metric, samples: readonly Sample[], format: MetricsFormat): string {
  const known = samples.filter(([, value]) => value !== null);
  if (known.length === 0) return '';
  const full = `umaprobe_${name}`;
  const lines = known.map(([labels, value]) => `${full}${labelsText(labels)} ${value}`);
  // Only OpenMetrics has the type info, whose family lacks the suffix of its samples.
  const isInfo = format === 'openmetrics' && name.endsWith('_info');
  const [family, type] = isInfo ? [full.slice(0, -'_info'.length), 'info'] : [full, 'gauge'];
  return [`# HELP ${family} ${help}`, `# TYPE ${family} ${type}`, ...lines, ''].join('\n');
}

/** A label without a value is left out, as an empty one means the same. */
function labelsText(labels: Labels): string {
  const words = Object.entries(labels).flatMap(([name, value]) =>
    value === null ? [] : [`${name}="${printable(value).replace(/["\\]/g, '\\$&')}"`],
  );
  return words.length === 0 ? '' : `{${words.join(',')}}`;
}

function gpu({ index, uuid }: DeviceSnapshot): Labels {
  return { gpu: String(index), uuid };
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function ownMemory({ cuda, memoryModel, nvml }: DeviceSnapshot): { free: number; total: number } | null {
  return memoryModel === 'discrete' || memoryModel === 'coherent' ? (nvml ?? cuda) : null;
}

function blocks(contiguity: readonly FreeBlocks[]): Sample[] {
  return contiguity.map(({ blockBytes }) => [
    { min_block_bytes: String(blockBytes) },
    bytesInBlocks(contiguity, blockBytes),
  ]);
}
