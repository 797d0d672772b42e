/** Simulated machines in a program: boot, record, close, activate. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadMachine, machines, simulate } from '../../../../lib/sim.ts';
import { evaluatePackage } from '../../../support/package-on-machine.ts';

/** Runs a program with `activate`, `simulate` and `snapshot`; answers what it returns. */
function evaluate<T>(body: string): Promise<T> {
  const imports = `
    import { spawnSync } from 'node:child_process';
    import { Worker } from 'node:worker_threads';
    import { activate, simulate } from 'umaprobe/sim';
    const { hostMemorySync, snapshot } = umaprobe;`;
  return evaluatePackage(body, { imports });
}

describe('simulate', () => {
  it('boots by name or by value, keeps a record, and removes its files', () => {
    for (const machine of ['gb10', loadMachine('gb10')]) {
      const simulation = simulate(machine, { scale: 1000 });
      expect(simulation.name).toBe('gb10');
      expect(simulation.env.UMAPROBE_SIM).toBe(simulation.statePath);
      expect(simulation.record()).toMatchObject({ machine: 'gb10', wedged: null });
      expect(existsSync(simulation.statePath)).toBe(true);
      simulation.close();
      expect(existsSync(simulation.statePath)).toBe(false);
      simulation.close();
    }
  });

  it('runs the clock at the requested scale', () => {
    const simulation = simulate('gb10', { scale: 100_000 });
    const from = performance.now();
    while (performance.now() - from < 50);
    const { simulatedMs } = simulation.record();
    simulation.close();
    expect(simulatedMs).toBeGreaterThan(50 * 100_000);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('refuses a scale of %d', (scale) => {
    expect(() => simulate('gb10', { scale })).toThrow(
      /scale is .*; expected simulated seconds per real second, above 0/,
    );
  });

  it('checks a machine that a program made like a file', () => {
    const gb10 = loadMachine('gb10');
    const memory = { ...gb10.memory, total: '121 GiB' as unknown as number };
    expect(() => simulate({ ...gb10, memory })).toThrow('The machine: memory.total is "121 GiB"; expected integer');
  });

  it('refuses an impossible machine that its schema accepts', () => {
    const gb10 = loadMachine('gb10');
    const memory = { ...gb10.memory, fileCache: 900_000_000_000 };
    expect(() => simulate({ ...gb10, memory })).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARG_VALUE' }));
  });

  it('lists the shipped machines', () => {
    expect(machines().find(({ name }) => name === 'gb10')).toMatchObject({ total: 128_518_619_136 });
  });
});

describe('activate', () => {
  it('puts this process on the machine', async () => {
    expect(await evaluate(`activate(simulate('gb10')); return (await snapshot()).simulated;`)).toBe('gb10');
  });

  it('puts later workers and children on it', async () => {
    const seen = await evaluate(
      `activate(simulate('gb10'));
       const source = "import('umaprobe').then(({ snapshot }) => snapshot()).then(({ simulated }) => say(simulated))";
       const worker = new Worker("const say = (word) => require('node:worker_threads').parentPort.postMessage(word); " + source, { eval: true, execArgv: [] });
       const inWorker = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
       const child = spawnSync(process.execPath, ['-e', 'const say = console.log; ' + source], { encoding: 'utf8' });
       return [inWorker, child.stdout.trim()];`,
    );
    expect(seen).toEqual(['gb10', 'gb10']);
  });

  it('may be called twice', async () => {
    expect(
      await evaluate(
        `const machine = simulate('gb10'); activate(machine); await snapshot(); activate(machine); return (await snapshot()).simulated;`,
      ),
    ).toBe('gb10');
  });

  it.each([
    ['hostMemorySync()', null],
    ['await snapshot()', null],
    ["activate(simulate('h200'))", 'h200'],
  ])('refuses after %s, and changes nothing', async (earlier, simulated) => {
    const seen = await evaluate<{ names: string[] }>(
      `${earlier};
       const { MemTotal, UMAPROBE_SIM } = { MemTotal: hostMemorySync().total, ...process.env };
       let refused; try { activate(simulate('gb10')); } catch ({ name, code, message }) { refused = { name, code, message }; }
       const { host, simulated, devices } = await snapshot();
       return { refused, simulated, same: host.total === MemTotal, env: process.env.UMAPROBE_SIM === UMAPROBE_SIM, names: devices.map(({ name }) => name) };`,
    );
    expect(seen).toMatchObject({
      refused: { name: 'UmaError', code: 'ERR_UMA_BUSY', message: expect.stringContaining('start a new process') },
      simulated,
      same: true,
      env: true,
    });
    expect(seen.names).not.toContain('NVIDIA GB10');
  });
});
