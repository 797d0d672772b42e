/** A command, its arguments and its result. A command prints nothing itself unless it streams. */
import type { RenderOptions } from '../../show/render/options.ts';
import { EXIT } from './exit.ts';
import { renderOptionsFor, type Terminal } from './terminal.ts';

export interface OptionSpec {
  type: 'string' | 'boolean';
  short?: string;
  /** May be given more than once: the values add up. Any other option with a value may be given once. */
  list?: true;
  /** Name of the value in the help: "<name|file>". */
  placeholder?: string;
  summary: string;
  /** Every word that the value may be, where the placeholder does not list them: a shell completes them. */
  values?: readonly string[];
  /** Heading of the help under which it stands, after options without one. */
  section?: string;
  /** Type, range and words as a JSON Schema, for agents. */
  schema?: object;
}

export type OptionTable = Readonly<Record<string, OptionSpec>>;
export type OptionValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

export interface Example {
  command: string;
  means: string;
}

export interface BareWord {
  option: string;
  pattern: RegExp;
  /** The option's value, made of all the arguments. Default: the word itself. */
  value?: (words: readonly string[]) => string;
  /** The hint for a word that does not look so. */
  otherwise?: string;
}

export interface Arguments {
  min: number;
  max: number;
  /** True: more may follow after `--`; `program`: they are a program with options of its own. */
  afterDashes: boolean | 'program';
  /** Option that an argument too many was probably meant for, if it looks so: `stress 60GB` is `stress --max 60GB`. */
  bareWord?: BareWord;
}

/** A command as its file has it. */
export interface Command {
  /** Name as typed: "snapshot", "sim run". */
  name: string;
  /** Text after the name: "<name|file> [options]". Default "[options]". */
  usage?: string;
  /** A few sentences for its help page. */
  description: string;
  /** Default: none of its own. */
  options?: OptionTable;
  examples: readonly Example[];
  /** True (the default) if `--sim` applies. The `sim` commands take their machine as an argument instead. */
  readsMachine?: boolean;
  /** Arguments after the name. Default: none. */
  arguments?: Arguments;
  run(context: Context): Promise<CommandOutcome>;
}

/** A command with all its fields, and its line in the list of commands. */
export interface ListedCommand extends Required<Command> {
  summary: string;
  /** Heading of its group, such as "Memory". */
  group: string;
}

/** All commands, for commands that describe the others. */
export interface Commands {
  all: readonly ListedCommand[];
  /** Command that runs if none is typed. */
  defaultName: string;
}

export interface Context {
  /** Loads every command, which takes some 50 ms. */
  commands(): Promise<Commands>;
  values: OptionValues;
  positionals: readonly string[];
  /** The arguments after `--`. */
  rest: readonly string[];
  json: boolean;
  stdout: Terminal;
  stderr: Terminal;
  stdin: NodeJS.ReadStream;
  env: NodeJS.ProcessEnv;
}

export interface CommandOutcome {
  exitCode: number;
  /** Printed under `--json`. null: the command has already printed everything. */
  document: object | null;
  /** Printed otherwise: the lines of a page, or a whole text. */
  text: ((terminal: Terminal) => string | readonly string[]) | null;
}

/** Outcome of a command that has already printed everything. */
export function finished(exitCode: number): CommandOutcome {
  return { exitCode, document: null, text: null };
}

/** A document, and the page that shows it where no JSON is asked for. */
export function shown<Document extends object>(
  document: Document,
  page: (document: Document, options: RenderOptions) => string | readonly string[],
  exitCode: number = EXIT.success,
  view: Parameters<typeof renderOptionsFor>[1] = {},
): CommandOutcome {
  return { exitCode, document, text: (terminal) => page(document, renderOptionsFor(terminal, view)) };
}
