/** A GGUF model: one file, or numbered parts; a projector for images beside it is not part of it. */

import { join } from 'node:path';
import { formatCount } from '../../base/format.ts';
import { architectureOfGguf } from './architecture-gguf.ts';
import { type GgufHeader, readGguf } from './gguf.ts';
import { emptyModel, type ModelFacts } from './model.ts';
import { modelError } from './model-file.ts';
import type { ModelFolder } from './model-folder.ts';
import { inTurns } from './open-folder.ts';
import { bytesOf, factsOf } from './weights.ts';

const PART = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/;
const MOST_PARTS = 2048;

/** @param file its name in the folder; of several parts any. */
export async function openGguf(folder: ModelFolder, file: string, name: string): Promise<ModelFacts> {
  const parts = await partsOf(folder, file);
  const path = join(folder.path, file);
  const read = (part: string, ofModel: number | null): Promise<GgufHeader> =>
    folder.withFile(part, (source) => readGguf(source, ofModel));
  const first = await read(parts[0] ?? file, null);
  const count = first.metadata.get('split.count');
  if (typeof count === 'number' && count > parts.length)
    throw modelError(
      path,
      `it is one of ${formatCount(count)} parts; expected the name that it was published with, such as model-00001-of-${String(count).padStart(5, '0')}.gguf, and the others beside it`,
    );
  const architecture = architectureOfGguf(first, path);
  const layers = architecture?.layers ?? null;
  const headers = [first, ...(await inTurns(parts.slice(1), (part) => read(part, layers)))];
  const facts = factsOf(headers, architecture, path);
  const { weights } = facts;
  // The embedding is used if there is no output layer.
  if (architecture !== null) architecture.tied = bytesOf(weights, 'output') === 0 && bytesOf(weights, 'embedding') > 0;
  return {
    ...emptyModel(name, 'gguf'),
    path,
    ...facts,
    architecture,
    unread: architecture?.unread ?? [],
    notes: architecture === null ? ['The file has no language model: only its weights are counted.'] : notesOf(first),
  };
}

function notesOf({ sums }: GgufHeader): string[] {
  const unknown = sums
    .all()
    .filter(({ dtype }) => dtype.startsWith('type '))
    .map(({ dtype }) => dtype.slice(5));
  if (unknown.length === 0) return [];
  return [
    `Tensors of unknown ggml types (${[...new Set(unknown)].join(', ')}) are sized by their distance in the file.`,
  ];
}

/** The parts in order; an error if one is missing. */
async function partsOf(folder: ModelFolder, file: string): Promise<string[]> {
  const match = PART.exec(file);
  if (match === null) return [file];
  const [, prefix = '', , total = ''] = match;
  const path = join(folder.path, file);
  if (Number(total) > MOST_PARTS)
    throw modelError(
      path,
      `it is one of ${formatCount(Number(total))} parts; expected at most ${formatCount(MOST_PARTS)}`,
    );
  const names = new Set(await folder.names());
  const expected = Array.from(
    { length: Number(total) },
    (_, index) => `${prefix}-${String(index + 1).padStart(5, '0')}-of-${total}.gguf`,
  );
  const missing = expected.find((name) => !names.has(name));
  if (missing !== undefined) throw modelError(path, `part ${missing} is missing; download it`);
  return expected;
}

/** GGUF models among the files of a folder, of those in parts the first: no projectors. */
export function ggufNames(names: readonly string[]): string[] {
  return names.filter((name) => {
    if (!name.endsWith('.gguf') || /mmproj/i.test(name)) return false;
    const part = PART.exec(name);
    return part === null || part[2] === '00001';
  });
}

/** The one model among the GGUF files of a folder; null: there is none. */
export function ggufOf(folder: ModelFolder, names: readonly string[]): string | null {
  const models = ggufNames(names);
  const [first, second] = models;
  if (second === undefined) return first ?? null;
  const list = models.slice(0, 8).join(', ');
  throw modelError(
    folder.path,
    `this folder has ${models.length} GGUF models: ${list}${models.length > 8 ? ', …' : ''}; name one of them`,
  );
}
