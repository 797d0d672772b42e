/** Runs the built command line as users do, as a child process. */

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Snapshot } from '../lib/types.ts';

export const CLI = fileURLToPath(new URL('../dist/cli.js', import.meta.url));

export interface Ran {
  status: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export function umaprobe(
  args: string[],
  options: { env?: Record<string, string>; cwd?: string; timeoutMs?: number } = {},
): Ran {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], {
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1', ...options.env },
    cwd: options.cwd,
    timeout: options.timeoutMs ?? 60_000,
    maxBuffer: 64 * 2 ** 20,
  });
  return { status, signal, stdout, stderr };
}

/** `umaprobe snapshot --json …`, which must succeed. */
export function snapshotJson(args: string[] = [], options: Parameters<typeof umaprobe>[1] = {}): Snapshot {
  const ran = umaprobe(['snapshot', '--json', ...args], options);
  if (ran.status !== 0)
    throw new Error(
      `umaprobe snapshot ${args.join(' ')} ended with ${ran.status ?? ran.signal}: ${ran.stderr}${ran.stdout}`,
    );
  return JSON.parse(ran.stdout) as Snapshot;
}
