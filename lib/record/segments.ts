/** The segments in a folder by session, read one at a time into one buffer: a ring of any size takes the same memory. */

import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MiB } from '../base/format.ts';
import type { RecordProblem } from '../types/index.ts';
import { segmentsIn } from './folder.ts';
import { type Frame, MAX_HEADER, type Note, readHeader, recordsOf, type SegmentHeader } from './format.ts';

/** The recorder writes at most 16 MiB. */
const MAX_SEGMENT = 64 * MiB;
/** Records between two turns of the event loop: about 10 ms. */
const TURN = 4096;

export interface SegmentFile {
  path: string;
  header: SegmentHeader;
}

/** The segments of one session, oldest first. */
export interface SessionFiles {
  header: SegmentHeader;
  segments: SegmentFile[];
}

export class SegmentFolder {
  readonly problems: RecordProblem[] = [];
  readonly #folder: string;
  readonly #signal: AbortSignal | undefined;
  #buffer = Buffer.alloc(MiB);

  constructor(folder: string, signal: AbortSignal | undefined) {
    this.#folder = folder;
    this.#signal = signal;
  }

  /** Reads the headers alone. */
  async sessions(): Promise<SessionFiles[]> {
    const sessions: SessionFiles[] = [];
    for (const path of segmentsIn(this.#folder)) {
      this.#signal?.throwIfAborted();
      const bytes = await this.#read(path, MAX_HEADER);
      if (bytes === null) continue;
      const found = readHeader(basename(path), bytes);
      if (found.header === null) {
        if (found.problem !== null) this.problems.push(found.problem);
        continue;
      }
      const segment = { path, header: found.header };
      const session = sessions.at(-1);
      if (session?.header.session === found.header.session) session.segments.push(segment);
      else sessions.push({ header: found.header, segments: [segment] });
    }
    return sessions;
  }

  /**
   * Calls `use` for each record of a segment until it returns false. Damage is added to `problems`.
   */
  async records(path: string, problems: RecordProblem[], use: (record: Frame | Note) => boolean): Promise<void> {
    const bytes = await this.#read(path, MAX_SEGMENT);
    if (bytes === null) return;
    const name = basename(path);
    const found = readHeader(name, bytes);
    if (found.header === null) return;
    if (bytes.length === MAX_SEGMENT)
      problems.push({ segment: name, offset: MAX_SEGMENT, bytes: 0, message: 'what follows 64 MiB was not read' });
    let count = 0;
    for (const record of recordsOf(name, bytes, found.end, problems)) {
      if (!use(record)) return;
      if (++count % TURN !== 0) continue;
      await nextTurn();
      this.#signal?.throwIfAborted();
    }
  }

  /** At most so many bytes of a file; null: it is gone. The oldest segment of a running recorder may be removed meanwhile. */
  async #read(path: string, most: number): Promise<Buffer | null> {
    let file: FileHandle;
    try {
      file = await open(path);
    } catch {
      return null;
    }
    try {
      const { size } = await file.stat();
      const length = Math.min(size, most);
      if (this.#buffer.length < length) this.#buffer = Buffer.alloc(length);
      let done = 0;
      while (done < length) {
        const { bytesRead } = await file.read(this.#buffer, done, length - done, done);
        if (bytesRead === 0) break;
        done += bytesRead;
      }
      return this.#buffer.subarray(0, done);
    } catch {
      return null;
    } finally {
      await file.close();
    }
  }
}
