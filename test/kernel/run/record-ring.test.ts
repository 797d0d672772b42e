/** What many starts of a recorder leave of what was recorded before them. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { readRecord } from '../../../lib/run/record/index.ts';
import { CLI, cliEnvironment } from '../../support/cli.ts';
import { frameBytes, HEADER, segmentBytes } from '../../support/segments.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { GiB, MiB } from '../../support/units.ts';

let folder = '';
beforeEach(() => {
  folder = join(temporaryFolder('record-ring'), 'record');
  mkdirSync(folder);
});

const HOUR_FRAMES = 36_000;

/** An hour of frames, in segments of 4 MiB as a recorder makes them. */
function recordAnHour(): void {
  const [first, second] = [HOUR_FRAMES - 2000, 2000];
  for (const [segment, from, count] of [
    [1, 0, first],
    [2, first, second],
  ] as const) {
    const frames = Array.from({ length: count }, (_, index) =>
      frameBytes({ bootUs: (from + index) * 100_000, free: GiB }),
    );
    const bytes = segmentBytes({ ...HEADER, session: 'hour', segment }, ...frames);
    writeFileSync(
      join(folder, `0000000${segment}.umarec`),
      Buffer.concat([bytes, Buffer.alloc(Math.max(0, 4 * MiB - bytes.length))]),
    );
  }
}

/** Runs a program that has `record`, `readRecord` and the folder. */
function run(body: string): { stdout: string; signal: NodeJS.Signals | null } {
  const script = `import { launch, record, readRecord } from 'umaprobe/run';\nconst folder = ${JSON.stringify(folder)};\n${body}`;
  const { signal, stderr, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    env: cliEnvironment(),
    cwd: join(CLI, '../..'),
  });
  expect(stderr).toBe('');
  return { stdout, signal };
}

const segments = () => readdirSync(folder).filter((name) => name.endsWith('.umarec'));
const bytesOnDisk = () => segments().reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

describe('the ring', () => {
  it('keeps an hour through forty short recordings, of which ten were killed', async () => {
    recordAnHour();
    run(`for (let i = 0; i < 30; i++) await (await record({ folder, processesMs: 0 })).stop();`);
    for (let i = 0; i < 10; i++)
      expect(run(`await record({ folder, processesMs: 0 }); process.kill(process.pid, 'SIGKILL');`).signal).toBe(
        'SIGKILL',
      );
    const { problems, sessions } = await readRecord({ folder });
    expect(problems).toEqual([]);
    expect(sessions).toHaveLength(41);
    expect(sessions[0]).toMatchObject({ id: 'hour', frames: HOUR_FRAMES });
    expect(sessions.slice(1, 31).every(({ end, endReason }) => end === 'complete' && endReason === 'stopped')).toBe(
      true,
    );
    expect(sessions.slice(31).every(({ end }) => end === 'lost')).toBe(true);
    // The hour, a segment that a killed recorder left whole, and little for each of the rest.
    expect(bytesOnDisk()).toBeLessThan(14 * MiB);
  });

  it('goes by bytes: the oldest go, and what is left is within its size', async () => {
    recordAnHour();
    run(
      `for (let i = 0; i < 3; i++) await (await record({ folder, processesMs: 0, maxSizeBytes: ${5 * MiB} })).stop();`,
    );
    const { sessions } = await readRecord({ folder });
    // The first segment of the hour had to go; the second one is small without its zeros.
    expect(sessions[0]).toMatchObject({ id: 'hour', frames: 2000 });
    expect(sessions).toHaveLength(4);
    expect(bytesOnDisk()).toBeLessThan(5 * MiB);
  });
});

describe('what no recorder wrote, with the name of a segment', () => {
  it('is neither read through nor removed, and takes no room of the ring', async () => {
    recordAnHour();
    const huge = join(folder, '00000003.umarec');
    writeFileSync(huge, '');
    // Sparse: reading its zeros would take minutes.
    truncateSync(huge, 2 ** 40);
    mkdirSync(join(folder, '00000000.umarec'));
    run(`for (let i = 0; i < 2; i++) await (await record({ folder, processesMs: 0 })).stop();`);
    expect(segments().sort()).toEqual([0, 1, 2, 3, 4, 5].map((number) => `0000000${number}.umarec`));
    const { problems, sessions } = await readRecord({ folder });
    expect(sessions.map(({ frames }) => frames)).toEqual([HOUR_FRAMES, expect.any(Number), expect.any(Number)]);
    expect(problems.map(({ segment }) => segment)).toEqual(['00000000.umarec']);
    // A folder cannot be removed as the oldest segment: the ring still goes by bytes.
    run(`await (await record({ folder, processesMs: 0, maxSizeBytes: ${5 * MiB} })).stop();`);
    expect(segments()).not.toContain('00000001.umarec');
  });
});

describe('a second recording of one process', () => {
  it('begins once the first has ended', async () => {
    const { stdout } = run(`
      for (const text of ['first', 'second', 'third']) {
        const recorder = await record({ folder, processesMs: 0 });
        recorder.mark(text);
        await recorder.stop();
      }
      const { sessions } = await readRecord({ folder });
      console.log(JSON.stringify(sessions.map(({ marks }) => marks.map(({ text }) => text))));`);
    expect(JSON.parse(stdout)).toEqual([['first'], ['second'], ['third']]);
  });

  it('waits for the end of the first, and the first then says nothing about it, nor in it', async () => {
    const { stdout } = run(`
      const first = await record({ folder, processesMs: 0 });
      const stopped = first.stop();
      const second = await record({ folder: folder + '-2', processesMs: 0 });
      const state = await stopped;
      first.mark('too late');
      second.mark('second');
      const later = first.state();
      await second.stop();
      const { sessions } = await readRecord({ folder: folder + '-2' });
      console.log(JSON.stringify([state, later, second.state().folder, sessions[0].marks.map(({ text }) => text)]));`);
    const [state, later, other, marks] = JSON.parse(stdout) as [unknown, unknown, string, string[]];
    expect(state).toMatchObject({ running: false, folder });
    expect([later, other, marks]).toEqual([state, `${folder}-2`, ['second']]);
  });

  it('is refused while the first goes on, which goes on', async () => {
    const { stdout } = run(`
      const first = await record({ folder, processesMs: 0 });
      const error = await record({ folder: folder + '-2', processesMs: 0 }).catch((error) => error);
      const { running } = first.state();
      await first.stop();
      console.log(JSON.stringify({ running, code: error.code, message: error.message }));`);
    expect(JSON.parse(stdout)).toEqual({
      running: true,
      code: 'ERR_UMA_BUSY',
      message: expect.stringContaining(`this process records already, in ${folder}; stop that recorder first`),
    });
  });
});

/** Writes over the beginning of a segment. */
function damage(name: string, from: number, to: number): void {
  const path = join(folder, name);
  writeFileSync(path, readFileSync(path).fill(0xff, from, to));
}

describe('a segment whose header is damaged', () => {
  it('is read by a copy of it, which the recorder wrote', async () => {
    run(`
      const recorder = await record({ folder, processesMs: 0, intervalMs: 1, frameMs: 10 });
      while (recorder.state().writtenBytes < 100_000) await new Promise((done) => setTimeout(done, 50));
      await recorder.stop();`);
    const [name = ''] = segments();
    const before = (await readRecord({ folder })).sessions[0];
    damage(name, 0, 100);
    const { problems, sessions } = await readRecord({ folder });
    expect(problems).toMatchObject([{ segment: name, offset: 0, message: expect.stringContaining('a copy') }]);
    expect(sessions).toEqual([before]);
    // The first copy lies behind the header, another one 64 KiB further.
    damage(name, 0, 4096);
    const [later] = (await readRecord({ folder })).sessions;
    expect(later).toMatchObject({ id: before?.id, end: 'complete' });
    expect(later?.frames).toBeGreaterThan((before?.frames ?? 0) - 40);
    expect(later?.frames).toBeLessThan(before?.frames ?? 0);
  });

  it('without a copy is read where it lies between two others of its session', async () => {
    const frames = (segment: number) =>
      Array.from({ length: 100 }, (_, index) => frameBytes({ bootUs: (segment * 100 + index) * 100_000, free: GiB }));
    for (const segment of [1, 2, 3])
      writeFileSync(join(folder, `0000000${segment}.umarec`), segmentBytes({ ...HEADER, segment }, ...frames(segment)));
    damage('00000002.umarec', 0, 100);
    const between = await readRecord({ folder });
    expect(between.sessions).toMatchObject([{ frames: 300 }]);
    expect(between.problems).toMatchObject([
      { segment: '00000002.umarec', message: expect.stringContaining('whose it is') },
    ]);
    damage('00000003.umarec', 0, 100);
    expect((await readRecord({ folder })).sessions).toMatchObject([{ frames: 100 }]);
  });
});
