/** Answers from a pipe: in any order, with the marks of what gathers them, and nothing that ran into each other. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cluster, clusterCheck, readMachines } from '../../../../lib/run/cluster/index.ts';
import { judgeAnswer, withoutDoubles } from '../../../../lib/run/cluster/judge.ts';
import { sentSnapshot } from '../../../support/fake-ssh.ts';

const bytes = (text: string) => [Buffer.from(text)];
const text = (document: object) => `${JSON.stringify(document, null, 2)}\n`;
const read = (printed: string, expect?: number) =>
  readMachines({ answers: bytes(printed), ...(expect === undefined ? {} : { expect }) });

/** Lines of several texts, in any order that keeps the order of each. */
function interleaved(texts: readonly string[], order: readonly number[]): string {
  const left = texts.map((each) => each.split('\n').slice(0, -1));
  const lines: string[] = [];
  for (let at = 0; left.some((each) => each.length > 0); at++) {
    const some = left.filter((each) => each.length > 0);
    lines.push(some[(order[at % order.length] ?? 0) % some.length]?.shift() ?? '');
  }
  return `${lines.join('\n')}\n`;
}

it('are of the machines that printed them', async () => {
  const [a, b] = [sentSnapshot('spark-1'), sentSnapshot('spark-2')];
  const machines = await read(`Welcome\n${text(b)}\n${JSON.stringify(a)}\n`);
  expect(machines.map(({ host, snapshot }) => [host, snapshot])).toEqual([
    ['spark-2', b],
    ['spark-1', a],
  ]);
});

describe('with marks', () => {
  it.each([
    ['srun --label', (rank: number) => `${rank}: `],
    ['mpirun --tag-output', (rank: number) => `[1,${rank}]<stdout>:`],
    ['mpirun --output tag', (rank: number) => `[prterun-spark-1-2711@1,${rank}]<stdout>: `],
    ['kubectl logs --prefix', (rank: number) => `[pod/umaprobe-${rank}/main] `],
    ['Ray', (rank: number) => `(probe pid=${rank + 100}, ip=192.168.100.1${rank}) `],
  ])('of %s, in lines of any order', async (_, mark) => {
    const sent = [0, 1, 2].map((rank) => sentSnapshot(`spark-${rank}`));
    const marked = sent.map((each, rank) => text(each).replace(/^(?=.)/gm, mark(rank)));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(2), { minLength: 1, maxLength: 50 }), async (order) => {
        const machines = await read(interleaved(marked, order));
        expect(new Map(machines.map(({ host, snapshot }) => [host, snapshot]))).toEqual(
          new Map(sent.map((each) => [each.hostName, each])),
        );
      }),
      { numRuns: 5 },
    );
  });
});

describe('of mpirun, which marks pieces', () => {
  it.each([
    ['4', (rank: number) => `[1,${rank}]<stdout>:`],
    ['5', (rank: number) => `[prterun-spark-1-2711@1,${rank}]<stdout>: `],
  ])('version %s: wherever a piece ends', async (_, mark) => {
    const sent = [0, 1].map((rank) => sentSnapshot(`spark-${rank}`));
    const texts = sent.map(text);
    const behindBracket: [number, number] = [0, (texts[0]?.indexOf('[]') ?? 0) + 1];
    // No space is at the start of a piece: that of version 5 would be taken for the end of its mark.
    const piece = (whole: string, from: number, size: number) =>
      whole.slice(from, from + size + whole.slice(from + size).search(/\S|$/));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(1), fc.integer({ min: 1, max: 5000 }))), async (pieces) => {
        const at = [0, 0];
        let printed = '';
        for (const [rank, size] of [...pieces, [0, 1e6], [1, 1e6]] as [0 | 1, number][]) {
          const next = piece(texts[rank] ?? '', at[rank] ?? 0, size);
          at[rank] = (at[rank] ?? 0) + next.length;
          printed += next === '' ? '' : mark(rank) + next.replace(/\n(?=.)/gs, `\n${mark(rank)}`);
        }
        const machines = await read(printed);
        expect(new Map(machines.map(({ host, snapshot }) => [host, snapshot]))).toEqual(
          new Map(sent.map((each) => [each.hostName, each])),
        );
      }),
      { numRuns: 100, examples: [[[behindBracket, [1, 10]]]] },
    );
  });
});

it('without marks, in lines of any order, are never another snapshot than was sent', async () => {
  const sent = [sentSnapshot('a'), sentSnapshot('b', { host: { available: 10 ** 10 } })];
  const texts = sent.map(text);
  const known = new Set(sent.map((each) => JSON.stringify(each)));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(1), { minLength: 1, maxLength: 900 }), async (order) => {
      for (const { snapshot } of await read(interleaved(texts, order)))
        if (snapshot !== null) expect(known.has(JSON.stringify(snapshot))).toBe(true);
    }),
    { numRuns: 40 },
  );
});

it('without marks, whose lines are mixed, are one row that says what to do', async () => {
  const texts = [text(sentSnapshot('a')), text(sentSnapshot('b'))];
  const machines = await read(interleaved(texts, [0, 1]));
  expect(machines).toMatchObject([
    { host: 'answer 1', state: 'unreadable', next: expect.stringMatching(/srun --label/) },
  ]);
});

it('that are missing are rows of their own', async () => {
  const machines = await read(text(sentSnapshot('spark-1')), 3);
  expect(machines.map(({ host, state }) => [host, state])).toEqual([
    ['spark-1', 'answered'],
    ['answer 2', 'missing'],
    ['answer 3', 'missing'],
  ]);
  expect(machines[1]?.because).toBe('3 answers were expected, and 1 came.');
  expect(await read('')).toMatchObject([{ host: 'answer 1', state: 'missing', because: 'No answer came.' }]);
});

it('from one machine count once, under one name', async () => {
  const one = text(sentSnapshot('spark'));
  expect((await read(one + one)).map(({ host, state }) => [host, state])).toEqual([
    ['spark', 'answered'],
    ['spark (answer 2)', 'doubled'],
  ]);
});

it('are 16 at most', async () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => text(sentSnapshot(`s${at}`))).join('');
  expect(await read(many(16))).toHaveLength(16);
  await expect(read(many(17))).rejects.toThrow('answers has more than 16 answers');
});

it('are asked for one of each rank', async () => {
  const need = { model: { params: 7e9 }, use: { tensorParallel: 2 } };
  const check = await clusterCheck({ ...need, answers: bytes(text(sentSnapshot('spark-1'))) });
  expect(check).toMatchObject({ complete: false, verdict: 'unknown', limiting: 'answer 2' });
});

it('may be a stream', async () => {
  async function* stream() {
    const whole = Buffer.from(text(sentSnapshot('spark-ü')));
    for (let at = 0; at < whole.length; at += 7) yield whole.subarray(at, at + 7);
  }
  expect(await cluster({ answers: stream() })).toMatchObject({ machines: [{ host: 'spark-ü', state: 'answered' }] });
});

it.each([
  [-4, 'answered', null],
  [-7, 'stale', 'Its clock is 7.00 s ahead of this one.'],
  [58, 'answered', null],
  [62, 'stale', 'Its reading is 1 min 2 s old, or its clock is slow.'],
])('a reading of %d s ago is %s', async (seconds, state, because) => {
  const cameAt = Date.parse('2026-11-20T19:00:00Z');
  const document = { ...sentSnapshot('spark'), at: new Date(cameAt - seconds * 1000).toISOString() };
  const found = [{ document, problem: null }];
  expect(judgeAnswer({ host: 'spark', found, cameAt })).toMatchObject({ state, because, ageMs: seconds * 1000 });
});

it('each answer of one machine names the first', () => {
  const document = sentSnapshot('spark');
  const answers = ['a', 'b', 'c'].map((host) =>
    judgeAnswer({ host, found: [{ document, problem: null }], cameAt: Date.parse(document.at) }),
  );
  expect(withoutDoubles(answers).map(({ because }) => because)).toEqual([
    null,
    ...['b', 'c'].map(() => 'It is the same machine as a: their boot id is the same.'),
  ]);
});
