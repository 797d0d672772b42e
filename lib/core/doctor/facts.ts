/** Facts that doctor reads besides a snapshot: rights, other programs, the rate of swapping. */

import { access, constants, readdir } from 'node:fs/promises';
import { defined } from '../../base/objects.ts';
import { kernelFiles } from '../host/files.ts';
import { namesOfAllProcesses } from '../host/process.ts';
import { SWAP_SAMPLE_MS, swapMeter } from '../host/swap-rate.ts';
import { OVERSUBSCRIPTION } from '../memory/findings/machine.ts';
import type { Access, Facts, Need } from '../memory/findings/row.ts';
import { native } from '../native/binding.ts';
import { readReadiness } from './readiness.ts';

/** Kernel files that need privileges, and the access that umaprobe needs. */
const SETTINGS = [
  { name: 'drop_caches', path: '/proc/sys/vm/drop_caches', mode: constants.W_OK },
  { name: 'compact_memory', path: '/proc/sys/vm/compact_memory', mode: constants.W_OK },
  { name: 'driver pool sizes (debugfs)', path: '/sys/kernel/debug/shrinker', mode: constants.R_OK },
] as const;

/** The facts that these needs ask for; the others stay absent. */
export async function readFacts(needs: ReadonlySet<Need>): Promise<Omit<Facts, 'snapshot' | 'processes'>> {
  const files = kernelFiles(native());
  const [allowed, oversubscription, programs, readiness, swapBytesPerSecond] = await Promise.all([
    needs.has('access') ? readAccess() : undefined,
    needs.has('oversubscription') ? files.read([OVERSUBSCRIPTION]) : undefined,
    namesOfAllProcesses(files),
    needs.has('readiness') ? readReadiness(files) : undefined,
    needs.has('swapBytesPerSecond') ? swapRate() : undefined,
  ]);
  const [text] = oversubscription ?? [];
  return {
    programs,
    ...(allowed === undefined ? {} : { access: allowed }),
    ...(oversubscription === undefined ? {} : { oversubscription: typeof text === 'string' ? text.trim() : null }),
    ...defined({ readiness, swapBytesPerSecond }),
  };
}

async function swapRate(): Promise<number | null> {
  const rate = await swapMeter(native());
  await new Promise((resolve) => setTimeout(resolve, SWAP_SAMPLE_MS));
  return rate();
}

async function readAccess(): Promise<Access> {
  const names = await readdir('/dev').catch((): string[] => []);
  const nodes = names.filter((name) => /^nvidia(\d+|ctl|-uvm)$/.test(name)).map((name) => `/dev/${name}`);
  const open = await Promise.all(nodes.map((node) => mayUse(node, constants.R_OK | constants.W_OK)));
  const settings = await Promise.all(
    SETTINGS.map(async ({ mode, name, path }) => [name, await mayUse(path, mode)] as const),
  );
  return { nodes, closed: nodes.filter((_, index) => open[index] === false), settings: Object.fromEntries(settings) };
}

function mayUse(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
