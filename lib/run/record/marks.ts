/** Marks from any process of this user: lines on a socket in the folder of the recording. */

import { connect, createServer, type Server, type Socket } from 'node:net';
import { UmaError } from '../../base/errors.ts';
import { isFailure } from '../../base/facts.ts';
import type { Folder } from '../../base/folder.ts';
import { LIMITS } from '../../base/limits.ts';
import { native } from '../../core/native/binding.ts';
import type { ResultWord } from '../../types/index.ts';
import { folderOf, SOCKET, SOCKET_PATH_BYTES, socketIn } from './folder.ts';

/** Time for the recorder to answer. */
const ANSWER_MS = 2000;

/** `timeout`: taken, and not on disk yet. */
export type MarkAnswer = Extract<ResultWord, 'ok' | 'refused' | 'timeout'>;

export interface MarkServer {
  path: string | null;
  problem: string | null;
  close(): void;
}

/** Listens for marks. A socket that cannot be opened costs the marks of other processes, and not the recording. */
export async function listenForMarks(
  folder: Folder,
  onMark: (text: string, pid: number | null) => Promise<MarkAnswer>,
): Promise<MarkServer> {
  const path = socketIn(folder.path);
  if (Buffer.byteLength(path) > SOCKET_PATH_BYTES)
    return failed(`the path of the socket has more than ${SOCKET_PATH_BYTES} bytes; a shorter folder (--folder) helps`);
  // The other side has ended when the answer comes.
  const server = createServer({ allowHalfOpen: true }, (socket) => serve(socket, onMark));
  // The lock of the folder is ours: a socket that is there is left from a recorder that was killed.
  try {
    folder.removeSocket(SOCKET);
    await listening(server, folder.at(SOCKET));
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  }
  server.unref();
  return {
    path,
    problem: null,
    close() {
      server.close();
    },
  };
}

function failed(problem: string): MarkServer {
  return { path: null, problem, close: () => undefined };
}

function listening(server: Server, path: string): Promise<void> {
  // Its mode is 0600 from the start.
  const before = process.umask(0o177);
  return new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // The primary process of a cluster would listen, in whose folders the path leads elsewhere.
    server.listen({ path, exclusive: true }, resolve);
  }).finally(() => process.umask(before));
}

function serve(socket: Socket, onMark: (text: string, pid: number | null) => Promise<MarkAnswer>): void {
  let text = '';
  socket.setEncoding('utf8').setTimeout(ANSWER_MS, () => socket.destroy());
  socket.on('error', () => undefined);
  const take = (chunk: string): void => {
    text += chunk;
    if (text.length > 4 * LIMITS.markLength.max) return void socket.destroy();
    const end = text.indexOf('\n');
    if (end === -1) return;
    // One mark a connection.
    socket.off('data', take);
    const mark = parseMark(text.slice(0, end));
    if (mark === null) return void socket.end('refused\n');
    void onMark(mark.text, mark.pid).then((word) => socket.end(`${word}\n`));
  };
  socket.on('data', take);
}

function parseMark(line: string): { text: string; pid: number | null } | null {
  try {
    const { mark, pid } = JSON.parse(line) as { mark: unknown; pid: unknown };
    if (typeof mark !== 'string' || mark.length === 0 || mark.length > LIMITS.markLength.max) return null;
    return { text: mark, pid: typeof pid === 'number' && Number.isInteger(pid) ? pid : null };
  } catch {
    return null;
  }
}

/** Sends a mark to the recorder of a folder. */
export function markIn(folder: string | undefined, text: string, signal?: AbortSignal): Promise<void> {
  const machine = native().simulatedMachine();
  const path = socketIn(folderOf(folder, isFailure(machine) ? null : machine));
  const socket = connect(path);
  const end = (): void => void socket.destroy();
  signal?.addEventListener('abort', end, { once: true });
  return new Promise<void>((resolve, reject) => {
    let answer = '';
    const fail = (name: string, message: string) => {
      socket.destroy();
      reject(
        new UmaError(name === 'EACCES' ? 'ERR_UMA_PERMISSION' : 'ERR_UMA_NOT_FOUND', {
          source: 'umaprobe',
          call: `mark ${path}`,
          status: null,
          name,
          message,
        }),
      );
    };
    socket.setEncoding('utf8').setTimeout(ANSWER_MS, () => fail('TIMEOUT', 'the recorder did not answer within 2 s'));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      fail(
        error.code ?? 'UNKNOWN',
        error.code === 'EACCES'
          ? 'the recorder belongs to another user'
          : 'no recorder runs there; start umaprobe record, or name its folder (--folder)',
      ),
    );
    socket.on('data', (chunk: string) => {
      answer += chunk;
    });
    socket.on('close', () => {
      if (answer === 'ok\n') resolve();
      else if (answer === 'timeout\n')
        fail('LATE', 'the recorder has the mark, and could not write it within 1.5 s: the disk is slow or full');
      else fail('REFUSED', 'the recorder did not take the mark');
    });
    socket.end(`${JSON.stringify({ mark: text, pid: process.pid })}\n`);
  }).finally(() => signal?.removeEventListener('abort', end));
}
