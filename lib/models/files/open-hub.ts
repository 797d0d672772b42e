/** A model on the Hub: its repository is a folder whose files are read by range. */

import { UmaError } from '../../base/errors.ts';
import { lazy } from '../../base/lazy.ts';
import type { HubOptions } from '../hub/index.ts';
import type { HubName } from '../hub/name.ts';
import type { ModelFacts } from './model.ts';
import { ggufNames } from './open-gguf.ts';
import { openFileIn, openFilesIn } from './open-in-folder.ts';

const loadHub = lazy(() => import('../hub/index.ts'));

/** @throws UmaError ERR_UMA_NETWORK: the Hub does not answer as it should; else as `openModel()`. */
export async function openOnHub(name: HubName, options: HubOptions): Promise<ModelFacts> {
  const { openHub } = await loadHub();
  const { folderAt, paths, readAt } = await openHub(name, options);
  const file = chosenFile(name, paths);
  const whole = folderAt('');
  const model =
    file === null
      ? await openFilesIn(whole, await whole.names(), name.repository)
      : await openFileIn(folderAt(file.folder), file.name, `${name.repository}:${file.path}`);
  if (readAt === null) return model;
  return {
    ...model,
    notes: [...model.notes, `The Hub did not answer: these are its files as of ${readAt.slice(0, 10)}.`],
  };
}

interface ChosenFile {
  path: string;
  folder: string;
  name: string;
}

/** null: all files of the repository. */
function chosenFile({ file, repository }: HubName, paths: readonly string[]): ChosenFile | null {
  const models = ggufNames(paths);
  if (file === null) {
    const [only, second] = models;
    if (only === undefined || paths.some((path) => /^[^/]*\.safetensors$/.test(path))) return null;
    if (second === undefined) return split(only);
    throw severalModels(repository, models, `it has ${models.length} GGUF models`);
  }
  if (paths.includes(file)) return split(file);
  const word = new RegExp(`(^|[-._/])${file.replaceAll(/\W/g, '\\$&')}([-./]|$)`, 'i');
  const matching = models.filter((path) => word.test(path.replace(/\.gguf$/, '')));
  if (matching[0] !== undefined && matching.length === 1) return split(matching[0]);
  const found =
    matching.length > 0
      ? `${matching.length} of its GGUF models match ${JSON.stringify(file)}`
      : `it has no file ${JSON.stringify(file)}`;
  throw severalModels(repository, matching.length > 0 ? matching : models, found);
}

function split(path: string): ChosenFile {
  const at = path.lastIndexOf('/');
  return { path, folder: at < 0 ? '' : path.slice(0, at), name: path.slice(at + 1) };
}

function severalModels(repository: string, models: readonly string[], found: string): Error {
  const list = models.slice(0, 12).join(', ');
  const more = models.length > 12 ? ', …' : '';
  const message =
    models[0] === undefined
      ? `${found}, and no GGUF models`
      : `${found}: ${list}${more}; name one, as hf:${repository}:${models[0]}`;
  return new UmaError('ERR_UMA_MODEL', {
    source: 'hub',
    call: `hf:${repository}`,
    status: null,
    name: 'HUB_FILE',
    message,
  });
}
