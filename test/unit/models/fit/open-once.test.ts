/** The files of a model are opened once for any number of questions. */

import { closeSync, cpSync, createReadStream, openSync, readdirSync, readFileSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { estimate, estimateTable, openModel } from '../../../../lib/models/estimate/index.ts';
import { fit as fitInto } from '../../../../lib/models/fit/index.ts';
import { judge } from '../../../../lib/run/launch/judge.ts';
import { recognise } from '../../../../lib/run/launch/recognise.ts';
import type { ModelInput } from '../../../../lib/types/index.ts';
import { countOpens } from '../../../support/opens.mjs';
import { ROOT } from '../../../support/root.ts';
import { snapshotOf } from '../../../support/snapshots.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { GiB } from '../../../support/units.ts';

const FIXTURES = join(ROOT, 'test/support/models');
const folder = join(temporaryFolder('open-once'), 'sharded');
cpSync(join(FIXTURES, 'sharded'), folder, { recursive: true });
// The index is not needed beside a complete set of shards.
const NEEDED = readdirSync(folder).filter((name) => !name.endsWith('index.json'));

const machine = snapshotOf();
/** Nothing fits, so that every hint is looked for. */
const full = snapshotOf({ host: { available: 9 * GiB, free: GiB } });

const QUESTIONS: Readonly<Record<string, (model: ModelInput) => Promise<unknown>>> = {
  'openModel()': (model) => openModel(model),
  'estimate()': (model) => estimate(model, { context: 64 }),
  'estimateTable()': (model) => estimateTable(model),
  'fit()': (model) => fitInto({ model, snapshot: machine }),
  'fit() of what does not fit': (model) => fitInto({ model, snapshot: full }),
  'fit() with solve': (model) => fitInto({ model, snapshot: machine, solve: 'context', program: 'vllm' }),
  'fit() with solve, of every program': (model) => fitInto({ model, snapshot: machine, solve: 'slots' }),
  'fit() of a table': (model) => fitInto({ table: true, model, snapshot: machine }),
  'fit() of several models': (model) =>
    fitInto({ together: [{ model }, { model: { params: 7e9 } }], snapshot: full, program: 'vllm' }),
  'the judgement of launch()': (model) => {
    const { command } = recognise(['vllm', 'serve', folder, '--enable-lora'], {});
    return judge({ kind: 'model', model }, command, full);
  },
};

/** Opens in the folder, by file. */
async function opensOf(work: () => Promise<unknown>, of = folder): Promise<Record<string, number>> {
  const end = countOpens();
  try {
    await work();
  } finally {
    end();
  }
  return Object.fromEntries(
    Object.entries(end()).flatMap(([path, count]) => (path.startsWith(of) ? [[path.slice(of.length + 1), count]] : [])),
  );
}

const once = Object.fromEntries([...NEEDED, 'hf_quant_config.json'].map((name) => [name, 1]));

it.each(Object.keys(QUESTIONS))('%s opens each file of a folder once', async (name) => {
  expect(await opensOf(() => QUESTIONS[name]?.(folder) ?? Promise.reject())).toEqual(once);
});

it.each(Object.keys(QUESTIONS))('%s opens nothing of a model that is open', async (name) => {
  const model = await openModel(folder);
  expect(await opensOf(() => QUESTIONS[name]?.(model) ?? Promise.reject())).toEqual({});
});

it.each(['llama.gguf', 'split/gemma-00002-of-00002.gguf', 'awq/model.safetensors', 'nvfp4/config.json'])(
  'of %s no file is opened twice',
  async (name) => {
    const opens = await opensOf(() => fitInto({ model: join(FIXTURES, name), snapshot: machine }), FIXTURES);
    expect(opens[name]).toBe(1);
    expect(Object.values(opens).every((count) => count === 1)).toBe(true);
  },
);

const WAYS: Readonly<Record<string, (path: string) => unknown>> = {
  openSync: (path) => closeSync(openSync(path, 'r')),
  readFileSync: (path) => readFileSync(path, 'utf8'),
  'promises.readFile': (path) => readFile(path),
  'promises.open': async (path) => (await open(path)).close(),
  createReadStream: (path) => createReadStream(path).toArray(),
};

it.each(Object.keys(WAYS))('%s would be counted', async (name) => {
  expect(await opensOf(async () => WAYS[name]?.(join(folder, 'config.json')))).toEqual({ 'config.json': 1 });
});
