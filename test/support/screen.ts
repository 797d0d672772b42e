/** Programs that draw on a terminal: run in tmux, and read from its screen. */
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { findTool } from '../../scripts/run.mjs';
import { unsanitizedEnvironment } from './clients.ts';

/** Why no program can be given a terminal; null: it can. */
export const missingTerminal = findTool('tmux') === null ? 'no tmux (Debian: apt-get install tmux)' : null;

const LIMIT_MS = 20_000;

let terminals = 0;

/**
 * Runs a program in a terminal of its own until the screen matches, or for 20 s; answers the lines of the screen.
 *
 * @param env variables of the program, besides those of this process.
 */
export async function screenOf(
  command: readonly string[],
  env: Record<string, string>,
  shows: RegExp,
  { columns = 110, rows = 30 }: { columns?: number; rows?: number } = {},
): Promise<string[]> {
  const socket = `umaprobe-${process.pid}-${terminals++}`;
  const tmux = (...args: string[]) =>
    spawnSync('tmux', ['-u', '-L', socket, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: { ...unsanitizedEnvironment(), TERM: 'screen-256color', LANG: 'C.UTF-8' },
    });
  const variables = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const size = ['-x', String(columns), '-y', String(rows)];
  const started = tmux('new-session', '-d', ...size, ...variables, ...command);
  if (started.status !== 0) throw new Error(`tmux: ${started.stderr}`);
  try {
    let screen = '';
    for (const end = performance.now() + LIMIT_MS; performance.now() < end; await sleep(100)) {
      const captured = tmux('capture-pane', '-p');
      // A program that has ended takes its terminal along; what it drew last is kept.
      if (captured.status !== 0) break;
      screen = captured.stdout;
      if (shows.test(screen)) break;
    }
    return screen.split('\n').map((line) => line.trimEnd());
  } finally {
    tmux('kill-server');
  }
}
