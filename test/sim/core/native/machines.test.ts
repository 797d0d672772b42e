/** A process is on one machine, whatever the environments of its threads say and when. All *simulated*. */

import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { simulatorPath } from '../../../support/binary.ts';
import { printedBy, printedOnMachine } from '../../../support/binary-on-machine.ts';
import { withMachine } from '../../../support/machines.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder('machines');

/**
 * For the programs: `readAll()` reads from every source that a thread has; `inWorker(env, before)` does the same in a
 * worker with that process.env, after it ran `before`.
 */
const tools = `
  const { Worker } = await import('node:worker_threads');
  const readAllSource = \`async () => {
    const memory = new Float64Array(35), two = new Float64Array(2);
    const cuda = await b.readCuda(0, 10000), nvml = await b.readNvml(10000);
    return {
      host: b.hostMemory(memory) ?? memory[0], machine: b.simulatedMachine(), file: b.readFiles(['/proc/meminfo'])[0],
      cuda: cuda.driver.failure ?? cuda.devices.map((d) => d.name), runtime: cuda.runtime.failure ?? null,
      nvml: nvml.library.failure ?? nvml.devices.map((d) => d.name),
      memory: await b.memGetInfo(0, 10000), sync: b.memGetInfoSync(0, two) ?? [...two],
    };
  }\`;
  const readAll = eval(readAllSource);
  const inWorker = (env, before = '') => new Promise((resolve, reject) => {
    const source = \`const b = require(\${JSON.stringify(binary)}); const readAll = \${readAllSource}; \${before};
      readAll().then((seen) => require('node:worker_threads').parentPort.postMessage(seen));\`;
    new Worker(source, { eval: true, env, execArgv: [] }).once('message', resolve).once('error', reject);
  });
  const enter = (env) => b.enterMachine(env.UMAPROBE_SIM_LIBRARY, env.UMAPROBE_SIM);`;

type Readings = Record<'host' | 'machine' | 'file' | 'cuda' | 'runtime' | 'nvml' | 'memory' | 'sync', unknown>;

/** Readings of a program that is on no machine yet and has the environments of two booted ones, `gb10` and `h200`. */
function readingsOf(body: string): Promise<Readings[]> {
  return withMachine('gb10', ({ env: gb10 }) =>
    withMachine('h200', async ({ env: h200 }) => {
      const program = `${tools} const gb10 = ${JSON.stringify(gb10)}, h200 = ${JSON.stringify(h200)}; ${body}`;
      return (await printedBy(program)) as Readings[];
    }),
  );
}

const onGb10 = {
  host: 128518619136,
  machine: 'gb10',
  file: expect.stringContaining('MemTotal:       125506464 kB'),
  cuda: ['NVIDIA GB10'],
  runtime: null,
  nvml: ['NVIDIA GB10'],
  memory: [expect.any(Number), 128518619136],
  sync: [expect.any(Number), 128518619136],
};

const expectReal = (readings: Readings | undefined) => {
  expect(readings).toMatchObject({ host: expect.any(Number), machine: null });
  expect(readings?.host).not.toBe(onGb10.host);
  expect(JSON.stringify(readings)).not.toMatch(/GB10|125506464|128518619136/);
};

const nothing = (message: RegExp) => {
  const busy = expect.objectContaining({
    source: 'sim',
    name: 'EBUSY',
    status: 16,
    message: expect.stringMatching(message),
  });
  return { host: busy, machine: busy, file: busy, cuda: busy, runtime: busy, nvml: busy, memory: busy, sync: busy };
};
const REAL_ALREADY = /^this process has already read the real machine and stays on it; start a new process, or use: /;
const OTHER_ALREADY = /^this process has already read the simulated machine in .*machine and stays on it; /;

describe('a process that has read', () => {
  it('the real machine stays there, whatever process.env says later', async () => {
    const [readings, refused] = await readingsOf(
      'b.hostMemory(new Float64Array(35)); Object.assign(process.env, gb10); print(await readAll()); print(enter(gb10));',
    );
    expectReal(readings);
    expect(refused).toMatchObject({ source: 'sim', name: 'EBUSY', message: expect.stringMatching(REAL_ALREADY) });
  });

  it('only a library of the real machine is on the real machine as well', async () => {
    const [, readings] = await readingsOf(
      'print(await b.readNvml(10000)); Object.assign(process.env, gb10); print(await readAll());',
    );
    expectReal(readings);
  });

  it('a simulated machine stays there', async () => {
    const [before, after, refused, again] = await readingsOf(
      `Object.assign(process.env, gb10); print(await readAll()); Object.assign(process.env, h200); print(await readAll());
       print(enter(h200)); print(enter(gb10));`,
    );
    expect([before, after]).toEqual([onGb10, onGb10]);
    expect(refused).toMatchObject({ source: 'sim', name: 'EBUSY', message: expect.stringMatching(OTHER_ALREADY) });
    expect(again).toBeNull();
  });

  it('nothing yet can enter a machine without changing process.env', async () => {
    const [entered, readings] = await readingsOf('print(enter(gb10)); print(await readAll());');
    expect(entered).toBeNull();
    expect(readings).toEqual(onGb10);
  });

  it('nothing, because its machine is unusable, can enter another one', async () => {
    const [first, entered, readings] = await readingsOf(
      `process.env.UMAPROBE_SIM = '/nowhere/machine'; print(b.simulatedMachine()); print(enter(gb10)); print(await readAll());`,
    );
    expect(first).toMatchObject({ source: 'sim', name: 'NO_MACHINE' });
    expect(entered).toBeNull();
    expect(readings).toEqual(onGb10);
  });

  it('has the variables that put another process on the same machine with the same libraries', async () => {
    const names = ['UMAPROBE_SIM', 'UMAPROBE_SIM_LIBRARY', 'UMAPROBE_CUDART', 'UMAPROBE_CUDA', 'UMAPROBE_NVML'];
    const [real, still] = await readingsOf(
      "process.env.UMAPROBE_CUDA = '/nowhere/libcuda.so.1'; print(b.machineVariables()); Object.assign(process.env, gb10); print(b.machineVariables());",
    );
    const none = Object.fromEntries(names.map((name) => [name, '']));
    expect(real).toEqual({ ...none, UMAPROBE_CUDA: '/nowhere/libcuda.so.1' });
    expect(still).toEqual(real);
    await withMachine('gb10', async ({ env }) => {
      expect(await printedBy('print(b.machineVariables())', { ...env })).toEqual([env]);
      expect(await printedBy('print(b.machineVariables())', { UMAPROBE_SIM: env.UMAPROBE_SIM })).toEqual([env]);
    });
  });
});

describe('a worker', () => {
  it('is on the machine that its own process.env names', async () => {
    expect(await readingsOf('print(await inWorker(gb10));')).toEqual([onGb10]);
    expect(
      await readingsOf("print(await inWorker({}, 'Object.assign(process.env, ' + JSON.stringify(gb10) + ')'));"),
    ).toEqual([onGb10]);
  });

  it('that entered a machine binds its process: the other threads must enter the same machine', async () => {
    const [worker, refused, entered, readings] = await readingsOf(
      'print(await inWorker(gb10)); print(await readAll()); print(enter(gb10)); print(await readAll());',
    );
    expect(worker).toEqual(onGb10);
    expect(refused).toEqual(nothing(/^this process has already read the simulated machine in /));
    expect(entered).toBeNull();
    expect(readings).toEqual(onGb10);
  });

  it('on another machine than the process reads nothing at all', async () => {
    const [main, other, still] = await readingsOf(
      'Object.assign(process.env, gb10); print(await readAll()); print(await inWorker(h200)); print(await inWorker(gb10));',
    );
    expect(main).toEqual(onGb10);
    expect(other).toEqual(nothing(OTHER_ALREADY));
    expect(still).toEqual(onGb10);
  });

  it('on a simulated machine in a process that has read the real one reads nothing at all', async () => {
    const [, other] = await readingsOf('print(b.simulatedMachine()); print(await inWorker(gb10));');
    expect(other).toEqual(nothing(REAL_ALREADY));
  });

  it('without the variables of its parent’s simulated machine reads nothing at all', async () => {
    const [, other] = await readingsOf(
      'Object.assign(process.env, gb10); print(await readAll()); print(await inWorker({}));',
    );
    expect(other).toEqual(nothing(OTHER_ALREADY));
  });
});

describe('the libraries of one machine', () => {
  const missing = (message: RegExp) =>
    expect.objectContaining({ source: 'dl', name: 'LIBRARY_MISSING', message: expect.stringMatching(message) });

  it('are refused on the real machine, under any name', async () => {
    const disguise = join(folder, 'libnvidia-ml.so.1');
    copyFileSync(simulatorPath, disguise);
    const [readings] = await readingsOf(
      `Object.assign(process.env, { UMAPROBE_CUDART: gb10.UMAPROBE_CUDART, UMAPROBE_CUDA: gb10.UMAPROBE_CUDA, UMAPROBE_NVML: ${JSON.stringify(disguise)} });
       print(await readAll());`,
    );
    expectReal(readings);
    const refused = missing(/^\S+ belongs to a simulated machine, but this process uses the real one$/);
    expect(readings).toMatchObject({ runtime: refused, cuda: refused, nvml: refused });
  });

  it('are refused on a simulated machine when they are real', async () => {
    const [readings] = await readingsOf(
      "Object.assign(process.env, gb10, { UMAPROBE_NVML: 'libm.so.6' }); print(await readAll());",
    );
    expect(readings).toEqual({
      ...onGb10,
      nvml: missing(/libm\.so\.6 does not belong to the simulated machine of this process$/),
    });
  });

  it('may be a copy of the simulator: it is put on the same machine', async () => {
    const copy = join(folder, 'libumasim-copy.so');
    copyFileSync(simulatorPath, copy);
    const other = JSON.stringify(copy);
    const [first, second] = await readingsOf(
      `print(await inWorker({ ...gb10, UMAPROBE_NVML: ${other} })); print(await inWorker({ ...gb10, UMAPROBE_SIM_LIBRARY: ${other} }));`,
    );
    expect([first, second]).toEqual([onGb10, onGb10]);
  });
});

describe('a program under the simulator, as `umaprobe sim run` starts it', () => {
  it('can still enter another machine: only Node itself has read the first one', async () => {
    await withMachine('gb10', ({ foreignEnv }) =>
      withMachine('h200', async ({ env }) => {
        const [entered, machine, name] = await printedBy(
          `print(b.enterMachine(${JSON.stringify(env.UMAPROBE_SIM_LIBRARY)}, ${JSON.stringify(env.UMAPROBE_SIM)})); print(b.simulatedMachine());
           print((await b.readNvml(10000)).devices[0].name);`,
          foreignEnv(),
        );
        expect([entered, machine, name]).toEqual([null, 'h200', 'NVIDIA H200']);
      }),
    );
  });
});

describe('the kernel of a machine', () => {
  it('has pages of its own size', async () => {
    const [bytes] = await printedOnMachine('gh200', 'print(b.pageSize())');
    expect(bytes).toBe(65536);
  });
});
