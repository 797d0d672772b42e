/** A folder of Hugging Face: config.json and safetensors files, in shards or in one. */

import { readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { formatBytes } from '../base/format.ts';
import { architectureOfConfig, languageConfig } from './architecture-config.ts';
import { emptyModel, type ModelFacts } from './model.ts';
import { isObject, type JsonObject, modelError, parseObject, readSmall } from './model-file.ts';
import { parametersOfConfig } from './parameters.ts';
import { type Quantization, quantizationOf } from './quantization.ts';
import { readSafetensors, type SafetensorsFile } from './safetensors.ts';
import { parametersOf, WeightSums } from './weights.ts';

/** A config has some KiB, up to some MiB with lists of layers that are not quantised. */
export const LONGEST_CONFIG = 16 * 2 ** 20;
/** An index of 100,000 tensors has 10 MB. */
const LONGEST_INDEX = 64 * 2 ** 20;
/** The largest published models have about 250. */
const MOST_SHARDS = 2048;
/** The largest pipelines have ten. */
const MOST_PARTS = 64;
/** Files that are read at the same time: more than Node's four threads do not help. */
const AT_ONCE = 8;

export interface ConfigFile {
  document: JsonObject;
  path: string;
  quantization: Quantization | null;
}

/** Config of a folder; null: it has none, or that of a part of a picture's pipeline (diffusers), which has no layers of text. */
async function readConfig(folder: string): Promise<ConfigFile | null> {
  const path = join(folder, 'config.json');
  const document = await readJson(path);
  if (document === null || typeof document._class_name === 'string') return null;
  return configFile(path, document);
}

/** A config.json with what lies beside it, or a config of another name alone. */
export async function configFile(path: string, document: JsonObject): Promise<ConfigFile> {
  const beside = basename(path) === 'config.json';
  const modelopt = beside ? await readJson(join(dirname(path), 'hf_quant_config.json')) : null;
  return { document, path, quantization: quantizationOf(document, modelopt) };
}

/** null: there is no such file. */
async function readJson(path: string, limit = LONGEST_CONFIG): Promise<JsonObject | null> {
  let text: string;
  try {
    text = await readSmall(path, limit);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  return parseObject(text, path);
}

/** A model of a config alone: weights are not known, the cache is. */
export function modelOfConfig({ document, path, quantization }: ConfigFile, name: string): ModelFacts {
  const architecture = architectureOfConfig(document, path);
  return {
    ...emptyModel(name, 'config'),
    path,
    counts: parametersOfConfig(document, architecture, path),
    architecture,
    quantization,
    dtype: dtypeOf(document),
  };
}

function dtypeOf(document: JsonObject): string | null {
  const config = languageConfig(document, 'config.json');
  return config.text('torch_dtype') ?? config.text('dtype');
}

/** @param names files of the folder, from `readdir`. */
export async function openFolder(folder: string, names: readonly string[], name: string): Promise<ModelFacts> {
  const config = await readConfig(folder);
  const shards = await shardsOf(folder, names);
  if (shards.length === 0 && config === null && names.includes('model_index.json')) return openPipeline(folder, name);
  if (shards.length === 0) {
    if (config !== null) return modelOfConfig(config, name);
    throw modelError(folder, 'this folder has neither config.json nor safetensors nor GGUF files');
  }
  const model: ModelFacts =
    config === null
      ? { ...modelWithoutConfig(name), path: folder }
      : { ...modelOfConfig(config, name), source: 'safetensors', path: folder };
  const layers = model.architecture?.layers ?? null;
  const context = { layers, packedBits: model.quantization?.bits ?? null };
  await requireInside(folder, shards);
  const read = await inTurns(shards, (shard) => readSafetensors(join(folder, shard), context));
  return withTensors(model, read);
}

/** Parts of a pipeline of diffusers, each in a folder of its own: text encoders, transformer, VAE. */
async function openPipeline(folder: string, name: string): Promise<ModelFacts> {
  const entries = await readdir(folder, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => join(folder, entry.name));
  if (folders.length > MOST_PARTS)
    throw modelError(folder, `it has ${folders.length} folders; expected at most ${MOST_PARTS} parts of a pipeline`);
  const context = { layers: null, packedBits: null };
  const parts: { name: string; files: SafetensorsFile[] }[] = [];
  for (const part of folders.sort()) {
    const shards = await shardsOf(part, await listFolder(part));
    if (shards.length === 0) continue;
    await requireInside(part, shards);
    const files = await inTurns(shards, (shard) => readSafetensors(join(part, shard), context));
    parts.push({ name: basename(part), files });
  }
  if (parts.length === 0) throw modelError(folder, 'no folder of this pipeline has safetensors files');
  const sizes = parts.map(({ files, name: part }) => {
    const bytes = files.reduce((sum, { fileBytes }) => sum + fileBytes, 0);
    return `${part} ${formatBytes(bytes)}`;
  });
  const note = `A pipeline of diffusers, with all of its parts: ${sizes.join(', ')}. What a picture takes while it is made is not counted.`;
  const model = { ...emptyModel(name, 'safetensors'), path: folder, notes: [note] };
  return withTensors(
    model,
    parts.flatMap(({ files }) => files),
  );
}

/** One file alone; its config may lie beside it. */
export async function openSafetensors(path: string): Promise<ModelFacts> {
  const config = await readConfig(dirname(path));
  const model = config === null ? modelWithoutConfig(basename(path)) : modelOfConfig(config, basename(path));
  const context = {
    layers: model.architecture?.layers ?? null,
    packedBits: model.quantization?.bits ?? null,
  };
  return withTensors({ ...model, source: 'safetensors', path }, [await readSafetensors(path, context)]);
}

const NO_CONFIG = 'There is no config.json of a language model: the cache and the buffers cannot be counted.';

function modelWithoutConfig(name: string): ModelFacts {
  return { ...emptyModel(name, 'safetensors'), notes: [NO_CONFIG] };
}

function withTensors(model: ModelFacts, read: readonly SafetensorsFile[]): ModelFacts {
  const sums = new WeightSums();
  for (const file of read) sums.merge(file.sums);
  const weights = sums.all();
  return {
    ...model,
    files: read.length,
    fileBytes: read.reduce((sum, { fileBytes }) => sum + fileBytes, 0),
    largestFile: Math.max(...read.map(({ fileBytes }) => fileBytes)),
    largestTensor: Math.max(...read.map(({ largestTensor }) => largestTensor)),
    weights,
    parameters: parametersOf(weights),
    counts: null,
  };
}

/**
 * The weight files: a complete set of numbered shards, or what the index lists, or the one model.safetensors, or every
 * file that is neither an adapter nor a second copy (consolidated.safetensors).
 */
async function shardsOf(folder: string, names: readonly string[]): Promise<string[]> {
  const files = names.filter((name) => name.endsWith('.safetensors'));
  const numbered = files.flatMap((name) => {
    const match = /^(.*)-(\d{5,6})-of-(\d{5,6})\.safetensors$/.exec(name);
    return match === null ? [] : [{ name, prefix: match[1] ?? '', total: Number(match[3]) }];
  });
  const first = numbered.find(({ prefix }) => prefix === 'model') ?? numbered[0];
  if (first !== undefined) {
    const set = numbered.filter(({ prefix, total }) => prefix === first.prefix && total === first.total);
    limitShards(folder, first.total);
    if (set.length !== first.total)
      throw modelError(
        folder,
        `${set.length} of ${first.total} shards "${first.prefix}-…" are there; download the others`,
      );
    return set.map(({ name }) => name);
  }
  if (names.includes('model.safetensors.index.json')) return indexedShards(folder);
  for (const whole of ['model.safetensors', 'diffusion_pytorch_model.safetensors'])
    if (files.includes(whole)) return [whole]; // beside it may lie copies in other types
  const others = files.filter((name) => !name.startsWith('adapter'));
  const weights = others.filter((name) => !name.startsWith('consolidated'));
  limitShards(folder, others.length);
  return weights.length > 0 ? weights : others;
}

function limitShards(folder: string, count: number): void {
  if (count > MOST_SHARDS)
    throw modelError(
      folder,
      `it has ${count.toLocaleString('en-US')} shards; expected at most ${MOST_SHARDS.toLocaleString('en-US')}`,
    );
}

async function indexedShards(folder: string): Promise<string[]> {
  const path = join(folder, 'model.safetensors.index.json');
  const index = await readJson(path, LONGEST_INDEX);
  const map = index?.weight_map;
  if (!isObject(map)) throw modelError(path, 'it has no weight_map');
  const shards = new Set<string>();
  for (const shard of Object.values(map)) {
    if (typeof shard !== 'string' || shard === '' || shard.includes('\0'))
      throw modelError(path, 'its weight_map has an entry that is not the name of a file');
    shards.add(shard);
  }
  limitShards(folder, shards.size);
  return [...shards];
}

/**
 * Shards must lie in the folder. A link may lead to the blobs of the same Hugging Face repository, which is how the hub
 * keeps its files, but to no other place: an index could name any file of the machine.
 */
async function requireInside(folder: string, shards: readonly string[]): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  const files = new Set(entries.filter((entry) => entry.isFile()).map(({ name }) => name));
  const others = shards.filter((shard) => !files.has(shard));
  if (others.length === 0) return;
  const home = await realpath(folder);
  const hub = /^(.*)\/snapshots\/[^/]+/.exec(home)?.[1];
  const inside = [home, ...(hub === undefined ? [] : [join(hub, 'blobs')])];
  await Promise.all(
    others.map(async (shard) => {
      const path = join(folder, shard);
      const target = await targetOf(path);
      if (!inside.some((allowed) => target.startsWith(allowed + sep)))
        throw modelError(path, `it leads out of its folder, to ${target}; give the folder that holds the files`);
    }),
  );
}

async function targetOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw modelError(path, 'it is missing; download it');
  }
}

/** Results in order, a few at a time. */
export async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(items.length);
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, lane));
  return results;
}

export async function listFolder(folder: string): Promise<string[]> {
  return (await readdir(folder)).sort();
}
