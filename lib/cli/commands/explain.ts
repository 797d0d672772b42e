import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { asPathError, openNamedFile } from '../../base/named-path.ts';
import { processes } from '../../core/processes/index.ts';
import { snapshot } from '../../core/snapshot/index.ts';
import { explain, explainError } from '../../run/explain/index.ts';
import { explainPage } from '../../show/render/text/explain.ts';
import { errorPage } from '../../show/render/text/explain-error.ts';
import { type Command, type Context, shown } from '../core/command.ts';
import { PLAIN_READING } from '../core/early-reading.ts';
import { EXIT } from '../core/exit.ts';
import { EXACT } from '../core/reading-options.ts';
import { optionTable, ownOptions, typedText } from '../core/typed-options.ts';
import { UsageError } from '../core/usage.ts';

/** Bytes of one read. */
const PIECE = 64 * 1024;

const OPTIONS = {
  ...EXACT,
  error: typedText((path) => path, {
    placeholder: '<file|->',
    help: 'The log, or - for stdin: pipe it, or paste it and press Ctrl-D',
  }),
};

export const explainCommand: Command = {
  name: 'explain',
  description:
    'Lists the reasons why memory is gone or looks gone, with their bytes, numbers and remedies: page cache that counts as used, driver pools, ' +
    'memory that nobody holds, GPU programs, huge pages, fragmentation, swap, limits. A healthy machine has none.\n' +
    'With --error: recognises messages about memory of PyTorch, vLLM, SGLang, llama.cpp, Ollama, the kernel, the driver and others in a log of any ' +
    'size, says what they mean, and compares their numbers with this machine. Nothing is guessed: of an unknown text it says that it is unknown.\n' +
    'Changes nothing, and creates no CUDA context. Exit code: 0; with --error 0 recognised, 1 nothing recognised.',
  options: optionTable(OPTIONS),
  examples: [
    { command: 'umaprobe explain', means: 'why memory is gone here' },
    { command: 'umaprobe explain --error vllm.log', means: 'what went wrong in a log' },
    { command: 'sudo dmesg | umaprobe explain --error -', means: 'what the kernel says' },
    { command: 'docker logs vllm 2>&1 | umaprobe explain --error - --json', means: 'for scripts' },
  ],
  arguments: {
    min: 0,
    max: 0,
    afterDashes: false,
    bareWord: { option: 'error', pattern: /^\S+$/, otherwise: 'To paste a message: umaprobe explain --error -.' },
  },
  async run(context) {
    const { error: path, exact } = ownOptions(context.values, OPTIONS, 'explain');
    if (path === undefined) {
      const [machine, running] = await Promise.all([snapshot(PLAIN_READING), processes()]);
      const report = await explain({ snapshot: machine, processes: running });
      return shown(report, explainPage, EXIT.success, { exact });
    }
    const report = await explainError(path === '-' ? stdin(context) : fileText(path));
    return shown(report, errorPage, report.errors.length > 0 ? EXIT.success : EXIT.negative);
  },
};

/** Stdin by the name of its pipe or file, because the chunks of a stream would not be constant memory. */
function stdin({ stdin: stream, stderr }: Context): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  if (stream.isTTY) stderr.write('Paste the message, then press Enter and Ctrl-D.\n');
  if (stream === process.stdin && !stream.isTTY) {
    try {
      return pieces(openSync('/proc/self/fd/0', 'r'), 'stdin');
    } catch {
      // A socket has no name, and a sandbox no /proc.
    }
  }
  return checkedStream(stream);
}

async function* checkedStream(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let first = true;
  for await (const piece of stream) {
    if (first) refuseCompressed(piece, 'stdin');
    first = false;
    yield piece;
  }
}

/** A pipe that a shell has opened, as for <(command), ends with its command; a named pipe or a device may never end. */
function fileText(path: string): Iterable<Uint8Array> {
  if (/\s/.test(path) && !existsSync(path))
    throw new UsageError(
      `--error "${path}": there is no file of this name. To paste a message: umaprobe explain --error -.`,
    );
  if (!/^\/dev\/(stdin|fd\/\d+)$/.test(path)) return pieces(openNamedFile('--error', path), path);
  try {
    return pieces(openSync(path, 'r'), path);
  } catch (error) {
    throw asPathError('--error', path, error);
  }
}

/** The pieces of an open file. Each is valid until the next one is asked for. */
function* pieces(file: number, path: string): Generator<Uint8Array> {
  const buffer = Buffer.allocUnsafe(PIECE);
  try {
    for (let first = true; ; first = false) {
      const bytes = readSync(file, buffer, 0, buffer.length, null);
      if (bytes === 0) return;
      const piece = buffer.subarray(0, bytes);
      if (first) refuseCompressed(piece, path);
      yield piece;
    }
  } catch (error) {
    throw asPathError('--error', path, error);
  } finally {
    closeSync(file);
  }
}

/** First bytes of compressed files, and what prints them. */
const COMPRESSED = [
  { magic: [0x1f, 0x8b], command: 'zcat' },
  { magic: [0x28, 0xb5, 0x2f, 0xfd], command: 'zstdcat' },
  { magic: [0xfd, 0x37, 0x7a, 0x58], command: 'xzcat' },
];

function refuseCompressed(start: Uint8Array, name: string): void {
  const format = COMPRESSED.find(({ magic }) => magic.every((byte, index) => start[index] === byte));
  if (format === undefined) return;
  const file = name === 'stdin' ? 'FILE' : name;
  throw new UsageError(`${name} is compressed: ${format.command} ${file} | umaprobe explain --error -`);
}
