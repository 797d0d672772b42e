/** A folder of Hugging Face: config.json and safetensors files, in shards or in one. */

import { basename, join } from 'node:path';
import { formatBytes, formatCount } from '../../base/format.ts';
import { isObject } from '../../base/objects.ts';
import { emptyModel, type ModelFacts } from './model.ts';
import { type JsonObject, modelError, parseObject, readText } from './model-file.ts';
import type { ModelFolder } from './model-folder.ts';
import { type Quantization, quantizationOf } from './quantization.ts';
import { readConfig } from './read-config.ts';
import { readSafetensors, type TensorContext } from './safetensors.ts';
import { readSampled } from './sampled-shards.ts';
import { type FileFacts, factsOf } from './weights.ts';

/** A config has some KiB, up to some MiB with lists of layers that are not quantised. */
const LONGEST_CONFIG = 16 * 2 ** 20;
/** An index of 100,000 tensors has 10 MB. */
const LONGEST_INDEX = 64 * 2 ** 20;
/** The largest published models have about 250. */
const MOST_SHARDS = 2048;
/** Shards that are read if there are more, far away. */
const MOST_READ = 3;
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
async function configIn(folder: ModelFolder): Promise<ConfigFile | null> {
  const document = await readJson(folder, 'config.json');
  if (document === null || typeof document._class_name === 'string') return null;
  return configFile(folder, 'config.json', document);
}

/** A config.json with the files beside it, or a config of another name alone. */
export async function openConfig(folder: ModelFolder, file: string, name: string): Promise<ModelFacts> {
  const document = await folder.withFile(file, async (source) =>
    parseObject(await readText(source, LONGEST_CONFIG), source.path),
  );
  return modelOfConfig(await configFile(folder, file, document), name);
}

async function configFile(folder: ModelFolder, name: string, document: JsonObject): Promise<ConfigFile> {
  const modelopt = name === 'config.json' ? await readJson(folder, 'hf_quant_config.json') : null;
  return { document, path: join(folder.path, name), quantization: quantizationOf(document, modelopt) };
}

/** null: there is no such file. */
async function readJson(folder: ModelFolder, name: string, limit = LONGEST_CONFIG): Promise<JsonObject | null> {
  try {
    return await folder.withFile(name, async (file) => parseObject(await readText(file, limit), file.path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** A model of a config alone: weights are not known, the cache is. */
export function modelOfConfig({ document, path, quantization }: ConfigFile, name: string): ModelFacts {
  const read = readConfig(document, path);
  const isOdd = quantization !== null && quantization.bytesPerWeight === null;
  const uncounted = isOdd ? [`quantization ${JSON.stringify(quantization.method)}`, ...read.uncounted] : read.uncounted;
  return { ...emptyModel(name, 'config'), ...read, path, quantization, uncounted };
}

/** @param names of the folder's entries. */
export async function openFolder(folder: ModelFolder, names: readonly string[], name: string): Promise<ModelFacts> {
  const config = await configIn(folder);
  const shards = await shardsOf(folder, names);
  if (shards.length === 0 && config === null && names.includes('model_index.json')) return openPipeline(folder, name);
  if (shards.length === 0) {
    if (config !== null) return modelOfConfig(config, name);
    throw modelError(folder.path, 'this folder has neither config.json nor safetensors nor GGUF files');
  }
  const model = modelOrNone(config, name, folder.path);
  const context = contextOf(model);
  // Opening a file costs nothing but on a server.
  const isFar = folder.sizeOf(shards[0] ?? '') !== null && shards.length > MOST_READ && names.includes(INDEX);
  const index = isFar ? await readJson(folder, INDEX, LONGEST_INDEX) : null;
  const sampled = isFar ? await readSampled(folder, shards, index, context, inTurns) : null;
  if (sampled === null) return withTensors(model, await readShards(folder, shards, context));
  const { files, read } = sampled;
  if (read === shards.length) return withTensors(model, files);
  const note = `The headers of ${read} of ${shards.length} files were read: by the index the others hold the same tensors of other layers, and their sizes agree.`;
  return withTensors({ ...model, notes: [...model.notes, note] }, files);
}

function modelOrNone(config: ConfigFile | null, name: string, path: string): ModelFacts {
  const model =
    config === null ? { ...emptyModel(name, 'safetensors'), notes: [NO_CONFIG] } : modelOfConfig(config, name);
  return { ...model, source: 'safetensors', path };
}

function contextOf({ architecture, quantization }: ModelFacts): TensorContext {
  return { layers: architecture?.layers ?? null, packedBits: quantization?.bits ?? null };
}

async function readShards(
  folder: ModelFolder,
  shards: readonly string[],
  context: TensorContext,
): Promise<FileFacts[]> {
  await folder.checkInside(shards);
  return inTurns(shards, (shard) => folder.withFile(shard, (file) => readSafetensors(file, context)));
}

/** Parts of a pipeline of diffusers, each in a folder of its own: text encoders, transformer, VAE. */
async function openPipeline(folder: ModelFolder, name: string): Promise<ModelFacts> {
  const folders = await folder.folders();
  if (folders.length > MOST_PARTS)
    throw modelError(
      folder.path,
      `it has ${folders.length} folders; expected at most ${MOST_PARTS} parts of a pipeline`,
    );
  const parts: { name: string; files: FileFacts[] }[] = [];
  for (const part of folders) {
    const shards = await shardsOf(part, await part.names());
    if (shards.length === 0) continue;
    const files = await readShards(part, shards, { layers: null, packedBits: null });
    parts.push({ name: basename(part.path), files });
  }
  if (parts.length === 0) throw modelError(folder.path, 'no folder of this pipeline has safetensors files');
  const sizes = parts.map(({ files, name: part }) => {
    const bytes = files.reduce((sum, { fileBytes }) => sum + fileBytes, 0);
    return `${part} ${formatBytes(bytes)}`;
  });
  const note = `A pipeline of diffusers, with all of its parts: ${sizes.join(', ')}. What a picture takes while it is made is not counted.`;
  const model = { ...emptyModel(name, 'safetensors'), path: folder.path, notes: [note] };
  return withTensors(
    model,
    parts.flatMap(({ files }) => files),
  );
}

/** One file, and of a shard all; its config may lie beside it. */
export async function openSafetensors(folder: ModelFolder, file: string, name: string): Promise<ModelFacts> {
  const model = modelOrNone(await configIn(folder), name, join(folder.path, file));
  const context = contextOf(model);
  const shard = shardOf(file);
  if (shard === null)
    return withTensors(model, [await folder.withFile(file, (source) => readSafetensors(source, context))]);
  return withTensors(
    model,
    await readShards(folder, numberedShards(folder, shard, new Set(await folder.names())), context),
  );
}

const NO_CONFIG = 'There is no config.json of a language model: the cache and the buffers cannot be counted.';

function withTensors(model: ModelFacts, read: readonly FileFacts[]): ModelFacts {
  const facts = factsOf(read, model.architecture, model.path ?? model.name);
  return { ...model, ...facts, counts: null, uncounted: [] };
}

/**
 * The weight files: a complete set of numbered shards, or the files of the index, or the one model.safetensors, or
 * every file that is neither an adapter nor a second copy (consolidated.safetensors).
 */
async function shardsOf(folder: ModelFolder, names: readonly string[]): Promise<string[]> {
  const files = names.filter((name) => name.endsWith('.safetensors'));
  const numbered = files.map(shardOf).filter((shard) => shard !== null);
  const first = numbered.find(({ prefix }) => prefix === 'model') ?? numbered[0];
  if (first !== undefined) return numberedShards(folder, first, new Set(files));
  if (names.includes(INDEX)) return indexedShards(folder);
  for (const whole of ['model.safetensors', 'diffusion_pytorch_model.safetensors'])
    if (files.includes(whole)) return [whole]; // beside it may lie copies in other types
  const others = files.filter((name) => !name.startsWith('adapter'));
  const weights = others.filter((name) => !name.startsWith('consolidated'));
  limitShards(folder, others.length);
  return weights.length > 0 ? weights : others;
}

/** Names of a model's shards: "model-00001-of-00004.safetensors". */
interface Shard {
  prefix: string;
  total: string;
}

/** null: a file of another name. */
function shardOf(file: string): Shard | null {
  const [, prefix, total] = /^(.*)-\d{5,6}-of-(\d{5,6})\.safetensors$/.exec(file) ?? [];
  return prefix === undefined || total === undefined ? null : { prefix, total };
}

/** Every shard from the first to the last. */
function numberedShards(folder: ModelFolder, { prefix, total }: Shard, files: ReadonlySet<string>): string[] {
  limitShards(folder, Number(total));
  const expected = Array.from({ length: Number(total) }, (_, index) => {
    const number = String(index + 1);
    // Both numbers have five digits; those of DeepSeek's count six for the total.
    const names = [5, 6].map((digits) => `${prefix}-${number.padStart(digits, '0')}-of-${total}.safetensors`);
    return names.find((name) => files.has(name)) ?? (names[0] as string);
  });
  const missing = expected.filter((name) => !files.has(name));
  if (missing.length > 0 || expected.length === 0)
    throw modelError(
      folder.path,
      `${expected.length - missing.length} of ${Number(total)} shards "${prefix}-…" are there; download the others${missing[0] === undefined ? '' : `, such as ${missing[0]}`}`,
    );
  return expected;
}

function limitShards(folder: ModelFolder, count: number): void {
  if (count > MOST_SHARDS)
    throw modelError(folder.path, `it has ${formatCount(count)} shards; expected at most ${formatCount(MOST_SHARDS)}`);
}

const INDEX = 'model.safetensors.index.json';

async function indexedShards(folder: ModelFolder): Promise<string[]> {
  const index = await readJson(folder, INDEX, LONGEST_INDEX);
  const map = index?.weight_map;
  const path = join(folder.path, INDEX);
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
