/** Runs the built command as a user does, and checks documents against the schemas that ship. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import type { Snapshot } from '../../lib/types/index.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const CLI = `${ROOT}dist/cli.js`;

if (!existsSync(CLI)) throw new Error('dist/cli.js is not there: npm run build');

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Without what a developer's shell may have set; `env` is put on top. */
export function environment(env: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { NO_COLOR: _no, FORCE_COLOR: _force, UMAPROBE_DEBUG: _debug, NODE_DEBUG: _node, ...rest } = process.env;
  return { ...rest, COLUMNS: '80', LANG: 'C.UTF-8', ...env };
}

export function umaprobe(args: readonly string[], options: { env?: Record<string, string>; cwd?: string } = {}): Ran {
  const ran = spawnSync(process.execPath, [CLI, ...args], {
    encoding: 'utf8',
    env: environment(options.env),
    timeout: 25_000,
    maxBuffer: 64 * 2 ** 20,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  if (ran.error !== undefined) throw ran.error;
  return { code: ran.status, stdout: ran.stdout, stderr: ran.stderr };
}

export function startUmaprobe(
  args: readonly string[],
  env: Record<string, string> = {},
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [CLI, ...args], { env: environment(env) });
}

/** Exit code, or the signal's name. */
export function ended(child: ChildProcessWithoutNullStreams): Promise<number | string> {
  return new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown')));
}

/** Resolves once stdout has said what matches. */
export function said(child: ChildProcessWithoutNullStreams, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (pattern.test(text)) resolve(text);
    });
    child.once('close', () => reject(new Error(`ended before it said ${pattern}: ${text}`)));
  });
}

const ajv = new Ajv({ allErrors: true, strict: true, strictRequired: false, allowUnionTypes: true });
for (const file of readdirSync(`${ROOT}schemas`))
  ajv.addSchema(JSON.parse(readFileSync(`${ROOT}schemas/${file}`, 'utf8')));

/** Parses a document and checks it against the schema that it names itself. */
export function checked(text: string): Record<string, unknown> {
  const document = JSON.parse(text) as Record<string, unknown>;
  const validate = ajv.getSchema(String(document.schema));
  if (validate === undefined) throw new Error(`there is no schema ${String(document.schema)}`);
  if (!validate(document)) throw new Error(`${String(document.schema)}: ${ajv.errorsText(validate.errors)}`);
  return document;
}

/** `umaprobe snapshot --json …`, which must succeed and be as its schema says. */
export function snapshotJson(args: string[] = [], options: Parameters<typeof umaprobe>[1] = {}): Snapshot {
  const { code, stderr, stdout } = umaprobe(['snapshot', '--json', ...args], options);
  if (code !== 0) throw new Error(`umaprobe snapshot ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
  return checked(stdout) as unknown as Snapshot;
}
