/** Rewrites ```console blocks with fresh output (scripts/refresh-docs.mjs), and keeps the parts left out. */
import { type Block, differenceOf, ELISION, masked, partsOf, typeInto } from './console-blocks.ts';

/** Masks what differs between any two runs: all numbers but amounts of memory. */
function steady(line: string): string {
  const amounts = [...line.matchAll(/[\d.,]+ (B|[KMGT]i?B)\b(?!\/)/g)].map(([amount]) => amount);
  return [masked(line), ...amounts].join(' ');
}

/**
 * The lines that a page shows, with those of a new output in their place. If the page leaves lines out (`…`), the new
 * text leaves out the same part: each shown part reaches from its first to its last line that is still in the output.
 *
 * @returns the lines, and the shown lines for which the output has no counterpart.
 */
export function refreshed(shown: readonly string[], output: readonly string[]): { lines: string[]; lost: string[] } {
  const got = withoutBlankEnd(output);
  // The rule of `expectOutputOf`, and amounts of memory are right, too.
  if (differenceOf(shown, got, steady) === null) return { lines: [...shown], lost: [] };
  const lost: string[] = [];
  const lines: string[] = [];
  const parts = partsOf(shown);
  let from = 0;
  for (const [index, part] of parts.entries()) {
    if (index > 0) lines.push(ELISION);
    const places = part.map((line) => {
      const place = line.trim() === '' ? -1 : got.findIndex((text, at) => at >= from && masked(text) === masked(line));
      if (place >= 0) from = place + 1;
      else if (line.trim() !== '') lost.push(line);
      return place;
    });
    const found = places.filter((place) => place >= 0);
    const isFirst = index === 0;
    const isLast = index === parts.length - 1;
    if (found.length === 0 && !(isFirst && isLast)) continue;
    const start = isFirst ? 0 : Math.min(...found);
    const end = isLast ? got.length : Math.max(...found) + 1;
    lines.push(...got.slice(start, end));
    from = end;
  }
  return { lines, lost };
}

/** stderr comes first, unless the page shows nothing of it. */
function outputOf({ stderr, stdout }: { stderr: string; stdout: string }, shown: readonly string[]): string[] {
  const errors = stderr.split('\n').filter((line) => line.trim() !== '');
  const shows = shown.some((line) => errors.some((error) => masked(error) === masked(line)));
  return `${shows || stdout === '' ? stderr : ''}${stdout}`.split('\n');
}

function withoutBlankEnd(lines: readonly string[]): string[] {
  const trimmed = lines.map((line) => line.trimEnd());
  return trimmed.slice(0, trimmed.findLastIndex((line) => line !== '') + 1);
}

/** The text of a page with fresh output in the blocks that can be run here. */
export function refreshedPage(text: string, blocks: readonly Block[], cwd: string): { text: string; notes: string[] } {
  const lines = text.split('\n');
  const notes: string[] = [];
  let shift = 0;
  for (const block of blocks) {
    let at = block.line + shift;
    for (const { command, output } of block.steps) {
      at += 1;
      const ran = typeInto(command, cwd);
      const fresh = refreshed(output, outputOf(ran, output));
      notes.push(...fresh.lost.map((line) => `line ${at}, ${command}: no longer printed: ${line}`));
      if (/\bumaprobe\b/.test(command) && ran.status !== block.exit)
        notes.push(`line ${at}, ${command}: exit code ${ran.status}, the page says ${block.exit}`);
      lines.splice(at, output.length, ...fresh.lines);
      shift += fresh.lines.length - output.length;
      at += fresh.lines.length;
    }
  }
  return { text: lines.join('\n'), notes };
}
