/** The commands `cache` and `prepare` on simulated machines: documents, verdicts, exit codes. No real cache is touched. */

import { describe, expect, it } from 'vitest';
import type { CacheStatus, CompactReport, DropReport, PrepareReport, Receipt } from '../../../../lib/types/index.ts';
import { CLI, runUmaprobe } from '../../../support/cli.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { GiB } from '../../../support/units.ts';

/** Why the simulated kernel cannot be written to; null: it can. */
const readOnly =
  process.geteuid?.() === 0 ? null : 'the simulated kernel lets only root drop and compact, as a real one does';

/** The document of a command, checked against its schema, and its exit code. */
function documentOf<T>(args: string[], machine: string): { document: T; code: number | null } {
  const { code, stdout } = runUmaprobe([...args, '--json', '--sim', machine]);
  const document = parseDocument(stdout) as unknown as T & { simulated: string | null };
  expect(document.simulated).toBe(machine);
  return { document, code };
}

/** The documents of several commands, run one after the other on one machine. */
function onOneMachine(machine: string, commands: string[][]): Record<string, unknown>[] {
  const script = commands
    .map((args) => `'${process.execPath}' '${CLI}' ${args.join(' ')} --json | tr -d '\\n'; echo`)
    .join('\n');
  const args = ['sim', 'run', machine, '--no-preload', '--', 'sh', '-c', script];
  return runUmaprobe(args).stdout.trim().split('\n').map(parseDocument);
}

const changeOf = (document: Record<string, unknown>): Receipt['change'] =>
  (document as unknown as DropReport).receipt.change;

describe('cache status', () => {
  it.each(['gb10-cached', 'gb10', 'h200'])(
    '%s: the parts add up, and no file of this computer is among them',
    (machine) => {
      const { document, code } = documentOf<CacheStatus>(['cache', 'status'], machine);
      expect(code).toBe(0);
      const { modelFiles, otherFiles, shmem, slabReclaimable, total } = document.machine ?? {};
      expect(modelFiles).toBeNull();
      expect((otherFiles ?? 0) + (shmem ?? 0) + (slabReclaimable ?? 0)).toBe(total);
      expect(document).toMatchObject({
        method: null,
        targets: [],
        files: [],
        limits: [expect.stringContaining('no files')],
      });
    },
  );

  it('refuses real files there', () => {
    const { code, stderr } = runUmaprobe(['cache', 'status', '/etc', '--sim', 'gb10']);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^umaprobe: cache status: the simulated machine gb10 has a page cache but no files in it.*\n$/,
    );
  });
});

describe('cache drop', () => {
  it('gb10-cached: level 1 raises MemFree and CUDA’s free memory alike, and MemAvailable hardly', (context) => {
    if (readOnly !== null) return context.skip(readOnly);
    const { document, code } = documentOf<DropReport>(['cache', 'drop', '--level', '1'], 'gb10-cached');
    expect(code).toBe(0);
    const { memFree, memAvailable, cached, cudaFree } = document.receipt.change;
    expect(memFree).toBeGreaterThan(100 * GiB);
    expect(cudaFree).toBe(memFree);
    expect(Math.abs(memAvailable ?? GiB)).toBeLessThan(GiB);
    expect(-(cached ?? 0)).toBeGreaterThan(100 * GiB);
    expect(document.nextAllocation?.immediate).toBeGreaterThan(100 * GiB);
  });

  it('gb10-590-residue: level 1 frees none of the 64 GiB of a dead process, level 2 does, as doctor advises', (context) => {
    if (readOnly !== null) return context.skip(readOnly);
    const [doctor = {}, one = {}, two = {}] = onOneMachine('gb10-590-residue', [
      ['doctor', '--only', 'driver.pools'],
      ['cache', 'drop', '--level', '1'],
      ['cache', 'drop', '--level', '2'],
    ]);
    expect(doctor).toMatchObject({
      checks: [{ status: 'note', remedy: { text: expect.stringContaining('--level 2') } }],
    });
    expect(changeOf(one).memAvailable).toBeLessThan(GiB);
    expect(changeOf(two).memAvailable).toBeGreaterThan(60 * GiB);
    expect(changeOf(two).memFree).toBeGreaterThan(60 * GiB);
    expect(changeOf(two).cached).toBe(0);
    expect(changeOf(one).driverPools).toBe(0);
    expect(changeOf(two).driverPools).toBe(-64 * GiB);
  });
});

describe('cache compact', () => {
  it.for([
    ['gb10', 'ok', 0],
    ['gb10-fragmented', 'reboot-required', 1],
    ['gb10-cached', 'not-ready', 1],
    ['gb10-busy', 'not-ready', 1],
  ] as const)('%s is %s', ([machine, verdict, exit], context) => {
    if (readOnly !== null && verdict !== 'ok') return context.skip(readOnly);
    const { document, code } = documentOf<CompactReport>(['cache', 'compact'], machine);
    expect(document.verdict).toBe(verdict);
    expect(code).toBe(exit);
    expect(document.orders).toHaveLength(14);
  });

  it('accepts another gate', () => {
    const { document, code } = documentOf<CompactReport>(['cache', 'compact', '--gate-blocks', '0'], 'gb10-fragmented');
    expect([document.verdict, code]).toEqual(['ok', 0]);
  });

  it('drop and compact together make gb10-cached ready', (context) => {
    if (readOnly !== null) return context.skip(readOnly);
    const [, compact] = onOneMachine('gb10-cached', [
      ['cache', 'drop'],
      ['cache', 'compact'],
    ]);
    expect(['ok', 'compacted']).toContain(compact?.verdict);
  });
});

describe('prepare', () => {
  it('gb10-cached, 100 GiB: enough, with its sources and steps in order', (context) => {
    if (readOnly !== null) return context.skip(readOnly);
    const { document, code } = documentOf<PrepareReport>(['prepare', '100GiB'], 'gb10-cached');
    expect(code).toBe(0);
    expect(document.verdict).toBe('enough');
    expect(document.after.immediate).toBeGreaterThanOrEqual(document.bytes + document.floor.bytes);
    expect(document.sources.map(({ label }) => label)).toEqual(['free', 'page cache, dropped (level 1)']);
    const [measure, evict, one, two] = document.steps;
    expect([measure?.state, evict?.state, one?.state, two?.state]).toEqual([
      'complete',
      'skipped',
      'complete',
      'skipped',
    ]);
  });

  it('gb10-cached, 200 GiB: not enough, with the reason, and nothing was changed', () => {
    const { document, code } = documentOf<PrepareReport>(['prepare', '--bytes', '200GiB'], 'gb10-cached');
    expect(code).toBe(1);
    expect(document).toMatchObject({
      verdict: 'not-enough',
      reason: expect.stringMatching(/more than this machine has at all/),
    });
    expect(document.receipt.change.memFree).toBe(0);
  });

  it('a dry run predicts the result of the run', (context) => {
    if (readOnly !== null) return context.skip(readOnly);
    const dry = documentOf<PrepareReport>(['prepare', '100GiB', '--dry-run'], 'gb10-cached');
    const wet = documentOf<PrepareReport>(['prepare', '100GiB'], 'gb10-cached');
    expect([dry.code, dry.document.verdict, dry.document.dryRun]).toEqual([0, 'planned', true]);
    expect(dry.document.receipt.change.memFree).toBe(0);
    const difference = (dry.document.after.immediate ?? 0) - (wet.document.after.immediate ?? 0);
    expect(Math.abs(difference)).toBeLessThan(GiB);
  });

  it.for([
    ['gb10-fragmented', '60GiB', 'not-enough', /\. Free memory is fragmented: .*compaction cannot join/],
    ['gb10-busy', '60GiB', 'not-enough', /without ending a program/],
    ['gb10-590-residue', '60GiB', 'enough', /enough for/],
    ['gb10', '60GiB', 'enough', /enough for/],
    ['h200', '60GiB', 'enough', /enough for/],
  ] as const)('%s, %s: %s', ([machine, size, verdict, reason], context) => {
    if (readOnly !== null && machine === 'gb10-fragmented') return context.skip(readOnly);
    const { document } = documentOf<PrepareReport>(['prepare', size], machine);
    expect(document.verdict).toBe(verdict);
    expect(document.reason).toMatch(reason);
    expect(document.pool).toBe(machine === 'h200' ? 'host' : 'unified');
  });
});

describe('usage errors', () => {
  it.each([
    [['cache', 'reclaim', '1GiB', '--cgroup', '/a/../b'], /cgroup is "\/a\/\.\.\/b"; expected a cgroup below the root/],
    [['prepare'], /A size is missing, such as 100GiB/],
  ])('%j', (args, message) => {
    const { code, stderr, stdout } = runUmaprobe(args);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stdout).toBe('');
  });

  it('sudo on a simulated machine', () => {
    const { code, stderr } = runUmaprobe(['cache', 'drop', '--sudo', '--sim', 'gb10']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/sudo would act on this computer/);
  });
});

describe('cache rule', () => {
  it('prints a file with one rule; its other lines are comments', () => {
    const { stdout, code } = runUmaprobe(['cache', 'rule', '--user', 'alice', '--level', '1,2', '--compact']);
    expect(code).toBe(0);
    const lines = stdout.trim().split('\n');
    expect(lines.filter((line) => !line.startsWith('#'))).toHaveLength(1);
    expect(lines.at(-1)).toMatch(
      /^alice ALL=\(root\) NOPASSWD: \/\S+\/sysctl vm\.drop_caches\\=1, .*compact_memory\\=1$/,
    );
    const document = parseDocument(runUmaprobe(['cache', 'rule', '--user', 'alice', '--json']).stdout);
    expect(document).toMatchObject({
      schema: 'umaprobe/cache-rule/1',
      user: 'alice',
      file: '/etc/sudoers.d/umaprobe-alice',
    });
  });
});
