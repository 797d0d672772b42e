/** The journal's disk fills up in the middle of a run: a real file system without space. Memory is simulated. */

import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StressReport, SweepReport } from '../../../lib/types/index.ts';
import { CLI, runInShell } from '../../support/cli.ts';
import { isRoot } from '../../support/real-files.ts';
import { parseDocument } from '../../support/schemas.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const quoted = (...args: string[]) => args.map((arg) => `'${arg.replaceAll("'", "'\\''")}'`).join(' ');

/** Runs the command twice in a mount namespace of its own, with its journal on a tmpfs of one page. */
function onFullDisk(folder: string, ...args: string[]) {
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  // A page per file on a tmpfs: one for the journal.
  const command = quoted(process.execPath, CLI, ...args, '--sim', 'gb10', '--json', '--journal', join(disk, 'j'));
  const script = `mount -t tmpfs -o size=4k none ${quoted(disk)} && ${command}; code=$?; cp ${quoted(join(disk, 'j'), join(folder, 'j'))}; exit $code`;
  return runInShell(`exec unshare -m --propagation private sh -c ${quoted(script)}`);
}

const unavailable = !isRoot
  ? 'mounting a tmpfs takes root'
  : runInShell('unshare -m --propagation private mount -t tmpfs none /mnt').code === 0
    ? null
    : 'no mount namespace here';

describe('a journal on a disk that fills up', () => {
  const lists = Array.from({ length: 40 }, (_, index) => `${index + 1}MB`).join(',');
  it.for<[string, string[], string]>([
    ['sweep', ['sweep', '--sizes', lists], 'stopped'],
    ['layout', ['layout', ...lists.split(',').map((size) => `part-${size}=${size}`)], 'stopped'],
    ['stress', ['stress', '--max', '8GiB', '--chunk', '64MiB'], 'journal'],
  ])('%s keeps what it measured, its files and its exit code', ([, args, state], context) => {
    if (unavailable !== null) return context.skip(unavailable);
    const folder = temporaryFolder('full-disk');
    const [csv, html] = [join(folder, 'r.csv'), join(folder, 'r.html')];
    const { code, stderr, stdout } = onFullDisk(folder, ...args, '--csv', csv, '--html', html);
    const report = parseDocument(stdout) as unknown as (SweepReport | StressReport) & { parts?: { state: string }[] };
    expect({ code, state: report.state }).toEqual({ code: 6, state });
    const steps = report.parts ?? report.steps;
    const made = steps.filter((step) => step.state === 'ok').length;
    expect(made).toBeGreaterThan(3);
    expect(made).toBeLessThan(40);
    const reason = 'boundBy' in report ? report.boundBy : report.reason;
    expect(reason).toMatch(/no space left on device: no further step is run.*Free space there.*--journal FILE/);
    expect(stdout + stderr).not.toContain('doctor');
    expect(existsSync(html)).toBe(true);
    expect(readFileSync(csv, 'utf8').split('\r\n').length - 2).toBe(steps.length);
    // No step stays without a result: the next run would be told that the machine vanished in it.
    expect(readFileSync(join(folder, 'j'), 'utf8').split('\n').at(-2)).not.toContain('"type":"step"');
  });
});
