/** A command line while its starters are taken off. Pure. */

/** A command line without its starters. */
export interface Unwrapped {
  /** Outermost first. */
  wrappers: string[];
  /** The program and its arguments. */
  words: readonly string[];
  /** Environment of the program, as far as the command line and its caller say. */
  env: Readonly<Record<string, string | undefined>>;
  /** Variables with this machine's place of a folder that the program sees elsewhere: a mounted model store. */
  stores: Readonly<Record<string, string>>;
  /** The path on this machine of a path that the program sees; null: it is inside the container. */
  hostPath: (path: string) => string | null;
  /** The reason why the started program is not known; null: it is. */
  problem: string | null;
  /** Limits of the guard for this command, as sentences. */
  limits: string[];
  /** Counting of several ranks, as sentences. */
  assumed: string[];
  /** Machines that mpirun or srun names, and mpirun's file of them. */
  hosts: string[];
  hostfile: string | null;
  /** Places with settings that may not be read, as sentences. */
  doubts: string[];
}

/** Options that stand before a command, with spaces between: all that are known, for behind another one the command is not found. */
export interface LeadingOptions {
  /** Options with a value. */
  valued?: string;
  /** Options without a value. */
  plain?: string;
  /** Options with two values: `--mca key value`. */
  pairs?: string;
}

/** The words behind the options of a wrapper. */
export function afterOptions(
  words: readonly string[],
  options: LeadingOptions,
): { rest: readonly string[]; unknown: string | null } {
  let index = 0;
  for (let word = words[0]; word?.startsWith('-') === true; word = words[index]) {
    if (word === '--') return { rest: words.slice(index + 1), unknown: null };
    const taken = wordsOf(word, options);
    if (taken === null) return { rest: [], unknown: word };
    index += taken;
  }
  return { rest: words.slice(index), unknown: null };
}

/** Words that an option takes, with its own; null: it is not known. */
function wordsOf(word: string, options: LeadingOptions): 1 | 2 | 3 | null {
  const valued = options.valued?.split(' ') ?? [];
  const plain = options.plain?.split(' ') ?? [];
  const isLong = word.startsWith('--');
  const name = isLong ? (word.split('=', 1)[0] ?? '') : word;
  if (options.pairs?.split(' ').includes(name) === true) return 3;
  if (plain.includes(name)) return 1;
  if (valued.includes(name)) return name === word ? 2 : 1;
  if (isLong) return null;
  // -n10, -oL; nice -10.
  if (valued.includes(word.slice(0, 2)) || /^-\d+$/.test(word)) return 1;
  // -itd: each letter is an option, and the last may have a value.
  const letters = [...word.slice(1)].map((letter) => `-${letter}`);
  const last = letters.pop() ?? '';
  if (!letters.every((letter) => plain.includes(letter))) return null;
  return plain.includes(last) ? 1 : valued.includes(last) ? 2 : null;
}

export function failed(state: Unwrapped, problem: string): Unwrapped {
  return { ...state, problem };
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** A file of variables, which may be settings of the program. */
export function environmentFiles(name: string, options: readonly string[]): string[] {
  return options.some((word) => /^--env-file(=|$)/.test(word))
    ? [`${name} --env-file has variables that are not read.`]
    : [];
}
