/** An ordinary user gets root's verdict, or is told that it is not known and why. All *simulated*. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FitReport } from '../../lib/types/index.ts';
import { runUmaprobe } from '../support/cli.ts';
import { ROOT } from '../support/root.ts';

const NOBODY = 65_534;
const ODD = join(ROOT, 'test/agree/machines');
const MACHINES = [
  'gb10',
  'gb10-cached',
  'gb10-590-pools',
  'gb10-590-residue',
  'gb10-fragmented',
  ...readdirSync(ODD)
    .filter((file) => /^(cliff|frag|pools)/.test(file))
    .map((file) => join(ODD, file)),
];

describe('fit of 20, 60 and 100 GiB (simulated)', () => {
  it.for(MACHINES)('%s', { timeout: 60_000 }, (machine, context) => {
    if (process.getuid?.() !== 0) return context.skip('only root can ask as another user');
    for (const size of ['20GiB', '60GiB', '100GiB']) {
      const verdict = (user: object): FitReport =>
        JSON.parse(runUmaprobe(['fit', '--bytes', size, '--json', '--sim', machine], user).stdout);
      const root = verdict({});
      const ordinary = verdict({ uid: NOBODY, gid: NOBODY, env: { HOME: '/nonexistent' } });
      if (ordinary.verdict === root.verdict) continue;
      expect(ordinary.verdict, `${size}: root ${root.verdict}`).toBe('unknown');
      expect(ordinary.summary).toMatch(/only root reads|only root can read/);
    }
  });
});
