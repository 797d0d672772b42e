/** The shipped kernels: extracted from the binary, run thread by thread, and assembled where ptxas is installed. */

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { binaryPath } from '../../../support/binary.ts';
import { CUDA_TOOLKIT } from '../../../support/clients.ts';
import { patternByte } from '../../../support/pattern.ts';
import { DeviceMemory, launch, parsePtx } from '../../../support/ptx.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const text = (() => {
  const image = readFileSync(binaryPath, 'latin1');
  const at = image.indexOf('.version 6.0\n.target');
  return image.slice(at, image.indexOf('\0', at));
})();
const kernels = parsePtx(text);

const MASK = (1n << 64n) - 1n;
const NONE = MASK;

function kernel(name: string) {
  const found = kernels.get(name);
  if (!found) throw new Error(`the binary has no ${name}`);
  return found;
}

/** A block in memory between two guard areas of 32 bytes. */
function block(bytes: number) {
  const memory = new DeviceMemory(bytes + 64, 0x7f00_0000_0000n - 32n);
  memory.bytes.fill(0xee);
  return { memory, base: 0x7f00_0000_0000n, content: memory.bytes.subarray(32, 32 + bytes) };
}

const fill = ({ base, memory }: ReturnType<typeof block>, bytes: number, seed: bigint, first: number, blocks: number) =>
  launch(kernel('umaprobe_fill'), { blocks, threads: 256 }, [base, BigInt(bytes), seed, BigInt(first)], [memory]);

function verify(
  { base, memory }: ReturnType<typeof block>,
  bytes: number,
  seed: bigint,
  first: number,
  blocks: number,
) {
  const result = new DeviceMemory(16, 0x1000n);
  result.store(0x1008n, 8, NONE);
  const values = [base, BigInt(bytes), seed, BigInt(first), 0x1000n];
  launch(kernel('umaprobe_verify'), { blocks, threads: 256 }, values, [memory, result]);
  return [result.load(0x1000n, 8), result.load(0x1008n, 8)];
}

describe('the kernels', () => {
  // Sizes: less than a word, around a word, around a pair; then a thread's first, second and third pair.
  it.each([
    [1, 0, 1],
    [7, 0, 1],
    [9, 16, 1],
    [31, 0, 1],
    [4096 + 15, 2 ** 32, 1],
    [4096 * 3 + 5, 64 * 2 ** 20, 1],
    [4096 * 5 + 1, 2 ** 52, 2],
  ])('fill and verify %i bytes at offset %i with %i blocks', (bytes, first, blocks) => {
    const seed = 0xfedc_ba98_7654_3210n;
    const here = block(bytes);
    fill(here, bytes, seed, first, blocks);
    expect([...here.content]).toEqual(Array.from({ length: bytes }, (_, at) => patternByte(seed, first + at)));
    const around = [...here.memory.bytes.subarray(0, 32), ...here.memory.bytes.subarray(32 + bytes)];
    expect(new Set(around)).toEqual(new Set([0xee]));
    expect(verify(here, bytes, seed, first, blocks)).toEqual([0n, NONE]);

    for (const at of new Set([0, bytes >> 1, bytes - 1])) {
      here.content[at] = (here.content[at] as number) ^ 0x10;
      expect(verify(here, bytes, seed, first, blocks), `byte ${at}`).toEqual([1n, BigInt(first + at)]);
      here.content[at] = (here.content[at] as number) ^ 0x10;
    }
    const wrong = [...here.content].filter((byte, at) => byte !== patternByte(seed + 1n, first + at)).length;
    expect(verify(here, bytes, seed + 1n, first, blocks)[0]).toBe(BigInt(wrong));
  });

  it('detect the right bytes at the wrong offset', () => {
    const here = block(4096);
    fill(here, 4096, 1n, 0, 1);
    expect(verify(here, 4096, 1n, 4096, 1)[0]).toBeGreaterThan(4000n);
  });
});

const assembler = join(CUDA_TOOLKIT, 'bin', 'ptxas');
const noAssembler = existsSync(assembler) ? '' : ` (skipped: no ptxas under ${CUDA_TOOLKIT})`;

describe.skipIf(noAssembler !== '')(`NVIDIA's assembler${noAssembler}`, () => {
  const known = noAssembler ? '' : execFileSync(assembler, ['--help'], { encoding: 'utf8' });

  it('assembles them for every GPU that it knows, from Turing on', () => {
    const source = join(temporaryFolder('ptx'), 'kernels.ptx');
    writeFileSync(source, text);
    const models = [75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121].filter((model) => known.includes(`'sm_${model}'`));
    expect(models).toContain(90);
    for (const model of models) {
      execFileSync(assembler, [`-arch=sm_${model}`, source, '-o', `${source}.${model}`]);
      expect(existsSync(`${source}.${model}`)).toBe(true);
    }
  });
});
