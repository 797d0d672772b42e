/** umaprobe estimate, as a child process. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runUmaprobe } from '../../../support/cli.ts';
import { ROOT } from '../../../support/root.ts';
import { parseDocument } from '../../../support/schemas.ts';

const MODEL = join(ROOT, 'test/support/models/sharded');
const GGUF = join(ROOT, 'test/support/models/llama.gguf');

describe('umaprobe estimate', () => {
  it('prints terms, total and range of a folder', () => {
    const { code, stderr, stdout } = runUmaprobe(['estimate', MODEL, '--context', '256', '--sequences', '2']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /^ESTIMATE {2}1\.50 GiB .*\n\nsharded\nllama · 2 layers · 24,672 parameters · 2 files, 50\.3 KiB\n/,
    );
    expect(stdout).toMatch(/\nweights .*\nKV cache .*\nactivations .*\nthe process itself .*\ntotal .*\n/);
  });

  it('passes its options on, and prints a document', () => {
    const given = [
      '--for',
      'llama.cpp',
      '--context',
      '1000',
      '--sequences',
      '3',
      '--kv-dtype',
      'q8_0/q4_0',
      '--batch-tokens',
      '64',
      '--swa-full',
      '--no-mmap',
      '--json',
    ];
    const { code, stdout } = runUmaprobe(['estimate', GGUF, ...given]);
    expect(code).toBe(0);
    expect(parseDocument(stdout)).toMatchObject({
      model: { source: 'gguf', architecture: 'llama', layers: 2 },
      use: { use: 'inference', program: 'llama.cpp', context: 1000, sequences: 3, kvDtype: 'q8_0/q4_0' },
    });
  });

  it('prints weights by precision', () => {
    const { code, stdout } = runUmaprobe(['estimate', '--table', '--json']);
    expect(code).toBe(0);
    expect(parseDocument(stdout)).toMatchObject({ rows: [{ name: '7B' }, { name: '13B' }, { name: '70B' }] });
  });

  it('takes a number of parameters as names of models have it', () => {
    for (const [given, parameters] of [
      ['70B', 70e9],
      ['1.5b', 1.5e9],
      ['350M', 350e6],
      ['7e9', 7e9],
    ] as const) {
      const { stdout } = runUmaprobe(['estimate', '--params', given, '--json']);
      expect(parseDocument(stdout)).toMatchObject({ model: { parameters } });
    }
  });

  it('says what is missing in one line', () => {
    expect(runUmaprobe(['estimate'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^umaprobe: A model is expected: [^\n]*\n$/),
    });
  });
});
