/**
 * Shards of a model far away: some headers are read, and tensors of the others are those of the same name in another
 * layer. That is no guess: a shard whose file has not the size of these tensors and of a header for them is read, too.
 */

import { isObject } from '../../base/objects.ts';

import type { ModelFolder } from './model-folder.ts';
import { readSafetensors, type TensorContext } from './safetensors.ts';
import { type FileFacts, type TensorFacts, WeightSums } from './weights.ts';

/** Reading all headers is as good as reading more than this first. */
const MOST_SAMPLES = 8;
/** Bytes of a tensor in a header besides its name: dtype, shape and offsets, with and without spaces. */
const ENTRY = { least: 50, most: 140 };
/** Metadata and padding. */
const MOST_BESIDE = 4096;

/** A tensor of a name in which numbers do not count; 'differs': they are not all alike. */
type Known = ReadonlyMap<string, TensorFacts | 'differs'>;

/**
 * @param index the document of model.safetensors.index.json.
 * @param inTurns runs work for several items, a few at a time.
 * @returns null: the index does not say enough, so that all are to be read. `read`: shards whose headers were read.
 */
export async function readSampled(
  folder: ModelFolder,
  shards: readonly string[],
  index: unknown,
  context: TensorContext,
  inTurns: <R>(items: readonly string[], work: (item: string) => Promise<R>) => Promise<R[]>,
): Promise<{ files: FileFacts[]; read: number } | null> {
  const tensors = tensorsByShard(shards, index);
  const samples = tensors === null ? null : coveringShards(tensors);
  if (tensors === null || samples === null) return null;
  const seen = new Map<string, TensorFacts | 'differs'>();
  const files = new Map<string, FileFacts>();
  const read = async (shard: string): Promise<void> => {
    const file = await folder.withFile(shard, (source) =>
      readSafetensors(source, context, (tensor) => add(seen, tensor)),
    );
    files.set(shard, file);
  };
  await inTurns(samples, read);
  const others = shards.filter((shard) => !files.has(shard));
  for (const shard of others) {
    const file = inferred(tensors.get(shard) ?? [], folder.sizeOf(shard), seen, context);
    if (file !== null) files.set(shard, file);
  }
  const unexplained = others.filter((shard) => !files.has(shard));
  await inTurns(unexplained, read);
  return { files: [...files.values()], read: samples.length + unexplained.length };
}

function patternOf(name: string): string {
  return name.replaceAll(/\d+/g, '#');
}

/** null: the index does not name a tensor for each shard. */
function tensorsByShard(shards: readonly string[], index: unknown): Map<string, string[]> | null {
  const map = isObject(index) ? index.weight_map : null;
  if (!isObject(map)) return null;
  const tensors = new Map<string, string[]>(shards.map((shard) => [shard, []]));
  for (const [name, shard] of Object.entries(map)) tensors.get(String(shard))?.push(name);
  return [...tensors.values()].some((names) => names.length === 0) ? null : tensors;
}

/** Few shards in which every pattern of names occurs; null: it takes many. */
function coveringShards(tensors: ReadonlyMap<string, readonly string[]>): string[] | null {
  const patterns = new Map([...tensors].map(([shard, names]) => [shard, new Set(names.map(patternOf))]));
  const left = new Set([...patterns.values()].flatMap((set) => [...set]));
  const chosen: string[] = [];
  while (left.size > 0) {
    let best: { shard: string; covers: number } | null = null;
    for (const [shard, set] of patterns) {
      const covers = [...set].filter((pattern) => left.has(pattern)).length;
      if (best === null || covers > best.covers) best = { shard, covers };
    }
    if (best === null || chosen.length === MOST_SAMPLES) return null;
    chosen.push(best.shard);
    for (const pattern of patterns.get(best.shard) ?? []) left.delete(pattern);
  }
  return chosen;
}

function add(seen: Map<string, TensorFacts | 'differs'>, tensor: TensorFacts): void {
  const pattern = patternOf(tensor.name);
  const other = seen.get(pattern);
  if (other === undefined) seen.set(pattern, tensor);
  else if (other !== 'differs' && (other.bytes !== tensor.bytes || other.dtype !== tensor.dtype))
    seen.set(pattern, 'differs');
}

/** null: the file has another size than its tensors would. */
function inferred(
  names: readonly string[],
  fileBytes: number | null,
  seen: Known,
  { layers }: TensorContext,
): FileFacts | null {
  const sums = new WeightSums();
  let [data, least, most, largestTensor] = [0, 8, 8 + MOST_BESIDE, 0];
  for (const name of names) {
    const tensor = seen.get(patternOf(name));
    if (tensor === undefined || tensor === 'differs') return null;
    sums.add({ ...tensor, name }, layers);
    data += tensor.bytes;
    least += name.length + ENTRY.least;
    most += name.length + ENTRY.most;
    largestTensor = Math.max(largestTensor, tensor.bytes);
  }
  if (fileBytes === null || fileBytes < data + least || fileBytes > data + most) return null;
  return { fileBytes, sums, largestTensor };
}
