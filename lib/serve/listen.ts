/** The server's address: an address of this machine alone, unless a token is asked for. */

import { BlockList, isIP } from 'node:net';
import { invalidArgument, invalidValue } from '../base/arguments.ts';

/** No program is known to use it; the ports from 9100 on, where exporters are, are full. */
export const DEFAULT_LISTEN = '127.0.0.1:16121';

export interface ListenAddress {
  /** A name, or an address without brackets. */
  host: string;
  port: number;
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** An address of IPv4 or IPv6, without brackets. */
export function isAddress(host: string): boolean {
  return isIP(host) !== 0;
}

export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true;
  const version = isIP(host);
  return version !== 0 && LOOPBACK.check(host, version === 6 ? 'ipv6' : 'ipv4');
}

/**
 * "127.0.0.1:16121", "[::1]:16121", "spark-1:16121".
 *
 * @param what whose value it is, for the error: "--listen", "listen".
 */
export function parseListen(what: string, value: string): ListenAddress {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9](?:[a-z0-9.-]{0,252}))):(\d{1,5})$/i.exec(value);
  const host = (match?.[1] ?? match?.[2] ?? '').toLowerCase();
  const port = Number(match?.[3]);
  const isAddress = match?.[1] === undefined || isIP(host) === 6;
  // "1.2.3": a name that consists of numbers is a mistyped address.
  const isTypo = match?.[2] !== undefined && /^[\d.]+$/.test(host) && isIP(host) !== 4;
  if (match === null || !isAddress || isTypo || port > 65_535)
    throw invalidValue(what, `an address and a port, such as ${withLoopback(value)}`, value);
  return { host, port };
}

/** An example of an address: of a port alone, the loopback's with that port. */
export function withLoopback(value: string): string {
  return /^\d{1,5}$/.test(value) ? `127.0.0.1:${value}` : '127.0.0.1:16121 or [::1]:16121';
}

/** @throws TypeError where other machines would reach the server and no token is asked for. */
export function checkReach(what: string, { host }: ListenAddress, tokenFile: string | undefined): void {
  if (tokenFile !== undefined || isLoopback(host)) return;
  const option = what.startsWith('--') ? '--token-file' : 'tokenFile';
  throw invalidArgument(
    `${what} ${JSON.stringify(host)} is reached from other machines: it needs a token (${option}), or listen on 127.0.0.1 and use ssh -L`,
  );
}
