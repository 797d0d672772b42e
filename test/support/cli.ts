/** The built command as a child process, in the environment of a user. */
import { type ChildProcessWithoutNullStreams, type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Snapshot } from '../../lib/types/index.ts';
import { ROOT } from './root.ts';
import { parseDocument } from './schemas.ts';

export const CLI = join(ROOT, 'dist/cli.js');

if (!existsSync(CLI)) throw new Error('dist/cli.js is missing: npm run build');

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface CliOptions {
  /** Added to `cliEnvironment()`. */
  env?: Record<string, string>;
  cwd?: string;
  uid?: number;
  gid?: number;
}

/** The environment of this process without the variables that change the command's output; `env` is added. */
export function cliEnvironment(env: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { NO_COLOR: _no, FORCE_COLOR: _force, UMAPROBE_DEBUG: _debug, NODE_DEBUG: _node, ...rest } = process.env;
  return { ...rest, COLUMNS: '80', LANG: 'C.UTF-8', ...env };
}

/** Less than a test of sim or slow may take. A shorter limit ended a profile of four trials beside other programs. */
export const LIMIT_MS = 110_000;

function spawnOptions({ env, ...rest }: CliOptions) {
  return { ...rest, encoding: 'utf8', env: cliEnvironment(env), timeout: LIMIT_MS, maxBuffer: 64 * 2 ** 20 } as const;
}

function toResult({ error, status, stderr, stdout }: SpawnSyncReturns<string>): CliResult {
  if (error !== undefined) throw error;
  return { code: status, stdout, stderr };
}

export function runUmaprobe(args: readonly string[], options: CliOptions = {}): CliResult {
  return toResult(spawnSync(process.execPath, [CLI, ...args], spawnOptions(options)));
}

/** The same without blocking this process: tests that mostly wait run side by side. */
export async function umaprobe(
  args: readonly string[],
  env: Record<string, string> = {},
  input?: string,
): Promise<CliResult> {
  const child = startUmaprobe(args, env);
  if (input !== undefined) child.stdin.end(input);
  const texts = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      texts[stream] += text;
    });
  }
  const end = await exitOf(child);
  return { code: typeof end === 'number' ? end : null, ...texts };
}

/** Runs a script of bash, in which `"$0" "$1"` is the command. */
export function runInShell(script: string, options: CliOptions = {}): CliResult {
  return toResult(spawnSync('bash', ['-c', script, process.execPath, CLI], spawnOptions(options)));
}

/** Starts the command and does not wait for it. */
export function startUmaprobe(
  args: readonly string[],
  env: Record<string, string> = {},
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [CLI, ...args], { env: cliEnvironment(env) });
}

/** Resolves with the exit code, or with the name of the signal that ended the process. */
export function exitOf(child: ChildProcessWithoutNullStreams): Promise<number | string> {
  return new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown')));
}

/** Resolves with stdout once it matches. */
export function stdoutMatching(child: ChildProcessWithoutNullStreams, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (pattern.test(text)) resolve(text);
    });
    child.once('close', () => reject(new Error(`ended before its output matched ${pattern}: ${text}`)));
  });
}

/** The document of `umaprobe snapshot --json`, checked against its schema; throws when the command fails or complains. */
export function snapshotJson(args: string[] = [], options: CliOptions = {}): Snapshot {
  const { code, stderr, stdout } = runUmaprobe(['snapshot', '--json', ...args], options);
  if (code !== 0 || stderr !== '')
    throw new Error(`umaprobe snapshot ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
  return parseDocument(stdout) as unknown as Snapshot;
}
