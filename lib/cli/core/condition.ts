/** Conditions over a reading: 'safe>=60GiB', 'pressure<5%', 'verdict=ok', joined by commas, which mean "and". */
import { didYouMean } from '../../base/nearest.ts';
import { headroom } from '../../core/memory/headroom.ts';
import type { Level, Snapshot } from '../../types/index.ts';
import { sizeOf } from './options.ts';
import { UsageError } from './usage.ts';

export interface Condition {
  /** Text as typed. */
  text: string;
  holds(snapshot: Snapshot): boolean;
}

/** A quantity of a reading; null: unknown, for which no comparison holds. */
interface Quantity {
  read(snapshot: Snapshot): number | null;
  /** The number of a typed value. */
  parse(value: string, what: string, command: string): number;
}

const LEVELS: readonly Level[] = ['ok', 'notice', 'warning', 'danger'];

const bytes = (read: Quantity['read']): Quantity => ({
  read,
  parse: (value, what, command) => sizeOf(value, what, command, { min: 0 }),
});

const QUANTITIES: Readonly<Record<string, Quantity>> = {
  safe: bytes(({ judgement }) => judgement.safe.bytes),
  free: bytes((snapshot) => headroom(snapshot).immediate),
  available: bytes((snapshot) => headroom(snapshot).afterReclaim),
  pressure: {
    read: ({ pressure }) => pressure?.full.avg10 ?? null,
    parse(value, what, command) {
      const percent = /^(\d+(?:\.\d+)?)\s*%$/.exec(value)?.[1];
      if (percent === undefined) throw new UsageError(`${what} "${value}" is not a percentage, such as 5%.`, command);
      return Number(percent);
    },
  },
  verdict: {
    read: ({ judgement }) => LEVELS.indexOf(judgement.level),
    parse(value, what, command) {
      const level = (LEVELS as readonly string[]).indexOf(value);
      if (level >= 0) return level;
      throw new UsageError(
        `${what} "${value}" is not one of ${LEVELS.join(', ')}.${didYouMean(value, LEVELS)}`,
        command,
      );
    },
  },
};

const COMPARISONS: Readonly<Record<string, (left: number, right: number) => boolean>> = {
  '>=': (left, right) => left >= right,
  '<=': (left, right) => left <= right,
  '!=': (left, right) => left !== right,
  '>': (left, right) => left > right,
  '<': (left, right) => left < right,
  '=': (left, right) => left === right,
};

/** Conditions of --until, for help and errors. */
export const CONDITION_TEXT = 'safe>=60GiB, free>1GB, available<8GiB, pressure<5% or verdict=ok';

/** @throws UsageError that names the part that is wrong. */
export function parseCondition(text: string, option: string, command: string): Condition {
  const parts = text.split(',').map((part) => comparison(part.trim(), option, command));
  return { text, holds: (snapshot) => parts.every((part) => part(snapshot)) };
}

function comparison(part: string, option: string, command: string): (snapshot: Snapshot) => boolean {
  const match = /^([a-zA-Z]+)\s*(>=|<=|!=|==?|>|<)\s*(.+)$/.exec(part);
  if (match === null)
    throw new UsageError(
      `--${option} "${part}" is no condition, such as ${CONDITION_TEXT} (joined by commas: and).`,
      command,
    );
  const [, name = '', sign = '', value = ''] = match;
  const quantity = Object.hasOwn(QUANTITIES, name) ? QUANTITIES[name] : undefined;
  const names = Object.keys(QUANTITIES);
  if (quantity === undefined)
    throw new UsageError(
      `--${option}: there is no "${name}"; there are ${names.join(', ')}.${didYouMean(name, names)}`,
      command,
    );
  const right = quantity.parse(value, `--${option} ${name}${sign}`, command);
  const compare = COMPARISONS[sign === '==' ? '=' : sign];
  return (snapshot) => {
    const left = quantity.read(snapshot);
    return left !== null && compare?.(left, right) === true;
  };
}
