/** Compressed swap in memory (zram): its pages are in no line of /proc/meminfo. */

import { isFailure, type Provenance, reason } from '../../base/facts.ts';
import { type KernelFiles, unparsed } from './files.ts';

const FOLDER = '/sys/block';
/** Field of mm_stat: mem_used_total, with what fragmentation costs (Documentation/admin-guide/blockdev/zram.rst). */
const USED = 2;

/** Memory of all zram devices, in bytes; null: not known. */
export async function readZram(files: KernelFiles, provenance: Provenance): Promise<{ zram: number | null }> {
  const names = await files.list(FOLDER);
  const from = (source: string, zram: number | null) => {
    provenance.record('kernel.zram', source);
    return { zram };
  };
  if (isFailure(names)) return from(reason(names), null);
  const paths = names.filter((name) => /^zram\d+$/.test(name)).map((name) => `${FOLDER}/${name}/mm_stat`);
  if (paths.length === 0) return from(`${FOLDER} has no zram device`, 0);
  const texts = await files.read(paths);
  let sum = 0;
  for (const [index, path] of paths.entries()) {
    const text = texts[index];
    if (text === undefined || isFailure(text))
      return from(text === undefined ? `${path}: not read` : reason(text), null);
    const used = /^(?:\s*\d+){3}/.test(text) ? Number(text.trim().split(/\s+/)[USED]) : Number.NaN;
    if (!Number.isSafeInteger(used)) return from(unparsed(path), null);
    sum += used;
  }
  return from(paths.join(', '), sum);
}
