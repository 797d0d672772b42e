/**
 * Every single fault on a Spark and on a machine of two GPUs: never OK where something is wrong, never worse where
 * nothing is, and each sentence as it was reviewed by hand (golden/broken-machines.md; UPDATE_GOLDEN=1 writes it). The
 * other shipped machines are in test/matrix.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadMachine } from '../../../../lib/sim.ts';
import { complaints, diagnose, FAULTS, goldenLines, mapCells, twoGpus } from '../../../support/fault-matrix.ts';
import { ROOT } from '../../../support/root.ts';

const GOLDEN = join(ROOT, 'test/sim/core/library/golden/broken-machines.md');

const MACHINES = [
  ['gb10', loadMachine('gb10')],
  ['two H200', twoGpus()],
] as const;

describe('every single fault', () => {
  it('is never OK, never an error where nothing is wrong, and says the reviewed sentence', {
    timeout: 240_000,
  }, async () => {
    const lines = [
      '# What umaprobe says of a machine with one fault',
      '',
      'All machines are simulated. The verdict comes first, then the checks of doctor that find something.',
    ];
    const problems: string[] = [];
    for (const [name, machine] of MACHINES) {
      const healthy = await diagnose(machine);
      expect(healthy.snapshot.judgement.level, name).toBe('ok');
      const cells = await mapCells(FAULTS, async (fault) => {
        const broken = await diagnose(fault.apply(machine), { hangs: fault.hangs === true });
        return { fault, broken };
      });
      const { because, level } = healthy.snapshot.judgement;
      lines.push('', `# ${name}`, '', `${level}: ${because}`);
      for (const { broken, fault } of cells) {
        problems.push(...complaints(fault, broken, healthy).map((problem) => `${name}, ${fault.name}: ${problem}`));
        lines.push('', ...goldenLines(fault, broken, healthy));
      }
    }
    const text = `${lines.join('\n')}\n`;
    if (process.env.UPDATE_GOLDEN !== undefined) writeFileSync(GOLDEN, text);
    expect(problems).toEqual([]);
    expect(text).toBe(readFileSync(GOLDEN, 'utf8'));
  });
});
