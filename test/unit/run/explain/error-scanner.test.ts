/** The search through a text of any length: the same answer however it comes in pieces, bounded time, exact lines. */
import { describe, expect, it } from 'vitest';
import { AnchorSearch } from '../../../../lib/run/explain/anchors.ts';
import { Utf8Pieces } from '../../../../lib/run/explain/encoding.ts';
import { errorReport, scan } from '../../../../lib/run/explain/error-report.ts';
import { countLineBreaks } from '../../../../lib/run/explain/error-scanner.ts';
import { explainError } from '../../../../lib/run/explain/index.ts';
import { MESSAGES } from '../../../../lib/run/explain/messages/index.ts';
import type { Message } from '../../../../lib/run/explain/messages/message.ts';
import { recognise } from '../../../../lib/run/explain/recognise.ts';
import { snapshotOf } from '../../../support/snapshots.ts';

const VLLM =
  'ValueError: Free memory on device cuda:0 (2.6/121.63 GiB) on startup is less than desired GPU memory utilization (0.08, 9.73 GiB)';
const TORCH =
  'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 121.69 GiB of which 1.00 GiB is free.';
const OOM = 'Out of memory: Killed process 4242 (python3) total-vm:1kB';

/** The same numbers on every run. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe('a log of nothing but one message', () => {
  it('is counted up to a limit, beyond which nothing of it is read; what stands between is found', async () => {
    const line = '(exit 137)\n';
    const { found, lines } = await scan(`${line.repeat(30_000)}${OOM}\n${line.repeat(600_000)}${TORCH}\n`);
    expect(found.map(({ count, message }) => [message.code, count])).toEqual([
      ['exit-137', 10_000],
      ['oom-killer', 1],
      ['torch-cuda-oom', 1],
    ]);
    expect(found[0]?.lastLine).toBe(10_000);
    expect(found[2]?.firstLine).toBe(630_002);
    expect(lines).toBe(630_002);
  });
});

it('numbers that the first occurrence lacks are those of a later one', async () => {
  const { found } = await scan(`${TORCH.replace(/ Tried.*/, '')}\n${'-\n'.repeat(5000)}${TORCH}\n`);
  expect(found.map(({ count, message }) => [message.code, count])).toEqual([['torch-cuda-oom', 2]]);
  expect(found[0]?.numbers.length).toBeGreaterThan(1);
});

describe('pieces', () => {
  const filler = 'INFO 05-04 23:44:44 [loggers.py:248] Engine 000: Avg prompt throughput: 123.4 tokens/s\n';
  const text = `${filler.repeat(3000)}${VLLM}\n${filler.repeat(2000)}${TORCH}\n${OOM}\n${filler}${VLLM}\n`;
  const bytes = Buffer.from(text);

  async function resultOf(pieces: Iterable<Uint8Array>) {
    const { found, lines } = await scan(pieces);
    return { lines, found: found.map(({ message, ...rest }) => ({ code: message.code, ...rest })) };
  }

  it('finds each message once, with its line, however the text is cut', async () => {
    const whole = await resultOf([bytes]);
    expect(whole.lines).toBe(5005);
    expect(whole.found.map(({ code, count, firstLine, lastLine }) => [code, count, firstLine, lastLine])).toEqual([
      ['vllm-startup-free-memory', 2, 3001, 5005],
      ['torch-cuda-oom', 1, 5002, 5002],
      ['oom-killer', 1, 5003, 5003],
    ]);
    const next = random(7);
    for (const size of [1, 7, 4096, 65_536, 131_072, 163_840]) {
      const pieces: Buffer[] = [];
      for (let at = 0; at < bytes.length; ) {
        const length = size === 7 ? 1 + next(5000) : size;
        pieces.push(bytes.subarray(at, at + length));
        at += length;
      }
      expect(await resultOf(pieces), `pieces of ${size}`).toEqual(whole);
    }
  });

  it('takes bytes with zeros anywhere for what they are', () => {
    const pieces = new Utf8Pieces();
    const binary = Buffer.from([...Array(40).keys()].flatMap((at) => (at % 2 === 0 ? [65, 0] : [0, 66])));
    expect(Buffer.concat([pieces.convert(binary), pieces.end()])).toEqual(binary);
  });

  it('reads UTF-16, which PowerShell writes, as it reads UTF-8', async () => {
    const accents = `é 漢 🙂\n${filler.repeat(2000)}${VLLM}\n${TORCH}\n${OOM}\n`;
    const whole = await resultOf([Buffer.from(accents)]);
    const little = Buffer.from(accents, 'utf16le');
    const big = Buffer.from(little).swap16();
    const mark = (bytes: number[], rest: Buffer) => Buffer.concat([Buffer.from(bytes), rest]);
    const inPieces = (bytes: Buffer, size: number) =>
      Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
    expect(whole.found).toHaveLength(3);
    for (const bytes of [mark([0xff, 0xfe], little), mark([0xfe, 0xff], big), little, big])
      for (const size of [31, 65_535]) expect(await resultOf(inPieces(bytes, size))).toEqual(whole);
    const { bytes: count } = await scan(mark([0xff, 0xfe], little));
    expect(count).toBe(little.length + 2);
    // A short text of zeros and a text with a few of them are not.
    for (const other of [Buffer.alloc(100), Buffer.from(`a\0${TORCH}`), Buffer.from('\0\0\0\0\0\0\0\0abc')])
      expect((await scan(other)).lines).toBe(1);
    expect((await scan(Buffer.from(`a\0b${TORCH}`))).found).toHaveLength(1);
  });

  it('finds a message at every place around the end of a batch', async () => {
    // The buffer has 160 KiB, and batches after the first one are as long as what was searched.
    for (let at = 163_840 - 2400; at < 163_840 + 400; at += 23) {
      const { found, lines } = await scan(`${'x\n'.repeat(at >> 1)}${TORCH}\n${'y\n'.repeat(200_000)}`);
      expect([at, lines, ...found.map(({ firstLine, count }) => [firstLine, count])]).toEqual([
        at,
        (at >> 1) + 200_001,
        [(at >> 1) + 1, 1],
      ]);
    }
  });

  it('counts repetitions, also where they fill the buffer many times', async () => {
    const { found } = await scan(`${OOM}\n`.repeat(9000));
    expect(found.map(({ count, firstLine, lastLine }) => [count, firstLine, lastLine])).toEqual([[9000, 1, 9000]]);
  });

  it('reads a line without an end', async () => {
    const { found, lines } = await scan(`${'z'.repeat(700_000)} ${VLLM} ${'z'.repeat(700_000)}`);
    expect(lines).toBe(1);
    expect(found.map(({ count, message }) => [message.code, count])).toEqual([['vllm-startup-free-memory', 1]]);
  });
});

describe('what stands around a message', () => {
  const cases = {
    colours: `\u001b[1;31m${TORCH.replace('CUDA out', '\u001b[0mCUDA out')}\u001b[0m`,
    'a progress bar': `Loading: 10%|#   |\rLoading: 20%|##  |\r${TORCH}\rLoading: 30%`,
    'NUL bytes': `${'\0'.repeat(5000)}${TORCH}${'\0'.repeat(100)}`,
    'binary bytes': Buffer.concat([
      Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x80]),
      Buffer.from(TORCH),
      Buffer.from([0x80]),
    ]),
    'Windows line ends': `a\r\n${TORCH.replace('Tried', '\r\nTried')}\r\nb`,
    'a rank on each line': TORCH.replace('. GPU', '.\n[rank0]: GPU').replace(/^/, '[rank0]: '),
    'journald on each line': TORCH.replace('. GPU', '.\nNov 22 08:13:01 spark vllm[77]: GPU').replace(
      /^/,
      'Nov 22 08:13:01 spark vllm[77]: ',
    ),
    'docker compose on each line': TORCH.replace('. GPU', '.\nvllm-1  | 2026-11-22T08:13:01.123Z GPU').replace(
      /^/,
      'vllm-1  | 2026-11-22T08:13:01.123Z ',
    ),
    JSON: JSON.stringify({ level: 'error', msg: TORCH.replace('. GPU', '.\nGPU') }),
    'a narrow terminal': TORCH.replace(/(.{1,32}) /g, '$1\n'),
  };

  it.for(Object.entries(cases))('%s', async ([, text]) => {
    const { found } = await scan(text);
    expect(found.map(({ count, message }) => [message.code, count])).toEqual([['torch-cuda-oom', 1]]);
    expect(Object.fromEntries(found[0]?.numbers.map(({ bytes, name }) => [name, bytes]) ?? [])).toMatchObject({
      tried: 2 * 2 ** 30,
      total: Math.round(121.69 * 2 ** 30),
      free: 2 ** 30,
    });
  });
});

describe('bounds', () => {
  it('finds nothing in a hundred thousand lines of other logs', async () => {
    const next = random(11);
    const templates = [
      () => `INFO:     127.0.0.1:${next(65_536)} - "POST /v1/chat/completions HTTP/1.1" 200 OK`,
      () =>
        `slot update_slots: id ${next(8)} | task ${next(9999)} | n_past = ${next(9999)}, memory_seq_rm [${next(99)}, end)`,
      () => `Nov 22 08:${10 + next(50)}:01 spark systemd[1]: Started Session ${next(999)} of User nvidia.`,
      () => `load_tensors: offloaded ${next(81)}/81 layers to GPU, CUDA0 model buffer size = ${next(99_999)}.00 MiB`,
      () => `{"level":"info","msg":"memory usage","allocated":${next(2 ** 30)},"free":"${next(100)}.5 GiB","failed":0}`,
      () => `GPU KV cache usage: ${next(100)}.1%, Maximum concurrency for 8192 tokens per request: ${next(99)}.50x`,
      () =>
        `[ ${next(9999)}.${100_000 + next(899_999)}] NVRM: loading NVIDIA UNIX Open Kernel Module for aarch64  580.142`,
      () => `NCCL INFO Channel 0${next(9)} : 0[0] -> 1[1] via P2P/IPC, comm 0x${next(2 ** 30).toString(16)}`,
      () =>
        `step ${next(9999)} loss ${next(9)}.${next(999)} mem allocated ${next(120)}.3 GiB reserved ${next(120)}.9 GiB`,
      () => `test_out_of_memory_recovers PASSED [ ${next(100)}%] oom=${next(2) === 0 ? 'false' : 'no'}`,
      () => `kernel: oom_score_adj of task ${next(99_999)} set to ${next(1000)}; exit code ${next(100)}`,
    ];
    const lines = Array.from({ length: 100_000 }, () => (templates[next(templates.length)] as () => string)());
    const { found, lines: count } = await scan(lines.join('\n'));
    expect(found.map(({ message, text }) => [message.code, text])).toEqual([]);
    expect(count).toBe(100_000);
  });

  it('takes linear time on lines that nearly match', { timeout: 60_000 }, async () => {
    const slow: string[] = [];
    for (const anchor of new Set(MESSAGES.flatMap(({ anchors }) => anchors))) {
      for (const unit of [`${anchor} `, `${anchor}(1\n`]) {
        const text = unit.repeat(Math.ceil(20_000 / unit.length));
        // Ordinary ones take 1 to 10 ms. A passage has 8 KiB, so a slower pattern shows. The fastest of a few tries counts:
        // a busy machine can hold up one of them for long.
        let ms = Number.POSITIVE_INFINITY;
        for (let tries = 0; tries < 5 && ms > 500; tries++) {
          const started = performance.now();
          await scan(text);
          ms = Math.min(ms, performance.now() - started);
        }
        if (ms > 500) slow.push(`${JSON.stringify(unit)} ${Math.round(ms)} ms`);
      }
    }
    expect(slow).toEqual([]);
  });

  it('keeps memory constant', async () => {
    const line = Buffer.from(`${'INFO nothing to see in this line of a log '.repeat(20)}\n${TORCH}\n`.repeat(70));
    function* pieces(count: number) {
      for (let piece = 0; piece < count; piece++) yield line;
    }
    await scan(pieces(20));
    const before = process.memoryUsage().arrayBuffers;
    const { bytes, found } = await scan(pieces(100));
    expect(bytes).toBe(100 * line.length);
    expect(found.map(({ count }) => count)).toEqual([7000]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 20);
  });
});

describe('parts', () => {
  it('finds every literal, as a search one by one does', () => {
    const next = random(3);
    const literals = ['abcabcabca', 'bcabcabcab', 'aaaaaaaaaaaa', 'caaaaaaaaab', 'abcabcabcabc'];
    for (let round = 0; round < 200; round++) {
      const bytes = Buffer.from(Array.from({ length: 400 }, () => 97 + next(round % 3 === 0 ? 1 : 3)));
      const planted = Buffer.from(literals[next(literals.length)] as string);
      planted.copy(bytes, next(400 - planted.length));
      const expected = literals.flatMap((literal, anchor) =>
        Array.from({ length: bytes.length }, (_, at) => at)
          .filter((at) => bytes.subarray(at, at + literal.length).equals(Buffer.from(literal)))
          .map((at) => `${at} ${anchor}`),
      );
      const found: string[] = [];
      new AnchorSearch(literals).forEach(bytes, 0, bytes.length, (at, anchor) => found.push(`${at} ${anchor}`));
      expect(found.sort()).toEqual(expected.sort());
    }
  });

  it('refuses a literal that is too short', () => expect(() => new AnchorSearch(['short'])).toThrow(/too short/));

  it('counts line breaks as a loop does', () => {
    const next = random(5);
    const bytes = Buffer.from(Array.from({ length: 3000 }, () => [10, 10, 138, 9, 11, 0, 255, 128][next(8)] as number));
    for (let round = 0; round < 300; round++) {
      const start = next(3000);
      const end = start + next(3000 - start);
      expect(countLineBreaks(bytes, start, end)).toBe(bytes.subarray(start, end).filter((byte) => byte === 10).length);
    }
  });
});

describe('the report', () => {
  it('compares the numbers with the machine', async () => {
    const cached = snapshotOf({ host: { free: 4 * 2 ** 30, available: 112 * 2 ** 30, cached: 108 * 2 ** 30 } });
    const report = errorReport(await scan(VLLM.replace('121.63', '119.69')), cached);
    expect(report.errors[0]).toMatchObject({
      verdict: 'shortage',
      now: 'vLLM would read 112.0 GiB free here now, and need 9.7 GiB: it would start.',
    });
    expect(report.errors[0]?.remedies.map(({ text }) => text)).toEqual(['start it again']);
    const full = snapshotOf({ host: { free: 4 * 2 ** 30, available: 9 * 2 ** 30, cached: 0 } });
    const still = errorReport(await scan(VLLM.replace('121.63', '119.69')), full);
    expect(still.errors[0]?.now).toContain('still 747.5 MiB too little');
    expect(still.errors[0]?.remedies[0]?.command).toBe('--gpu-memory-utilization 0.05');
  });

  it('does not compare numbers of another GPU', async () => {
    const report = errorReport(await scan(VLLM.replace('121.63', '24.0')), snapshotOf());
    expect(report.errors[0]?.now).toContain('from a GPU with 24.0 GiB, and the one here has 119.7 GiB');
  });

  it('asks for numbers that are cut out', async () => {
    const report = errorReport(
      await scan('Free memory on device cuda:0 (...) is less than desired GPU memory utilization'),
      null,
    );
    expect(report.errors[0]).toMatchObject({ now: null, meaning: expect.stringContaining('paste the whole line') });
    expect(report.machine).toBeNull();
  });

  it('every message has a meaning and an answer for every machine', async () => {
    const machines = [
      snapshotOf(),
      snapshotOf({ gpu: false }),
      snapshotOf({ model: 'discrete' }),
      snapshotOf({ host: { free: null, available: null, cmaFree: null, mlocked: null } }),
    ];
    for (const message of MESSAGES) {
      const found = { message, count: 2, firstLine: 1, lastLine: 2, text: message.code, numbers: [] };
      for (const machine of [...machines, null]) {
        const [error] = errorReport({ found: [found], bytes: 1, lines: 1 }, machine).errors;
        for (const sentence of [error?.meaning, error?.now, ...(error?.remedies ?? []).map(({ text }) => text)])
          expect(sentence ?? 'x').not.toMatch(/NaN|undefined|Infinity|null|^$/);
        expect(error?.meaning, message.code).toMatch(/\.$/);
      }
    }
  });

  it('refuses what is no text', async () => {
    await expect(explainError(5 as never)).rejects.toThrow(/^text is 5; expected a string, bytes, or an iterable/);
    await expect(explainError([5] as never, { snapshot: null })).rejects.toThrow(/^a piece of the text is 5/);
    await expect(explainError('x', { snapshot: {} as never })).rejects.toThrow(/^snapshot is an object/);
  });

  it('ends with its signal, in a text without an end', async () => {
    const abort = new AbortController();
    function* endless() {
      for (let piece = 0; ; piece++) {
        if (piece === 5) abort.abort(new Error('enough'));
        yield 'INFO\n';
      }
    }
    await expect(explainError(endless(), { snapshot: null, signal: abort.signal })).rejects.toThrow('enough');
  });

  it('says nothing about an empty text', async () => {
    const report = await explainError('', { snapshot: null });
    expect(report).toMatchObject({ errors: [], input: { bytes: 0, lines: 0 } });
  });
});

describe('a message that repeats another one', () => {
  const of = (code: string, text: string, absorbs?: readonly string[]) =>
    ({
      code,
      anchors: [text],
      pattern: new RegExp(text, 'gi'),
      ...(absorbs === undefined ? {} : { absorbs }),
    }) as unknown as Message;
  const rows = [of('cause', 'the real cause', ['echo']), of('echo', 'an echo of it')];
  const codes = (text: string) => recognise(text, rows, () => '').map(({ message }) => message.code);

  it('is none beside it, and one of its own further away', () => {
    expect(codes(`the real cause ${'-'.repeat(700)} an echo of it`)).toEqual(['cause']);
    expect(codes(`an echo of it ${'-'.repeat(700)} the real cause`)).toEqual(['cause']);
    expect(codes(`the real cause ${'-'.repeat(900)} an echo of it`)).toEqual(['cause', 'echo']);
  });
});
