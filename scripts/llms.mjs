// llms.txt, for agents that read the repository: the pages of README.md's table, each with the question that it answers.
//   node scripts/llms.mjs          says whether the file is current
//   node scripts/llms.mjs --write  writes it (npm run format does)
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMain, main, root } from './run.mjs';

const FILE = join(root, 'llms.txt');

/** The file for a text of README.md. */
export function llmsText(readme) {
  const [, title] = /^# (.+)$/m.exec(readme);
  const [, sentence] = /^\*\*(.+)\*\*$/m.exec(readme);
  const rows = [...readme.matchAll(/^\| ([^|]+) \| ([^|]*\]\([^|]+) \|$/gm)];
  const pages = rows.flatMap(([, question, cell]) =>
    [...cell.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, name, path]) => ({ name, path, question })),
  );
  if (pages.length === 0) throw new Error('README.md has no table of pages');
  const twice = pages.find(({ path }, at) => pages.findIndex((page) => page.path === path) < at);
  if (twice !== undefined) throw new Error(`the table of README.md has ${twice.path} twice`);
  const lines = pages.map(({ name, path, question }) => `- [${name.replaceAll('`', '')}](${path}): ${question}\n`);
  return `# ${title}\n\n> ${sentence}\n\n## Pages\n\n${lines.join('')}`;
}

export function checkLlms({ write = false } = {}) {
  const wanted = llmsText(readFileSync(join(root, 'README.md'), 'utf8'));
  if (existsSync(FILE) && readFileSync(FILE, 'utf8') === wanted) return;
  if (!write) throw new Error('llms.txt differs from the table of README.md: npm run format writes it');
  writeFileSync(FILE, wanted);
}

if (isMain(import.meta.url)) await main(async () => checkLlms({ write: process.argv.includes('--write') }));
