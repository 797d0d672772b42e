/** umaprobe estimate, as a child process. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runUmaprobe } from '../../../support/cli.ts';
import { ROOT } from '../../../support/root.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const MODEL = join(ROOT, 'test/support/models/sharded');
const GGUF = join(ROOT, 'test/support/models/llama.gguf');
const folder = temporaryFolder('estimate');

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

  const broken = join(folder, 'broken.gguf');
  writeFileSync(broken, 'GGUF');
  it.each([
    [[], 'A model is expected: a folder, a file, a name in a store, or --params 70e9.'],
    [['a', 'b'], /"b"/],
    [['a', '--params', '7e9'], '"a" and --params both name a model'],
    [['--dtype', 'int4', 'a'], '--dtype needs --params'],
    [['--params', '7e9', '--dtype', 'int3'], 'dtype is "int3"; expected one of'],
    [['--params', '0B'], '--params "0B" is not a number of parameters'],
    [['--params', 'seven'], '--params "seven" is not a number of parameters'],
    [[MODEL, '--kv-dtype', 'q8'], '--kv-dtype "q8" is not one of f32'],
    [
      [MODEL, '--for', 'vlm'],
      '--for "vlm" is not one of vllm, sglang, trtllm, llama.cpp, ollama, torch, accelerate. Did you mean vllm?',
    ],
    [[MODEL, '--use', 'train'], '--use "train" is not one of inference, sft'],
    [[MODEL, '--context', '8k'], '--context "8k" is not a whole number'],
    [[join(folder, 'none')], 'none": there is none; expected a folder'],
    [[broken], 'read broken.gguf: its header goes on at byte 4, but the file has 4: it is cut off; download it again'],
  ] as const)('%j is one line, with exit code 2', (args, message) => {
    const { code, stderr, stdout } = runUmaprobe(['estimate', ...args]);
    expect(stderr).toMatch(message instanceof RegExp ? message : new RegExp(message.replace(/[.?()"]/g, '\\$&')));
    expect(stderr.trimEnd()).not.toContain('\n');
    expect([code, stdout]).toEqual([2, '']);
  });
});
