/** The journal as a file: permissions, repairs, refusals and a full disk. In a scratch folder. */

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { Folder } from '../../../../lib/base/folder.ts';
import { startTicks } from '../../../../lib/core/host/process.ts';
import { defaultJournal } from '../../../../lib/core/journal/file.ts';
import { COMPACT_ABOVE, openJournal } from '../../../../lib/core/journal/index.ts';
import { encode, type JournalRecord, parseJournal } from '../../../../lib/core/journal/records.ts';
import { journalWriter } from '../../../../lib/core/journal/writer.ts';
import { begin, bytesOf, end, heading, lost, result, step, whole } from '../../../support/journals.ts';
import { GiB } from '../../../support/units.ts';

const folder = mkdtempSync(join(tmpdir(), 'umaprobe-journal-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const fresh = () => join(folder, `${++files}.jsonl`);

describe('the file', () => {
  const code = (use: () => unknown) => {
    try {
      use();
      return 'none';
    } catch (error) {
      return `${(error as { code: string }).code}: ${(error as Error).message}`;
    }
  };

  it('is created for its owner only, with the folders above it', () => {
    const path = join(folder, 'a/b/journal.jsonl');
    openJournal(path, heading).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'a/b')).mode & 0o777).toBe(0o700);
  });

  it('has its name on disk before a run begins', () => {
    const sync = vi.spyOn(Folder.prototype, 'sync');
    const path = fresh();
    openJournal(path, heading).close();
    expect(sync.mock.contexts.map((context) => (context as Folder).path)).toEqual([folder]);
    openJournal(fresh(), heading).close();
    expect(sync).toHaveBeenCalledTimes(2);
    sync.mockRestore();
  });

  it('is refused in one line if it cannot be one', () => {
    const target = fresh();
    writeFileSync(target, 'mine');
    const link = fresh();
    symlinkSync(target, link);
    expect(code(() => openJournal(link, heading))).toMatch(/^ERR_UMA_JOURNAL: .*symbolic link.*\(ELOOP\)$/);
    const directory = fresh();
    mkdirSync(directory);
    expect(code(() => openJournal(directory, heading))).toMatch(/^ERR_UMA_JOURNAL: .*is a directory/);
    const fifo = fresh();
    spawnSync('mkfifo', [fifo]);
    expect(code(() => openJournal(fifo, heading))).toMatch(/^ERR_UMA_JOURNAL: .*not a regular file/);
    expect(code(() => openJournal('/dev/full', heading))).toMatch(/^ERR_UMA_JOURNAL: .*not a regular file/);
    expect(code(() => openJournal('/proc/none/journal', heading))).toMatch(/^ERR_UMA_JOURNAL: /);
    expect(readFileSync(target, 'utf8')).toBe('mine');
  });

  it.skipIf(process.getuid?.() !== 0)('of somebody else is refused (skipped: only root can make one)', () => {
    const path = fresh();
    writeFileSync(path, '');
    chownSync(path, 65_534, 65_534);
    expect(code(() => openJournal(path, heading))).toMatch(/^ERR_UMA_JOURNAL: .*another user \(uid 65534\)/);
  });

  /** What used to look like a torn first record, or like a torn end. */
  const FOREIGN = [
    Buffer.alloc(10 << 20),
    Buffer.alloc(1),
    Buffer.from('{'),
    Buffer.from('{"uma'),
    Buffer.concat([bytesOf(whole), Buffer.alloc(1 << 20)]),
  ];

  it('with a torn middle is refused and not changed, as is another file', () => {
    const bytes = bytesOf(whole);
    bytes[200] = (bytes[200] as number) ^ 1;
    for (const before of [bytes, Buffer.from('notes to myself'), Buffer.from('{}\n{}\n'), ...FOREIGN]) {
      const path = fresh();
      writeFileSync(path, before);
      expect(code(() => openJournal(path, heading))).toMatch(
        /^ERR_UMA_JOURNAL: .*(line \d+ \(byte \d+\)|only NUL bytes).*the file was not changed/,
      );
      expect(readFileSync(path).equals(before)).toBe(true);
    }
  });

  it('with a torn or NUL-filled end loses that end, says so, and is used', () => {
    for (const tail of [Buffer.from(encode(end('one'))).subarray(0, 40), Buffer.alloc(4096)]) {
      const path = fresh();
      writeFileSync(path, Buffer.concat([bytesOf(whole), tail]));
      const journal = openJournal(path, heading);
      expect(journal.notes).toEqual([expect.stringContaining(`${tail.length} bytes of an incomplete record`)]);
      expect(journal.unfinished).toMatchObject({ targetBytes: 100 * GiB });
      journal.gone('test');
      journal.close();
      expect(parseJournal(readFileSync(path))).toMatchObject({ tornBytes: 0, records: { length: whole.length + 2 } });
    }
  });

  it('whose last record lacks only its newline keeps that record', () => {
    const path = fresh();
    writeFileSync(path, bytesOf(whole).subarray(0, -1));
    const journal = openJournal(path, heading);
    journal.close();
    expect(journal.unfinished).toMatchObject({ targetBytes: 100 * GiB });
    expect(parseJournal(readFileSync(path))).toMatchObject({ records: { length: whole.length + 1 } });
  });

  it('with a live run is busy, and names its process', () => {
    const path = fresh();
    const first = openJournal(path, heading);
    const before = readFileSync(path);
    expect(code(() => openJournal(path, heading))).toMatch(
      new RegExp(`^ERR_UMA_BUSY: .*a stress of process ${process.pid}, started 20`),
    );
    expect(readFileSync(path).equals(before)).toBe(true);
    first.gone('it ended');
    first.close();
    openJournal(path, heading).close();
  });

  it('is not busy if the pid was reused, nor for a run of another boot', () => {
    const path = fresh();
    const reusedPid = { pid: process.pid, startTicks: (startTicks(process.pid) ?? 0) + 1 };
    const other = { ...begin('two', 'boot-a'), pid: process.pid, startTicks: startTicks(process.pid) };
    writeFileSync(
      path,
      bytesOf([{ ...begin('one', 'boot-b'), ...reusedPid } as JournalRecord, other as JournalRecord]),
    );
    openJournal(path, heading).close();
  });

  it('stays small: finished runs are dropped, vanished ones kept', () => {
    const path = fresh();
    const many = Array.from({ length: 900 }, (_, n) => [
      begin(`r${n}`),
      step(`r${n}`, 0, GiB),
      result(`r${n}`, GiB),
      end(`r${n}`),
    ]);
    writeFileSync(path, bytesOf([...many.flat(), ...lost]));
    expect(statSync(path).size).toBeGreaterThan(COMPACT_ABOVE);
    chmodSync(path, 0o600);
    const journal = openJournal(path, heading);
    expect(statSync(path).size).toBeLessThan(32 * 1024);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    journal.gone('test');
    journal.close();
    const again = openJournal(path, heading);
    expect(again.unfinished).toMatchObject({ targetBytes: 100 * GiB, provenBytes: 96 * GiB });
    again.close();
  });

  it('has its default path in the state folder, separate for each simulated machine', () => {
    const env = { HOME: '/home/u', XDG_STATE_HOME: '/state' };
    expect(defaultJournal(null, env)).toBe('/state/umaprobe/journal.jsonl');
    expect(defaultJournal(null, { ...env, XDG_STATE_HOME: 'relative' })).toBe(
      '/home/u/.local/state/umaprobe/journal.jsonl',
    );
    expect(defaultJournal('a/../b', env)).toBe('/state/umaprobe/simulated-a%2F..%2Fb.jsonl');
  });
});

describe('a disk that is full', () => {
  const full = (code: string, errno: number) => Object.assign(new Error(code), { code, errno });

  it('makes the writer refuse, and removes the partly written record', () => {
    const truncated: number[] = [];
    const io = {
      calls: 0,
      write(_fd: number, bytes: Uint8Array) {
        if (this.calls++ > 0) throw full('ENOSPC', -28);
        return Math.min(10, bytes.length);
      },
      sync: () => undefined,
      size: () => 1_010,
      truncate: (_fd: number, to: number) => truncated.push(to),
    };
    expect(() => journalWriter(3, '/j', io).commit(begin('x'))).toThrow(
      /no space left on device: no further step is run/,
    );
    expect(truncated).toEqual([1_000]);
  });

  it('is noticed: a record is synced, which a FIFO refuses', () => {
    const path = fresh();
    spawnSync('mkfifo', [path]);
    const fd = openSync(path, 'r+');
    const writer = journalWriter(fd, path);
    expect(() => writer.append(begin('x'))).not.toThrow();
    expect(() => writer.commit(begin('x'))).toThrow(/EINVAL|invalid argument: .*its record may not be on disk/);
    closeSync(fd);
  });

  it('that cannot sync makes it refuse, too', () => {
    const io = {
      write: (_: number, bytes: Uint8Array) => bytes.length,
      sync: () => {
        throw full('EIO', -5);
      },
      size: () => 0,
      truncate: () => undefined,
    };
    expect(() => journalWriter(3, '/j', io).commit(begin('x'))).toThrow(
      expect.objectContaining({ code: 'ERR_UMA_JOURNAL', status: 5 }),
    );
  });
});
