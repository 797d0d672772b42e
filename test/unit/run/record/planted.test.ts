/** What someone else has put in the place of a recorder's files: it is not opened, or not waited for, and named. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isRecording } from '../../../../lib/run/record/live.ts';
import { SegmentFolder } from '../../../../lib/run/record/segments.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

it('of segments FIFOs, devices and links are named and not read', async () => {
  const folder = temporaryFolder('planted');
  execFileSync('mkfifo', [join(folder, '00000001.umarec')]);
  symlinkSync('/dev/zero', join(folder, '00000002.umarec'));
  symlinkSync('/etc/passwd', join(folder, '00000003.umarec'));
  mkdirSync(join(folder, '00000004.umarec'));
  const segments = new SegmentFolder(folder, undefined);
  expect(await segments.sessions()).toEqual([]);
  expect(segments.problems.map(({ segment, message }) => [segment, message])).toEqual([
    ['00000001.umarec', 'it cannot be read (ENXIO)'],
    ['00000002.umarec', 'it cannot be read (ELOOP)'],
    ['00000003.umarec', 'it cannot be read (ELOOP)'],
    ['00000004.umarec', 'it cannot be read (ENXIO)'],
  ]);
});

it('a lock names no process where it is a FIFO, a device, or larger than one', () => {
  const folder = (make: (lock: string) => void) => {
    const path = temporaryFolder('lock');
    make(join(path, 'lock'));
    return path;
  };
  expect(isRecording(folder((lock) => execFileSync('mkfifo', [lock])))).toBe(false);
  expect(isRecording(folder((lock) => symlinkSync('/dev/zero', lock)))).toBe(false);
  const large = folder((lock) => {
    writeFileSync(lock, JSON.stringify({ pid: process.pid, startTicks: null }));
    chmodSync(lock, 0o600);
  });
  expect(isRecording(large)).toBe(true);
  truncateSync(join(large, 'lock'), 2 ** 40);
  expect(isRecording(large)).toBe(false);
});
