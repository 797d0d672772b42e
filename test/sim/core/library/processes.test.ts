/** `processes()` on simulated machines: GPU memory beside and inside the host's, and lists that are incomplete. */

import { describe, expect, it } from 'vitest';
import type { ProcessesReport } from '../../../../lib/types/index.ts';
import { evaluateOnMachine } from '../../../support/package-on-machine.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { GiB, MiB } from '../../../support/units.ts';

async function read(machine: string, change?: string): Promise<ProcessesReport> {
  const report = await evaluateOnMachine<ProcessesReport>(
    machine,
    'return umaprobe.processes();',
    change === undefined ? {} : { change },
  );
  parseDocument(JSON.stringify(report));
  return report;
}

const engine = (report: ProcessesReport) => report.processes.find(({ pid }) => pid === 4_200_017);

describe('processes()', () => {
  it('adds GPU memory where it is host memory in no RSS', async () => {
    const report = await read('gb10-busy');
    const { anonymous, gpuBytes, held, rss } = engine(report) ?? {};
    expect(gpuBytes).toBe(70 * GiB);
    expect(held).toBe((anonymous ?? 0) + 70 * GiB);
    expect(rss).toBeLessThan(8 * GiB);
    expect(report).toMatchObject({ memoryModel: 'unified', simulated: 'gb10-busy', limits: [] });
    expect(report.groups[0]).toMatchObject({ id: 'tree:4200017', gpuBytes: 70 * GiB });
    expect(report.totals.gpu).toMatchObject({ total: null, exact: true });
  });

  it('does not add the memory of a GPU that has its own', async () => {
    const add = "machine.processes = [{ name: 'trainer', pid: 4200017, gpuBytes: 64 * 2 ** 30, anonBytes: 2 ** 30 }];";
    const report = await read('h200', add);
    const { anonymous, gpuBytes, held } = engine(report) ?? {};
    expect([gpuBytes, held]).toEqual([64 * GiB, anonymous]);
    expect(report.memoryModel).toBe('discrete');
    expect(report.totals.gpu.total).toBeGreaterThanOrEqual(64 * GiB);
  });

  it('says unknown, and not 0, where NVML does not list the processes', async () => {
    const report = await read('gb10-busy', "machine.faults.missingLibraries = ['nvml'];");
    expect(engine(report)).toMatchObject({ gpuBytes: null });
    expect(report.groups[0]?.gpuBytes).toBeNull();
    expect(report.totals.gpu).toMatchObject({ exact: false, listed: 0 });
    expect(report.limits.join(' ')).toMatch(/^GPU 0: who holds its memory is not fully known: /);
  });

  it('lists a process that NVML names and /proc does not show', async () => {
    const report = await read('gb10-busy', "machine.files = [{ path: '/proc/4200017/status', missing: true }];");
    expect(engine(report)).toMatchObject({ name: 'VLLM::EngineCor', held: 70 * GiB, rss: null, parentPid: null });
  });

  it('does not wait for ever for a process whose memory map is locked', async () => {
    const report = await read('gb10-busy', "machine.files = [{ path: '/proc/4200017/smaps_rollup', hangMs: 1e12 }];");
    expect(engine(report)).toMatchObject({ gpuBytes: 70 * GiB, heldFrom: 'rss' });
    expect(report.limits.join(' ')).toMatch(/^The time limit left 1 process without exact figures/);
  });

  it('says that a process which it may not read is missing', async () => {
    const report = await read('gb10-busy', "machine.files = [{ path: '/proc/4200017/status', error: 'EACCES' }];");
    expect(report.limits).toEqual([
      '1 process cannot be read by this user (hidepid of /proc): their memory is missing here.',
    ]);
  });

  it('names what nobody holds', async () => {
    const report = await read('gb10-590-residue');
    expect(report.unattributed).toBeGreaterThan(GiB);
  });

  it('lists a real program on the machine, with its simulated memory', async () => {
    const report = await evaluateOnMachine<ProcessesReport>(
      'gb10',
      `await umaprobe.memGetInfo();
       return umaprobe.processes();`,
    );
    const [program] = report.processes;
    expect(program).toMatchObject({ name: 'node', heldFrom: 'rss' });
    // The context of its CUDA.
    expect(program?.gpuBytes).toBeGreaterThan(100 * MiB);
    expect(program?.held).toBe((program?.anonymous ?? 0) + (program?.gpuBytes ?? 0));
  });

  it('stops at a signal, and refuses bad options', async () => {
    const answers = await evaluateOnMachine<string[]>(
      'gb10',
      `const caught = (promise) => promise.then(() => 'nothing', (error) => error.name + ': ' + error.message);
       return Promise.all([
         caught(umaprobe.processes({ signal: AbortSignal.abort() })),
         caught(umaprobe.processes({ pssLimitMs: -1 })),
         caught(umaprobe.processes({ signal: 1 })),
       ]);`,
    );
    expect(answers).toEqual([
      'AbortError: This operation was aborted',
      'RangeError: pssLimitMs is -1; expected 0 to 60000 milliseconds',
      'TypeError: signal is 1; expected an AbortSignal',
    ]);
  });
});
