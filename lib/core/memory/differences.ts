/** Differences of the hosts of one program: facts of their snapshots, side by side. Pure. */

import { clean, formatBytes } from '../../base/format.ts';
import type { HostDifference, Reading } from '../../types/index.ts';
import { HOG_SHARE } from './findings/row.ts';

export interface NamedSnapshot {
  host: string;
  snapshot: Reading;
}

interface Fact {
  id: HostDifference['id'];
  name: string;
  /** null: not known. */
  of(snapshot: Reading): string | number | null;
  text?(value: number): string;
  /** Share of the largest number; a smaller difference does not count. */
  tolerance?: number;
}

const FACTS: readonly Fact[] = [
  { id: 'kernel', name: 'kernel', of: ({ kernel }) => kernel.release },
  { id: 'driver', name: 'driver', of: ({ driver, libraries }) => driver.version ?? libraries.nvml.driverVersion },
  // A block of order 0 is a page.
  {
    id: 'page-size',
    name: 'pages of',
    of: ({ contiguity }) => contiguity?.find(({ order }) => order === 0)?.blockBytes ?? null,
    text: formatBytes,
  },
  // Sparks differ by 1.6 % in what their firmware reserves.
  { id: 'memory', name: 'MemTotal', of: ({ host }) => host.total, text: formatBytes, tolerance: HOG_SHARE },
  { id: 'gpus', name: 'GPUs', of: gpusOf },
];

/** The first that says more is first. Hosts of which a fact is not known neither differ nor agree: their `value` is null. */
export function differencesOf(snapshots: readonly NamedSnapshot[]): HostDifference[] {
  return FACTS.flatMap((fact) => {
    const { id, name, text = String, tolerance = 0 } = fact;
    const values = snapshots.map(({ host, snapshot }) => ({ host, value: fact.of(snapshot) }));
    const known = values.flatMap(({ value }) => (value === null ? [] : [value]));
    if (!differ(known, tolerance)) return [];
    const words = values.map(({ host, value }) => ({
      host,
      value: value === null ? null : typeof value === 'number' ? text(value) : clean(value),
    }));
    return [{ id, summary: sentence(name, words), values: words }];
  });
}

function differ(values: readonly (string | number)[], tolerance: number): boolean {
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.length > 0) return Math.max(...numbers) - Math.min(...numbers) > Math.max(...numbers) * tolerance;
  return new Set(values).size > 1;
}

/** A value is said once, with all of its hosts. */
function sentence(name: string, values: HostDifference['values']): string {
  const hosts = new Map<string, string[]>();
  for (const { host, value } of values)
    if (value !== null) hosts.set(value, [...(hosts.get(value) ?? []), clean(host)]);
  const parts = [...hosts].map(([value, names]) => `${value} on ${names.join(', ').replace(/, ([^,]*)$/, ' and $1')}`);
  return `The hosts differ: ${name} ${parts.join(', ')}.`;
}

/** "1 × NVIDIA GB10"; null: no list, or a GPU without a name. */
function gpusOf({ devices, libraries }: Reading): string | null {
  if (devices.length === 0)
    return libraries.nvml.state === 'loaded' || libraries.cuda.state === 'loaded' ? 'none' : null;
  const counts = new Map<string, number>();
  for (const { name } of devices) {
    if (name === null) return null;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .map(([name, count]) => `${count} × ${name}`)
    .sort()
    .join(', ');
}
