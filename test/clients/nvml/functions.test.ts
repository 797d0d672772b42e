/** Which functions of NVML each program asks for, read from its files, and which of them the simulator has. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clientsFolder } from '../../../scripts/debian-clients.mjs';
import { clientVersion, missingClients, type Release } from '../../support/debian.ts';
import { ROOT } from '../../support/root.ts';

const missing = missingClients('trixie') ?? missingClients('bookworm');

/** Programs, each with the file or folder that has the names of the functions. */
const PROGRAMS: readonly [title: string, release: Release, name: string, path: string][] = [
  ['nvtop', 'bookworm', 'nvtop', 'usr/bin/nvtop'],
  ['nvtop', 'trixie', 'nvtop', 'usr/bin/nvtop'],
  ['btop', 'trixie', 'btop', 'usr/bin/btop'],
  ['gpustat', 'trixie', 'gpustat', 'usr/lib/python3/dist-packages/gpustat'],
  ['nvitop', 'trixie', 'nvitop', 'usr/lib/python3/dist-packages/nvitop'],
  ['hwloc', 'trixie', 'hwloc-nox', 'usr/lib/x86_64-linux-gnu/hwloc/hwloc_nvml.so'],
];

const NAMES = /\bnvml(?:Init|Shutdown|ErrorString|System|Device)\w*/g;

/** Names in a file, or in the Python files of a folder. */
function namesIn(path: string): Set<string> {
  const files = statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true })
        .map(String)
        .filter((file) => file.endsWith('.py'))
        .map((file) => join(path, file))
    : [path];
  const names = files.flatMap((file) => readFileSync(file, 'latin1').match(NAMES) ?? []);
  // Types, beginnings of names that the program puts together, and a function of the binding alone.
  const others = /_t$|_v?$|^nvmlDevice(Get)?$|^nvmlDeviceGetCurrentDriverModel$/;
  return new Set(names.filter((name) => !others.test(name)));
}

/** Names that the simulator's sources define. */
function simulated(): Set<string> {
  const folder = join(ROOT, 'native/sim/abi');
  const sources = readdirSync(folder).filter((file) => /^nvml.*\.cc$|^nvml_functions\.h$/.test(file));
  const text = sources.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
  return new Set(
    [...text.matchAll(/^(?:UMASIM_API\s+(?:const\s+)?\w+\s*\*?\s*(?=\w+\()| {2}X\((?=\w+, ))(nvml\w+)/gm)].map(
      ([, name = '']) => name,
    ),
  );
}

/** Versions of a function in a set of names: "1 3" for f and f_v3, "–" for none. */
function versions(of: string, names: Set<string>): string {
  const found = [...names].map((name) => /^(\w+?)(?:_v(\d))?$/.exec(name)).filter((parts) => parts?.[1] === of);
  return found.length === 0
    ? '–'
    : found
        .map((parts) => parts?.[2] ?? '1')
        .sort()
        .join(' ');
}

function table(): string[] {
  const asked = PROGRAMS.map(([, release, , path]) => namesIn(join(clientsFolder(release), path)));
  const functions = new Set(asked.flatMap((names) => [...names].map((name) => name.replace(/_v\d$/, ''))));
  const heads = PROGRAMS.map(([title, release, name]) => `${title} ${clientVersion(release, name)}`);
  const ours = simulated();
  return [
    `| Function | ${heads.join(' | ')} | simulated |`,
    `|---|${heads.map(() => '---|').join('')}---|`,
    ...[...functions]
      .sort()
      .map((name) => `| \`${name}\` | ${[...asked, ours].map((names) => versions(name, names)).join(' | ')} |`),
  ];
}

describe.skipIf(missing !== null)(`functions of NVML${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
  it('golden/functions.md has the table (UPDATE_GOLDEN=1 writes it)', () => {
    const golden = join(import.meta.dirname, 'golden/functions.md');
    const heading = readFileSync(golden, 'utf8').split('| Function |')[0];
    if (process.env.UPDATE_GOLDEN !== undefined) writeFileSync(golden, `${heading}${table().join('\n')}\n`);
    const page = readFileSync(golden, 'utf8');
    const shown = page.split('\n').filter((line) => line.startsWith('| Function |') || line.startsWith('| `nvml'));
    const [head, , ...rows] = table();
    expect(shown).toEqual([head, ...rows]);
  });

  it('every program of C finds all that it asks for', () => {
    const ours = simulated();
    for (const [title, release, , path] of PROGRAMS.filter(([, , , path]) => !path.includes('python3')))
      expect(
        [...namesIn(join(clientsFolder(release), path))].filter((name) => !ours.has(name)),
        title,
      ).toEqual([]);
  });
});
