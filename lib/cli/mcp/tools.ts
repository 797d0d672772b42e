/**
 * The tools: each is a command that only reads, and its arguments are options of that command under their own names. It
 * answers the document that the command prints under --json; an error names the arguments in place of the options.
 */
import { isObject } from '../../base/objects.ts';
import { memoryOf } from '../../core/memory/pool.ts';
import type { Snapshot } from '../../types/index.ts';
import type { ListedCommand, OptionSpec } from '../core/command.ts';
import { RPC, RpcError } from './rpc.ts';

/** Command line of a call. */
export interface Invocation {
  args: string[];
  /** Text for its standard input. */
  input?: string;
}

export interface Tool {
  name: string;
  title: string;
  description: string;
  inputSchema: object;
  /** True: it may ask the network about a model named `hf:org/name`, and about nothing else. */
  openWorld: boolean;
  /** @throws RpcError for arguments that it does not take. */
  invocation(values: unknown): Invocation;
  /** The answer, from the command's document. */
  answer(document: object): object;
  /** The text of an error of the command, with the names of arguments in place of options. */
  errorText(message: string): string;
}

interface ToolSpec {
  name: string;
  title: string;
  command: string;
  description: string;
  /** Options of the command that an agent may give. */
  options?: readonly string[];
  /** A path or a name that stands after the options. */
  model?: true;
  answer?: (document: object) => object;
}

/** Arguments of a model and its use. */
const MODEL = [
  'params',
  'dtype',
  'use',
  'for',
  'context',
  'sequences',
  'kv-dtype',
  'batch-tokens',
  'tensor-parallel',
  'batch',
  'lora-rank',
  'optimizer',
] as const;

const SPECS: readonly ToolSpec[] = [
  {
    name: 'memory',
    title: 'Memory in a few numbers',
    command: 'snapshot',
    description:
      'How much memory there is, is free, is available and can be loaded now, of this machine and of each GPU, in bytes. `safe` is the number to go by; `verdict` other than "yes" means: load nothing, and read `because`. null is unknown, never 0 and never a yes. Ask this first.',
    answer: (document) => memoryOf(document as Snapshot),
  },
  {
    name: 'snapshot',
    title: 'Where the memory is',
    command: 'snapshot',
    description:
      'Everything about the memory of this machine: a ledger that adds up to the total, each GPU, what each tool counts as free, findings with evidence and remedies, and the source of every number (`from`). Long: ask `memory` where a few numbers are enough.',
  },
  {
    name: 'doctor',
    title: 'What is wrong with this machine',
    command: 'doctor',
    description:
      'Checks the machine in about 3 s: each row has a status (pass, note, warn, fail, unknown), what is seen, and a remedy. Tries a CUDA context for a moment, unless `only` names rows that need none.',
    options: ['only', 'skip'],
  },
  {
    name: 'fit',
    title: 'Whether it fits',
    command: 'fit',
    description:
      'Whether a model, a number of parameters or a size fits into this machine now, what each program (vLLM, SGLang, llama.cpp and others) will decide, and the flags to start it with. Give one of `model`, `params`, `bytes`. Only the verdict "fits" is a yes. Reads headers of model files, allocates nothing.',
    options: ['bytes', 'solve', 'utilization', 'program-version', 'device', ...MODEL],
    model: true,
  },
  {
    name: 'estimate',
    title: 'What a model takes',
    command: 'estimate',
    description:
      'What a model takes in memory, term by term with formula and range, for inference or training. Give `model` or `params`. Whether that fits is the question of `fit`.',
    options: MODEL,
    model: true,
  },
  {
    name: 'explain_error',
    title: 'What an error message means',
    command: 'explain',
    description:
      'Recognises messages about memory (PyTorch, vLLM, SGLang, llama.cpp, Ollama, the kernel, the driver) in a text or a log file, says what they mean and what to do, and compares their numbers with this machine. `errors` is empty where none is known: then do not guess. Give `text` or `path`.',
  },
  {
    name: 'processes',
    title: 'Who holds the memory',
    command: 'processes',
    description:
      'Programs, services and containers with the memory that they hold, the largest first, GPU memory included.',
  },
];

/** Longest text of `explain_error`, in characters. A longer log is a file. */
const MAX_TEXT = 1024 * 1024;

const TEXT_AND_PATH = {
  text: { type: 'string', description: `The message or a part of the log, at most ${MAX_TEXT} characters` },
  path: { type: 'string', description: 'A log file instead, of any size; it is only read' },
} as const;

/** @param load the command of that name. */
export async function loadTools(load: (name: string) => Promise<ListedCommand>): Promise<Tool[]> {
  return Promise.all(SPECS.map(async (spec) => toolOf(spec, await load(spec.command))));
}

function toolOf(spec: ToolSpec, command: ListedCommand): Tool {
  const { answer = (document: object) => document, description, name, title } = spec;
  const isError = name === 'explain_error';
  const table = Object.fromEntries((spec.options ?? []).map((option) => [option, specOf(command, option)]));
  const properties: Readonly<Record<string, object>> = isError
    ? TEXT_AND_PATH
    : {
        ...(spec.model === true
          ? {
              model: {
                type: 'string',
                description:
                  'A model: a folder, a .gguf or .safetensors file, a name in a model store such as org/name, or hf:org/name on the Hub',
              },
            }
          : {}),
        ...Object.fromEntries(Object.entries(table).map(([option, row]) => [option, schemaOf(row)])),
      };
  return {
    name,
    title,
    description,
    inputSchema: { type: 'object', properties, additionalProperties: false },
    openWorld: spec.model === true,
    answer,
    errorText: (message) => withArguments(message, isError ? { error: 'path' } : table),
    invocation(values) {
      const given = checkNames(name, values, Object.keys(properties));
      if (isError) return errorInvocation(given);
      const { model, ...options } = given;
      const words = Object.entries(options).map(([option, value]) =>
        wordOf(name, option, table[option] as OptionSpec, value),
      );
      const named = model === undefined ? [] : ['--', textOf(name, 'model', model)];
      return { args: [command.name, '--json', ...words.flat(), ...named] };
    },
  };
}

/** @param options options that the tool gives as arguments, by their own name or by the argument's. */
function withArguments(message: string, options: Readonly<Record<string, OptionSpec | string>>): string {
  // Quoted values and commands to type stay as they are.
  return message.replace(/"[^"]*"|umaprobe [^.:;]*|--([a-z-]+)/g, (word: string, option: string | undefined) => {
    if (option === undefined || !Object.hasOwn(options, option)) return word;
    const argument = options[option];
    return `"${typeof argument === 'string' ? argument : option}"`;
  });
}

function specOf(command: ListedCommand, option: string): OptionSpec {
  const spec = command.options[option];
  if (spec === undefined) throw new Error(`${command.name} has no option --${option}`);
  return spec;
}

/** An option as an argument. A size is a text, because a number of bytes has no unit that can be read. */
function schemaOf({ placeholder, schema, summary }: OptionSpec): object {
  return { ...schema, description: placeholder === '<size>' ? `${summary}, such as 14GB or 14GiB` : summary };
}

function checkNames(tool: string, values: unknown, known: readonly string[]): Record<string, unknown> {
  if (values === undefined) return {};
  if (!isObject(values)) throw new RpcError(RPC.params, `${tool} takes "arguments" that are an object`);
  const unknown = Object.keys(values).find((name) => !known.includes(name));
  if (unknown === undefined) return values;
  const takes = known.length === 0 ? 'no arguments' : `${known.join(', ')}`;
  throw new RpcError(RPC.params, `${tool} has no argument "${unknown}"; it takes ${takes}`);
}

/** A value as words of the command line; the command checks what it means. One word each, so that none is taken for an option. */
function wordOf(tool: string, name: string, { list, placeholder, type }: OptionSpec, value: unknown): string[] {
  if (type === 'boolean') {
    if (typeof value !== 'boolean') throw wrongType(tool, name, 'true or false', value);
    return value ? [`--${name}`] : [];
  }
  if (list === true) {
    if (!Array.isArray(value)) throw wrongType(tool, name, 'a list of texts', value);
    return value.map((item) => `--${name}=${textOf(tool, name, item)}`);
  }
  // A number is in bytes, as in the library.
  if (typeof value === 'number') return [`--${name}=${value}${placeholder === '<size>' ? 'B' : ''}`];
  return [`--${name}=${textOf(tool, name, value)}`];
}

function textOf(tool: string, name: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw wrongType(tool, name, 'a text that is not empty', value);
  if (value.includes('\0')) throw new RpcError(RPC.params, `${tool}: "${name}" has a NUL character`);
  return value;
}

function wrongType(tool: string, name: string, expected: string, value: unknown): RpcError {
  return new RpcError(RPC.params, `${tool}: "${name}" is ${JSON.stringify(value)}; expected ${expected}`);
}

function errorInvocation({ path, text }: Record<string, unknown>): Invocation {
  const tool = 'explain_error';
  if ((path === undefined) === (text === undefined))
    throw new RpcError(RPC.params, `${tool} takes "text" or "path", one of them`);
  // "-" would be stdin.
  if (path !== undefined) return { args: ['explain', '--json', `--error=${pathOf(textOf(tool, 'path', path))}`] };
  const input = textOf(tool, 'text', text);
  if (input.length > MAX_TEXT)
    throw new RpcError(
      RPC.params,
      `${tool}: "text" has ${input.length} characters; expected at most ${MAX_TEXT}: give "path"`,
    );
  return { args: ['explain', '--json', '--error=-'], input };
}

function pathOf(path: string): string {
  return path.startsWith('/') ? path : `./${path}`;
}
