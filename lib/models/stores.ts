/** Where programs keep model files. Looked for, not assumed: a store is listed when its folder is there. */

import { readFileSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { ModelStore } from '../types/index.ts';

/** One way to a store: a variable that names its folder, or one above it, or a default under a home. */
interface Way {
  store: string;
  /** How it is told: "HF_HOME", "~/.ollama/models". */
  from: string;
  path: string | null;
}

/**
 * The variables and defaults as the programs document them. A variable that is set replaces the defaults behind it in the
 * program's own eyes; they are still looked at, because another program or another shell may have filled them.
 */
function ways(env: NodeJS.ProcessEnv, home: string): Way[] {
  const under = (variable: string, ...more: string[]): string | null => {
    const value = env[variable];
    if (value === undefined || value === '') return null;
    const path = value.startsWith('~/') ? join(home, value.slice(2)) : value;
    return isAbsolute(path) ? join(path, ...more) : null;
  };
  const at = (store: string, from: string, path: string | null): Way => ({ store, from, path });
  const variable = (store: string, name: string, ...more: string[]): Way => at(store, name, under(name, ...more));
  const inHome = (store: string, path: string): Way => at(store, `~/${path}`, join(home, path));
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

/** The folder that a path leads to, links followed; null: there is none, or it may not be looked at. */
export async function folderAt(path: string): Promise<string | null> {
  try {
    const real = await realpath(path);
    return (await stat(real)).isDirectory() ? real : null;
  } catch {
    return null;
  }
}

/** The stores of this user that exist, each folder once, under the first way that led there. */
export async function findStores(
  env: NodeJS.ProcessEnv,
  home: string,
  folder: (path: string) => Promise<string | null> = folderAt,
): Promise<ModelStore[]> {
  const found = new Map<string, ModelStore>();
  for (const { store, from, path } of ways(env, home)) {
    const real = path === null ? null : await folder(path);
    if (path !== null && real !== null && !found.has(real)) found.set(real, { name: store, path, from });
  }
  return [...found.values()];
}

/** The home of the invoking user; root's own where root was not reached through sudo. */
export function invokingHome(env: NodeJS.ProcessEnv, passwd = readPasswd): string {
  const user = env.SUDO_USER;
  if (user === undefined || user === '' || user === 'root') return homedir();
  return homeOf(user, passwd()) ?? homedir();
}

/** A user's home as /etc/passwd has it; null: not there (a directory service knows more users than that file). */
export function homeOf(user: string, passwd: string): string | null {
  for (const line of passwd.split('\n')) {
    const fields = line.split(':');
    const home = fields[5];
    if (fields[0] === user && home?.startsWith('/') === true) return home;
  }
  return null;
}

function readPasswd(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch {
    return '';
  }
}
