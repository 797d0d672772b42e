/** What a command is, what it is given and what it returns. A command prints nothing itself unless it streams. */
import type { Terminal } from './terminal.ts';

export interface OptionSpec {
  type: 'string' | 'boolean';
  short?: string;
  /** Name of the value in the help: "<name|file>". */
  placeholder?: string;
  summary: string;
}

export type OptionTable = Readonly<Record<string, OptionSpec>>;
export type Values = Readonly<Record<string, string | boolean | undefined>>;

export interface Example {
  command: string;
  means: string;
}

export interface Command {
  /** As typed: "snapshot", "sim run". */
  name: string;
  summary: string;
  /** What follows the name: "<name|file> [options]". */
  usage: string;
  /** A few sentences for its help page. */
  description: string;
  options: OptionTable;
  examples: readonly Example[];
  /** Whether `--sim` applies. The `sim` commands take their machine as an argument instead. */
  readsMachine: boolean;
  /** Number of arguments after the name, and whether more may follow after `--`. */
  arguments: { min: number; max: number; afterDashes: boolean };
  run(context: Context): Promise<Outcome>;
}

export interface Context {
  values: Values;
  positionals: readonly string[];
  /** The arguments after `--`. */
  rest: readonly string[];
  json: boolean;
  stdout: Terminal;
  stderr: Terminal;
  stdin: NodeJS.ReadStream;
  env: NodeJS.ProcessEnv;
}

export interface Outcome {
  exitCode: number;
  /** Printed under `--json`. null: the command has already printed everything. */
  document: object | null;
  /** Printed otherwise: the lines of a page, or a whole text. */
  text: ((terminal: Terminal) => string | readonly string[]) | null;
}

/** Outcome of a command that has already printed everything. */
export function finished(exitCode: number): Outcome {
  return { exitCode, document: null, text: null };
}
