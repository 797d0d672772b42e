/** Runs sweep() or layout() as a program does: in a process of its own, on a simulated machine booted for it. */

import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './cli.ts';

export interface OnMachine {
  /** Simulated seconds per real one. Default 20. */
  scale?: number;
  /** JavaScript that makes `machine` from the loaded one: "machine.faults.hang = […]". */
  change?: string;
}

/**
 * The body may use `umaprobe`, `simulation`, `journal` (a path that is free) and `childPid()`; what it returns comes back.
 */
export function onMachine<T>(name: string, body: string, { change = '', scale = 20 }: OnMachine = {}): Promise<T> {
  const journal = join(mkdtempSync(join(tmpdir(), 'umaprobe-probe-')), 'journal');
  const script = `
    import { readFileSync } from 'node:fs';
    import * as umaprobe from 'umaprobe';
    import { activate, loadMachine, simulate } from 'umaprobe/sim';
    const machine = structuredClone(loadMachine(${JSON.stringify(name)}));
    ${change}
    const simulation = simulate(machine, { scale: ${scale} });
    activate(simulation);
    const journal = ${JSON.stringify(journal)};
    const childPid = () => Number(readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8').trim().split(' ').at(-1));
    const caught = (error) => ({ thrown: { name: error.name, code: error.code, message: error.message } });
    const answer = await (async () => { ${body} })();
    process.stdout.write(JSON.stringify(answer));
    simulation.close();`;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT, timeout: 60_000 });
    const [out, err]: [string[], string[]] = [[], []];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk.toString()));
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve(JSON.parse(out.join('')) as T);
      else reject(new Error(`ended with ${code ?? signal}: ${err.join('')}${out.join('')}`));
    });
  });
}

/** Least squares of y over x: slope, and how much of the variance the line explains. */
export function line(points: readonly (readonly [number, number])[]): { slope: number; rSquared: number } {
  const mean = (at: 0 | 1) => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [mx, my] = [mean(0), mean(1)];
  const sum = (of: (x: number, y: number) => number) => points.reduce((all, [x, y]) => all + of(x - mx, y - my), 0);
  const [xx, yy, xy] = [sum((x) => x * x), sum((_, y) => y * y), sum((x, y) => x * y)];
  return { slope: xy / xx, rSquared: (xy * xy) / (xx * yy) };
}
