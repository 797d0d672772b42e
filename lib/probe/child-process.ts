/** The child as the parent sees it: started, spoken to, heard, killed. */

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { native } from '../native/binding.ts';
import { ROOT } from '../root.ts';
import { type ChildMessage, type ChildRequest, lines, parseLine, type StopRequest } from './protocol.ts';

const WORKER = join(ROOT, 'dist/worker.js');
const LAST_WORDS = 2_000;

const lastOf = (words: string): string => words.slice(-LAST_WORDS);

/** How it ended, as the kernel tells. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The end of what it said on standard error. */
  words: string;
}

export interface ChildHandlers {
  message(message: ChildMessage): void;
  /** A line of JSON that the guard's thread wrote by itself. */
  guard(line: string): void;
}

/**
 * A child in a session, and hence a process group, of its own: a Ctrl-C at the terminal is the parent's business, and what
 * is killed is that group and nothing else.
 */
export class ProbeChild {
  /** Resolves when it has ended and all that it said has been heard. */
  readonly ended: Promise<Exit>;
  readonly #child: ChildProcess;
  #over = false;

  constructor(request: ChildRequest, journalFd: number | null, handlers: ChildHandlers) {
    const child = spawn(process.execPath, [WORKER], {
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', journalFd ?? 'ignore', 'pipe'],
      // The machine that this process is on, whatever its environment says by now.
      env: { ...process.env, ...native().machineVariables() },
    });
    this.#child = child;
    let words = '';
    const [stdin, stdout, stderr, , guard] = child.stdio;
    stdin?.on('error', () => undefined); // it has gone already
    (stdout as NodeJS.ReadableStream).setEncoding('utf8').on(
      'data',
      lines((line) => {
        const message = parseLine<ChildMessage>(line);
        if (message === null) words = lastOf(`${words}${line}\n`);
        else handlers.message(message);
      }),
    );
    (stderr as NodeJS.ReadableStream).setEncoding('utf8').on('data', (text: string) => {
      words = lastOf(words + text);
    });
    (guard as NodeJS.ReadableStream).setEncoding('utf8').on('data', lines(handlers.guard));
    this.ended = new Promise((resolve) => {
      const over = (exit: Exit): void => {
        this.#over = true;
        resolve(exit);
      };
      child.once('error', (error) => over({ code: null, signal: null, words: error.message }));
      child.once('close', (code, signal) => over({ code, signal, words: words.trim() }));
    });
    stdin?.write(`${JSON.stringify(request)}\n`);
  }

  get pid(): number | null {
    return this.#child.pid ?? null;
  }

  requestStop(what: StopRequest): void {
    this.#child.stdin?.write(`${JSON.stringify(what)}\n`);
  }

  /** SIGKILL to the group that was made for it. A number that is ours no longer is not touched. */
  kill(): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#over || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // Gone between the question and the answer.
    }
  }

  /** Waits no longer for one that cannot end, inside a driver that does not return. */
  detach(): void {
    for (const stream of this.#child.stdio) stream?.destroy();
    this.#child.unref();
  }
}
