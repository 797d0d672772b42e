/** The options of serve(), checked. */

import { checkBoolean, checkKeys, checkMilliseconds, checkSignal, invalidType, type Keys } from '../base/arguments.ts';
import { LIMITS } from '../base/limits.ts';
import { checkPath } from '../base/program-arguments.ts';
import { checkHosts } from '../run/cluster/hosts.ts';
import type { ServeOptions } from '../types/index.ts';
import { checkReach, DEFAULT_LISTEN, type ListenAddress, parseListen } from './listen.ts';
import { readToken, type TokenDigest } from './token.ts';

const INTERVAL_MS = 1000;

const KEYS: Keys<ServeOptions> = {
  listen: true,
  tokenFile: true,
  hosts: true,
  intervalMs: true,
  deadlineMs: true,
  folder: true,
  argv: true,
  signal: true,
};

export interface ServeSettings {
  listen: ListenAddress;
  /** null: none is asked for. */
  token: TokenDigest | null;
  /** null: this machine alone. */
  hosts: readonly string[] | null;
  intervalMs: number;
  deadlineMs: number;
  folder: string | undefined;
  argv: boolean;
  signal: AbortSignal | undefined;
}

/** @throws as `serve()`; the file of the token is read here. */
export function checkServeOptions(options: ServeOptions): ServeSettings {
  checkKeys('serve()', options, KEYS);
  const { listen: address = DEFAULT_LISTEN } = options;
  if (typeof address !== 'string') throw invalidType('listen', 'a text with an address and a port', address);
  const listen = parseListen('listen', address);
  const tokenFile = checkPath('tokenFile', options.tokenFile);
  checkReach('listen', listen, tokenFile);
  return {
    listen,
    token: tokenFile === undefined ? null : readToken(tokenFile),
    hosts: options.hosts === undefined ? null : checkHosts(options.hosts),
    intervalMs: checkMilliseconds('intervalMs', options.intervalMs ?? INTERVAL_MS, LIMITS.serveIntervalMs),
    deadlineMs: checkMilliseconds('deadlineMs', options.deadlineMs ?? 2000),
    folder: checkPath('folder', options.folder),
    argv: checkBoolean('argv', options.argv),
    signal: checkSignal(options.signal),
  };
}
