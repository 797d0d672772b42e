/**
 * A command on another machine, by the user's own ssh with the user's own configuration: its keys, agent, jump hosts and
 * connections that it keeps. It asks for no password, and nothing about host keys is changed.
 */

import { StringDecoder } from 'node:string_decoder';
import { MiB } from '../../base/format.ts';
import { startProcess } from '../../base/start-process.ts';
import type { ResultWord } from '../../types/index.ts';

/** A machine that is off is known by then. Whole seconds, as ssh has it. */
const CONNECT_S = 5;

/** Bytes of an answer, a banner included, and of what ssh says besides, of which the end has the reason. */
const MOST_BYTES = 32 * MiB;
const MOST_STDERR = 4096;

/** Time to wait for the end of stderr once ssh has ended: a kept connection may hold it open. */
const LAST_WORDS_MS = 100;

export interface SshEnd {
  /** `flooded`: it printed without end. */
  how: Extract<ResultWord, 'exited' | 'timeout'> | 'flooded';
  /** null: a signal ended it, or it was not waited for. */
  code: number | null;
  /** The end of stderr. */
  stderr: string;
}

export interface SshOptions {
  /** Time for the whole answer; if several come, for each. */
  deadlineMs: number;
  signal: AbortSignal | undefined;
  /** Takes stdout as text, piece by piece. It calls `renew` once an answer is whole and another one may come. */
  onText: (text: string, renew: () => void) => void;
  /** It runs until it is ended: sessions of the user would end, too, if ssh kept its connection for them. */
  stays?: boolean;
  /** Descriptor of a file for stdin of the command; default: empty. */
  stdin?: number;
}

/** @param line for the shell of the host: its words are quoted already. @throws UmaError where ssh cannot be started. */
export async function runBySsh(host: string, line: string, options: SshOptions): Promise<SshEnd> {
  const { deadlineMs, onText, signal, stdin = 'ignore' } = options;
  signal?.throwIfAborted();
  // Found by PATH, as git and rsync find it: which one has the keys is the user's choice.
  const child = await startProcess('ssh', sshArguments(host, line, options), { stdio: [stdin, 'pipe', 'pipe'] });
  const decoder = new StringDecoder('utf8');
  let bytes = 0;
  let stderr = '';
  const leave = (): void => {
    child.kill('SIGKILL');
    for (const stream of [child.stdout, child.stderr]) stream?.destroy();
    child.unref();
  };
  let timer: NodeJS.Timeout | undefined;
  let abort: () => void = () => undefined;
  try {
    return await new Promise<SshEnd>((resolve, reject) => {
      const end = (how: SshEnd['how']): void =>
        resolve({ how, code: how === 'exited' ? child.exitCode : null, stderr });
      timer = setTimeout(() => end('timeout'), deadlineMs);
      const renew = (): void => {
        bytes = 0;
        timer?.refresh();
      };
      abort = () => reject(signal?.reason);
      signal?.addEventListener('abort', abort, { once: true });
      child.stdout?.on('data', (piece: Buffer) => {
        bytes += piece.length;
        if (bytes > MOST_BYTES) end('flooded');
        else onText(decoder.write(piece), renew);
      });
      child.stderr?.on('data', (piece: Buffer) => {
        stderr = (stderr + piece.toString('utf8')).slice(-MOST_STDERR);
      });
      const exited = new Promise((done) => child.once('exit', done));
      const read = new Promise((done) => child.stdout?.once('close', done));
      child.once('close', () => end('exited'));
      void Promise.all([exited, read]).then(() => setTimeout(() => end('exited'), LAST_WORDS_MS));
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    leave();
  }
}

/** Forwardings of the configuration are for sessions; a command of the configuration would take the place of ours. */
function sshArguments(host: string, line: string, { deadlineMs, stays }: SshOptions): string[] {
  const seconds = Math.max(1, Math.min(CONNECT_S, Math.ceil(deadlineMs / 1000)));
  return [
    ...[
      'BatchMode=yes',
      `ConnectTimeout=${seconds}`,
      'ClearAllForwardings=yes',
      'RemoteCommand=none',
      ...(stays === true ? ['ControlMaster=no'] : []),
    ].flatMap((option) => ['-o', option]),
    '-T',
    '--',
    host,
    line,
  ];
}
