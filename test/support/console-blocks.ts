/**
 * The ```console blocks of the documentation, and a shell to type them into. The fence has the exit code unless it is 0:
 * ```console exit=2. A block that cannot be run has the reason: ```console skip="takes a minute". A block that writes to
 * the kernel, which only root may, also on a simulated machine: ```console root. A block that runs programs of other
 * people: ```console clients (test/clients).
 */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { CLI, cliEnvironment, LIMIT_MS } from './cli.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface Block {
  line: number;
  exit: number;
  skip: string | null;
  root: boolean;
  /** The command runs programs that `npm run clients` fetches. */
  clients: boolean;
  steps: { command: string; output: string[] }[];
}

/** The blocks of a page that have an umaprobe command. */
export function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | null = null;
  for (const [index, line] of text.split('\n').entries()) {
    const fence = /^```console\b(.*)$/.exec(line);
    if (open === null && fence !== null) {
      const [, info = ''] = fence;
      open = {
        line: index + 1,
        exit: Number(/exit=(\d+)/.exec(info)?.[1] ?? 0),
        skip: /skip="([^"]*)"/.exec(info)?.[1] ?? null,
        root: /^ root\b/.test(info),
        clients: /^ clients\b/.test(info),
        steps: [],
      };
    } else if (open !== null && line.startsWith('```')) {
      blocks.push(open);
      open = null;
    } else if (open !== null && line.startsWith('$ ')) {
      open.steps.push({ command: line.slice(2), output: [] });
    } else {
      open?.steps.at(-1)?.output.push(line);
    }
  }
  return blocks.filter(({ steps }) => steps.some(({ command }) => /\bumaprobe\b/.test(command)));
}

/** Masks what differs between two runs: numbers, units of time, lengths of bars, the path of the simulator, spaces. */
export function masked(line: string): string {
  return line
    .replace(/\[[^\]]*[█·][^\]]*\]/g, '[bar]')
    .replace(/\S*libumasim\.so/g, 'libumasim.so')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'uuid')
    .replace(/\d[\d.,]* s\b/g, '0 ms')
    .replace(/-?\d[\d.,:]*/g, '0')
    .replace(/\s+/g, ' ')
    .trim();
}

const bin = temporaryFolder('docs');
writeFileSync(join(bin, 'umaprobe'), `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`);
chmodSync(join(bin, 'umaprobe'), 0o755);

/**
 * Types a command into a shell.
 *
 * @param path folders before those of PATH.
 */
export function typeInto(command: string, cwd: string, path: readonly string[] = []): SpawnSyncReturns<string> {
  return spawnSync('sh', ['-c', command], {
    cwd,
    encoding: 'utf8',
    // Journals go to the temporary folder, not to the home of the user.
    env: cliEnvironment({
      PATH: [bin, ...path, process.env.PATH ?? ''].join(':'),
      NO_COLOR: '1',
      XDG_STATE_HOME: join(bin, 'state'),
    }),
    timeout: LIMIT_MS,
  });
}

/** A line of a page that stands for lines which it leaves out. */
export const ELISION = '…';

/** The parts of a text that the page shows whole: `…` is between them. */
export function partsOf(shown: readonly string[]): string[][] {
  const parts: string[][] = [[]];
  for (const line of shown) {
    if (line.trim() === ELISION) parts.push([]);
    else parts.at(-1)?.push(line);
  }
  return parts;
}

/**
 * Difference of a page from an output, blank lines apart: it shows every line from the first to the last, but for those
 * at whose place it has a line `…`. null: none.
 *
 * @param mask part of a line that need not be equal.
 */
export function differenceOf(
  shown: readonly string[],
  printed: readonly string[],
  mask: (line: string) => string = masked,
): string | null {
  const isText = (line: string) => line.trim() !== '';
  const got = printed.filter(isText);
  const masks = got.map(mask);
  const parts = partsOf(shown.filter(isText));
  let from = 0;
  for (const [index, part] of parts.entries()) {
    const isFirst = index === 0;
    const isLast = index === parts.length - 1;
    if (part.length === 0 && !(isFirst && isLast)) continue;
    const end = Math.max(from, got.length - part.length);
    const place = (first: number, last: number) => bestPlace(part.map(mask), masks, first, last);
    let { start, equal } = place(isLast && !isFirst ? end : from, isFirst ? from : end);
    // The last part is not at the end: where it is says which lines follow.
    if (isLast && !isFirst && equal < part.length) ({ start, equal } = place(from, end));
    from = start + equal;
    if (equal < part.length) return difference(part[equal], got[from]);
    if (isLast && from < got.length) return difference(undefined, got[from]);
  }
  return null;
}

/** The place in `got`, from `first` to `last`, at which the most lines of `want` follow each other. */
function bestPlace(want: readonly string[], got: readonly string[], first: number, last: number) {
  let best = { start: first, equal: -1 };
  for (let start = first; start <= last && best.equal < want.length; start++) {
    const unequal = want.findIndex((line, at) => line !== got[start + at]);
    const equal = unequal < 0 ? want.length : unequal;
    if (equal > best.equal) best = { start, equal };
  }
  return best;
}

function difference(shown: string | undefined, printed: string | undefined): string {
  const said = (line: string | undefined) => line ?? '(nothing more)';
  return `the page shows:\n${said(shown)}\nwhere the program prints:\n${said(printed)}\nA line … stands for lines that a page leaves out.`;
}

/**
 * Types the commands of a block into a shell and expects what the page shows.
 *
 * @param options `path`: folders before those of PATH; `mask`: what of a line need not be equal.
 */
export function expectOutputOf(
  block: Block,
  { cwd, path = [], mask = masked }: { cwd: string; path?: string[]; mask?: (line: string) => string },
): void {
  for (const { command, output } of block.steps) {
    const ran = typeInto(command, cwd, path);
    if (/\bumaprobe\b/.test(command)) expect(ran.status, ran.stderr).toBe(block.exit);
    const printed = `${ran.stderr}${ran.stdout}`;
    const found = differenceOf(output, printed.split('\n'), mask);
    if (found !== null) expect.fail(`${command}\n${found}\nThe whole output:\n${printed}`);
  }
}
