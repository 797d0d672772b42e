/** --csv, --jsonl, --markdown and --html: checked before a probe starts, written after it. A file that fails does not lose the report. */
import { hostname } from 'node:os';
import { writeFileAtomic } from '../../base/atomic-file.ts';
import { formatBytes } from '../../base/format.ts';
import { journalPath } from '../../core/probe/journal-path.ts';
import type { RenderOptions } from '../../show/render/options.ts';
import type { CommandOutcome, Context } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { checkOutputs, type NamedFile, namedFiles } from '../core/files.ts';
import { text } from '../core/options.ts';
import { renderOptionsFor } from '../core/terminal.ts';
import { UsageError } from '../core/usage.ts';
import { journalOption } from './probe-options.ts';

export interface Reports {
  csv: string | undefined;
  jsonl: string | undefined;
  markdown: string | undefined;
  html: string | undefined;
}

/** Commands that keep a journal where none is named. */
const PROBES = ['sweep', 'layout', 'stress'];

/** Forms of a report. The code of CSV and HTML is loaded only when needed. */
export interface Forms {
  page(options: RenderOptions): string[];
  csv(): Promise<string>;
  /** Absent: the command has no such form. */
  jsonl?(): Promise<string>;
  markdown?(): Promise<string>;
  /** Absent: the command has no page. */
  html?(): Promise<string>;
}

/**
 * @param inputs files that the command reads.
 * @throws UsageError if a file cannot be written, or would overwrite another file of this run.
 */
export function reportsOf(
  { json, values }: Pick<Context, 'json' | 'values'>,
  command: string,
  inputs: readonly NamedFile[] = [],
): Reports {
  const csv = text(values, 'csv');
  const jsonl = text(values, 'jsonl');
  const markdown = text(values, 'markdown');
  const html = text(values, 'html');
  const forms = { csv, jsonl, markdown };
  const onStdout = [
    ...Object.entries(forms).map(([name, path]) => (path === '-' ? `--${name} -` : null)),
    json ? '--json' : null,
  ];
  const [first, second] = onStdout.filter((option) => option !== null);
  if (first !== undefined && second !== undefined)
    throw new UsageError(`${first} and ${second} both write to stdout: give ${first.split(' ')[0]} a file.`);
  if (html === '-') throw new UsageError('--html "-" is not a file, and the page is too large for a terminal.');
  const file = (name: string, path: string | undefined): NamedFile[] =>
    path === undefined ? [] : namedFiles(`--${name}`, [path]);
  const journal = journalOption(values);
  const others = [...file('journal', journal || undefined), ...file('sim', text(values, 'sim')), ...inputs];
  const written = Object.entries(forms).filter(([, path]) => path !== '-');
  const outputs = [...written.flatMap(([name, path]) => file(name, path)), ...file('html', html)];
  checkOutputs(outputs, others);
  // Its own place depends on the machine, which a mistake in a name does not wait for.
  if (journal === undefined && outputs.length > 0 && PROBES.includes(command))
    checkOutputs(outputs, file('journal', journalPath(journal) ?? undefined));
  return { ...forms, html };
}

/** Writes the requested files. A failure is reported on stderr and by the exit code, and the report still follows. */
export async function writeReports(
  reports: Reports,
  forms: Forms,
  document: object,
  exitCode: number,
  { stderr }: Context,
): Promise<CommandOutcome> {
  const written: boolean[] = [];
  for (const name of ['csv', 'jsonl', 'markdown', 'html'] as const)
    written.push(await writeForm(reports[name], forms[name], stderr));
  const shown = (['csv', 'jsonl', 'markdown'] as const).find((name) => reports[name] === '-');
  const onStdout = shown === undefined ? null : ((await forms[shown]?.()) ?? null);
  return {
    exitCode: written.every(Boolean) ? exitCode : failedExit(exitCode),
    document,
    text: (terminal) => onStdout ?? forms.page(renderOptionsFor(terminal, { hostName: hostname() })),
  };
}

/** Writes the page of a command that has no other file; its answer follows, as above. */
export async function writePage(
  { html }: Reports,
  make: () => Promise<string>,
  outcome: CommandOutcome,
  { stderr }: Context,
): Promise<CommandOutcome> {
  return (await writeForm(html, make, stderr)) ? outcome : { ...outcome, exitCode: failedExit(outcome.exitCode) };
}

function failedExit(exitCode: number): number {
  return exitCode === EXIT.success ? EXIT.negative : exitCode;
}

/** @returns false if the file could not be written, which was said on stderr. */
async function writeForm(
  path: string | undefined,
  make: (() => Promise<string>) | undefined,
  stderr: Context['stderr'],
): Promise<boolean> {
  if (path === undefined || path === '-' || make === undefined) return true;
  try {
    const content = await make();
    writeFileAtomic(path, content, 0o666);
    stderr.write(`${path}: ${formatBytes(Buffer.byteLength(content))} written\n`);
    return true;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    stderr.write(`umaprobe: ${path} could not be written: ${message}\n`);
    return false;
  }
}
