/** A passage of a log as one line of plain text: without colours, timestamps, ranks, and line breaks in a message. */

/** Escape sequences of terminals: colours, cursor movements, titles. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed.
const ESCAPES = /\u001b(?:\[[0-9;:?]{0,32}[ -/]?[@-~]|\][^\u0007\u001b]{0,200}(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

/**
 * Prefix that loggers put before each line of a message: the name of a container, a time, a level, a process, a rank.
 * Each alternative is bounded and anchored, so a line costs a constant per byte.
 */
const PREFIX = new RegExp(
  `^\\s*(?:${[
    // docker compose, kubectl --prefix.
    String.raw`[\w./-]{1,60} {0,20}\| `,
    // [2025-12-07 09:57:19,206 E 393 393], [ 6728.908825], [rank0]:, [TP0], [pod/ollama-1/ollama]; never [NV_ERR_…].
    String.raw`\[(?!NV_)[^\][]{1,80}\]:?`,
    // Syslog with host and program.
    String.raw`[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,9})? \S{1,64} [\w./@-]{1,40}(?:\[\d{1,10}\])?:`,
    String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?(?: [-|](?= ))?`,
    String.raw`\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d{1,9})?`,
    String.raw`\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?= )`,
    // llama.cpp: 0.18.542.875
    String.raw`\d{1,4}\.\d\d\.\d{3}\.\d{3}(?= )`,
    '(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL|[DIWE])(?=[: ]):?',
    String.raw`\((?:\w{1,40} {0,2})?(?:pid=\d{1,10}|raylet|gcs_server)(?:, ip=[\d.]{1,40})?\)`,
    String.raw`<\d{1,3}>`,
  ].join('|')})`,
);

/** Prefixes of one line. */
const MOST_PREFIXES = 8;

/** One line without its prefixes, with single spaces. */
function plainLine(line: string): string {
  let text = line.includes('\u001b') ? line.replace(ESCAPES, '') : line;
  text = text.replace(CONTROLS, '');
  for (let count = 0; count < MOST_PREFIXES; count++) {
    const prefix = PREFIX.exec(text);
    if (prefix === null) break;
    text = text.slice(prefix[0].length);
  }
  // Logs in JSON have line breaks and quotes escaped.
  if (text.includes('\\')) text = text.replace(/\\{1,3}[nrt]/g, ' ').replace(/\\{1,3}(["'])/g, '$1');
  return text.replace(/\s+/g, ' ').trim();
}

/** Lines joined into one text. */
export interface Passage {
  text: string;
  /** Start of each line in the text. */
  starts: number[];
  /** Start of each line in the input, in bytes. */
  offsets: number[];
}

/** Joins the lines of `bytes` from `start` to `end`, which both are at line breaks or at the limits of the input. */
export function passage(bytes: Buffer, start: number, end: number, offset: number): Passage {
  const starts: number[] = [];
  const offsets: number[] = [];
  let text = '';
  let at = start;
  while (at < end) {
    const next = lineEnd(bytes, at, end);
    const line = plainLine(bytes.toString('utf8', at, next));
    if (line !== '') {
      if (text !== '') text += ' ';
      starts.push(text.length);
      offsets.push(offset + at);
      text += line;
    }
    at = next + 1;
  }
  return { text, starts, offsets };
}

export const LINE_FEED = 10;
/** Progress bars draw over their line: the text behind it is a line of its own. */
const CARRIAGE_RETURN = 13;

function lineEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] !== LINE_FEED && bytes[at] !== CARRIAGE_RETURN) at++;
  return at;
}

/** Number of the line of the passage that has the character at `at`. */
export function lineOf({ starts }: Passage, at: number): number {
  let line = 0;
  while (line + 1 < starts.length && (starts[line + 1] as number) <= at) line++;
  return line;
}
