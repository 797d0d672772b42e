/** The child process as the parent handles it: spawn, send, receive, kill. */

import type { ChildProcess } from 'node:child_process';
import { startOwnProgram } from '../../base/start-process.ts';
import { native } from '../native/binding.ts';
import { type ChildMessage, type ChildRequest, lines, parseLine, type StopRequest } from './protocol.ts';

/** Length of the output that is kept to explain a crash. */
const OUTPUT_TAIL_CHARACTERS = 2_000;

const tail = (text: string): string => text.slice(-OUTPUT_TAIL_CHARACTERS);

/** Exit of the process. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The end of its output: standard error, and lines on standard output that are no messages. */
  output: string;
}

export interface ChildHandlers {
  message(message: ChildMessage): void;
  /** A line of JSON that the guard's thread wrote. */
  guardLine(line: string): void;
}

/**
 * A child in a session and process group of its own: a Ctrl-C at the terminal reaches the parent only, and a kill
 * reaches this group only.
 */
export class ProbeChild {
  /** Resolves when the process has exited and all its output has been read. */
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  #hasExited = false;

  /** @throws UmaError if the process cannot be started. */
  static async start(request: ChildRequest, journalFd: number | null, handlers: ChildHandlers): Promise<ProbeChild> {
    const child = await startOwnProgram('worker', [], {
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', journalFd ?? 'ignore', 'pipe'],
      // The machine that this process was bound to; its environment may have changed since.
      env: { ...process.env, ...native().machineVariables() },
    });
    return new ProbeChild(child, request, handlers);
  }

  private constructor(child: ChildProcess, request: ChildRequest, handlers: ChildHandlers) {
    this.#child = child;
    let output = '';
    const [stdin, stdout, stderr, , guard] = child.stdio;
    stdin?.on('error', () => undefined); // the child has exited already
    (stdout as NodeJS.ReadableStream).setEncoding('utf8').on(
      'data',
      lines((line) => {
        const message = parseLine<ChildMessage>(line);
        if (message === null) output = tail(`${output}${line}\n`);
        else handlers.message(message);
      }),
    );
    (stderr as NodeJS.ReadableStream).setEncoding('utf8').on('data', (text: string) => {
      output = tail(output + text);
    });
    (guard as NodeJS.ReadableStream).setEncoding('utf8').on('data', lines(handlers.guardLine));
    this.exited = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        this.#hasExited = true;
        resolve({ code, signal, output: output.trim() });
      });
    });
    stdin?.write(`${JSON.stringify(request)}\n`);
  }

  get pid(): number | null {
    return this.#child.pid ?? null;
  }

  requestStop(request: StopRequest): void {
    this.#child.stdin?.write(`${JSON.stringify(request)}\n`);
  }

  /** Sends SIGKILL to the child's process group; not after its exit, when the pid may belong to another process. */
  kill(): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#hasExited || this.#child.exitCode !== null || this.#child.signalCode !== null)
      return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It exited between the check and the kill.
    }
  }

  /** Lets this process end without the child: a killed child inside a driver call that does not return never exits. */
  detach(): void {
    for (const stream of this.#child.stdio) stream?.destroy();
    this.#child.unref();
  }
}
