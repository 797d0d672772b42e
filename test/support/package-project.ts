/** A project that has umaprobe, on a machine with Node and one package manager and no compiler. */

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { nodeBinary } from '../../scripts/fetch-programs.mjs';
import type { PackageManager } from './package-managers.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Prints the binary that was loaded, as the kernel has it. */
const PROGRAM = `
import { readFileSync } from 'node:fs';
import { hostMemorySync } from 'umaprobe';
if (!(hostMemorySync().total > 0)) throw new Error('no memory');
console.log(/\\/.*\\.node$/m.exec(readFileSync('/proc/self/maps', 'utf8'))[0]);
`;

export interface Ran {
  status: number;
  text: string;
}

export class Project {
  readonly folder = join(temporaryFolder('manager'), 'my app');
  readonly #manager: PackageManager;
  readonly #env: Record<string, string>;

  constructor(manager: PackageManager, registry: string) {
    this.#manager = manager;
    const bin = join(temporaryFolder('path'), 'bin');
    mkdirSync(bin);
    mkdirSync(this.folder, { recursive: true });
    symlinkSync(nodeBinary(process.arch, manager.node), join(bin, 'node'));
    const home = temporaryFolder('home');
    // No compiler, no python, no npm but the one that is asked.
    for (const name of ['sh', 'env']) symlinkSync(`/bin/${name}`, join(bin, name));
    this.#env = {
      PATH: bin,
      HOME: home,
      CC: 'false',
      CXX: 'false',
      DENO_DIR: home,
      DENO_NO_UPDATE_CHECK: '1',
      NO_COLOR: '1',
    };
    const settings = manager.settings(registry);
    const files = {
      'package.json': '{ "private": true, "dependencies": { "umaprobe": "*" } }\n',
      'program.mjs': PROGRAM,
      ...settings,
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.folder, name), text);
  }

  ask(words: readonly string[]): Promise<Ran> {
    return this.#run([...this.#manager.program(), ...words]);
  }

  /** The binary that a program of the project loads. */
  async loads(): Promise<string> {
    const { status, text } = await this.#run([...this.#manager.run, 'program.mjs']);
    expect(status, text).toBe(0);
    return realpathSync(text.trim());
  }

  forgetModules(): void {
    for (const name of ['node_modules', '.pnp.cjs', '.yarn/unplugged', '.yarn/install-state.gz'])
      rmSync(join(this.folder, name), { recursive: true, force: true });
  }

  #run([program = '', ...args]: readonly string[]): Promise<Ran> {
    return new Promise((resolve) => {
      execFile(program, args, { cwd: this.folder, env: this.#env, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
        resolve({ status: error === null ? 0 : Number(error.code ?? -1), text: stdout + stderr });
      });
    });
  }
}

/** What package managers say of every package, without the paths and addresses in a line. */
const SAID = [
  /^[+] umaprobe/, // npm, pnpm, Bun
  /YN0085: │ [+] umaprobe/, // Yarn
  /^(Initialize umaprobe|[+] npm:umaprobe)/, // Deno
  /Agent skills awaiting approval: umaprobe[.]/, // pnpm
];
const SHIPPED = /\/prebuilds\/linux-\w+\/umaprobe\.glibc\.node$/;

/** Nothing was built, no script ran or was blocked, and the shipped binary loads. */
export async function expectInstalled(project: Project, ran: Ran): Promise<void> {
  expect(ran.status, ran.text).toBe(0);
  const lines = ran.text.split('\n').map((line) => line.replaceAll(/\S*\/\S*|node-gyp-build\S*/g, '').trim());
  const named = lines.filter((line) => /umaprobe|gyp/.test(line));
  expect(named.filter((line) => !SAID.some((pattern) => pattern.test(line)))).toEqual([]);
  const loaded = await project.loads();
  expect(loaded).toMatch(SHIPPED);
  expect(existsSync(loaded.replace(/prebuilds.*/, 'build'))).toBe(false);
}
