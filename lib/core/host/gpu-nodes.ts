/** NUMA nodes that are a GPU's memory (GH200, GB200, GB300): they have memory and no processor. */

import { isFailure } from '../../base/facts.ts';
import type { KernelFiles } from './files.ts';

const FOLDER = '/sys/devices/system/node';

/** Bytes. */
export interface GpuNode {
  file: string;
  total: number;
  /** Page cache on the node: it counts as used, and reclaim frees it. */
  cache: number;
}

/** Nodes of memory without a processor; null: not known. CXL memory is one as well. */
export async function readGpuNodes(files: KernelFiles): Promise<GpuNode[] | null> {
  const [memory, processors] = await files.read([`${FOLDER}/has_memory`, `${FOLDER}/has_cpu`]);
  if (typeof memory !== 'string' || typeof processors !== 'string') return null;
  const withCpu = numbersOf(processors);
  const paths = numbersOf(memory)
    .filter((node) => !withCpu.includes(node))
    .map((node) => `${FOLDER}/node${node}/meminfo`);
  const texts = await files.read(paths);
  const nodes = paths.map((file, index) => nodeOf(file, texts[index]));
  return nodes.includes(null) ? null : (nodes as GpuNode[]);
}

/** "0-1,8": 0, 1, 8. */
function numbersOf(list: string): number[] {
  return [...list.matchAll(/(\d+)(?:-(\d+))?/g)].flatMap(([, first, last]) => {
    const from = Number(first);
    return Array.from({ length: Math.min(1024, Math.max(0, Number(last ?? first) - from) + 1) }, (_, i) => from + i);
  });
}

function nodeOf(file: string, text: unknown): GpuNode | null {
  if (typeof text !== 'string' || isFailure(text)) return null;
  const of = (name: string): number => {
    const line = new RegExp(`^Node \\d+ ${name.replace(/[()]/g, '\\$&')}:\\s+(\\d+) kB$`, 'm').exec(text);
    return line === null ? Number.NaN : Number(line[1]) * 1024;
  };
  const node = { file, total: of('MemTotal'), cache: of('Active(file)') + of('Inactive(file)') };
  return Number.isNaN(node.total + node.cache) ? null : node;
}

/** A GPU's memory differs from that of its node by what firmware and driver keep. */
const SAME = 0.05;

/** Page cache on the node that is this GPU's memory; null: which node that is is not known. */
export function cacheOnGpu(nodes: readonly GpuNode[] | null, total: number, coherentGpus: number): GpuNode | null {
  const same = (nodes ?? []).filter((node) => Math.abs(node.total - total) <= total * SAME);
  // Equal GPUs cannot be told apart by the size of their nodes.
  return same.length === 1 && coherentGpus === 1 ? (same[0] as GpuNode) : null;
}
