/** Names of machines: a list, or a file of mpirun or sparkrun. */

import { invalidArgument, invalidType, invalidValue, outOfRange } from '../../base/arguments.ts';
import { LIMITS } from '../../base/limits.ts';
import { list } from '../../base/options.ts';

/** Time to wait for the answer of each host unless the caller says. */
export const DEFAULT_DEADLINE_MS = 15_000;

/**
 * One destination of ssh: a name of its configuration, "user@host", an address, "ssh://user@host:port". A name that
 * begins with "-" would be an option of ssh, and signs of a shell would be read by a ProxyCommand.
 */
const NAME = /^(?:[a-z0-9_][\w.+-]*@)?(?:[a-z0-9_][\w.-]*|\[?[0-9a-f:]*:[0-9a-f:.]*(?:%\w+)?\]?)$/i;
const URI = /^ssh:\/\/(?:[a-z0-9_][\w.+-]*@)?(?:[a-z0-9_][\w.-]*|\[[0-9a-f:.]+\])(?::\d{1,5})?\/?$/i;

/** host:2 of MPI: the number of ranks there. */
const WITH_SLOTS = /^([^:[\]]+):(\d{1,4})$/;

/**
 * @param what whose names they are, for the error: "hosts", "--hosts".
 * @param entry the name at an index.
 * @returns the names, once each is one that ssh takes.
 */
export function checkHosts(
  value: unknown,
  what = 'hosts',
  entry: (index: number) => string = (index) => `${what}[${index}]`,
): readonly string[] {
  if (!Array.isArray(value)) throw invalidType(what, 'an array of host names', value);
  const { max, min } = LIMITS.hosts;
  if (value.length < min || value.length > max) throw outOfRange(`length of ${what}`, `${min} to ${max}`, value.length);
  const seen = new Set<string>();
  for (const [index, host] of (value as readonly unknown[]).entries()) {
    if (typeof host !== 'string') throw invalidType(entry(index), 'a host name', host);
    checkName(entry(index), host);
    if (seen.has(host.toLowerCase())) throw invalidArgument(`${what} names "${host}" twice; a machine is asked once`);
    seen.add(host.toLowerCase());
  }
  return value as readonly string[];
}

/** The machines as an option of everything that asks some. */
export const hostsRow = list((name, value) => checkHosts(value, name), {
  placeholder: '<host,host>',
  help: 'Machines to ask by ssh, as ssh takes them: names of ~/.ssh/config, user@host, ssh://user@host:port',
  read: (words, name) => checkHosts(words, name, () => `a name of ${name}`),
});

function checkName(name: string, host: string): void {
  const [, before, number] = WITH_SLOTS.exec(host) ?? [];
  if (before !== undefined && NAME.test(before))
    throw invalidValue(name, `"${before}" alone, or with a port "ssh://${before}:${number}"`, host);
  if (host.length > 255 || !(NAME.test(host) || URI.test(host)))
    throw invalidValue(name, 'a name of ~/.ssh/config, user@host, or ssh://user@host:port', host);
}

/**
 * The machines of a file: one on each line, with "slots=2", ":2" or other words of MPI behind it; "#" begins a comment.
 * A line that names a machine again adds ranks to it.
 */
export function hostsOfFile(text: string): { name: string; line: number }[] {
  const hosts = text.split(/\r?\n/).flatMap((all, index) => {
    const [word] = all
      .replace(/#.*/, '')
      .trim()
      .split(/[\s,]+/);
    return word === undefined || word === '' ? [] : [{ name: WITH_SLOTS.exec(word)?.[1] ?? word, line: index + 1 }];
  });
  return [...new Map(hosts.map((host) => [host.name.toLowerCase(), host])).values()];
}
