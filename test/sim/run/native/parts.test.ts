/** Parts of the native code, each alone: what is on disk and when, files that are no segments, pids that were given again. */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, linkSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { compile, missingCompiler, unsanitizedEnvironment } from '../../../support/clients.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { GiB } from '../../../support/units.ts';

const unbuildable = missingCompiler();
const built = temporaryFolder('parts');

/** What the part prints. */
function part(...words: readonly string[]): string {
  return execFileSync(join(built, 'parts'), words, { encoding: 'utf8', env: unsanitizedEnvironment() });
}

describe.skipIf(unbuildable !== null)(`parts${unbuildable === null ? '' : ` (skipped: ${unbuildable})`}`, () => {
  beforeAll(() => {
    const sources = [
      'run/record/segments',
      'run/record/format',
      'base/failure',
      'pagecache/maps_text',
      'run/supervisor/processes',
    ];
    compile([
      ...['-std=c++17', '-O1', '-Wall', '-Wextra', '-Inative', '-o', join(built, 'parts')],
      // Of processes.cc no function that reads the memory of a host.
      ...['-ffunction-sections', '-Wl,--gc-sections', 'test/sim/run/native/parts.cc'],
      ...sources.map((name) => `native/${name}.cc`),
    ]);
  });

  describe('a recording', () => {
    /** The calls and their end, of a recorder in this folder. */
    const recording = (folder: string, refused?: string): string[] =>
      part('record', folder, ...(refused === undefined ? [] : [refused]))
        .trim()
        .split('\n');
    const SEGMENT = '00000001.umarec';

    it('is on disk: a segment, its name, and what is appended', () => {
      const folder = temporaryFolder('parts-disk');
      expect(recording(folder)).toEqual([
        ...[`write ${SEGMENT}`, `fsync ${SEGMENT}`, `fsync ${basename(folder)}`, 'open: done'],
        ...[`write ${SEGMENT}`, `fdatasync ${SEGMENT}`, 'append: done'],
      ]);
    });

    it('says what the disk refused, and leaves no segment without a header', () => {
      const folder = temporaryFolder('parts-refused');
      for (const refused of [`write ${SEGMENT}`, `fsync ${SEGMENT}`, `fsync ${basename(folder)}`]) {
        expect(recording(folder, refused).at(-1)).toBe(`open: write folder/${SEGMENT} EIO`);
        expect(existsSync(join(folder, SEGMENT))).toBe(false);
      }
      expect(recording(folder, `fdatasync ${SEGMENT}`).at(-1)).toBe(`append: fdatasync folder/${SEGMENT} EIO`);
    });

    it('cuts the zeros off the segment before it, and not off a file that has another name as well', () => {
      const padded = Buffer.concat([Buffer.from('UMAREC1\n'), Buffer.alloc(1 << 20)]);
      const folder = temporaryFolder('parts-zeros');
      writeFileSync(join(folder, SEGMENT), padded);
      recording(folder);
      expect(statSync(join(folder, SEGMENT)).size).toBe(4096);

      const other = temporaryFolder('parts-linked');
      const database = join(temporaryFolder('parts-other'), 'database');
      writeFileSync(database, padded);
      linkSync(database, join(other, SEGMENT));
      recording(other);
      expect(readFileSync(database).equals(padded)).toBe(true);
      expect(existsSync(join(other, '00000002.umarec'))).toBe(true);
    });
  });

  it.each([
    ['/models/a\\012b.gguf', '/models/a\nb.gguf'],
    ['\\012\\012', '\n\n'],
    ['/a\\01', '/a\\01'],
    ['/a\\011b\\040c', '/a\\011b\\040c'],
  ])('the path %j of maps is %j', (path, plain) => {
    expect(part('unescaped', path)).toBe(plain);
  });

  const minute = Array.from({ length: 60 }, (_, second) => second);
  it.each([
    ['that goes on for half a minute', (s: number) => [100 - s, 20], 30],
    ['that goes on for half a minute after it was low', (s: number) => [100 - s, s === 20 ? 9.9 : 20], 51],
    ['without progress for a second', (s: number) => [s < 10 ? 100 - s : 91, 20], 10],
    ['near the floor', (s: number) => [20 - s / 2, 20], 21],
    ['that is low', (s: number) => [9, s === 59 ? 10 : 9.9], 59],
  ])('pressure during a call is a stall: %s', (_, at, from) => {
    const readings = minute.map((second) => {
      const [available = 0, pressure = 0] = at(second);
      return `${second} ${available * GiB} ${pressure}`;
    });
    const stalls = part('stalls', String(8 * GiB), ...readings)
      .trim()
      .split('\n')
      .map(Number);
    expect(stalls).toEqual(minute.slice(from));
  });

  it('a signal reaches the process that was meant, and no later one with its pid', async () => {
    const child = spawn('sleep', ['60']);
    await once(child, 'spawn');
    const signal = (later: number) =>
      Number(part('signal', String(child.pid), String(later), String(constants.signals.SIGKILL)));
    expect(signal(-1)).toBe(constants.errno.ESRCH);
    expect(signal(1)).toBe(constants.errno.ESRCH);
    expect(child.exitCode ?? child.signalCode).toBeNull();
    expect(signal(0)).toBe(0);
    expect((await once(child, 'exit'))[1]).toBe('SIGKILL');
    expect(signal(0)).toBe(constants.errno.ESRCH);
  });
});
