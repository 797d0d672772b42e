/**
 * Decides what a request may have, before anything is done for it. Pure.
 * - The Host header is checked first: a page of another site that points its own name at this machine (DNS rebinding,
 *   as in CVE-2024-28224 of Ollama) sends that name.
 * - The target of the request is compared as it was sent, with whole strings. Nothing is decoded or normalised, and no
 *   part of it becomes a path of a file.
 */

import { isAddress, isLoopback } from './listen.ts';
import { isAuthorized, type TokenDigest } from './token.ts';

const ROUTES = {
  '/': 'page',
  '/events': 'events',
  '/metrics': 'metrics',
  '/-/healthy': 'healthy',
  '/-/ready': 'ready',
} as const;

/** The routes, and the history of each machine by its place on the page: "/history/0". */
export type Route = (typeof ROUTES)[keyof typeof ROUTES] | 'history';

/** They say nothing of the machine, and their callers have no token. */
const PUBLIC: readonly Route[] = ['healthy', 'ready'];
/** Read by the page's own script. */
const OWN: readonly Route[] = ['events', 'history'];

/** Parts of a request that the decision needs; undefined: it has no such header. */
export interface GateRequest {
  method: string | undefined;
  /** Target of the request line. */
  target: string | undefined;
  host: string | undefined;
  origin: string | undefined;
  /** Sec-Fetch-Site, which browsers send. */
  fetchSite: string | undefined;
  authorization: string | undefined;
}

export interface GateRules {
  /** Names by which clients may call the server, in lower case. */
  names: readonly string[];
  /** True: every address is allowed as well: an address cannot be pointed at another machine, as a name can. */
  addresses: boolean;
  /** null: none is asked for. */
  token: TokenDigest | null;
  /** Targets with a history. */
  histories: readonly string[];
}

export interface Refusal {
  status: 401 | 403 | 404 | 405;
  /** A line for a person. */
  message: string;
}

/** @param host where the server listens. @param ownName of the machine. */
export function rulesFor(
  host: string,
  ownName: string,
  token: TokenDigest | null,
  histories: readonly string[],
): GateRules {
  const rest = { token, histories };
  if (isLoopback(host)) return { names: ['localhost', '127.0.0.1', '::1', host], addresses: false, ...rest };
  const own = ownName.toLowerCase();
  return { names: ['localhost', host, own, `${own}.local`], addresses: true, ...rest };
}

export function decide(request: GateRequest, rules: GateRules): Route | Refusal {
  const { authorization, fetchSite, host, method, origin, target } = request;
  if (!isAllowedHost(host, rules))
    return refusal(403, 'The Host header names no address of this server: use the one that it printed.');
  if (method !== 'GET' && method !== 'HEAD') return refusal(405, 'Only GET and HEAD are answered.');
  const route = routeOf(target ?? '', rules);
  if (route === null) return refusal(404, 'There is nothing here: / is the page, /metrics is for Prometheus.');
  if (OWN.includes(route) && !isOwnPage(origin, fetchSite, host))
    return refusal(403, 'Only the page of this server reads this.');
  if (rules.token !== null && !PUBLIC.includes(route) && !isAuthorized(authorization, rules.token))
    return refusal(401, 'A token is needed: Authorization: Bearer, or as the password in a browser.');
  return route;
}

function routeOf(target: string, { histories }: GateRules): Route | null {
  if (histories.includes(target)) return 'history';
  return Object.hasOwn(ROUTES, target) ? ROUTES[target as keyof typeof ROUTES] : null;
}

function refusal(status: Refusal['status'], message: string): Refusal {
  return { status, message };
}

/** Checks the name alone, whatever the port is: ssh -L gives another one. */
function isAllowedHost(header: string | undefined, { addresses, names }: GateRules): boolean {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(header ?? '');
  const name = (match?.[1] ?? match?.[2] ?? '').toLowerCase();
  if (name === '') return false;
  return names.includes(name) || (addresses && isAddress(name));
}

/** A program sends neither header. */
function isOwnPage(origin: string | undefined, fetchSite: string | undefined, host: string | undefined): boolean {
  if (fetchSite !== undefined && fetchSite !== 'same-origin') return false;
  return origin === undefined || origin === `http://${host}`;
}
