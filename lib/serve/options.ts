/** The options of serve(), checked. */

import { invalidType } from '../base/arguments.ts';
import { LIMITS } from '../base/limits.ts';
import {
  type CheckedOf,
  checkOptions,
  custom,
  flag,
  milliseconds,
  type OptionsOf,
  path,
  signal,
} from '../base/options.ts';
import { MEMORY } from '../core/snapshot/options.ts';
import { hostsRow } from '../run/cluster/hosts.ts';
import { folder } from '../run/record/options.ts';
import { checkReach, DEFAULT_LISTEN, type ListenAddress, parseListen } from './listen.ts';
import { readToken, type TokenDigest } from './token.ts';

/** Options of `serve()`. */
export interface ServeOptions extends OptionsOf<typeof SERVE> {}

export const SERVE = {
  /**
   * Address and port. Default "127.0.0.1:16121"; port 0: one that is free. An address that other machines reach needs
   * `tokenFile`.
   */
  listen: custom(checkListen, {
    default: DEFAULT_LISTEN,
    placeholder: '<address:port>',
    help: 'Where to listen',
    note: '; port 0: one that is free',
  }),
  /**
   * File with the token that a client must send, as `Authorization: Bearer` or as the password of Basic: one line of 16 to 512
   * printable characters, in a file that other users may not read. Default: none is asked for.
   */
  tokenFile: path({
    help: 'File with the token that clients send, as Bearer or as a password; readable for this user only',
  }),
  /**
   * Machines of the page, as for `cluster()`: asked by the user's own ssh, also for what their recorders have. Default: this
   * machine alone, whose processes the page then has as well. /metrics is always of this machine.
   */
  hosts: hostsRow,
  /**
   * Interval between two readings while a page is open, in milliseconds, 1000 to 3,600,000; default 1000. Else a reading
   * is taken when it is asked for.
   */
  intervalMs: milliseconds({
    min: 1000, // A browser reads it over the network.
    max: LIMITS.intervalMs.max,
    default: 1000,
    help: 'Between two readings while a page is open',
  }),
  /** Folder of the recording whose history the page shows, with `hosts` on each of them. Default: as for `record()`. */
  folder: folder(),
  /** true: the page shows command lines of processes, which may have secrets. Default: their names only. */
  argv: flag({ help: 'Show command lines of processes, which may have secrets' }),
  /** The option of `snapshot()`. */
  deadlineMs: MEMORY.deadlineMs,
  /** Ends the server. */
  signal,
};

export interface ServeSettings extends Omit<CheckedOf<typeof SERVE>, 'listen' | 'tokenFile' | 'hosts'> {
  /** null: this machine alone. */
  hosts: readonly string[] | null;
  listen: ListenAddress;
  /** null: none is asked for. */
  token: TokenDigest | null;
}

/** @throws as `serve()`; the file of the token is read here. */
export function checkServeOptions(options: ServeOptions): ServeSettings {
  const { listen: address, tokenFile, ...settings } = checkOptions('serve()', options, SERVE);
  const listen = parseListen('listen', address);
  checkReach('listen', listen, tokenFile);
  return {
    ...settings,
    hosts: settings.hosts ?? null,
    listen,
    token: tokenFile === undefined ? null : readToken(tokenFile),
  };
}

function checkListen(name: string, value: unknown): string {
  if (typeof value !== 'string') throw invalidType(name, 'a text with an address and a port', value);
  return value;
}
