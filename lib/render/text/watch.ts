/** One reading as one line, for logs and for `watch` where there is no terminal. */
import { headroom } from '../../memory/headroom.ts';
import { judge } from '../../memory/health.ts';
import { ledgerBytes } from '../../memory/ledger.ts';
import type { Snapshot } from '../../types/index.ts';
import { amount, type Look } from '../options.ts';
import { clean, padStart } from '../text-layout.ts';

export function readingLine(snapshot: Snapshot, look: Look): string {
  const { immediate, afterReclaim } = headroom(snapshot);
  const { level, text } = judge(snapshot);
  const psi = snapshot.pressure;
  const percent = (value: number | undefined): string => (value === undefined ? 'unknown' : `${value.toFixed(1)} %`);
  const size = (bytes: number | null): string => padStart(amount(bytes, look), 10);
  const parts = [
    snapshot.at,
    snapshot.simulated === null ? null : `SIMULATED ${clean(snapshot.simulated)}`,
    `free ${size(immediate)}`,
    `after reclaim ${size(afterReclaim)}`,
    `GPU ${size(gpuBytes(snapshot))}`,
    `pressure some ${percent(psi?.some.avg10)} full ${percent(psi?.full.avg10)}`,
    level === 'ok' ? 'ok' : `${level}: ${text}`,
  ];
  return parts.filter((part) => part !== null).join('  ');
}

/** Held by GPU processes: of the shared pool where there is one, else of the GPUs themselves; null: nobody could tell. */
function gpuBytes({ ledger, devices }: Snapshot): number | null {
  if (ledger.entries.some(({ label }) => label === 'gpuProcesses')) return ledgerBytes(ledger, 'gpuProcesses');
  const known = devices.flatMap((device) => device.processes ?? []);
  if (devices.every((device) => device.processes === null)) return null;
  return known.reduce((sum, { gpuBytes }) => sum + (gpuBytes ?? 0), 0);
}
