/** Finds a model by a path or by its name in a model store, and reads its headers. */

import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { UmaError } from '../../base/errors.ts';
import { pathError } from '../../base/named-path.ts';
import { isObject } from '../../base/objects.ts';
import { findStores, invokingHome } from '../../core/host/model-stores.ts';
import type { ModelStore } from '../../types/index.ts';
import type { HubOptions } from '../hub/index.ts';
import { hubName } from '../hub/name.ts';
import type { ModelFacts } from './model.ts';
import { modelError, parseObject, readText, withFile } from './model-file.ts';
import { LocalFolder } from './model-folder.ts';
import { openGguf } from './open-gguf.ts';
import { openOnHub } from './open-hub.ts';
import { openFileIn, openFilesIn } from './open-in-folder.ts';

export interface OpenOptions extends Partial<Search> {}

/** Places in which a model is looked for, and how. */
export interface Search extends Omit<HubOptions, 'env'> {
  env: NodeJS.ProcessEnv;
}

/** A manifest of Ollama has about 1 KiB. */
const LONGEST_MANIFEST = 2 ** 20;

/**
 * A model by its path (a folder, a .gguf, .safetensors or config.json file), or by its name in a store: "org/name" of
 * Hugging Face or LM Studio, "name" or "name:tag" of Ollama. "hf:org/name" is asked for on the Hub, and nothing else is.
 *
 * @throws UmaError ERR_UMA_MODEL: there is none, or its files are damaged or incomplete; ERR_UMA_PERMISSION: they may
 *   not be read; ERR_UMA_NETWORK: the Hub does not answer as it should.
 */
export async function openModel(model: string, options: OpenOptions = {}): Promise<ModelFacts> {
  const { env = process.env } = options;
  const { home = invokingHome(env) } = options;
  try {
    return await find(model, { ...options, env, home });
  } catch (error) {
    throw asUmaError(error, model);
  }
}

/** An error of Node as one of umaprobe. */
function asUmaError(error: unknown, model: string): unknown {
  const { code, path = model, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return error;
  // The rest is about the files: loops of links, disks that fail.
  return code === 'EACCES' || code === 'EPERM'
    ? pathError('model', path, code)
    : modelError(model, `it cannot be read (${code})`);
}

async function find(model: string, search: Search): Promise<ModelFacts> {
  const onHub = hubName(model);
  if (onHub !== null) return openOnHub(onHub, search);
  const found = await kindOf(model);
  if (found === 'folder') return openFolderAt(new LocalFolder(model, search.signal), folderName(model));
  if (found === 'file') return openFile(model, search.signal);
  const stored = looksLikePath(model) ? null : await inStores(model, search);
  if (stored !== null) return stored;
  throw new UmaError('ERR_UMA_MODEL', {
    source: 'umaprobe',
    call: `model ${JSON.stringify(model)}`,
    status: null,
    name: 'ENOENT',
    message: `there is none${hubHint(model)}; expected a folder, a .gguf or .safetensors file, a config.json, a name in a model store (org/name, or name:tag of Ollama), or hf:org/name on the Hub`,
  });
}

/** " on this computer; the Hub may have hf:Qwen/Qwen3-32B" for what may be a name there. */
function hubHint(model: string): string {
  return !looksLikePath(model) && /^[\w.-]+\/[\w.-]+$/.test(model)
    ? ` on this computer; the Hub may have hf:${model}`
    : '';
}

function looksLikePath(model: string): boolean {
  return isAbsolute(model) || /^\.{1,2}(\/|$)/.test(model) || /\.(gguf|safetensors|json)$/.test(model);
}

async function kindOf(path: string): Promise<'file' | 'folder' | null> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'file';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return null;
    throw error;
  }
}

/** "org/name" for a snapshot in a hub's cache, otherwise the folder's own name. */
function folderName(folder: string): string {
  const path = resolve(folder);
  const hub = /models--(.+)\/snapshots\/[^/]+$/.exec(path)?.[1];
  return hub === undefined ? basename(path) : hub.replaceAll('--', '/');
}

async function openFolderAt(folder: LocalFolder, name: string): Promise<ModelFacts> {
  const names = await folder.names();
  if (!names.includes('config.json') && names.includes('snapshots') && names.includes('refs'))
    return openHubRepository(folder.path, name.replace(/^models--/, '').replaceAll('--', '/'), folder.signal);
  return openFilesIn(folder, names, name);
}

function openFile(path: string, signal: AbortSignal | undefined): Promise<ModelFacts> {
  const name = basename(path);
  const folder = new LocalFolder(dirname(path), signal);
  return openFileIn(folder, name, name === 'config.json' ? folderName(dirname(path)) : name);
}

async function inStores(model: string, search: Search): Promise<ModelFacts | null> {
  const stores = await findStores(search.env, search.home, folderAt);
  for (const store of stores) {
    const opened = await inStore(store, model, search.signal);
    if (opened !== null) return opened;
  }
  return null;
}

async function folderAt(path: string): Promise<string | null> {
  try {
    const folder = await realpath(path);
    return (await stat(folder)).isDirectory() ? folder : null;
  } catch {
    return null;
  }
}

async function inStore(
  { name: store, path }: ModelStore,
  model: string,
  signal: AbortSignal | undefined,
): Promise<ModelFacts | null> {
  if (model.split('/').some((part) => part === '' || part.startsWith('.'))) return null;
  if (store === 'huggingface') {
    const folder = join(path, `models--${model.replaceAll('/', '--')}`);
    return (await kindOf(folder)) === 'folder' ? openHubRepository(folder, model, signal) : null;
  }
  if (store === 'lmstudio') {
    const folder = join(path, model);
    return (await kindOf(folder)) === 'folder' ? openFolderAt(new LocalFolder(folder, signal), model) : null;
  }
  return store === 'ollama' ? openOllama(path, model, signal) : null;
}

/** The snapshot that `main` names, or the only one. */
async function openHubRepository(folder: string, name: string, signal: AbortSignal | undefined): Promise<ModelFacts> {
  const snapshots = join(folder, 'snapshots');
  const revisions = await new LocalFolder(snapshots).names().catch((): string[] => []);
  const main = await withFile(join(folder, 'refs', 'main'), (file) => readText(file, 200)).catch(() => '');
  const revision = revisions.includes(main.trim()) ? main.trim() : revisions[0];
  if (revision === undefined) throw modelError(folder, 'it has no snapshot: download the model');
  return openFolderAt(new LocalFolder(join(snapshots, revision), signal), name);
}

/** "llama3:8b" → manifests/registry.ollama.ai/library/llama3/8b → the blob of its model layer. */
async function openOllama(store: string, model: string, signal: AbortSignal | undefined): Promise<ModelFacts | null> {
  const [path = '', tag = 'latest'] = model.split(':');
  const parts = path.split('/');
  const full =
    parts.length === 1
      ? ['registry.ollama.ai', 'library', path]
      : parts.length === 2
        ? ['registry.ollama.ai', ...parts]
        : parts;
  const manifest = join(store, 'manifests', ...full, tag);
  if ((await kindOf(manifest)) !== 'file') return null;
  const { layers } = parseObject(await withFile(manifest, (file) => readText(file, LONGEST_MANIFEST)), manifest);
  const layer = Array.isArray(layers)
    ? layers.find((entry) => isObject(entry) && entry.mediaType === 'application/vnd.ollama.image.model')
    : undefined;
  const digest: unknown = layer?.digest;
  if (typeof digest !== 'string' || !/^sha256:[0-9a-f]{64}$/.test(digest))
    throw modelError(manifest, 'it names no model');
  return openGguf(new LocalFolder(join(store, 'blobs'), signal), digest.replace(':', '-'), model);
}
