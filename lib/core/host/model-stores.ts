/** Model stores: the folders in which programs keep model files. A store is reported only if its folder exists. */

import { isAbsolute, join } from 'node:path';
import { systemText } from '../../base/system-file.ts';
import { ownHome } from '../../base/user.ts';
import type { ModelStore } from '../../types/index.ts';

/** A possible location of a store. */
interface StoreLocation {
  store: string;
  /** The variable or default that names it: "HF_HOME", "~/.ollama/models". */
  from: string;
  /** null: the variable is not set, or its value is not an absolute path. */
  path: string | null;
}

/**
 * The user's stores that exist. A folder with several names is listed once, under the first of them.
 *
 * @param home null: the user has none.
 * @param folderAt the folder at a path, with links resolved; null: none, or no permission to examine it.
 */
export async function findStores(
  env: NodeJS.ProcessEnv,
  home: string | null,
  folderAt: (path: string) => Promise<string | null>,
): Promise<ModelStore[]> {
  const stores = new Map<string, ModelStore>();
  for (const { store, from, path } of storeLocations(env, home)) {
    const folder = path === null ? null : await folderAt(path);
    if (path !== null && folder !== null && !stores.has(folder)) stores.set(folder, { name: store, path, from });
  }
  return [...stores.values()];
}

/**
 * Variables and defaults from the documentation of the programs. A program with its variable set ignores the later
 * defaults; they are searched all the same, because another program or shell may have filled them.
 */
function storeLocations(env: NodeJS.ProcessEnv, home: string | null): StoreLocation[] {
  const atHome = (path: string): string | null => (home === null ? null : join(home, path));
  const under = (variable: string, ...folders: string[]): string | null => {
    const value = env[variable];
    if (value === undefined || value === '') return null;
    const path = value.startsWith('~/') ? atHome(value.slice(2)) : value;
    return path !== null && isAbsolute(path) ? join(path, ...folders) : null;
  };
  const at = (store: string, from: string, path: string | null): StoreLocation => ({ store, from, path });
  const variable = (store: string, name: string, ...folders: string[]): StoreLocation =>
    at(store, name, under(name, ...folders));
  const inHome = (store: string, path: string): StoreLocation => at(store, `~/${path}`, atHome(path));
  return [
    variable('huggingface', 'HF_HUB_CACHE'),
    variable('huggingface', 'HUGGINGFACE_HUB_CACHE'),
    variable('huggingface', 'HF_HOME', 'hub'),
    variable('huggingface', 'XDG_CACHE_HOME', 'huggingface', 'hub'),
    inHome('huggingface', '.cache/huggingface/hub'),
    variable('ollama', 'OLLAMA_MODELS'),
    inHome('ollama', '.ollama/models'),
    at('ollama', '/usr/share/ollama/.ollama/models', '/usr/share/ollama/.ollama/models'),
    inHome('lmstudio', '.lmstudio/models'),
    inHome('lmstudio', '.cache/lm-studio/models'),
    variable('vllm', 'VLLM_CACHE_ROOT'),
    variable('vllm', 'XDG_CACHE_HOME', 'vllm'),
    inHome('vllm', '.cache/vllm'),
    variable('torch', 'TORCH_HOME', 'hub'),
    variable('torch', 'XDG_CACHE_HOME', 'torch', 'hub'),
    inHome('torch', '.cache/torch/hub'),
  ];
}

/** Home of the invoking user: under sudo of the user who ran it, otherwise of the current user; null: there is none. */
export function invokingHome(env: NodeJS.ProcessEnv, readPasswd = () => systemText('/etc/passwd')): string | null {
  const user = env.SUDO_USER;
  if (user === undefined || user === '' || user === 'root') return ownHome();
  return homeOf(user, readPasswd()) ?? ownHome();
}

/** Home of a user in the text of /etc/passwd; null: not listed there (the user may come from a directory service). */
export function homeOf(user: string, passwd: string): string | null {
  for (const line of passwd.split('\n')) {
    const fields = line.split(':');
    const home = fields[5];
    if (fields[0] === user && home?.startsWith('/') === true) return home;
  }
  return null;
}
