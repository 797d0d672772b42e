/** An ordinary user gets root's verdict, or is told that it is not known and why. All *simulated*. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FitReport } from '../../lib/types/index.ts';
import type { CliOptions } from '../support/cli.ts';
import { ROOT } from '../support/root.ts';
import { withCommands } from './commands.ts';

const NOBODY = 65_534;
const ODD = join(ROOT, 'test/agree/machines');
const MACHINES = [
  ...['gb10', 'gb10-cached', 'gb10-590-pools', 'gb10-590-residue', 'gb10-fragmented'].map((name) => ({
    name,
    machine: name,
  })),
  ...readdirSync(ODD)
    .filter((file) => /^(cliff|frag|pools)/.test(file))
    .map((file) => ({ name: file.replace('.json', ''), machine: join(ODD, file) })),
];
const SIZES = ['20GiB', '60GiB', '100GiB'];

const verdictsOf = (machine: string, user: CliOptions): Promise<FitReport[]> =>
  withCommands(
    machine,
    async (ask) => {
      const reports: FitReport[] = [];
      for (const size of SIZES) reports.push(JSON.parse((await ask('fit', '--bytes', size, '--json')).stdout));
      return reports;
    },
    user,
  );

describe.concurrent('fit of 20, 60 and 100 GiB (simulated)', () => {
  it.for(MACHINES)('$name', { timeout: 60_000 }, async ({ machine }, context) => {
    if (process.getuid?.() !== 0) return context.skip('only root can ask as another user');
    const root = await verdictsOf(machine, {});
    const others = await verdictsOf(machine, { uid: NOBODY, gid: NOBODY, env: { HOME: '/nonexistent' } });
    for (const [at, ordinary] of others.entries()) {
      const { verdict } = root[at] as FitReport;
      if (ordinary.verdict === verdict) continue;
      expect(ordinary.verdict, `${SIZES[at]}: root ${verdict}`).toBe('unknown');
      expect(ordinary.summary).toMatch(/only root reads|only root can read/);
    }
  });
});
