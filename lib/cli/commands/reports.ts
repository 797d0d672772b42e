/** --csv and --html: checked before a probe starts, written after it. A file that fails does not lose the report. */
import { hostname } from 'node:os';
import { writeFileAtomic } from '../../base/atomic-file.ts';
import { formatBytes } from '../../base/format.ts';
import type { RenderOptions } from '../../render/options.ts';
import type { Context, Outcome, Values } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { checkOutputs, type NamedFile } from '../core/files.ts';
import { text } from '../core/options.ts';
import { renderOptionsFor } from '../core/terminal.ts';
import { UsageError } from '../core/usage.ts';

export interface Reports {
  csv: string | undefined;
  html: string | undefined;
}

/** Forms of a report. The code of CSV and HTML is loaded only when needed. */
export interface Forms {
  page(options: RenderOptions): string[];
  csv(): Promise<string>;
  html(): Promise<string>;
}

/**
 * @param inputs files that the command reads.
 * @throws UsageError if a file cannot be written, or would overwrite another file of this run.
 */
export function reportsOf(values: Values, json: boolean, command: string, inputs: readonly string[] = []): Reports {
  const csv = text(values, 'csv');
  const html = text(values, 'html');
  if (csv === '-' && json) throw new UsageError('--csv - and --json both write to stdout: give --csv a file.', command);
  if (html === '-')
    throw new UsageError('--html "-" is not a file, and the page is too large for a terminal.', command);
  const file = (name: string, path: string | undefined): NamedFile[] =>
    path === undefined ? [] : [{ what: `--${name}`, path }];
  const journal = text(values, 'journal');
  const others = [
    ...file('journal', journal === 'none' ? undefined : journal),
    ...file('sim', text(values, 'sim')),
    ...inputs.map((path) => ({ what: 'the parts', path })),
  ];
  checkOutputs([...file('csv', csv === '-' ? undefined : csv), ...file('html', html)], others, command);
  return { csv, html };
}

/** Writes the requested files. A failure is reported on stderr and by the exit code, and the report still follows. */
export async function writeReports(
  reports: Reports,
  forms: Forms,
  document: object,
  exitCode: number,
  { stderr }: Context,
): Promise<Outcome> {
  let failed = false;
  const write = async (path: string | undefined, make: () => Promise<string>): Promise<void> => {
    if (path === undefined || path === '-') return;
    try {
      const content = await make();
      writeFileAtomic(path, content, 0o666);
      stderr.write(`${path}: ${formatBytes(Buffer.byteLength(content))} written\n`);
    } catch (error) {
      failed = true;
      const message = error instanceof Error ? error.message : String(error);
      stderr.write(`umaprobe: ${path} could not be written: ${message}\n`);
    }
  };
  await write(reports.csv, forms.csv);
  await write(reports.html, forms.html);
  const csv = reports.csv === '-' ? await forms.csv() : null;
  return {
    exitCode: failed && exitCode === EXIT.success ? EXIT.negative : exitCode,
    document,
    text: (terminal) => csv ?? forms.page(renderOptionsFor(terminal, { hostName: hostname() })),
  };
}
