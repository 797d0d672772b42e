/** Lines that tell the native guard something while it runs. */

import type { Writable } from 'node:stream';
import type { Control } from './protocol.ts';

/** Lines wait for the native guard until it has started; once it has ended, they are for nobody. */
export class ControlLines {
  #waiting: Control[] = [];
  #stream: Writable | null = null;

  connect(stream: Writable): void {
    stream.on('error', () => undefined);
    this.#stream = stream;
    for (const line of this.#waiting.splice(0)) this.write(line);
  }

  write(line: Control): void {
    if (this.#stream === null) this.#waiting.push(line);
    else if (this.#stream.writable) this.#stream.write(`${line}\n`);
  }
}
