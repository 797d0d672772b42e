/** A model in a folder that is known: all of its files, or one of them. */

import type { ModelFacts } from './model.ts';
import { modelError } from './model-file.ts';
import type { ModelFolder } from './model-folder.ts';
import { openConfig, openFolder, openSafetensors } from './open-folder.ts';
import { ggufOf, openGguf } from './open-gguf.ts';

/** @param names of the folder's entries. */
export async function openFilesIn(folder: ModelFolder, names: readonly string[], name: string): Promise<ModelFacts> {
  const gguf = names.some((entry) => entry.endsWith('.safetensors')) ? null : ggufOf(folder, names);
  return gguf === null ? openFolder(folder, names, name) : openGguf(folder, gguf, name);
}

/** @param name of the model. */
export async function openFileIn(folder: ModelFolder, file: string, name: string): Promise<ModelFacts> {
  if (file.endsWith('.safetensors')) return openSafetensors(folder, file, name);
  if (file.endsWith('.json')) return openConfig(folder, file, name);
  if (file.endsWith('.gguf') || file.startsWith('sha256-')) return openGguf(folder, file, name);
  throw modelError(file, 'expected a .gguf, .safetensors or config.json file, or a folder');
}
