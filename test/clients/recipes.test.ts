/**
 * The programs of docs/recipes.md, with the packages of other people and models that are made here: each asks, makes room,
 * loads, and takes what it expected. The packages are installed into build-recipes (1.4 GB), without their scripts.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { CLI, cliEnvironment } from '../support/cli.ts';
import { ROOT } from '../support/root.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { writeLlama, writeOnnx } from '../support/tiny-models.ts';

const page = readFileSync(join(ROOT, 'docs', 'recipes.md'), 'utf8');
const programs = new Map(
  [...page.matchAll(/<!-- program: (\S+) -->\n```javascript\n(.*?)```/gs)].map(([, name = '', code = '']) => [
    name,
    code,
  ]),
);

const PACKAGES = ['onnxruntime-node@1.30.0', 'node-llama-cpp@3', '@huggingface/transformers@3'];
const folder = join(ROOT, 'build-recipes');
const models = temporaryFolder('recipes');

/** Why the packages are not here; null: they are. */
function missingPackages(): string | null {
  if (existsSync(join(folder, 'installed'))) return null;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  const arguments_ = ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...PACKAGES];
  const { error, status, stderr } = spawnSync('npm', arguments_, { cwd: folder, encoding: 'utf8', timeout: 400_000 });
  if (error !== undefined || status !== 0)
    return `npm cannot install ${PACKAGES.join(', ')}: ${error?.message ?? stderr}`;
  symlinkSync(ROOT, join(folder, 'node_modules', 'umaprobe'));
  writeFileSync(join(folder, 'installed'), PACKAGES.join('\n'));
  return null;
}

let missing: string | null = null;

beforeAll(() => {
  missing = missingPackages();
}, 420_000);

const MAKERS: Record<string, () => string> = {
  'onnxruntime-node': () => {
    const path = join(models, 'product.onnx');
    writeOnnx(path, 4096, 8192);
    return path;
  },
  'transformers.js': () => {
    const path = join(models, 'bert');
    mkdirSync(join(path, 'onnx'), { recursive: true });
    writeFileSync(join(path, 'config.json'), '{ "model_type": "bert", "architectures": ["BertModel"] }');
    writeOnnx(join(path, 'onnx', 'model.onnx'), 4096, 8192);
    return path;
  },
  'node-llama-cpp': () => {
    const path = join(models, 'llama.gguf');
    writeLlama(path);
    return path;
  },
};

describe('docs/recipes.md', () => {
  it('has a program for each', () => {
    expect([...programs.keys()].sort()).toEqual(Object.keys(MAKERS).sort());
  });

  it.for(Object.keys(MAKERS))('%s takes what was expected', { timeout: 60_000 }, (name, context) => {
    if (missing !== null) return context.skip(missing);
    const file = join(folder, `${name}.mjs`);
    writeFileSync(file, programs.get(name) ?? '');
    const model = (MAKERS[name] as () => string)();
    const command = [CLI, 'sim', 'run', 'gb10', '--', process.execPath, file, model];
    const ran = spawnSync(process.execPath, command, {
      cwd: folder,
      encoding: 'utf8',
      env: cliEnvironment(),
      timeout: 50_000,
    });
    expect(ran.status, ran.stderr).toBe(0);
    const [, expected, took] = /expected (\d+), took (\d+)/.exec(ran.stdout) ?? [];
    const ratio = Number(took) / Number(expected);
    expect(ratio, ran.stdout).toBeGreaterThan(0.75);
    expect(ratio, ran.stdout).toBeLessThan(1.25);
  });
});
