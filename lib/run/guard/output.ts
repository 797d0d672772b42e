/** Output of the program that goes through this process: as events, or onwards to where it would have gone. */

import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { toUmaError } from '../../base/errors.ts';
import { isFailure } from '../../base/facts.ts';
import { native } from '../../core/native/binding.ts';
import { LineSplitter } from './lines.ts';
import type { CheckedGuardOptions } from './options.ts';

export function isPiped({ stdio, ready }: Pick<CheckedGuardOptions, 'stdio' | 'ready'>): boolean {
  return stdio === 'pipe' || ready !== null;
}

/** Pipes for both outputs of a program, as a shell makes them. */
export class OutputPipes {
  readonly stdout: Socket;
  readonly stderr: Socket;
  /** Descriptors that the program gets as its outputs. */
  readonly writable: readonly [number, number];

  /** @throws UmaError: no free descriptors. */
  constructor() {
    const stdout = openPipe();
    this.stdout = stdout.readable;
    try {
      const stderr = openPipe();
      this.stderr = stderr.readable;
      this.writable = [stdout.writable, stderr.writable];
    } catch (error) {
      this.stdout.destroy();
      closeSync(stdout.writable);
      throw error;
    }
  }

  /** The program has them: without these ends here its end is the end of its output. */
  started(): void {
    for (const fd of this.writable) closeSync(fd);
  }

  destroy(): void {
    this.stdout.destroy();
    this.stderr.destroy();
  }
}

function openPipe(): { readable: Socket; writable: number } {
  const pipe = native().openPipe();
  if (isFailure(pipe)) throw toUmaError(pipe);
  const [fd, writable] = pipe;
  return { readable: new Socket({ fd, readable: true, writable: false }), writable };
}

/** Reads both outputs, line by line, and passes every byte on unless the caller takes the lines. */
export function forwardOutput(
  pipes: OutputPipes,
  settings: CheckedGuardOptions,
  onLine: (stream: 'stdout' | 'stderr', line: string) => void,
): void {
  const { stderr, stdout } = process;
  const onwards = { stdout: settings.stdio === 'stderr' ? stderr : stdout, stderr };
  for (const name of ['stdout', 'stderr'] as const) {
    const source = pipes[name];
    const decoder = new StringDecoder('utf8');
    const lines = new LineSplitter((line) => onLine(name, line));
    source.on('data', (chunk: Buffer) => lines.write(decoder.write(chunk)));
    source.on('end', () => lines.end());
    source.on('error', () => undefined);
    if (settings.stdio === 'pipe') continue;
    // Slow readers slow the program down, as without the guard, and one that goes (`| head`) leaves it a broken pipe.
    source.pipe(onwards[name], { end: false });
    onwards[name].once('error', () => source.destroy());
  }
}
