/** Finds the model of a command line on this machine: in a mounted store, or as a GGUF file of a repository. */

import { readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { findStores, invokingHome } from '../../core/host/model-stores.ts';
import type { RecognisedCommand } from '../../types/index.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** Path, or the name that the stores are searched for; null: it is not on this machine, as far as can be seen. */
export async function locate(
  { model, modelFile, program }: Pick<RecognisedCommand, 'model' | 'modelFile' | 'program'>,
  stores: Readonly<Record<string, string>>,
  env: Variables,
): Promise<string | null> {
  if (model === null) return null;
  // A program's own words are never asked for on the Hub.
  if (model.startsWith('hf:')) return `.//${model}`;
  const around = { ...env, ...stores };
  const isRepository = /^[\w.-]+\/[\w.-]+$/.test(model) && !(await exists(model));
  if (!isRepository) return model;
  if (program !== 'llama.cpp') {
    for (const path of await repositoriesOf(model, around)) if (await exists(path)) return path;
    return model;
  }
  const files = await ggufFiles(model, around);
  const chosen = chooseGguf(
    files.map(({ name }) => name),
    modelFile,
  );
  return files.find(({ name }) => name === chosen)?.path ?? null;
}

/** The projector that llama.cpp loads with a model of a repository: of several the largest. null: there is none. */
export async function locateProjector(
  repository: string,
  stores: Readonly<Record<string, string>>,
  env: Variables,
): Promise<string | null> {
  const files = (await ggufFiles(repository, { ...env, ...stores })).filter(({ name }) => isProjector(name));
  const sizes = await Promise.all(files.map(async ({ path }) => ({ path, size: (await stat(path)).size })));
  return sizes.sort((a, b) => b.size - a.size)[0]?.path ?? null;
}

/** Folders of a repository in the hubs that there are. */
async function repositoriesOf(model: string, around: Variables): Promise<string[]> {
  const hubs = (await findStores(around, invokingHome(around), folderAt)).filter(({ name }) => name === 'huggingface');
  return hubs.map(({ path }) => join(path, `models--${model.replace('/', '--')}`));
}

async function ggufFiles(model: string, around: Variables): Promise<Found[]> {
  return [...(await filesInHubs(await repositoriesOf(model, around))), ...(await filesInCache(model, around))];
}

interface Found {
  name: string;
  path: string;
}

async function filesInHubs(repositories: readonly string[]): Promise<Found[]> {
  const found: Found[] = [];
  for (const repository of repositories) {
    const snapshots = join(repository, 'snapshots');
    for (const revision of await namesIn(snapshots))
      for (const name of await namesIn(join(snapshots, revision)))
        if (name.endsWith('.gguf')) found.push({ name, path: join(snapshots, revision, name) });
  }
  return found;
}

/** llama.cpp's own cache: <user>_<model>_<file>. */
async function filesInCache(model: string, env: Variables): Promise<Found[]> {
  const home = invokingHome(env);
  const folder = env.LLAMA_CACHE ?? (home === null ? null : join(home, '.cache', 'llama.cpp'));
  if (folder === null) return [];
  const prefix = `${model.replace('/', '_')}_`;
  return (await namesIn(folder))
    .filter((name) => name.startsWith(prefix) && name.endsWith('.gguf'))
    .map((name) => ({ name: name.slice(prefix.length), path: join(folder, name) }));
}

/** Quantisation that llama.cpp takes where none is named. */
const DEFAULT_QUANTISATION = 'Q4_K_M';

/**
 * The file that llama.cpp takes of a repository: the one that is named, the quantisation that is named, Q4_K_M, or the
 * first. The first part of several counts. null: there is none.
 */
export function chooseGguf(names: readonly string[], wanted: string | null): string | null {
  const models = names
    .filter((name) => !isProjector(name) && !/-of-\d+\.gguf$/.test(name.replace(/-00001-of-/, '')))
    .sort();
  if (wanted?.endsWith('.gguf') === true) return models.find((name) => name === wanted) ?? null;
  const ofQuantisation = (quantisation: string): string | undefined => {
    const pattern = new RegExp(`(^|[-.])${quantisation.replaceAll(/\W/g, '\\$&')}([-.]|$)`, 'i');
    return models.find((name) => pattern.test(name.replace(/\.gguf$/, '')));
  };
  if (wanted !== null) return ofQuantisation(wanted) ?? null;
  return ofQuantisation(DEFAULT_QUANTISATION) ?? models[0] ?? null;
}

function isProjector(name: string): boolean {
  return /^mmproj/i.test(name);
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function folderAt(path: string): Promise<string | null> {
  return realpath(path).catch(() => null);
}
