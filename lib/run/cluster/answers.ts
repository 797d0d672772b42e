/**
 * Answers from a pipe: what each machine printed, one after the other in any order. srun, mpirun, kubectl and Ray mark each
 * line with its rank if they are asked to; without marks, texts that ran into each other are no answer.
 */

import { StringDecoder } from 'node:string_decoder';
import { MiB } from '../../base/format.ts';
import { LIMITS } from '../../base/limits.ts';
import type { ClusterMachine } from '../../types/index.ts';
import { DocumentReader, type Found, Lines } from './documents.ts';
import { judgeAnswer, type MachineAnswer, PRINT_ONE, unusable, withoutDoubles } from './judge.ts';

/** Marks at the start of a line, each with the rank in it. */
const MARKS = [
  /^\s{0,8}\d{1,6}: ?/, // srun --label
  /^\[pod\/[^\]\s]{1,500}\] /, // kubectl logs --prefix
  /^\((?:[\w.]{1,80} )?pid=\d+[^)]{0,200}\) ?/, // Ray
];

/**
 * Open MPI 4 (--tag-output) and 5 (--output tag): at the start of a line and of each piece of 4096 bytes, also within a line,
 * behind which the piece of another rank may follow.
 */
const MPI_MARK = /(\[(?:\d{1,9},\d{1,9}\]<std(?:out|err)>:|[^[\]\s]{1,200}@\d{1,9},\d{1,9}\]<std(?:out|err)>: ?))/;

/** Limit of all answers together. */
const MOST_BYTES = 64 * MiB;

/** @param expect null: as many as answer. */
export async function readAnswers(
  stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  expect: number | null,
): Promise<ClusterMachine[]> {
  const ranks = new Map<string, Rank>();
  const lines = new Lines((line) => {
    for (const { mark, text } of marked(line)) {
      const rank = ranks.get(mark) ?? new Rank();
      ranks.set(mark, rank);
      rank.push(text);
    }
  });
  const decoder = new StringDecoder('utf8');
  let bytes = 0;
  for await (const piece of stream) {
    bytes += piece.length;
    if (bytes > MOST_BYTES) break;
    lines.push(decoder.write(Buffer.from(piece)));
  }
  lines.end();
  const answers = [...ranks.values()].flatMap((rank) => rank.end());
  const machines = named(answers)
    .slice(0, LIMITS.hosts.max + 1)
    .map((answer) => withAdvice(judgeAnswer(answer)));
  return withMissing(withoutDoubles(machines), expect);
}

/** The texts of a line by their marks; the last one has its end. */
function marked(line: string): { mark: string; text: string }[] {
  const mark = MARKS.map((pattern) => pattern.exec(line)?.[0]).find((match) => match !== undefined);
  if (mark !== undefined) return [{ mark, text: `${line.slice(mark.length)}\n` }];
  const [before = '', ...parts] = line.split(MPI_MARK);
  if (parts.length === 0) return [{ mark: '', text: `${line}\n` }];
  const texts = parts.flatMap((part, index) => (index % 2 === 0 ? [{ mark: part, text: parts[index + 1] ?? '' }] : []));
  const last = texts.pop() ?? { mark: '', text: '' };
  return [...(before === '' ? [] : [{ mark: '', text: `${before}\n` }]), ...texts, { ...last, text: `${last.text}\n` }];
}

/** Output of one rank. */
class Rank {
  readonly #reader = new DocumentReader();
  readonly #lines = new Lines((line) => this.#reader.line(line));
  readonly #cameAt: number[] = [];

  push(text: string): void {
    this.#lines.push(text);
    while (this.#cameAt.length < this.#reader.found.length) this.#cameAt.push(Date.now());
  }

  /** Pieces of texts that ran into each other count as one. */
  end(): MachineAnswer[] {
    this.#lines.end();
    this.#reader.end();
    const { found } = this.#reader;
    const piece = found.findIndex((each) => !isAnswer(each));
    return found.flatMap((each, index) =>
      isAnswer(each) || index === piece ? [{ host: '', found: [each], cameAt: this.#cameAt[index] ?? Date.now() }] : [],
    );
  }
}

function isAnswer({ document }: Found): boolean {
  return document !== null && typeof Reflect.get(document, 'schema') === 'string';
}

/** Texts that ran into each other are the usual reason in a pipe where none is known. */
function withAdvice(machine: ClusterMachine): ClusterMachine {
  if (machine.state !== 'unreadable' || machine.next !== null) return machine;
  return { ...machine, next: 'have each line marked with its rank: srun --label, mpirun --tag-output' };
}

/** Each under the host name that it has; a second one of that name, and one without a name, by its number. */
function named(answers: readonly MachineAnswer[]): MachineAnswer[] {
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
  return [
    ...machines,
    ...Array.from({ length: missing }, (_, index) =>
      unusable(`answer ${machines.length + index + 1}`, 'missing', because, PRINT_ONE),
    ),
  ];
}
