import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { jsonText, MiB } from '../../base/format.ts';
import { readNamedFile } from '../../base/named-path.ts';
import { objectIn } from '../../base/objects.ts';
import { path } from '../../base/options.ts';
import { readRecord } from '../../run/record/index.ts';
import { compare } from '../../show/compare/index.ts';
import { comparePage } from '../../show/render/text/compare.ts';
import { toHtml } from '../../show/report/index.ts';
import { loadMachine } from '../../sim.ts';
import type { Comparable } from '../../types/index.ts';
import { type Command, shown } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { namedFiles } from '../core/files.ts';
import { optionTable } from '../core/typed-options.ts';
import { UsageError } from '../core/usage.ts';
import { callCommand } from '../mcp/call.ts';
import { reportsOf, writePage } from './reports.ts';

const NAME = 'compare';
/** A recording with 100,000 points has some 20 MB. */
const MAX_BYTES = 256 * MiB;

/** Name of a document in a message. */
const KINDS: Readonly<Record<Comparable['schema'], string>> = {
  'umaprobe/snapshot/1': 'a snapshot',
  'umaprobe/processes/1': 'a list of processes',
  'umaprobe/sweep/1': 'a sweep',
  'umaprobe/record/1': 'a recording',
};
const EXPECTED =
  'what snapshot, processes, sweep or record show print under --json, a folder of record, or a simulated machine';

const OPTIONS = { html: path({ help: 'Write one HTML page; works offline' }) };

export const compareCommand: Command = {
  name: NAME,
  usage: '<file|folder|name> <file|folder|name> [options]',
  description:
    'Shows what differs between two of one kind, A and B: files that snapshot, processes, sweep or record show printed under --json, folders of ' +
    'record (their newest session), or simulated machines (name or file), each as a snapshot of it.\n' +
    'The largest change comes first, unknown is never 0, and programs are matched by pid within one boot, else by name.',
  options: optionTable(OPTIONS),
  examples: [
    { command: 'umaprobe compare before.json after.json', means: 'what a program took, and what came back' },
    { command: 'umaprobe compare gb10 gb10-busy', means: 'two simulated machines' },
    { command: 'umaprobe compare monday.json tuesday.json --html compare.html', means: 'a page to pass on' },
  ],
  readsMachine: false,
  arguments: { min: 2, max: 2, afterDashes: false },
  async run(context) {
    const { positionals } = context;
    const [nameA = '', nameB = ''] = positionals;
    const reports = reportsOf(context, NAME, namedFiles('a file to compare', positionals));
    const [a, b] = [await documentOf(nameA), await documentOf(nameB)];
    if (a.schema !== b.schema)
      throw new UsageError(
        `"${nameA}" is ${KINDS[a.schema]}, and "${nameB}" is ${KINDS[b.schema]}: name two of one kind.`,
      );
    const document = await compare(a, b);
    const outcome = shown(document, comparePage, EXIT.success, { hostName: hostname() });
    return writePage(reports, () => toHtml(document), outcome, context);
  },
};

/** @throws UsageError for what cannot be compared. */
async function documentOf(name: string): Promise<Comparable> {
  const stat = statSync(name, { throwIfNoEntry: false });
  if (stat?.isDirectory() === true) {
    const recording = await readRecord({ folder: name, sessions: 1 });
    if (recording.sessions.length > 0) return recording;
    throw new UsageError(`"${name}" is a folder without a recording; expected ${EXPECTED}.`);
  }
  if (stat === undefined && !name.includes('/') && !name.endsWith('.json')) return machineSnapshot(name);
  const document = objectIn(readNamedFile('compare', name, MAX_BYTES));
  if (document === null) throw new UsageError(`"${name}" is not one JSON document; expected ${EXPECTED}.`);
  const { schema } = document;
  if (schema === 'umaprobe/machine/1' || (schema === undefined && 'extends' in document)) return machineSnapshot(name);
  if (typeof schema === 'string' && Object.hasOwn(KINDS, schema)) return document as unknown as Comparable;
  const has = typeof schema === 'string' ? `has the schema ${jsonString(schema)}` : 'has no schema';
  throw new UsageError(`"${name}" ${has}; expected ${EXPECTED}.`);
}

function jsonString(text: string): string {
  return jsonText([text.slice(0, 60)]).slice(1, -1);
}

/** A process is on one machine for its life: a process of its own takes the snapshot. */
async function machineSnapshot(nameOrFile: string): Promise<Comparable> {
  // Here, so that a mistake in it is said of its name.
  loadMachine(nameOrFile);
  const args = ['snapshot', '--json', '--memgetinfo', 'never', '--sim', nameOrFile];
  const document = await callCommand({ args }, new AbortController().signal).catch(() => null);
  const schema = document?.schema;
  if (typeof schema === 'string' && Object.hasOwn(KINDS, schema)) return document as unknown as Comparable;
  throw new UsageError(`"${nameOrFile}" gave no snapshot: umaprobe snapshot --sim ${nameOrFile} says why.`);
}
