/** Hung calls on simulated machines: callers wait no longer than the deadline, and no other work is blocked. */

import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../../lib/base/errors.ts';
import type { NativeCudaReport, NativeNvmlReport } from '../../../../lib/core/native/contract.ts';
import { printedOnMachine, runOnMachine } from '../../../support/binary-on-machine.ts';
import { gb10WithFaults } from '../../../support/machines.ts';

const MINUTE = 60_000;
const timed = `
  const timed = async (call) => { const t = performance.now(); const answer = await call(); return { ms: performance.now() - t, answer }; };`;

interface Timed<T> {
  ms: number;
  answer: T;
}

/** A GB10 on which this call hangs; the program has to exit by itself. */
function hanging(call: string, ms: number, more: object = {}) {
  return gb10WithFaults({ hang: [{ call, ms, ...more }] });
}

describe('a call that hangs', () => {
  it('is answered at the deadline, with everything read before it', async () => {
    const [nvml] = (await printedOnMachine(
      hanging('nvmlDeviceGetPowerUsage', MINUTE),
      `${timed} print(await timed(() => b.readNvml(1000))); process.exit();`,
    )) as [Timed<NativeNvmlReport>];
    expect(nvml.ms).toBeGreaterThanOrEqual(999);
    expect(nvml.ms).toBeLessThan(10_000);
    expect(nvml.answer.timedOut).toEqual({
      failed: true,
      source: 'umaprobe',
      call: 'nvmlDeviceGetPowerUsage',
      status: null,
      name: 'TIMEOUT',
      message: expect.stringMatching(/^no answer within \d+ ms: blocked in nvmlDeviceGetPowerUsage$/),
    });
    expect(nvml.answer.devices[0]).toMatchObject({ name: 'NVIDIA GB10', temperatureC: 40 });
    expect(nvml.answer.devices[0]).not.toHaveProperty('powerMilliwatt');
    expect(nvml.answer.devices[0]).not.toHaveProperty('smClockMHz');
  });

  it.each([
    ['cuInit', { runtimeVersion: 13000, devices: [] }],
    ['cuDeviceGetName', { deviceCount: 1, devices: [{ ordinal: 0 }] }],
    ['cudaMemGetInfo', { devices: [{ name: 'NVIDIA GB10', attributes: { hostNumaId: 0 } }] }],
  ])('in %s keeps the earlier answers of CUDA', async (call, before) => {
    const [report] = (await printedOnMachine(
      hanging(call, MINUTE),
      'print(await b.readCuda(2, 1000)); process.exit();',
    )) as [NativeCudaReport];
    expect(report.timedOut).toMatchObject({ source: 'umaprobe', call, name: 'TIMEOUT' });
    expect(report).toMatchObject(before);
  });

  it('makes later calls fail at once, with the hung call and its duration', async () => {
    const [answers] = (await printedOnMachine(
      hanging('nvmlDeviceGetName', MINUTE),
      `${timed} await b.readNvml(1000);
        const answers = []; for (let i = 0; i < 10; i++) answers.push(await timed(() => b.readNvml(10000)));
        print(answers); process.exit();`,
    )) as [Timed<NativeNvmlReport>[]];
    for (const { ms, answer } of answers) {
      expect(ms).toBeLessThan(5_000);
      expect(answer.timedOut).toMatchObject({
        call: 'nvmlDeviceGetName',
        name: 'TIMEOUT',
        message: expect.stringMatching(/^an earlier call is still blocked for \d{3,} ms in nvmlDeviceGetName$/),
      });
      expect(answer.devices).toEqual([]);
    }
  });

  it('does not block the other library, the kernel or the thread pool of Node', async () => {
    const [alive] = await printedOnMachine(
      hanging('nvml*', MINUTE),
      `const { readFile } = await import('node:fs/promises');
        const ten = Array.from({ length: 10 }, () => b.readNvml(200));
        const { deviceCount } = await b.readCuda(0, 10000);
        const host = b.hostMemory(new Float64Array(35));
        const files = await Promise.all(Array.from({ length: 8 }, () => readFile('/proc/self/comm', 'utf8')));
        print({ deviceCount, host, files: files.length, timedOut: (await Promise.all(ten)).every((r) => r.timedOut.name === 'TIMEOUT') });
        process.exit();`,
    );
    expect(alive).toEqual({ deviceCount: 1, host: null, files: 8, timedOut: true });
  });

  it('makes memGetInfoSync fail at once instead of hanging JavaScript', async () => {
    const [failure] = (await printedOnMachine(
      hanging('cudaMemGetInfo', MINUTE),
      'await b.memGetInfo(0, 1000); print(b.memGetInfoSync(0, new Float64Array(2))); process.exit();',
    )) as [Failure];
    expect(failure).toMatchObject({ source: 'umaprobe', call: 'cudaMemGetInfo', name: 'TIMEOUT' });
  });

  it('that returns late makes its worker thread usable again', async () => {
    const machine = hanging('nvmlDeviceGetName', 3000, { times: 1 });
    const [late, hung, well] = (await printedOnMachine(
      machine,
      `print(await b.readNvml(1000)); print(await b.readNvml(5000));
        let well; await until(async () => !(well = await b.readNvml(5000)).timedOut?.message.startsWith('an earlier call'));
        print(well);`,
    )) as NativeNvmlReport[];
    expect(late?.timedOut?.message).toMatch(/^no answer within/);
    expect(hung?.timedOut?.message).toMatch(/^an earlier call is still blocked/);
    expect(well).toMatchObject({ timedOut: null, devices: [{ name: 'NVIDIA GB10', smClockMHz: 208 }] });
  });

  it('is not followed by the remaining calls of its cancelled reading', async () => {
    const machine = gb10WithFaults({
      hang: [
        { call: 'nvmlDeviceGetName', ms: 1500, times: 1 },
        { call: 'nvmlDeviceGetUUID', ms: MINUTE, times: 1 },
      ],
    });
    const [well] = (await printedOnMachine(
      machine,
      `await b.readNvml(1000);
        let late; await until(async () => !(late = (await b.readNvml(1000)).timedOut)?.message.endsWith('in nvmlDeviceGetName'));
        print(late); process.exit();`,
    )) as Failure[];
    // The cancelled reading did not continue with nvmlDeviceGetUUID; the next one does, and waits there.
    expect(well).toMatchObject({ call: 'nvmlDeviceGetUUID', message: expect.stringMatching(/^no answer within/) });
  });
});

describe('submissions that queue', () => {
  it('are answered in order, each with a deadline of its own', async () => {
    // The first two readings hang for 1.5 s each, once.
    const machine = hanging('cudaMemGetInfo', 1500, { times: 2 });
    const [order] = await printedOnMachine(
      machine,
      `const order = [];
        const note = (name) => (answer) => order.push([name, answer.failed ? answer.message.split(':')[0].replace(/\\d+/, 'N') : 'read']);
        await b.readCuda(0, 10000);
        await Promise.all([
          b.memGetInfo(0, 10000).then(note('first')),
          b.memGetInfo(0, 10000).then(note('second')),
          b.memGetInfo(0, 100).then(note('third, in a hurry')),
          b.memGetInfo(0, 10000).then(note('fourth')),
        ]);
        print(order);`,
    );
    expect(order).toEqual([
      ['third, in a hurry', 'no answer within N ms'],
      ['first', 'read'],
      ['second', 'read'],
      ['fourth', 'read'],
    ]);
  });

  it('are all answered, by the hundred', async () => {
    const [count] = await printedOnMachine(
      gb10WithFaults({}),
      `const all = await Promise.all(Array.from({ length: 500 }, (_, i) => i % 2 ? b.readNvml(60000) : b.readCuda(0, 60000)));
        print(all.filter((r) => r.timedOut === null && r.deviceCount === 1).length);`,
    );
    expect(count).toBe(500);
  });
});

describe('the end of the process', () => {
  it('does not wait for an idle worker thread', async () => {
    const ended = await runOnMachine(gb10WithFaults({}), 'await b.readNvml(60000); await b.readCuda(0, 60000);');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.durationMs).toBeLessThan(10_000);
  });

  it('waits for an answer that is pending, but not for the call behind it', async () => {
    const ended = await runOnMachine(
      hanging('nvmlInit_v2', MINUTE),
      "b.readNvml(300).then((r) => console.log(r.timedOut.call)); process.on('exit', () => console.log('exit'));",
    );
    expect(ended).toMatchObject({ code: 0, stdout: 'nvmlInit_v2\nexit\n', stderr: '' });
    expect(ended.durationMs).toBeLessThan(10_000);
  });

  it.each([
    ['nvmlDeviceGetName', 'b.readNvml(60000)'],
    ['cuInit', 'b.readCuda(0, 60000)'],
    ['cudaMemGetInfo', 'b.memGetInfo(0, 60000)'],
  ])('by process.exit() leaves at once in the middle of %s', async (call, start) => {
    const ended = await runOnMachine(
      hanging(call, MINUTE),
      `${start}; setTimeout(() => { console.log(performance.now()); process.exit(7); }, 300);`,
    );
    expect(ended).toMatchObject({ code: 7, signal: null, stderr: '' });
    expect(ended.durationMs).toBeLessThan(10_000);
  });
});
