/** The segments in a folder by session, read one at a time into one buffer: a ring of any size takes the same memory. */

import type { FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { UmaError } from '../../base/errors.ts';
import { MiB } from '../../base/format.ts';
import { openRegularFile } from '../../base/named-path.ts';
import type { RecordProblem } from '../../types/index.ts';
import { segmentsIn } from './folder.ts';
import {
  type Frame,
  type HeaderRead,
  MAX_HEADER,
  type Note,
  readHeader,
  recordsOf,
  type SegmentHeader,
} from './format.ts';

/** The recorder writes at most 16 MiB. */
const MAX_SEGMENT = 64 * MiB;
/** Records between two turns of the event loop: about 10 ms. */
const TURN = 4096;

const LOST_HEADER = 'the header is damaged; the segments around it say whose it is, and what follows was read';

export interface SegmentFile {
  path: string;
  header: SegmentHeader;
}

/** The segments of one session, oldest first. */
export interface SessionFiles {
  header: SegmentHeader;
  segments: SegmentFile[];
}

/** A segment without a header. `bootUs` is that of its first record; infinity: it has none. */
interface LostSegment {
  path: string;
  bootUs: number;
  problem: RecordProblem;
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

  /** Reads the headers alone, and all of a segment whose header is damaged. */
  async sessions(): Promise<SessionFiles[]> {
    const sessions: SessionFiles[] = [];
    let lost: LostSegment[] = [];
    for (const path of segmentsIn(this.#folder)) {
      this.#signal?.throwIfAborted();
      const found = await this.#header(path);
      if (found === null) continue;
      const { bootUs, header, problem } = found;
      if (header === null) {
        if (problem !== null) lost.push({ path, bootUs, problem });
        continue;
      }
      const last = sessions.at(-1);
      const session = last?.header.session === header.session ? last : { header, segments: [] };
      this.#take(lost, session);
      lost = [];
      if (problem !== null) this.problems.push(problem);
      session.segments.push({ path, header });
      if (session !== last) sessions.push(session);
    }
    this.problems.push(...lost.map(({ problem }) => problem));
    return sessions;
  }

  /** A lost segment between two segments of a session is its own. */
  #take(lost: readonly LostSegment[], { header, segments }: SessionFiles): void {
    for (const { bootUs, path, problem } of lost) {
      const isOwn = segments.length > 0 && Number.isFinite(bootUs);
      if (isOwn) segments.push({ path, header: { ...header, bootUs } });
      this.problems.push(isOwn ? { ...problem, bytes: 0, message: LOST_HEADER } : problem);
    }
  }

  /** `bootUs` of the header, or of the first record without one; infinity: it has none either. null: the file is gone. */
  async #header(path: string): Promise<(HeaderRead & { bootUs: number }) | null> {
    const name = basename(path);
    const begin = await this.#read(path, MAX_HEADER);
    if (begin === null) return null;
    const found = readHeader(name, begin);
    if (found.header !== null && found.problem === null) return { ...found, bootUs: found.header.bootUs };
    const bytes = await this.#read(path, MAX_SEGMENT);
    if (bytes === null) return null;
    const whole = readHeader(name, bytes);
    if (whole.header !== null || whole.end === null)
      return { ...whole, bootUs: whole.header?.bootUs ?? Number.POSITIVE_INFINITY };
    const [first] = recordsOf(name, bytes, whole.end, []);
    return { ...whole, bootUs: first?.bootUs ?? Number.POSITIVE_INFINITY };
  }

  /**
   * Calls `use` for each record of a segment until it returns false. Damage behind the header is added to `problems`.
   */
  async records(path: string, problems: RecordProblem[], use: (record: Frame | Note) => boolean): Promise<void> {
    const bytes = await this.#read(path, MAX_SEGMENT);
    if (bytes === null) return;
    const name = basename(path);
    const { end } = readHeader(name, bytes);
    if (end === null) return;
    if (bytes.length === MAX_SEGMENT)
      problems.push({ segment: name, offset: MAX_SEGMENT, bytes: 0, message: 'what follows 64 MiB was not read' });
    let count = 0;
    for (const record of recordsOf(name, bytes, end, problems)) {
      if (!use(record)) return;
      if (++count % TURN !== 0) continue;
      await nextTurn();
      this.#signal?.throwIfAborted();
    }
  }

  /**
   * Reads at most `most` bytes of a file; null: it is gone, as the oldest segment of a running recorder may be
   * meanwhile, or a problem says why it cannot be read.
   */
  async #read(path: string, most: number): Promise<Buffer | null> {
    let file: FileHandle;
    try {
      file = await openRegularFile('folder', path);
    } catch (error) {
      const { nativeName = 'UNKNOWN' } = error as Partial<UmaError>;
      if (nativeName !== 'ENOENT')
        this.problems.push({
          segment: basename(path),
          offset: 0,
          bytes: 0,
          message: `it cannot be read (${nativeName})`,
        });
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
