// The tables of docs/errors.md: error codes from lib/base/error-codes.ts, exit codes from lib/cli/core/exit.ts.
//   node scripts/errors-page.mjs          says whether the page is current
//   node scripts/errors-page.mjs --write  writes it (npm run format does)
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMain, main, root } from './run.mjs';

const PAGE = join(root, 'docs/errors.md');

const cell = (text) => text.replaceAll('|', '\\|');

function table(head, rows) {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');
}

function codeRows(codes, exitOfCode) {
  return Object.entries(codes).map(([code, { when, remedy }]) => [
    `\`${code}\``,
    when,
    remedy,
    String(exitOfCode[code] ?? 1),
  ]);
}

/** The tables by the name of their place in the page. */
export function errorTables({ UMA_ERRORS, USAGE_ERRORS, OTHER_ERRORS }, { EXIT_MEANINGS, EXIT_OF_CODE }) {
  const head = ['Code', 'When', 'What helps', 'Exit'];
  return {
    'exit codes': table(
      ['Exit', 'Meaning', ''],
      EXIT_MEANINGS.map(([code, short, more]) => [code, short, more]),
    ),
    'codes of UmaError': table(head, codeRows(UMA_ERRORS, EXIT_OF_CODE)),
    'codes of mistakes': table(head, codeRows({ ...USAGE_ERRORS, ...OTHER_ERRORS }, EXIT_OF_CODE)),
  };
}

/** The page with its tables written anew; the text around them stays. */
export function withTables(page, tables) {
  return Object.entries(tables).reduce((text, [name, content]) => {
    const place = new RegExp(`(<!-- generated: ${name} -->\n)[^]*?(<!-- end -->)`);
    if (!place.test(text)) throw new Error(`docs/errors.md has no place for the ${name}`);
    return text.replace(place, (_, begin, end) => `${begin}\n${content}\n\n${end}`);
  }, page);
}

/** Throws, or with `write` mends the page, where a table is not that of the source. */
export async function checkErrorsPage({ write = false } = {}) {
  const { loadLib } = await import('./load-lib.mjs');
  const codes = await loadLib('lib/base/error-codes.ts');
  const page = readFileSync(PAGE, 'utf8');
  const expected = withTables(page, errorTables(codes, await loadLib('lib/cli/core/exit.ts')));
  if (page === expected) return;
  if (!write) throw new Error('docs/errors.md does not have the codes of lib/base/error-codes.ts: run npm run format');
  writeFileSync(PAGE, expected);
}

if (isMain(import.meta.url)) await main(() => checkErrorsPage({ write: process.argv.includes('--write') }));
