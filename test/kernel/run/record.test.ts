/** Recordings of the real kernel: peaks, a blocked JavaScript thread, kill -9, a full disk, marks. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RecordedSession, RecordReport } from '../../../lib/types/index.ts';
import {
  CLI,
  cliEnvironment,
  exitOf,
  runInShell,
  runUmaprobe,
  snapshotJson,
  startUmaprobe,
} from '../../support/cli.ts';
import { asNobody, isRoot, startHolder } from '../../support/real-files.ts';
import { parseDocument } from '../../support/schemas.ts';
import { frameBytes, HEADER, segmentBytes } from '../../support/segments.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { GiB, MiB } from '../../support/units.ts';
import { waitFor } from '../../support/wait.ts';

let folder = '';
beforeEach(() => {
  folder = join(temporaryFolder('record'), 'record');
});

function show(...args: string[]): RecordReport {
  const { code, stderr, stdout } = runUmaprobe(['record', 'show', '--folder', folder, '--json', ...args]);
  expect([code, stderr]).toEqual([0, '']);
  return parseDocument(stdout) as unknown as RecordReport;
}
const lastSession = (report: RecordReport) => report.sessions.at(-1) as RecordedSession;

const startRecord = (...args: string[]) =>
  startUmaprobe(['record', '--folder', folder, '--processes', '0s', ...args], {});
/** Waits until the recorder takes marks, and so many frames more are on the disk. */
async function recorded(frames: number): Promise<void> {
  await waitFor('a recorder', () => existsSync(join(folder, 'mark.sock')));
  const seen = () => show().sessions.at(-1)?.frames ?? 0;
  const least = frames + seen();
  await waitFor(`${least} frames`, seen, (count) => count >= least);
}

/**
 * A program takes memory and ends at once.
 *
 * @returns half of what MemFree fell by at least, in bytes; null: it took longer than a transient may.
 */
async function holdShortly(): Promise<number | null> {
  for (const bytes of [2 * GiB, GiB, GiB / 2]) {
    // What the program takes from lists of the processors is missing in the fall.
    const listed = snapshotJson().kernel.freeInCpuLists ?? 0;
    const started = performance.now();
    await (await startHolder('holder', ['anon', String(bytes)], folder)).end();
    if (performance.now() - started < 1500) return (bytes - listed) / 2;
    // What fell and came back until now is no transient.
    await sleep(2500);
  }
  return null;
}

describe('a recording', () => {
  it('keeps a fall that comes back, as a transient, and marks in their order', async (context) => {
    if (freemem() < 6 * GiB) return context.skip('less than 6 GiB of free memory');
    const child = startRecord('--interval', '1ms', '--frame', '20ms');
    const end = exitOf(child);
    await recorded(50);
    expect(runUmaprobe(['mark', 'before', '--folder', folder]).code).toBe(0);
    const held = await holdShortly();
    if (held === null) {
      child.kill('SIGKILL');
      return context.skip('this machine is so busy that a program needs more than 1.5 s to take 512 MiB');
    }
    expect(runUmaprobe(['mark', 'after', '--folder', folder]).code).toBe(0);
    await recorded(100);
    child.kill('SIGINT');
    expect(await end).toBe(0);
    const session = lastSession(show());
    expect(session).toMatchObject({ end: 'complete', endReason: 'SIGINT', simulated: null, lostFrames: 0 });
    expect(session.marks.map(({ text }) => text)).toEqual(['before', 'after']);
    // Other programs take and free memory meanwhile.
    const [before, after] = session.marks.map(({ at }) => Date.parse(at));
    const falls = session.transients.filter(
      ({ at }) => Date.parse(at) > (before ?? 0) && Date.parse(at) < (after ?? 0),
    );
    expect(Math.max(0, ...falls.map(({ bytes }) => bytes))).toBeGreaterThan(held);
  });

  it('goes on while JavaScript is blocked', () => {
    const script = `
      import { record, readRecord } from 'umaprobe/run';
      const folder = ${JSON.stringify(folder)};
      const recorder = await record({ folder, processesMs: 0 });
      // More than the first second is on disk.
      while (recorder.state().frames <= 20 || recorder.state().writtenBytes <= 10 * 120);
      await recorder.stop();`;
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      env: cliEnvironment(),
      cwd: join(CLI, '../..'),
      timeout: 50_000,
    });
    expect([status, stderr]).toEqual([0, '']);
  });

  it('loses at most the last second, and no acknowledged mark, to kill -9 at random', () => {
    // Ten minutes of it: node test/soak/record-kills.mjs.
    const script = join(CLI, '../../test/soak/record-kills.mjs');
    const { status, stderr, stdout } = spawnSync(process.execPath, [script, '12', '7'], {
      encoding: 'utf8',
      env: cliEnvironment(),
    });
    expect(stderr).toBe('');
    const { kills, marks, mostLostMs, ...rest } = JSON.parse(stdout) as Record<string, number>;
    expect(rest).toMatchObject({ lostMarks: 0, problems: 0, wrongEnds: 0 });
    expect(mostLostMs).toBeLessThan(1000);
    expect(kills).toBeGreaterThan(2);
    expect(marks).toBeGreaterThan(5);
    expect(status).toBe(0);
  });

  it('another boot id means that the machine stopped', async () => {
    const child = startRecord();
    const end = exitOf(child);
    await recorded(10);
    child.kill('SIGKILL');
    await end;
    // The boot of the recording is another one for the reader of a simulated machine.
    const { stdout } = runUmaprobe(['record', 'show', '--folder', folder, '--sim', 'gb10']);
    expect(stdout).toMatch(/^MACHINE LOST {2}The machine stopped without a shutdown/m);
    expect(stdout).toMatch(/the last seconds +free GiB/);
  });

  it('damage in the middle is reported with its offset', async () => {
    const child = startRecord('--frame', '10ms');
    const end = exitOf(child);
    await recorded(150);
    child.kill('SIGTERM');
    expect(await end).toBe(0);
    const [name = ''] = readdirSync(folder).filter((entry) => entry.endsWith('.umarec'));
    const bytes = readFileSync(join(folder, name));
    bytes[5000] = (bytes[5000] as number) ^ 255;
    writeFileSync(join(folder, name), bytes);
    const { problems, sessions } = show();
    expect(problems).toMatchObject([{ segment: name, message: expect.stringContaining('damaged') }]);
    expect(Math.abs((problems[0]?.offset ?? 0) - 5000)).toBeLessThan(200);
    expect(sessions[0]?.frames).toBeGreaterThan(100);
  });

  it('a large ring is read in little memory', () => {
    // 40 MiB of frames: as objects they would take four times the heap that the reader gets.
    mkdirSync(folder, { recursive: true });
    const frames = Array.from({ length: 70_000 }, (_, index) => index);
    for (let segment = 0; segment < 5; segment++) {
      const records = frames.map((index) => frameBytes({ bootUs: (segment * 70_000 + index) * 10_000, free: GiB }));
      writeFileSync(join(folder, `0000000${segment + 1}.umarec`), segmentBytes({ ...HEADER, segment }, ...records));
    }
    const { code, stderr, stdout } = runUmaprobe(['record', 'show', '--folder', folder, '--json'], {
      env: { NODE_OPTIONS: '--max-old-space-size=40' },
    });
    expect([code, stderr]).toEqual([0, '']);
    expect(lastSession(parseDocument(stdout) as unknown as RecordReport)).toMatchObject({ frames: 350_000 });
  });

  it('a power cut that leaves zeros, or half of a record, costs that record alone', async () => {
    const child = startRecord('--frame', '10ms');
    const end = exitOf(child);
    await recorded(150);
    child.kill('SIGTERM');
    expect(await end).toBe(0);
    const [name = ''] = readdirSync(folder).filter((entry) => entry.endsWith('.umarec'));
    const whole = readFileSync(join(folder, name));
    const before = lastSession(show()).frames;
    // The end of what was written: the rest of the segment is zeros.
    const written = whole.findLastIndex((byte) => byte !== 0) + 1;
    for (const cut of [1, 50, 300, 1000]) {
      writeFileSync(join(folder, name), Buffer.concat([whole.subarray(0, written - cut), Buffer.alloc(4096)]));
      const { problems, sessions } = show();
      expect(problems).toEqual([]);
      expect(sessions[0]?.frames).toBeGreaterThanOrEqual(before - Math.ceil(cut / 120) - 1);
    }
  });

  it('stays within its size, and a second recorder is refused', async () => {
    const child = startRecord('--interval', '1ms', '--frame', '10ms', '--max-size', '2MiB');
    const end = exitOf(child);
    await recorded(0);
    const second = runUmaprobe(['record', '--folder', folder, '--duration', '1s']);
    expect([second.code, second.stderr]).toEqual([
      5,
      expect.stringContaining('another process records in this folder'),
    ]);
    child.kill('SIGINT');
    await end;
    const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(2 * MiB + 200);
  });

  it('on a full disk the oldest segments make room', (context) => {
    if (!isRoot) return context.skip('mounting a tmpfs takes root');
    const disk = temporaryFolder('record-disk');
    mkdirSync(folder, { recursive: true });
    for (let segment = 1; segment <= 4; segment++) {
      const frames = Array.from({ length: 6000 }, (_, index) => frameBytes({ bootUs: index * 100_000, free: GiB }));
      writeFileSync(join(folder, `0000000${segment}.umarec`), segmentBytes({ ...HEADER, segment }, ...frames));
    }
    // Room for the four of 704 KiB, and not for another one of at least 256 KiB.
    const script = `mount -t tmpfs -o size=3000k none ${disk} && mkdir -m 700 ${disk}/r && cp ${folder}/*.umarec ${disk}/r && for i in 1 2; do "${process.execPath}" "${CLI}" record --folder ${disk}/r --max-size 16MiB --duration 2s --processes 0s --json > ${folder}/$i.json 2> ${folder}/$i.err || exit 1; done; ls ${disk}/r`;
    const { code, stderr, stdout } = runInShell(`unshare -m --propagation private sh -c '${script}'`);
    if (code !== 0 && stderr.includes('unshare')) return context.skip(`no mount namespace here: ${stderr}`);
    expect([code, stderr]).toEqual([0, '']);
    // The second recording finds the room that the first one made.
    expect(stdout.match(/\d+\.umarec/g)).toEqual([2, 3, 4, 5, 6].map((number) => `0000000${number}.umarec`));
    const [first, second] = [1, 2].map(
      (number) => parseDocument(readFileSync(join(folder, `${number}.json`), 'utf8')) as unknown as RecordReport,
    ) as [RecordReport, RecordReport];
    const session = lastSession(first);
    expect(session).toMatchObject({ end: 'complete', lostFrames: 0 });
    expect(session.frames).toBeGreaterThan(10);
    // It says so, at once and in the recording.
    expect(readFileSync(join(folder, '1.err'), 'utf8')).toContain('The disk is full: old segments are removed early');
    expect(session.notes.map(({ text }) => text)).toContain(
      'the disk is full: 1 old segment was removed early, and the recording goes on in what it has',
    );
    expect(readFileSync(join(folder, '2.err'), 'utf8')).not.toContain('full');
    expect(lastSession(second).frames).toBeGreaterThan(10);
  });

  it.each([
    ['/proc/umaprobe', 'ENOENT'],
    ['/etc/passwd', 'ENOTDIR'],
    ['/sys/umaprobe', 'E(PERM|ACCES|NOENT|ROFS)'],
  ])('%s is refused, and nothing waits', (path, code) => {
    const { code: exit, stderr } = runUmaprobe(['record', '--folder', path, '--duration', '1s']);
    expect([exit, stderr]).toEqual([
      5,
      expect.stringMatching(
        new RegExp(`^umaprobe: record ${path}: the folder of the recording cannot be used; .*\\(${code}\\)\n$`),
      ),
    ]);
  });

  it('is readable for its user only, and another user cannot set marks', async (context) => {
    if (!isRoot) return context.skip('only root can try it as another user');
    const child = startRecord();
    const end = exitOf(child);
    await recorded(0);
    const modes = readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777);
    expect([...new Set(modes)]).toEqual([0o600]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(runUmaprobe(['mark', 'x', '--folder', folder], asNobody).code).not.toBe(0);
    child.kill('SIGINT');
    await end;
  });
});
