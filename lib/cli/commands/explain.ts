import { closeSync, openSync, readSync } from 'node:fs';
import { explain, explainError } from '../../explain/index.ts';
import { explainPage } from '../../render/text/explain.ts';
import { errorPage } from '../../render/text/explain-error.ts';
import type { Command, Context } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { flag, isGiven, text } from '../core/options.ts';
import { pageAssets } from '../core/package-files.ts';
import { renderOptionsFor, type Terminal } from '../core/terminal.ts';
import { UsageError } from '../core/usage.ts';
import { PAGE_OPTION } from './probe-options.ts';
import { reportsOf, writePage } from './reports.ts';

/** Bytes of one read. */
const PIECE = 64 * 1024;

export const explainCommand: Command = {
  name: 'explain',
  summary: 'Why memory is gone or looks gone, and what an error message about it means',
  usage: '[options]',
  description:
    'Lists the reasons why memory is gone or looks gone, with their bytes, numbers and remedies: page cache that counts as used, driver pools, ' +
    'memory that nobody holds, GPU programs, huge pages, fragmentation, swap, limits. A healthy machine has none.\n' +
    'With --error: recognises messages about memory of PyTorch, vLLM, SGLang, llama.cpp, Ollama, the kernel, the driver and others in a log of any ' +
    'size, says what they turned out to mean, and compares their numbers with this machine. An unknown text is said to be unknown; nothing is guessed.\n' +
    'Changes nothing, and creates no CUDA context. Exit code: 0; with --error 0 recognised, 1 nothing recognised.',
  options: {
    bytes: { type: 'boolean', summary: 'Exact bytes instead of GiB' },
    error: {
      type: 'string',
      placeholder: '<file|->',
      summary: 'The log, or - for stdin: pipe it, or paste it and press Ctrl-D',
    },
    ...PAGE_OPTION,
  },
  examples: [
    { command: 'umaprobe explain', means: 'why memory is gone here' },
    { command: 'umaprobe explain --error vllm.log', means: 'what went wrong in a log' },
    { command: 'sudo dmesg | umaprobe explain --error -', means: 'what the kernel says' },
    { command: 'docker logs vllm 2>&1 | umaprobe explain --error - --json', means: 'for scripts' },
  ],
  readsMachine: true,
  arguments: { min: 0, max: 0, afterDashes: false },
  async run(context) {
    const path = text(context.values, 'error');
    if (path === undefined) {
      const reports = reportsOf(context.values, context.json, 'explain');
      const report = await explain();
      const exact = flag(context.values, 'bytes');
      const page = async () => (await import('../../render/html/explain.ts')).explainHtml(report, pageAssets());
      const lines = (terminal: Terminal) => explainPage(report, renderOptionsFor(terminal, { exact }));
      return writePage(reports, page, { exitCode: EXIT.success, document: report, text: lines }, context);
    }
    if (isGiven(context.values, 'html'))
      throw new UsageError('--html is a page of the findings: it does not go with --error.', 'explain');
    const report = await explainError(path === '-' ? stdin(context) : fileText(path));
    return {
      exitCode: report.errors.length > 0 ? EXIT.success : EXIT.negative,
      document: report,
      text: (terminal) => errorPage(report, renderOptionsFor(terminal)),
    };
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

/** Exit code 1 means that nothing was recognised, so a file that cannot be read is a mistake of usage. */
function fileText(path: string): Iterable<Uint8Array> {
  try {
    return pieces(openSync(path, 'r'), path);
  } catch (error) {
    throw unreadable(path, error);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read by this user',
  EPERM: 'may not be read by this user',
  EISDIR: 'is a folder; name a file',
};

function unreadable(path: string, error: unknown): unknown {
  const code = systemCode(error);
  if (code === null) return error;
  return new UsageError(`--error "${path}" ${REASONS[code] ?? `cannot be read (${code})`}.`, 'explain');
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
    throw unreadable(path, error);
  } finally {
    closeSync(file);
  }
}

function systemCode(error: unknown): string | null {
  return error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : null;
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
  throw new UsageError(`${name} is compressed: ${format.command} ${file} | umaprobe explain --error -`, 'explain');
}
