/** Logs of Windows: PowerShell's `>` writes UTF-16, which becomes UTF-8 here, piece by piece. */

import { TextDecoder } from 'node:util';

/** Bytes at the beginning that tell the encoding. */
const ENOUGH = 64;

export class Utf8Pieces {
  /** The beginning, until it tells the encoding. */
  #start: Buffer | null = Buffer.alloc(0);
  #decoder: TextDecoder | null = null;

  /** A piece in UTF-8. The bytes of any other encoding than UTF-16 stay as they are. */
  convert(piece: Uint8Array): Uint8Array {
    if (this.#start === null) return this.#decoded(piece);
    this.#start = Buffer.concat([this.#start, piece]);
    return this.#start.length < ENOUGH ? Buffer.alloc(0) : this.#begin(this.#start);
  }

  /** The rest of the text. */
  end(): Uint8Array {
    const rest = this.#start === null ? Buffer.alloc(0) : this.#begin(this.#start);
    return this.#decoder === null ? rest : Buffer.concat([rest, Buffer.from(this.#decoder.decode())]);
  }

  #begin(start: Buffer): Uint8Array {
    this.#start = null;
    const encoding = utf16Of(start);
    if (encoding !== null) this.#decoder = new TextDecoder(encoding);
    return this.#decoded(start);
  }

  #decoded(piece: Uint8Array): Uint8Array {
    return this.#decoder === null ? piece : Buffer.from(this.#decoder.decode(piece, { stream: true }));
  }
}

/** Finds UTF-16 by the zeros at every second place, with a byte-order mark or without. null: no UTF-16. */
function utf16Of(start: Buffer): 'utf-16le' | 'utf-16be' | null {
  const places = Math.min(start.length, ENOUGH) & ~1;
  let even = 0;
  let odd = 0;
  for (let at = 0; at < places; at += 2) {
    if (start[at] === 0) even++;
    if (start[at + 1] === 0) odd++;
  }
  // A log has mostly Latin letters.
  if (even + odd < Math.max(4, places / 4)) return null;
  if (even > 0 && odd > 0) return null;
  return odd > 0 ? 'utf-16le' : 'utf-16be';
}
