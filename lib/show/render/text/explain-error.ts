/** The page of explain --error: each message with its numbers, its meaning, this machine and what to do. */
import { clean, formatBytes, formatCount } from '../../../base/format.ts';
import { MOST_COUNTED } from '../../../types/explain.ts';
import type { ErrorNumber, ErrorReport, ErrorVerdict, ExplainedError } from '../../../types/index.ts';
import { dot, type RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { hanging, padEnd } from '../text-layout.ts';
import { INDENT, LABEL } from './explain.ts';
import { sections, simulatedBand } from './frame.ts';

const STYLES: Readonly<Record<ErrorVerdict, Style>> = {
  shortage: 'danger',
  limit: 'warning',
  misread: 'warning',
  unclear: 'warning',
  consequence: 'dim',
  harmless: 'ok',
};

export function errorPage(report: ErrorReport, options: RenderOptions): string[] {
  const { errors, input, simulated } = report;
  const band = simulatedBand(simulated, options, { what: 'comparisons' });
  const read = `${formatCount(input.lines)} ${input.lines === 1 ? 'line' : 'lines'}, ${formatBytes(input.bytes)}`;
  if (input.bytes === 0) return sections(band, ['The text is empty.']);
  if (errors.length === 0)
    return sections(
      band,
      hanging(
        '',
        `No known message about memory (${read}). Nothing is guessed; docs/explain.md lists the messages that are known.`,
        options.width,
      ),
    );
  const total = `${errors.length} known ${errors.length === 1 ? 'message' : 'messages'} about memory (${read})`;
  return sections(band, ...errors.map((error) => errorLines(error, options)), [total]);
}

function errorLines(error: ExplainedError, options: RenderOptions): string[] {
  const { code, count, firstLine, lastLine, meaning, now, numbers, program, remedies, verdict } = error;
  const { paint, width } = options;
  const where =
    count === 1
      ? `line ${formatCount(firstLine)}`
      : `${formatCount(count)} times${count < MOST_COUNTED ? '' : ' or more'}, lines ${formatCount(firstLine)} to ${formatCount(lastLine)}`;
  const head = [code, clean(program), verdict, where].join(dot(options));
  const [first = '', ...more] = hanging('', head, width);
  return [
    paint(STYLES[verdict], first.slice(0, code.length)) + first.slice(code.length),
    ...more,
    ...part('text', clean(error.text), width).map((line) => paint('dim', line)),
    ...(numbers.length === 0 ? [] : part('seen', numbers.map(numberText).join(', '), width)),
    ...part('means', meaning, width),
    ...(now === null ? [] : part('now', now, width)),
    ...remedies.flatMap(({ command, needsRoot, text }) => [
      ...part('do', `${text}${needsRoot && command !== null && !command.includes('sudo') ? ' (root)' : ''}`, width),
      ...(command === null ? [] : [`${INDENT}${' '.repeat(LABEL)}${INDENT}${clean(command)}`]),
    ]),
  ];
}

function part(label: string, sentence: string, width: number): string[] {
  return hanging(INDENT + padEnd(label, LABEL), sentence, width);
}

/** "free 22.76 GiB". */
function numberText({ name, text }: ErrorNumber): string {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${words} ${clean(text)}`;
}
