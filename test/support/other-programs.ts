/** What the programs of this machine that are not under test do with its memory meanwhile. */

import { readFileSync } from 'node:fs';

const read = (path: string): string => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
};
const anonymousOfAll = () => Number(/AnonPages: +(\d+) kB/.exec(read('/proc/meminfo'))?.[1]) * 1024;

/** Anonymous memory of a process and its descendants. */
function anonymousOf(pid: number): number {
  const [, resident = 0, shared = 0] = read(`/proc/${pid}/statm`).split(' ').map(Number);
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return (resident - shared) * 4096 + children.reduce((sum, child) => sum + anonymousOf(child), 0);
}

/** Watches all but the process `pid` and its descendants. The result ends it and says how far their memory moved, in bytes. */
export function watchOthers(pid: number): () => number {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const timer = setInterval(() => {
    const bytes = anonymousOfAll() - anonymousOf(pid);
    [least, most] = [Math.min(least, bytes), Math.max(most, bytes)];
  }, 50);
  return () => {
    clearInterval(timer);
    return Math.max(0, most - least);
  };
}
