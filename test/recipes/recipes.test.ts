/**
 * The recipes of README.md: each is applied to a copy of the tree, which is then built, checked and used. A block
 * stands behind a comment that says where it goes:
 *   <!-- recipe NAME: new file PATH -->
 *   <!-- recipe NAME: PATH, after "START OF A LINE" -->   or before
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Ajv } from 'ajv';
import { beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../scripts/run.mjs';

interface Step {
  recipe: string;
  path: string;
  /** Start of the line beside which the block goes, white space apart; null: the block is a new file. */
  line: string | null;
  side: 'after' | 'before';
  block: string;
}

const STEP = /<!-- recipe (\w+): (?:new file (\S+)|(\S+), (after|before) "((?:[^"\\]|\\.)*)") -->\n```\w+\n(.*?)```/gs;

function stepsOf(page: string): Step[] {
  return [...page.matchAll(STEP)].map(([, recipe = '', created, changed, side, line, block = '']) => ({
    recipe,
    path: created ?? changed ?? '',
    line: line === undefined ? null : line.replaceAll('\\"', '"'),
    side: side === 'before' ? 'before' : 'after',
    block,
  }));
}

const steps = stepsOf(readFileSync(join(root, 'test/recipes/README.md'), 'utf8'));

function apply(tree: string, { block, line, path, side }: Step): void {
  const file = join(tree, path);
  if (line === null) {
    if (existsSync(file)) throw new Error(`${path} exists already`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, block);
    return;
  }
  const lines = readFileSync(file, 'utf8').split('\n');
  const found = lines.flatMap((text, at) => (text.trimStart().startsWith(line) ? [at] : []));
  if (found.length !== 1) throw new Error(`${path} has ${found.length} lines that start with ${line}, not one`);
  lines.splice((found[0] as number) + (side === 'after' ? 1 : 0), 0, block.replace(/\n$/, ''));
  writeFileSync(file, lines.join('\n'));
}

/** Rooms that show, list or check what the recipes add. */
const FOLLOWING = ['test/unit/docs/', 'test/unit/core/doctor/', 'test/unit/show/render/', 'test/unit/scripts/'];

/** The folder of unit tests for a file of lib: test/unit has the folders of lib. */
function unitFolder(path: string): string[] {
  const folder = dirname(path.replace(/^lib\//, 'test/unit/'));
  if (!folder.startsWith('test/unit/')) return [];
  return existsSync(join(root, folder)) ? [`${folder}/`] : unitFolder(folder);
}

/** Unit tests of the rooms that the recipes touch. */
const UNIT = [...new Set([...steps.flatMap(({ path }) => unitFolder(path)), ...FOLLOWING])];

/** Tests of the rooms to which the recipes add something. The pages and the golden screens show what a recipe changes; that a new
 * kind is swept, stressed and laid out is tried below. */
const SIMULATED = [
  'core/native/binding',
  'core/native/machines',
  'core/native/nvml',
  'core/native/cuda',
  'core/native/alloc',
  'core/library/library',
  'core/library/contract',
  'core/library/layout',
  'core/library/hung-files',
  'core/cli/doctor',
  'cli/completion',
  'cli/every-command',
  'cli/man-page',
  'sim/library/machine-files',
];

let tree = '';
/** Runs Node in the copy; the output of a command that fails is in the error. */
function node(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: tree,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    env: { ...process.env, UMAPROBE_TEST_TOTALS: '' },
  });
  if (status !== 0) throw new Error(`node ${args.join(' ')} exited with ${status}:\n${stdout}\n${stderr}`);
  return stdout;
}
const cli = (...args: string[]) => node('dist/cli.js', ...args);
const json = (...args: string[]) => JSON.parse(cli(...args, '--json')) as Record<string, never>;

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), 'umaprobe-recipes-'));
  const tracked = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const path of tracked.split('\0').filter((name) => name !== '' && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    cpSync(join(root, path), join(tree, path));
  }
  for (const packages of ['node_modules', 'tools/schemas/node_modules'])
    symlinkSync(join(root, packages), join(tree, packages));
  for (const step of steps) apply(tree, step);
  node('scripts/bootstrap.mjs');
});

describe('the copy with all recipes', () => {
  it('has every recipe of the page, and none takes more edits than before', () => {
    const edits: Record<string, number> = {};
    for (const { recipe } of steps) edits[recipe] = (edits[recipe] ?? 0) + 1;
    expect(edits).toEqual({
      field: 6,
      attribute: 4,
      hostfile: 4,
      option: 2,
      command: 5,
      finding: 6,
      kind: 4,
      quirk: 1,
      machine: 1,
    });
  });

  it('has types that agree', () => {
    node(join('node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.test.json');
    node(join('node_modules', 'typescript', 'bin', 'tsc'), '-p', 'browser/tsconfig.json');
  });

  it('breaks no rule of the house', () => {
    const lint = [join('node_modules', '@biomejs', 'biome', 'bin', 'biome'), 'lint', '--max-diagnostics=20'];
    node(...lint);
    node(
      '-e',
      "import('./scripts/house-rules.mjs').then(({ breaches }) => { if (breaches().length) throw new Error(breaches().join()); })",
    );
  });

  const vitest = [join('node_modules', 'vitest', 'vitest.mjs'), 'run', '--reporter=dot'];

  it('passes the unit tests of what the recipes touch', () => {
    for (const folder of UNIT) expect(existsSync(join(root, folder)), folder).toBe(true);
    node(...vitest, '--project', 'unit', ...UNIT);
  });

  it('passes the simulated tests of what the recipes touch', () => {
    node(...vitest, '--project', 'sim', ...SIMULATED.map((file) => `test/sim/${file}`));
  });
});

describe('an option', () => {
  it('is checked, has its default, and is in the help and in the type', () => {
    expect(cli('processes', '--help').replace(/\s+/g, ' ')).toContain(
      '--delay <time> Wait before the reading: 0ms to 1m (default 0ms)',
    );
    const typed = (word: string) =>
      spawnSync(process.execPath, ['dist/cli.js', 'processes', '--sim', 'gb10', '--delay', word], {
        cwd: tree,
        encoding: 'utf8',
      }).stderr;
    expect(typed('2m')).toBe('umaprobe: --delay "2m" is outside 0ms to 1m. See umaprobe processes --help.\n');
    expect(typed('5')).toContain('--delay "5" has no unit');
    const library = (options: string) =>
      node(
        '--input-type=module',
        '-e',
        `import('umaprobe').then((u) => u.processes(${options})).catch((error) => console.log(error.message))`,
      );
    expect(library('{ delayMs: -1 }')).toBe('delayMs is -1; expected 0 to 60000 milliseconds\n');
    expect(library('{ delay: 1 }')).toContain('Did you mean delayMs?');
  });

  it('does what its use says', () => {
    const begun = performance.now();
    cli('processes', '--sim', 'gb10', '--delay', '1500ms');
    expect(performance.now() - begun).toBeGreaterThan(1500);
  });
});

describe('a command', () => {
  it('runs, as text and as JSON, and the help knows it', () => {
    expect(cli('total', '--sim', 'gb10')).toBe('128518619136\n');
    expect(json('total', '--sim', 'gb10')).toEqual({ schema: 'umaprobe/total/1', total: 128518619136 });
    expect(cli('help')).toMatch(/^ +total +MemTotal of this machine$/m);
    expect(cli('total', '--help')).toContain('Prints the line MemTotal');
  });
});

describe('a finding', () => {
  it('is in the judgement of a machine, in doctor and in explain, and passes elsewhere', () => {
    const machine = join(tree, 'machine.json');
    writeFileSync(machine, JSON.stringify({ extends: 'gb10', name: 'unwilling', memory: { swappiness: 0 } }));
    const row = { id: 'swap.setting', severity: 'notice', summary: 'The kernel swaps only when nothing else is left.' };
    const { judgement } = json('snapshot', '--sim', machine) as unknown as { judgement: { findings: object[] } };
    expect(judgement.findings).toContainEqual(expect.objectContaining(row));
    expect(cli('explain', '--sim', machine)).toContain(row.summary);
    expect(cli('doctor', '--list')).toContain(row.id);
    for (const [sim, status] of [
      ['gb10', 'pass'],
      [machine, 'note'],
    ] as const) {
      const { checks } = json('doctor', '--only', row.id, '--sim', sim) as unknown as { checks: object[] };
      expect(checks).toEqual([expect.objectContaining({ id: row.id, status })]);
    }
  });
});

function expectValid(name: string, document: object): void {
  const schema = JSON.parse(readFileSync(join(tree, `schemas/${name}.schema.json`), 'utf8')) as { $schema?: string };
  delete schema.$schema;
  const validate = new Ajv({ strict: false }).compile(schema);
  expect(validate(document), JSON.stringify(validate.errors)).toBe(true);
}

describe('a field of a device', () => {
  it.each([
    ['rtx3060-fallback', 30, /^nvmlDeviceGetFanSpeed$/],
    ['gb10', null, /^ERR_UMA_NOT_SUPPORTED: nvmlDeviceGetFanSpeed/],
  ])('is read from the library, or null with its reason (%s)', (machine, fanPercent, from) => {
    const snapshot = json('snapshot', '--sim', machine);
    const devices = snapshot.devices as unknown as { fanPercent: number | null; from: Record<string, string> }[];
    expect(devices[0]).toMatchObject({ fanPercent, from: { fanPercent: expect.stringMatching(from) } });
    expectValid('snapshot', snapshot);
  });
});

describe('an attribute of a CUDA device', () => {
  it.each([
    ['h200', 1],
    ['gb10', 0],
  ])('is read, with its source, and its machine may describe it (%s)', (machine, mpsEnabled) => {
    const snapshot = json('snapshot', '--sim', machine);
    expect((snapshot.devices as unknown as object[])[0]).toMatchObject({
      attributes: { mpsEnabled },
      from: { 'attributes.mpsEnabled': expect.stringMatching(/^CUDA device attribute/) },
    });
    expectValid('snapshot', snapshot);
  });
});

describe('a field from a host file', () => {
  const path = '/proc/sys/vm/dirty_ratio';

  it.each([
    ['as every machine has it', undefined, 20, path],
    ['missing', { path, missing: true }, null, /ENOENT/],
    ['of another form', { path, text: 'a lot\n' }, null, /dirty_ratio/],
  ])('%s', (_, file, dirtyRatio, source) => {
    const machine = join(tree, 'machine.json');
    writeFileSync(machine, JSON.stringify({ extends: 'gb10', name: 'other', ...(file && { files: [file] }) }));
    const snapshot = json('snapshot', '--sim', machine);
    const { from, kernel } = snapshot as unknown as { from: Record<string, string>; kernel: { dirtyRatio: unknown } };
    expect(kernel.dirtyRatio).toBe(dirtyRatio);
    expect(from['kernel.dirtyRatio']).toMatch(source);
    expectValid('snapshot', snapshot);
  });
});

describe('a kind of memory', () => {
  const probe = ['--kind', 'portable', '--sim', 'gb10', '--journal', 'none'];

  it('is swept, and the report fits its schema', () => {
    const report = json('sweep', ...probe, '--sizes', '64MiB,128MiB');
    expect(report).toMatchObject({ state: 'complete', largest: { portable: 128 * 2 ** 20, device: null } });
    expectValid('sweep', report);
  });

  it('is stressed and laid out, too', () => {
    const stress = json('stress', ...probe, '--max', '256MiB');
    expect(stress).toMatchObject({ state: 'limit', kind: 'portable', maxBytes: 256 * 2 ** 20 });
    expectValid('stress', stress);
    const layout = json('layout', 'a=64MiB', ...probe);
    expect(layout).toMatchObject({ state: 'complete', kind: 'portable' });
    expectValid('layout', layout);
  });

  it('has a letter, a colour and a place in the help', () => {
    expect(cli('sweep', ...probe, '--sizes', '64MiB', '--no-color')).toMatch(/^[A-Z] portable {2}cudaHostAlloc/m);
    expect(cli('sweep', '--help')).toContain('portable');
    expect(
      spawnSync(process.execPath, ['dist/cli.js', 'sweep', '--kind', 'nope'], { cwd: tree, encoding: 'utf8' }).stderr,
    ).toContain('portable');
  });
});

describe('a quirk and a machine', () => {
  it('speak', () => {
    expect(cli('--full', '--sim', 'gb10-small', '--no-color')).toContain('This note was added by a recipe.');
    expect(cli('sim', 'list')).toContain('gb10-small');
    expect(json('snapshot', '--sim', 'gb10-small')).toMatchObject({
      simulated: 'gb10-small',
      host: { swapTotal: 2147483648 },
    });
  });
});
