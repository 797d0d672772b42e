/**
 * Answers from a pipe: what each machine printed, one after the other in any order. srun, mpirun, kubectl and Ray mark each
 * line with its rank if they are asked to; without marks, texts that ran into each other are no answer.
 */

import { StringDecoder } from 'node:string_decoder';
import { MiB } from '../base/format.ts';
import { LIMITS } from '../base/limits.ts';
import type { ClusterMachine } from '../types/index.ts';
import { DocumentReader, Lines } from './documents.ts';
import { type Answer, judgeAnswer, unusable, withoutDoubles } from './judge.ts';

/** Marks at the start of a line, each with the rank in it. */
const MARKS = [
  /^\s{0,8}(\d{1,6}): ?/, // srun --label
  /^\[([^\]\s]{1,200})\]<stdout>: ?/, // mpirun --tag-output, --output tag
  /^\[(pod\/[^\]\s]{1,500})\] /, // kubectl logs --prefix
  /^\(((?:[\w.]{1,80} )?pid=\d+[^)]{0,200})\) ?/, // Ray
];

/** Of all answers together. */
const MOST_BYTES = 64 * MiB;

/** @param expect null: as many as answer. */
export async function readAnswers(
  stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  expect: number | null,
): Promise<ClusterMachine[]> {
  const readers = new Map<string, { reader: DocumentReader; cameAt: number[] }>();
  const lines = new Lines((line) => {
    const mark = MARKS.map((pattern) => pattern.exec(line)).find((match) => match !== null);
    const of = readers.get(mark?.[1] ?? '') ?? { reader: new DocumentReader(), cameAt: [] };
    readers.set(mark?.[1] ?? '', of);
    of.reader.line(line.slice(mark?.[0].length ?? 0));
    while (of.cameAt.length < of.reader.found.length) of.cameAt.push(Date.now());
  });
  const decoder = new StringDecoder('utf8');
  let bytes = 0;
  for await (const piece of stream) {
    bytes += piece.length;
    if (bytes > MOST_BYTES) break;
    lines.push(decoder.write(Buffer.from(piece)));
  }
  lines.end();
  const answers = [...readers].flatMap(([mark, { cameAt, reader }]) => {
    reader.end();
    return reader.found.map((found, index) => ({ host: mark, found: [found], cameAt: cameAt[index] ?? Date.now() }));
  });
  const machines = named(answers)
    .slice(0, LIMITS.hosts.max + 1)
    .map(judgeAnswer);
  return withMissing(withoutDoubles(machines), expect);
}

/** Each under the host name that it has; a second one of that name, and one without a name, by its number. */
function named(answers: readonly Answer[]): Answer[] {
  const seen = new Set<string>();
  return answers.map((answer, index) => {
    const document: object = answer.found[0]?.document ?? {};
    const own: unknown = Reflect.get(document, 'hostName');
    const name = typeof own === 'string' && own !== '' ? own.slice(0, 64) : `answer ${index + 1}`;
    const host = seen.has(name) ? `${name} (answer ${index + 1})` : name;
    seen.add(host);
    return { ...answer, host };
  });
}

function withMissing(machines: readonly ClusterMachine[], expect: number | null): ClusterMachine[] {
  const missing = Math.max(0, (expect ?? 1) - machines.length);
  const because =
    machines.length === 0 ? 'no answer came' : `${expect} answers were expected, and ${machines.length} came`;
  const next = 'let each rank print one: umaprobe snapshot --json';
  return [
    ...machines,
    ...Array.from({ length: missing }, (_, index) =>
      unusable(`answer ${machines.length + index + 1}`, 'missing', because, next),
    ),
  ];
}
