/** Options of sweep, layout and stress on the command line, and their exit codes. */
import { describe, expect, it } from 'vitest';
import { UmaError } from '../../../lib/base/errors.ts';
import { estimateOptions } from '../../../lib/cli/commands/estimate.ts';
import { exitOfState, stressExit, sweepExit } from '../../../lib/cli/commands/probe-run.ts';
import { TYPED_SIZES } from '../../../lib/cli/commands/sweep.ts';
import type { OptionValues } from '../../../lib/cli/core/command.ts';
import { describe as failureOf } from '../../../lib/cli/core/exit.ts';
import { sizeOf } from '../../../lib/cli/core/options.ts';
import { optionTable, ownOptions, typedOptions } from '../../../lib/cli/core/typed-options.ts';
import { DROP } from '../../../lib/core/cache/options.ts';
import { KINDS } from '../../../lib/core/memory/kinds.ts';
import { STRESS } from '../../../lib/core/stress/options.ts';
import { SWEEP } from '../../../lib/core/sweep/options.ts';
import { layoutOf, notMade, stepOf, stressOf, sweepOf } from '../../support/reports.ts';
import { GB, GiB } from '../../support/units.ts';
import { usageErrorOf } from '../../support/usage-error.ts';

const own = (values: OptionValues) => ownOptions(values, TYPED_SIZES, 'sweep');
const options = (values: OptionValues) => typedOptions(values, STRESS, 'stress');
const { kind, kinds } = {
  kind: (values: OptionValues) => options(values).kind,
  kinds: (values: OptionValues) => typedOptions(values, SWEEP, 'sweep').kinds,
};

describe('sizes', () => {
  it.each([
    ['8GB', 8e9],
    ['8GiB', 8 * GiB],
    ['4096B', 4096],
    ['1.5 MiB', 1.5 * 2 ** 20],
    ['9007199254740991B', 2 ** 53 - 1],
  ])('%s is %d bytes', (word, bytes) => expect(sizeOf(word, '--max', 'stress')).toBe(bytes));

  it.each([
    ['8G', '--max "8G" could mean two sizes: write 8GB (powers of 1000) or 8GiB (powers of 1024).'],
    ['banana', '--max "banana" is not a size with its unit, such as 8GB (8·10^9 bytes), 8GiB (8·2^30 bytes) or 4096B.'],
    ['-1GB', '--max "-1GB" is not a size with its unit, such as 8GB (8·10^9 bytes), 8GiB (8·2^30 bytes) or 4096B.'],
    ['60', '--max "60" has no unit: write 60GB (powers of 1000), 60GiB (powers of 1024) or 60B (bytes).'],
    ['1.5', '--max "1.5" has no unit: write 1.5GB (powers of 1000) or 1.5GiB (powers of 1024).'],
    ['60000000000', '--max "60000000000" has no unit: write 60000000000B (bytes).'],
    ['1.5B', '--max "1.5B" is not a whole number of bytes.'],
    ['0', '--max "0" is less than 1B.'],
    ['0.0GB', '--max "0.0GB" is less than 1B.'],
    ['9007199254740992', '--max "9007199254740992" is more than 2^53 − 1 bytes, the largest size there is.'],
    ['9999999TB', '--max "9999999TB" is more than 2^53 − 1 bytes, the largest size there is.'],
  ])('%s is refused', (word, words) => expect(usageErrorOf(() => sizeOf(word, '--max', 'stress'))).toBe(words));

  it('are a list', () => {
    expect(own({ sizes: ['1GB, 2GiB'] }).sizes).toEqual([1e9, 2 * GiB]);
    expect(own({ sizes: ['1GB', '2GB,3GB'] }).sizes).toEqual([1e9, 2e9, 3e9]);
    expect(usageErrorOf(() => own({ sizes: ['1GB,,2GB'] }).sizes)).toContain('empty entry between its commas');
    expect(usageErrorOf(() => own({ sizes: ['1GB,banana'] }).sizes)).toContain('--sizes "banana" is not a size');
  });

  it('are shapes and numbers of elements', () => {
    expect(own({ shape: ['8192x8192,4096'] }).shape).toEqual([[8192, 8192], [4096]]);
    expect(usageErrorOf(() => own({ shape: ['8192x'] }).shape)).toContain('is not a shape');
    expect(usageErrorOf(() => own({ shape: ['4x0'] }).shape)).toContain('a dimension of 0');
    expect(own({ elements: '1e9' }).elements).toBe(1e9);
    for (const word of ['0', '1.5', '1e99', '-1', 'many', '9007199254740992'])
      expect(usageErrorOf(() => own({ elements: word }).elements)).toContain('is not a whole number of elements');
  });
});

describe('options', () => {
  it('leave out what is not given, so that the library decides', () => expect(options({})).toEqual({}));

  it('are passed on', () => {
    expect(options({ device: '1', floor: '9GiB', journal: 'j.jsonl', timeout: '2m', 'step-timeout': '5s' })).toEqual({
      device: 1,
      floorBytes: 9 * GiB,
      journal: 'j.jsonl',
      timeoutMs: 120_000,
      stepTimeoutMs: 5000,
    });
    expect(options({ journal: 'none' })).toEqual({ journal: false });
  });

  it('accept a low floor only with --i-accept-a-frozen-machine', () => {
    expect(usageErrorOf(() => options({ floor: '1KiB' }))).toBe(
      '--floor "1KiB" is below 2GiB: a host that runs out of memory freezes instead of failing. Give a larger floor, or add --i-accept-a-frozen-machine.',
    );
    expect(options({ floor: '1KiB', 'i-accept-a-frozen-machine': true })).toEqual({
      floorBytes: 1024,
      acceptAFrozenMachine: true,
    });
  });

  it('have range and default in the help, and type and range in the schema for agents', () => {
    const { level, repeat, stepTimeoutMs } = { ...SWEEP, ...DROP };
    expect(optionTable({ level, repeat, stepTimeoutMs })).toEqual({
      level: {
        type: 'string',
        placeholder: '<1|2|3>',
        summary: 'What to drop (default 1)',
        values: ['1', '2', '3'],
        schema: { type: 'string', enum: ['1', '2', '3'] },
      },
      repeat: {
        type: 'string',
        placeholder: '<n>',
        summary: 'Repeats of each step: 1 to 1000 (default 1)',
        schema: { type: 'integer', minimum: 1, maximum: 1000 },
      },
      'step-timeout': {
        type: 'string',
        placeholder: '<time>',
        summary: 'Time limit for one GPU call: 100ms to 1h (default: 1m and more, by kind and size)',
        section: 'Machine and safety',
        schema: { type: 'string' },
      },
    });
  });

  it('that begin with --no- turn off what the library does by itself', () => {
    expect(typedOptions({ 'no-sync': true, force: true }, DROP, 'cache drop')).toEqual({ sync: false, force: true });
    expect(ownOptions({}, DROP, 'cache drop')).toMatchObject({ sync: true, force: false });
    expect(estimateOptions({ 'no-mla': true, 'no-mmap': true, mtp: true }, 'estimate')).toEqual({
      mla: false,
      mmap: false,
      mtp: true,
    });
  });

  it('name kinds', () => {
    expect(kinds({ kind: ['device,managed', 'device'] })).toEqual(['device', 'managed']);
    expect(kinds({ kind: ['all'] })).toBe('all');
    expect(kind({ kind: 'pinned' })).toBe('pinned');
    expect(usageErrorOf(() => kinds({ kind: ['gpu'] }))).toBe(`--kind "gpu" is not one of ${KINDS.join(', ')}, all.`);
    expect(usageErrorOf(() => kinds({ kind: ['all', 'device'] }))).toContain(
      '--kind "all" cannot be combined with other kinds.',
    );
    expect(usageErrorOf(() => kind({ kind: 'managd' }))).toContain('Did you mean managed?');
  });
});

describe('exit codes', () => {
  const ok = stepOf('device', GB);
  const tooLarge = notMade('device', 200 * GB, 'refused', 'too large');

  it.each([
    ['complete', sweepOf(), 0],
    ['complete, with a size that is too large', sweepOf({ steps: [ok, tooLarge] }), 0],
    ['complete, and nothing was measured', sweepOf({ steps: [tooLarge] }), 1],
    ['complete, with a step that failed', sweepOf({ steps: [ok, notMade('device', GB, 'failed', 'why')] }), 1],
    ['stopped', sweepOf({ state: 'stopped' }), 6],
    ['timeout', sweepOf({ state: 'timeout' }), 6],
    ['lost', sweepOf({ state: 'lost' }), 1],
    ['aborted', sweepOf({ state: 'aborted' }), 143],
  ] as const)('of a sweep: %s', (_words, report, code) => expect(sweepExit(report, 143)).toBe(code));

  it.each([
    ['limit', 0],
    ['out-of-memory', 0],
    ['floor', 0],
    ['pressure', 6],
    ['contiguity', 6],
    ['timeout', 6],
    ['aborted', 130],
    ['failed', 1],
    ['lost', 1],
  ] as const)('of a stress test: %s', (state, code) => expect(stressExit(stressOf({ state }), null)).toBe(code));

  it('of a stress test that the guard ended at the floor', () => {
    const reading = { memAvailable: 8 * GiB, freeInCpuLists: null, pressureFull: null };
    const guard = { reason: 'floor', ...reading, stoppedAfterMs: 4, freedAfterMs: 31, left: false } as const;
    expect(stressExit(stressOf({ state: 'floor', guard }), null)).toBe(6);
  });

  it.each(['floor', 'share'] as const)('of a stress test that allocated nothing above the %s', (state) =>
    expect(stressExit(stressOf({ state, maxBytes: 0 }), null)).toBe(1),
  );

  it('of a stress test that allocated nothing is not 0', () =>
    expect(stressExit(stressOf({ state: 'out-of-memory', maxBytes: 0 }), null)).toBe(1));

  it.each([
    ['complete', 0],
    ['incomplete', 1],
    ['stopped', 6],
    ['timeout', 6],
    ['aborted', 130],
    ['lost', 1],
  ] as const)('of a layout: %s', (state, code) => expect(exitOfState(layoutOf({ state }), null)).toBe(code));

  it.each([
    ['write /proc/sys/vm/drop_caches', 6],
    ['sudo -n /usr/sbin/sysctl vm.drop_caches=3', 6],
    ['openat', 6],
    ['cuInit', 3],
    ['nvmlInit_v2', 3],
  ])('of a call that did not answer in time: %s', (call, exitCode) => {
    const facts = { source: 'umaprobe', call, status: null, name: 'TIMEOUT', message: '' } as const;
    const failure = failureOf(new UmaError('ERR_UMA_TIMEOUT', facts), false);
    expect(failure.exitCode).toBe(exitCode);
    expect(failure.message.includes('\nThe driver may hang: umaprobe doctor ')).toBe(exitCode === 3);
  });

  it.each([
    ['ERR_UMA_FLOOR', 5],
    ['ERR_UMA_JOURNAL', 5],
    ['ERR_UMA_BUSY', 5],
    ['ERR_UMA_NO_DEVICE', 3],
  ] as const)('of a refusal before anything was allocated: %s', (code, exitCode) => {
    const error = new UmaError(code, { source: 'umaprobe', call: 'probe', status: null, name: 'X', message: 'why' });
    expect(failureOf(error, false)).toMatchObject({ exitCode, message: 'umaprobe: probe: why (X)\n' });
  });
});
