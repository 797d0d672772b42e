/** Simulated machines from a program: boot, record, close, and putting one's own process on one. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { simulatorLibrary } from '../../lib/native.ts';
import { loadMachine, machines, simulate } from '../../lib/sim.ts';
import { environment, ROOT } from './cli-run.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'umaprobe-test-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a module beside the built library; what it logs is JSON. */
function inChild(body: string, env: Record<string, string> = {}): unknown {
  const script = `import { activate, simulate } from '${ROOT}dist/sim.js';\nimport { snapshot } from '${ROOT}dist/index.js';\n${body}`;
  const ran = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    env: environment(env),
    timeout: 20_000,
  });
  if (ran.status !== 0) throw new Error(ran.stderr);
  return JSON.parse(ran.stdout);
}

describe('simulate', () => {
  it('boots by name or by value, keeps a record, and leaves nothing', () => {
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

  it('runs the clock at the scale that was asked for', () => {
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

  it('refuses what the schema lets pass and no machine can be', () => {
    const gb10 = loadMachine('gb10');
    const memory = { ...(gb10.memory as object), fileCache: 900_000_000_000 };
    expect(() => simulate({ ...gb10, memory })).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARG_VALUE' }));
  });

  it('lists what ships', () => {
    expect(machines().find(({ name }) => name === 'gb10')).toMatchObject({ total: 128_518_619_136 });
  });
});

describe('activate', () => {
  it('puts this process on the machine', () => {
    expect(inChild(`activate(simulate('gb10')); console.log(JSON.stringify((await snapshot()).simulated));`)).toBe(
      'gb10',
    );
  });

  it('refuses once a library is open, because it stays open', () => {
    // Any library will do that is called so; NVML's functions are all in the simulator.
    const nvml = join(folder, 'libnvidia-ml.so.1');
    copyFileSync(simulatorLibrary(), nvml);
    const message = inChild(
      `await snapshot();
       try { activate(simulate('gb10')); console.log('"accepted"'); } catch (error) { console.log(JSON.stringify(error.message)); }`,
      { UMAPROBE_NVML: nvml },
    );
    expect(message).toMatch(
      /has .*libnvidia-ml\.so\.1.* open already; a simulated machine must be activated before the first reading/,
    );
  });
});
