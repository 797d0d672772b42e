/**
 * Programs of npm, unmodified, on simulated machines: what each believes of memory and GPU (the table of
 * docs/what-node-programs-believe.md), and the page's drop-ins, which give them what memory() says.
 * They are installed into build-node-programs, without their scripts and optional packages: 200 MB.
 */
import { execFile, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { withMachine } from '../support/machines.ts';
import { ROOT } from '../support/root.ts';

/** llm-checker may not be distributed for money: it is fetched for the test, and no part of it is here. */
const VERSIONS = {
  '@fugood/llama.node': '1.7.15',
  '@fugood/node-llama-linux-x64': '1.7.15',
  '@node-llama-cpp/linux-x64': '3.22.1',
  '@openclaw/llama-cpp-provider': '2026.9.5',
  'llm-checker': '3.8.1',
  'node-llama-cpp': '3.22.1',
  systeminformation: '5.33.23',
};
const PACKAGES = Object.entries(VERSIONS).map(([name, version]) => `${name}@${version}`);

const PAGE = join(ROOT, 'docs/what-node-programs-believe.md');
const page = readFileSync(PAGE, 'utf8');
const probes = join(ROOT, 'test/clients/node-programs');
const folder = join(ROOT, 'build-node-programs');
const MACHINES = ['gb10', 'gb10-cached', 'h200'];

/** Why the programs are not here; null: they are. */
function missingPrograms(): string | null {
  if (process.arch !== 'x64') return 'the packages with binaries are those of x64';
  const installed = join(folder, 'installed');
  if (!existsSync(installed) || readFileSync(installed, 'utf8') !== PACKAGES.join('\n')) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--omit=optional', '--omit=peer'];
    const { error, status, stderr } = spawnSync('npm', ['install', ...options, ...PACKAGES], {
      cwd: folder,
      encoding: 'utf8',
      timeout: 400_000,
    });
    if (error !== undefined || status !== 0) return `npm cannot install them: ${error?.message ?? stderr}`;
    symlinkSync(ROOT, join(folder, 'node_modules', 'umaprobe'));
    writeFileSync(installed, PACKAGES.join('\n'));
  }
  return null;
}

/** An lspci that names the GPUs of the machine. This computer's has none, and systeminformation asks it first. */
const LSPCI = `#!/bin/sh
nvidia-smi --query-gpu=pci.bus_id,name --format=csv,noheader | while IFS=, read -r bus name; do
  echo "\${bus#????} VGA compatible controller: NVIDIA Corporation$name (rev a1)"
done
`;

let missing: string | null = null;

beforeAll(() => {
  missing = missingPrograms();
  if (missing !== null) return;
  for (const file of readdirSync(probes)) copyFileSync(join(probes, file), join(folder, file));
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'bin/lspci'), LSPCI, { mode: 0o755 });
}, 420_000);

/** What a program prints on a machine, as lines. */
function printed(machine: string, command: string, ...args: string[]): Promise<string[]> {
  return withMachine(machine, async ({ foreignEnv }) => {
    const { PATH, ...variables } = foreignEnv();
    const env = { ...process.env, ...variables, PATH: `${join(folder, 'bin')}:${PATH}` };
    const { stdout } = await promisify(execFile)(command, args, { cwd: folder, env, timeout: 50_000 });
    return stdout.trimEnd().split('\n');
  });
}

/** The rows of the table: program, version, and who prints the cells, a line for each row. */
const ROWS: readonly [rows: [program: string, version: string][], command: string, ...args: string[]][] = [
  [[['umaprobe, `memory()`', '']], process.execPath, 'umaprobe.mjs'],
  [[['Node, `os.totalmem()`, `os.freemem()`', '']], process.execPath, 'node.mjs'],
  [
    [
      ['systeminformation, `graphics()`', VERSIONS.systeminformation],
      ['systeminformation, `mem()`', VERSIONS.systeminformation],
    ],
    process.execPath,
    'systeminformation.mjs',
  ],
  [[['llm-checker', VERSIONS['llm-checker']]], process.execPath, 'llm-checker.mjs'],
  [[['openclaw, llama.cpp', VERSIONS['@openclaw/llama-cpp-provider']]], process.execPath, 'openclaw.mjs'],
  [[['node-llama-cpp, without CUDA', VERSIONS['node-llama-cpp']]], process.execPath, 'node-llama-cpp.mjs'],
  [[['@fugood/llama.node, without CUDA', VERSIONS['@fugood/llama.node']]], process.execPath, 'llama-node.mjs'],
  [
    [['NVIDIA/NemoClaw, its query', '']],
    ...(['nvidia-smi', '--query-gpu=index,memory.total,memory.free', '--format=csv,noheader,nounits'] as const),
  ],
];

async function rowsOf([rows, command, ...args]: (typeof ROWS)[number]): Promise<string[]> {
  const answers = await Promise.all(MACHINES.map((machine) => printed(machine, command, ...args)));
  return rows.map(([program, version], line) => {
    const cells = answers.map((lines) => lines[line] ?? '');
    return `| ${[program, version, ...cells].join(' | ')} |`.replace('|  |', '| – |');
  });
}

/** With UPDATE_GOLDEN=1: read the difference. */
function writePage(rows: readonly string[]): void {
  const table = /(\|---\|---\|---\|---\|---\|\n)(?:\|.*\n)*/;
  writeFileSync(PAGE, page.replace(table, `$1${rows.join('\n')}\n`));
}

describe('docs/what-node-programs-believe.md', () => {
  it('has what the programs say', { timeout: 120_000 }, async (context) => {
    if (missing !== null) return context.skip(missing);
    const rows: string[] = [];
    for (const row of ROWS) rows.push(...(await rowsOf(row)));
    if (process.env.UPDATE_GOLDEN !== undefined) return writePage(rows);
    const shown = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| Program'));
    expect(shown, `the page should have:\n${rows.join('\n')}\n`).toEqual(rows);
  });
});

const DROP_INS = new Map(
  [...page.matchAll(/<!-- drop-in: (\S+) -->\n```javascript\n(.*?)```/gs)].map(([, name = '', code = '']) => [
    name,
    code,
  ]),
);

/** Program → an expression of what it believes with the drop-in, which is `dropIn`, and what memory() says of it. */
const WITH_DROP_IN: Record<string, [believed: string, right: string]> = {
  systeminformation: [
    '(await dropIn.graphics()).controllers.map((gpu) => [gpu.name, gpu.memoryTotal, gpu.memoryFree])',
    'said.gpus.map((gpu) => [gpu.name, mib(gpu.total), mib(gpu.available)])',
  ],
  'llm-checker': [
    "(await new (await import('llm-checker/src/hardware/unified-detector.js')).default().detect()).summary.totalVRAM",
    'Math.round(said.total / 2 ** 30)',
  ],
  openclaw: [
    'await dropIn.readAccelerator()',
    `{ kind: 'cuda', devices: said.gpus.map((gpu) => ({
      name: gpu.name, driverVersion: '580.142', computeCapability: 12.1,
      totalMemoryBytes: gpu.total, availableMemoryBytes: gpu.available })) }`,
  ],
  'node-llama-cpp': [
    'await dropIn.getVramState()',
    '{ total: said.total, free: said.available, used: said.total - said.available, unifiedSize: said.total }',
  ],
  'llama-node': [
    '(await dropIn.getBackendDevicesInfo()).map((device) => [device.maxMemorySize, device.safeMemorySize])',
    '[[said.total, said.safe]]',
  ],
  nemoclaw: [
    'await dropIn.gpuMemoryLines()',
    "said.gpus.map((gpu) => '0, ' + gpu.uuid + ', ' + mib(gpu.total) + ', ' + mib(gpu.available))",
  ],
};

describe('the drop-ins', () => {
  it('are all tested', () => {
    expect([...DROP_INS.keys()].sort()).toEqual(Object.keys(WITH_DROP_IN).sort());
  });

  it.for(Object.entries(WITH_DROP_IN))('%s gets what memory() says', async ([name, [believed, right]], context) => {
    if (missing !== null) return context.skip(missing);
    writeFileSync(join(folder, `drop-in-${name}.mjs`), DROP_INS.get(name) ?? '');
    const program = `import * as dropIn from './drop-in-${name}.mjs';
      import { deepStrictEqual } from 'node:assert';
      import { memory } from 'umaprobe';
      const mib = (bytes) => Math.floor(bytes / 2 ** 20);
      const said = await memory();
      if (!(said.unified && said.total > 0 && said.available > 0)) throw new Error('memory() does not know');
      deepStrictEqual(${believed}, ${right});
      console.log('right');`;
    writeFileSync(join(folder, `check-${name}.mjs`), program);
    expect(await printed('gb10', process.execPath, `check-${name}.mjs`)).toEqual(['right']);
  });
});
