/** The Hub's address, the token and the folder of its answers: the variables of huggingface_hub. */

import { isAbsolute, join } from 'node:path';
import { UmaError } from '../../base/errors.ts';
import { readNamedFile } from '../../base/named-path.ts';
import { ownCache } from '../../base/user.ts';
import { hubError } from './errors.ts';

type Variables = Readonly<Record<string, string | undefined>>;

export interface HubSettings {
  endpoint: URL;
  /** The endpoint is on this machine, where http is not read by others. */
  isLoopback: boolean;
  token: string | null;
  /** HF_HUB_OFFLINE: answers of earlier reads only. */
  isOffline: boolean;
  /** null: this user has no home. */
  cacheFolder: string | null;
  /** Advice about a proxy that Node does not use by itself. */
  proxyHint: string;
  /** The page of a model, for people. */
  page(repository: string): string;
}

const DEFAULT_ENDPOINT = 'https://huggingface.co';
/** A token has 37 characters. */
const LONGEST_TOKEN = 4096;

/** @param home of the user who logged in; null: there is none. */
export function hubSettings(env: Variables, home: string | null): HubSettings {
  const { isLoopback, url: endpoint } = endpointOf(env.HF_ENDPOINT);
  const cache = ownCache(env);
  return {
    endpoint,
    isLoopback,
    token: tokenOf(env, home),
    isOffline: /^(1|on|yes|true)$/i.test(env.HF_HUB_OFFLINE ?? ''),
    cacheFolder: cache === null ? null : join(cache, 'hub'),
    proxyHint: proxyHintOf(env),
    page: (repository) => `${endpoint.href}${repository.replace(/^.*hf:/, '')}`,
  };
}

function endpointOf(value: string | undefined): { url: URL; isLoopback: boolean } {
  const text = value === undefined || value === '' ? DEFAULT_ENDPOINT : value;
  const url = URL.canParse(text) ? new URL(text.endsWith('/') ? text : `${text}/`) : null;
  const isLoopback = url !== null && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback);
  if (url === null || !isSafe || url.username !== '' || url.search !== '' || url.hash !== '')
    throw hubError(
      'HF_ENDPOINT',
      'ENDPOINT',
      `it is ${JSON.stringify(text.slice(0, 80))}; expected an https address, or http on this machine`,
    );
  return { url, isLoopback };
}

function tokenOf(env: Variables, home: string | null): string | null {
  const given = env.HF_TOKEN ?? env.HUGGING_FACE_HUB_TOKEN;
  if (given !== undefined && given.trim() !== '') return checkToken('HF_TOKEN', given);
  const folder = env.HF_HOME ?? join(env.XDG_CACHE_HOME ?? join(home ?? '/', '.cache'), 'huggingface');
  const path = env.HF_TOKEN_PATH ?? join(folder, 'token');
  if (!isAbsolute(path) || (home === null && env.HF_HOME === undefined && env.HF_TOKEN_PATH === undefined)) return null;
  try {
    const text = readNamedFile('HF_TOKEN_PATH', path, LONGEST_TOKEN);
    return text.trim() === '' ? null : checkToken(path, text);
  } catch (error) {
    if (error instanceof UmaError && (error.nativeName === 'ENOENT' || error.nativeName === 'ENOTDIR')) return null;
    throw error;
  }
}

/** It becomes a line of a request, and is never shown. */
function checkToken(from: string, text: string): string {
  const token = text.trim();
  if (/^[\x21-\x7e]{1,500}$/.test(token)) return token;
  throw hubError(from, 'TOKEN', 'it holds characters that no token has');
}

function proxyHintOf(env: Variables): string {
  const proxy = ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'].find((name) => (env[name] ?? '') !== '');
  if (proxy === undefined || env.NODE_USE_ENV_PROXY === '1') return '';
  return `: ${proxy} is set, which Node 24 uses with NODE_USE_ENV_PROXY=1`;
}
