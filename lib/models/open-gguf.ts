/** A GGUF model: one file, or numbered parts; a projector for images beside it is not part of it. */

import { basename, dirname, join } from 'node:path';
import { architectureOfGguf } from './architecture-gguf.ts';
import { type GgufHeader, readGguf } from './gguf.ts';
import { emptyModel, type ModelFacts } from './model.ts';
import { modelError } from './model-file.ts';
import { inTurns, listFolder } from './open-folder.ts';
import { bytesOf, parametersOf, WeightSums } from './weights.ts';

const PART = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/;
const MOST_PARTS = 2048;

export async function openGguf(path: string, name = basename(path)): Promise<ModelFacts> {
  const parts = await partsOf(path);
  const first = await readGguf(parts[0] ?? path);
  const architecture = architectureOfGguf(first, path);
  const layers = architecture?.layers ?? null;
  const headers = [first, ...(await inTurns(parts.slice(1), (part) => readGguf(part, layers)))];
  const sums = new WeightSums();
  for (const header of headers) sums.merge(header.sums);
  const weights = sums.all();
  // Without an output layer of its own the embedding is used for it.
  if (architecture !== null) architecture.tied = bytesOf(weights, 'output') === 0 && bytesOf(weights, 'embedding') > 0;
  return {
    ...emptyModel(name, 'gguf'),
    path,
    files: parts.length,
    fileBytes: headers.reduce((sum, { fileBytes }) => sum + fileBytes, 0),
    largestFile: Math.max(...headers.map(({ fileBytes }) => fileBytes)),
    largestTensor: Math.max(...headers.map(({ largestTensor }) => largestTensor)),
    weights,
    parameters: parametersOf(weights),
    architecture,
    notes: architecture === null ? ['The file has no language model: only its weights are counted.'] : notesOf(first),
  };
}

function notesOf({ sums }: GgufHeader): string[] {
  const unknown = sums.filter(({ dtype }) => dtype.startsWith('type ')).map(({ dtype }) => dtype.slice(5));
  if (unknown.length === 0) return [];
  return [
    `Tensors of unknown ggml types (${[...new Set(unknown)].join(', ')}) are sized by their distance in the file.`,
  ];
}

/** The parts in order; an error if one is missing. */
async function partsOf(path: string): Promise<string[]> {
  const match = PART.exec(basename(path));
  if (match === null) return [path];
  const [, prefix = '', , total = ''] = match;
  if (Number(total) > MOST_PARTS)
    throw modelError(
      path,
      `it is one of ${Number(total).toLocaleString('en-US')} parts; expected at most ${MOST_PARTS.toLocaleString('en-US')}`,
    );
  const names = new Set(await listFolder(dirname(path)));
  const expected = Array.from(
    { length: Number(total) },
    (_, index) => `${prefix}-${String(index + 1).padStart(5, '0')}-of-${total}.gguf`,
  );
  const missing = expected.find((name) => !names.has(name));
  if (missing !== undefined) throw modelError(path, `part ${missing} is missing; download it`);
  return expected.map((name) => join(dirname(path), name));
}

/** The one model among the GGUF files of a folder: first parts, and no projectors. null: there is none. */
export function ggufOf(folder: string, names: readonly string[]): string | null {
  const models = names.filter((name) => {
    if (!name.endsWith('.gguf') || /mmproj/i.test(name)) return false;
    const part = PART.exec(name);
    return part === null || part[2] === '00001';
  });
  const [first, second] = models;
  if (first === undefined) return null;
  if (second !== undefined) {
    const list = models.slice(0, 8).join(', ');
    throw modelError(
      folder,
      `this folder has ${models.length} GGUF models: ${list}${models.length > 8 ? ', …' : ''}; name one of them`,
    );
  }
  return join(folder, first);
}
