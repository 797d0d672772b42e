/** Every link of the documentation to a file of this repository, or to a heading, leads somewhere. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PAGES } from '../../support/pages.ts';
import { ROOT } from '../../support/root.ts';

const pages = [...PAGES, 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];

function withoutCode(text: string): string {
  return text.replace(/^```.*?^```/gms, '').replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()]/g, ' '));
}

/** The ids that GitHub gives to the headings of a page. */
function anchorsOf(page: string): Set<string> {
  const text = readFileSync(join(ROOT, page), 'utf8').replace(/^```.*?^```/gms, '');
  return new Set(
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** Links that lead nowhere, as "target: why". */
function brokenLinksOf(page: string): string[] {
  const text = withoutCode(readFileSync(join(ROOT, page), 'utf8'));
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^(https?|mailto):/.test(target)) return [];
    const [path = '', anchor] = target.split('#');
    const file = path === '' ? page : normalize(join(dirname(page), path));
    if (!existsSync(join(ROOT, file))) return [`${target}: there is no ${file}`];
    if (anchor !== undefined && !anchorsOf(file).has(anchor)) return [`${target}: ${file} has no such heading`];
    return [];
  });
}

describe('links', () => {
  it.each(pages)('of %s lead somewhere', (page) => expect(brokenLinksOf(page)).toEqual([]));

  it('from the README reach every page', () => {
    const reached = new Set<string>(['README.md']);
    for (const page of reached) {
      const text = withoutCode(readFileSync(join(ROOT, page), 'utf8'));
      for (const [, target = ''] of text.matchAll(/\]\(([^)#\s]+\.md)(?:#[^)]*)?\)/g))
        if (!/^https?:/.test(target)) reached.add(normalize(join(dirname(page), target)));
    }
    expect(pages.filter((page) => !reached.has(page))).toEqual([]);
  });
});
