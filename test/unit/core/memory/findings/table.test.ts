/** The one table of findings: every row with every outcome that it has. */
import { describe, expect, it } from 'vitest';
import { checkResult } from '../../../../../lib/core/doctor/report.ts';
import { FINDING_IDS, outcomeOf, ROWS } from '../../../../../lib/core/memory/findings/index.ts';
import type { Facts } from '../../../../../lib/core/memory/findings/row.ts';
import { FINDINGS } from '../../../../../lib/types/findings.ts';
import type { CheckStatus, FindingId } from '../../../../../lib/types/index.ts';
import { readingOf, snapshotOf } from '../../../../support/snapshots.ts';
import { GiB } from '../../../../support/units.ts';
import { on, processesOf, processOf } from './case.ts';
import { CASES } from './cases.ts';

const APPLIES: readonly CheckStatus[] = ['note', 'warn', 'fail'];

const resultOf = (id: FindingId, facts: Facts) => checkResult(id, outcomeOf(id, facts));

/** Rows that say that they could not be judged, by no fault of theirs, or never. */
const NEVER_UNKNOWN: readonly FindingId[] = [
  ...(['memory.available', 'gpu.state', 'library.cuda', 'library.nvml', 'driver.contexts', 'kernel.files'] as const),
  ...(['gpu.memory', 'processes.listed', 'ledger.counters', 'driver.pools', 'gpu.programs', 'host.smaller'] as const),
];
/** Rows that only explain. */
const NEVER_APPLIES: readonly FindingId[] = ['uvm.oversubscription'];

describe('the table of findings', () => {
  it.each(CASES)('%s: %s', (id, _, facts, status, says, more = {}) => {
    const result = resultOf(id, facts);
    expect(result).toMatchObject({ id, status, summary: expect.stringMatching(says) });
    expect(`${result.summary} ${result.remedy?.text ?? ''}`).not.toMatch(/NaN|undefined|(?<!dev\/)null|\[object/);
    const outcome = outcomeOf(id, facts);
    const finding = outcome.state === 'applies' ? outcome.finding : null;
    if (APPLIES.includes(status)) {
      expect(result.evidence.length).toBeGreaterThan(0);
      expect(result.effect.does).toMatch(/^(nothing|takes|refuses|unknown)$/);
    } else expect(result.remedy).toBeNull();
    for (const { from, name, unit, value } of result.evidence) {
      expect(from).toMatch(/\w/);
      expect(name).toMatch(/\w/);
      if (unit === 'text') expect(value).toBeTypeOf('string');
      else expect(Number.isFinite(value), name).toBe(true);
    }
    if (more.effect !== undefined) expect(result.effect.does).toBe(more.effect);
    if (more.bytes !== undefined) expect(finding?.bytes).toEqual(more.bytes);
    if (more.normal !== undefined) expect(finding?.normal).toBe(more.normal);
    if (more.cause !== undefined) matches(result.cause, more.cause);
    if (more.remedy !== undefined) matches(result.remedy?.text ?? null, more.remedy);
    if (more.command !== undefined) matches(result.remedy?.command ?? null, more.command);
    if (more.gains !== undefined) expect(result.remedy?.gains).toBe(more.gains);
    if (more.evidence !== undefined)
      expect(result.evidence.map(({ from, name, value }) => `${name} ${value} ${from}`).join('\n')).toMatch(
        more.evidence,
      );
  });

  it('has a case of every outcome of every row', () => {
    const outcomes = (statuses: readonly CheckStatus[]) =>
      new Set(CASES.filter(([, , , status]) => statuses.includes(status)).map(([id]) => id));
    const without = (found: ReadonlySet<FindingId>) => FINDING_IDS.filter((id) => !found.has(id));
    expect(without(outcomes(['pass']))).toEqual([]);
    expect(without(outcomes(APPLIES))).toEqual(NEVER_APPLIES);
    expect(without(outcomes(['unknown'])).sort()).toEqual([...NEVER_UNKNOWN].sort());
  });

  it('has a row for every id, and no other', () => {
    expect(Object.keys(ROWS).sort()).toEqual(Object.keys(FINDINGS).sort());
  });

  it('has nothing to say of a healthy machine, with a GPU or without, and with its processes', () => {
    const processes = processesOf([
      processOf(1, { name: 'gnome-shell', anonymous: GiB, file: 300 * 2 ** 20, gpuBytes: 80 * 2 ** 20 }),
    ]);
    for (const facts of [
      on({}, { processes }),
      on({ model: 'discrete', host: { total: 600 * GiB, free: 590 * GiB, available: 595 * GiB } }, { processes }),
    ])
      expect(FINDING_IDS.filter((id) => outcomeOf(id, facts).state === 'applies')).toEqual([]);
    const bare = FINDING_IDS.filter((id) => outcomeOf(id, on({ gpu: false }, { processes })).state === 'applies');
    expect(bare).toEqual(['library.cuda', 'library.nvml']);
  });

  it('suggests no reboot after a single timeout, and first who holds what nobody is seen to hold', () => {
    const cases = CASES.filter(([, title]) => /silent|in time|no process list|discrete|no GPU/.test(title));
    expect(cases.length).toBeGreaterThan(6);
    for (const [id, title, facts] of cases) {
      const { cause, remedy, summary } = resultOf(id, facts);
      expect(`${summary} ${cause} ${remedy?.text}`, title).not.toMatch(/reboot|hang/i);
    }
  });

  it('names the kernel’s own min_free_kbytes for this machine, with 4 KiB pages only', () => {
    const remedy = (total: number, blockBytes: number) => {
      const snapshot = snapshotOf({ host: { total }, kernel: { minFree: 4 * GiB } });
      const contiguity = [{ order: 0, blockBytes, freeBlocks: 1, movableBlocks: null }];
      return resultOf('watermarks', { snapshot: { ...snapshot, contiguity } }).remedy;
    };
    // The root of 16 × kB. 45,167 was read on Sparks, which have 125.5 or 127.6 million kB.
    expect(remedy(127_600_748 * 1024, 4096)?.command).toMatch(/^echo 45184 \|/);
    expect(remedy(62 * GiB, 4096)?.command).toMatch(/^echo 32251 \|/);
    expect(remedy(2 ** 50, 4096)?.command).toMatch(/^echo 262144 \|/);
    expect(remedy(128 * GiB, 65_536)).toMatchObject({ command: null, text: expect.stringMatching(/sysctl/) });
    expect(remedy(128 * GiB, 65_536)?.text).not.toMatch(/\d{5}/);
  });
});

describe('what a row needs', () => {
  it('is neither CUDA nor NVML for rows of the kernel alone', () => {
    const alone = FINDING_IDS.filter((id) => !ROWS[id].needs.some((need) => need === 'cuda' || need === 'nvml'));
    expect(alone).toEqual(
      expect.arrayContaining(['permissions', 'uvm.oversubscription', 'swap.traffic', 'cma.phantom', 'watermarks']),
    );
    for (const id of alone) {
      const blind = readingOf();
      Object.defineProperty(blind, 'devices', { get: () => expect.fail(`${id} looks at devices`) });
      Object.defineProperty(blind, 'libraries', { get: () => expect.fail(`${id} looks at libraries`) });
      outcomeOf(id, { snapshot: blind, swapBytesPerSecond: 0, oversubscription: '1', processes: null });
    }
  });

  it('is a context for what is said of contexts', () => {
    const withContext = FINDING_IDS.filter((id) => ROWS[id].needs.includes('context'));
    expect(withContext).toEqual(['library.cuda', 'context.blocks', 'driver.contexts']);
  });
});

function matches(text: string | null, expected: RegExp | null): void {
  if (expected === null) expect(text).toBeNull();
  else expect(text).toMatch(expected);
}
