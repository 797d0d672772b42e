/** Any machine file is a machine, or is refused in one line that names the file: never another error. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, it, vi } from 'vitest';
import { loadMachine } from '../../../lib/sim/load.ts';
import { flatten } from '../../../lib/sim/machine.ts';
import type { Machine } from '../../../lib/types/index.ts';
import { mutatedMachines } from '../../support/mutated-machines.ts';

// Hundreds of runs take seconds on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const folder = mkdtempSync(join(tmpdir(), 'umaprobe-machines-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'mine.json');

/** The machine, or null where it was refused as it must be. */
function load(content: string): Machine | null {
  writeFileSync(file, content);
  try {
    return loadMachine(file);
  } catch (error) {
    expect(error).toMatchObject({ code: 'ERR_INVALID_ARG_VALUE' });
    const { message } = error as Error;
    expect(message.startsWith(file)).toBe(true);
    expect(message).not.toMatch(/\p{Zl}|\n|undefined|\[object/u);
    expect(message.length).toBeLessThan(2_000);
    return null;
  }
}

it('any JSON, and any text', () => {
  const texts = fc.oneof(
    fc.json(),
    fc.string(),
    fc.json({ maxDepth: 1 }).map((text) => text.slice(0, -1)),
  );
  fc.assert(
    fc.property(texts, (text) => {
      expect(load(text)).toBeNull();
    }),
    { numRuns: 300 },
  );
});

it('a changed machine: what is accepted has a flat form with one line per value', () => {
  let accepted = 0;
  fc.assert(
    fc.property(mutatedMachines(['gb10', 'h200', 'gb10-busy']), (document) => {
      const machine = load(JSON.stringify(document));
      if (machine === null) return;
      accepted++;
      let flat: string;
      try {
        flat = flatten(machine);
      } catch (error) {
        // A line break in a text that the schema leaves free, such as evidence.
        expect(error).toMatchObject({ code: 'ERR_INVALID_ARG_VALUE', message: expect.stringContaining('on one line') });
        return;
      }
      for (const line of flat.trimEnd().split('\n')) expect(line).toMatch(/^[\w.]+ [^\n\r\0]*$/);
    }),
    { numRuns: 300 },
  );
  // Else nothing but refusals was tried.
  expect(accepted).toBeGreaterThan(50);
});
