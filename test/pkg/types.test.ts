/** The declarations: publint, Are the types wrong, and programs of both formats that the compiler checks. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { typeScript } from '../../scripts/fetch-programs.mjs';
import { PACKAGE_DOORS } from '../../scripts/rooms.mjs';
import { ROOT } from '../support/root.ts';
import { runInSandbox } from '../support/sandbox.ts';

const { app, tarball } = inject('packed');
const require = createRequire(import.meta.url);
const env = { PATH: process.env.PATH ?? '' };

const PROGRAM = `
  import { memorySync, snapshot, UmaError, type Memory, type Snapshot } from 'umaprobe';
  import { type FitLargest, type FitReport, type FitTogether, fit } from 'umaprobe/models';
  import { type CsvReport, toCsv } from 'umaprobe/report';
  import { guard, type GuardReport, record } from 'umaprobe/run';
  import { serve, type ServeOptions } from 'umaprobe/serve';
  import { machines, type MachineSummary } from 'umaprobe/sim';
  export async function answers(taken: Snapshot): Promise<[FitReport, FitLargest, FitTogether]> {
    const together = [{ model: 'a' }, { model: 'b' }];
    return [
      await fit({ bytes: 1, snapshot: taken }),
      await fit({ largest: true, snapshot: taken }),
      await fit({ together, program: 'vllm', snapshot: taken }),
    ];
  }
  export const guarded = (): Promise<GuardReport> => guard({ command: ['true'] });
  export const csv = (report: CsvReport): Promise<string> => toCsv(report);
  export const served = (options: ServeOptions) => serve(options);
  export async function total(): Promise<number> {
    const taken: Snapshot = await snapshot({ memGetInfo: 'child' });
    const list: MachineSummary[] = machines();
    const seen: Memory = memorySync();
    return taken.host.total + list.length + (seen.safe ?? 0);
  }
  export async function ends(): Promise<number> {
    await using recorder = await record();
    await using server = await serve();
    await using run = guard({ command: ['true'] });
    return recorder.state().writtenBytes + server.url.length + (await run).readings;
  }
  export const isOurs = (error: unknown): error is UmaError => error instanceof UmaError;
  // @ts-expect-error: the types are real ones, and not any
  export const wrong: string = machines();
`;

const OWN = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');

interface Compilation {
  type?: 'module' | 'commonjs';
  module?: string;
  tsc?: string;
  lib?: readonly string[];
  types?: readonly string[];
}

/** What tsc prints about a program of this kind; empty where it is right. */
function compile({
  type = 'module',
  module = 'nodenext',
  tsc = OWN,
  lib = ['es2023'],
  types = [],
}: Compilation): string {
  const folder = mkdtempSync(join(app, 'types-'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type }));
  writeFileSync(join(folder, 'program.ts'), PROGRAM);
  const typeRoots = [join(ROOT, 'node_modules', '@types')];
  const options = { strict: true, noEmit: true, skipLibCheck: false, target: 'es2023', module, lib, types, typeRoots };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options }));
  const { stdout, stderr } = runInSandbox(folder, env, 'node', tsc);
  return stdout + stderr;
}

describe('the declarations', () => {
  it.each([
    ['module', 'node16'],
    ['module', 'nodenext'],
    ['commonjs', 'node16'],
    ['commonjs', 'node20'],
  ] as const)('are right for a program with "type": "%s" under --module %s', (type, module) => {
    expect(compile({ type, module })).toBe('');
  });

  const versions = { 5.9: () => typeScript('5.9'), 7: () => OWN };
  const libs = [['es2023'], ['es2023', 'esnext.disposable']];
  it.each(
    Object.entries(versions).flatMap(([version, tsc]) =>
      libs.flatMap((lib) => [['node'], []].map((types) => ({ version, tsc, lib, types }))),
    ),
  )('are right for TypeScript $version with lib $lib and types $types', ({ tsc, lib, types }) => {
    expect(compile({ tsc: tsc(), lib, types })).toBe('');
  });

  it('have no problem that publint finds', () => {
    const { status, stdout } = runInSandbox(ROOT, env, 'node', cliOf('publint'), 'run', '--strict', tarball);
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining('All good!') });
  });

  // node10 is the resolution of TypeScript before 4.7, which knows no "exports"; no supported Node resolves so.
  it('have no problem that Are the types wrong finds', () => {
    const flags = ['--profile', 'node16', '--no-emoji', '--no-color', tarball];
    const { status, stdout } = runInSandbox(ROOT, env, 'node', cliOf('@arethetypeswrong/cli'), ...flags);
    expect(status, stdout).toBe(0);
    for (const door of Object.keys(PACKAGE_DOORS).filter((name) => name !== 'index'))
      expect(stdout).toMatch(new RegExp(`"umaprobe/${door}"\\s*│ OK \\(CJS\\)\\s*│ OK \\(ESM\\)`));
  });
});

/** The file that a package runs as its command. */
function cliOf(name: string): string {
  const manifest = join(ROOT, 'node_modules', name, 'package.json');
  const { bin } = require(manifest) as { bin: string | Record<string, string> };
  return join(manifest, '..', typeof bin === 'string' ? bin : (Object.values(bin)[0] ?? ''));
}
