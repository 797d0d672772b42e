/** File systems that do not answer: a deadline, and a line that names the path. FUSE, which any user can hang. */

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROGRAM_BYTES } from '../../../lib/core/memory/floor.ts';
import type { Snapshot } from '../../../lib/types/index.ts';
import { CLI, cliEnvironment, snapshotJson } from '../../support/cli.ts';
import { compileC } from '../../support/clients.ts';
import { meminfoBytes } from '../../support/meminfo.ts';
import { diskFolder, isRoot, writeRandom } from '../../support/real-files.ts';
import { ROOT } from '../../support/root.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { MiB } from '../../support/units.ts';

const folder = temporaryFolder('fuse');
const program = join(folder, 'hung_fuse');

interface Answer {
  code: number | null;
  output: string;
  /** Milliseconds until the first line on stderr, or until the end. */
  answeredMs: number;
}

/**
 * Runs the command on a mount where `request` is never answered; once it has said something, the mount is aborted.
 *
 * @param over a file of the kernel that is served from the mount.
 */
function onHungMount(request: string, args: readonly string[], over?: string): Promise<Answer> {
  const mount = mkdtempSync(join(folder, `${request}-`));
  const started = performance.now();
  const command = [process.execPath, CLI, ...args.map((word) => word.replace('MOUNT', mount))];
  const bind = ['/bin/sh', '-c', 'mount --bind "$0" "$1" && shift && exec "$@"', `${mount}/file`, over ?? ''];
  const child = spawn(
    'unshare',
    ['-m', '--propagation', 'private', program, mount, request, ...(over === undefined ? [] : bind), ...command],
    { env: cliEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  let answeredMs = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (over === undefined) return;
    answeredMs ||= performance.now() - started;
    if (output.endsWith('}\n')) child.kill('SIGTERM');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    answeredMs ||= performance.now() - started;
    // A thread inside the request cannot be killed: the process ends once the request is aborted.
    child.kill('SIGTERM');
  });
  return new Promise((resolve) =>
    child.once('close', (code) => resolve({ code, output, answeredMs: answeredMs || performance.now() - started })),
  );
}

const unavailable = !isRoot
  ? 'mounting takes root'
  : existsSync('/dev/fuse')
    ? null
    : '/dev/fuse is missing: no FUSE in this kernel or container';

it('a request that is never answered ends at a deadline, with the path', async (context) => {
  if (unavailable !== null) return context.skip(unavailable);
  compileC(join(ROOT, 'test/kernel/hung_fuse.c'), program);
  // More than is free, in the processors' lists, too, and less than is available.
  const cached = diskFolder(256 * MiB);
  if ('reason' in cached) return context.skip(cached.reason);
  writeRandom(join(cached.path, 'cached'), 256 * MiB, true);
  const { host, kernel } = snapshotJson();
  const wanted = `${(host.free ?? 0) + (kernel.freeInCpuLists ?? 0) + 128 * MiB - PROGRAM_BYTES}B`;
  // All at once: each waits for the same deadline.
  const hung = [
    ...['lookup', 'getattr', 'open', 'readdir', 'flush'].map((request) => [request, ['cache', 'status', 'MOUNT']]),
    ['getattr', ['cache', 'evict', 'MOUNT']],
    ['open', ['cache', 'evict', 'MOUNT/file']],
    ['open', ['prepare', wanted, '--floor', '0', '--dry-run', '--path', 'MOUNT']],
  ] as [string, string[]][];
  const [served, ...answers] = await Promise.all([
    onHungMount('read', ['cache', 'evict', 'MOUNT']),
    ...hung.map(([request, args]) => onHungMount(request, args)),
  ]);
  if (/mount: |open \/dev\/fuse: /.test(served?.output ?? '')) return context.skip(served?.output);
  // Pages are counted and evicted without a read.
  expect(served).toMatchObject({ code: 0 });
  for (const [index, { answeredMs, code, output }] of answers.entries()) {
    const [request = '', args = []] = hung[index] ?? [];
    expect(output, `${request} ${args}`).toMatch(
      new RegExp(`^umaprobe: .*no answer within 100\\d\\d ms: .*, at ${join(folder, request)}-.*does not answer.*\\n$`),
    );
    expect(output.trim()).not.toContain('\n');
    expect(code, output).toBe(6);
    expect(answeredMs).toBeLessThan(40_000);
  }
}, 60_000);

it('a file of the kernel that hangs is unknown alone, with the reason', async (context) => {
  if (unavailable !== null) return context.skip(unavailable);
  compileC(join(ROOT, 'test/kernel/hung_fuse.c'), program);
  const answers = await Promise.all(
    (['open', 'read'] as const).map((request) => onHungMount(request, ['--json'], '/proc/pressure/memory')),
  );
  for (const { answeredMs, code, output } of answers) {
    if (/mount: |open \/dev\/fuse: /.test(output)) return context.skip(output);
    const { from, host, kernel, pressure } = JSON.parse(output) as Snapshot;
    expect(from.pressure).toMatch(
      /^ERR_UMA_TIMEOUT: read \/proc\/pressure\/memory answered TIMEOUT: no answer within [12]\d{3} ms/,
    );
    expect(pressure).toBeNull();
    expect(host.total).toBe(meminfoBytes('MemTotal'));
    expect(kernel.minFree).toBeGreaterThan(0);
    expect(code).toBe(0);
    expect(answeredMs).toBeLessThan(40_000);
  }
}, 60_000);
