/**
 * Every JavaScript example of the documents runs as it stands, passes TypeScript's strict checks, and on the page of the library
 * prints what its comments say. Those of doc comments pass the checks.
 */

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI, LIMIT_MS } from '../../support/cli.ts';
import { masked } from '../../support/console-blocks.ts';
import { DOORS, LIBRARY } from '../../support/doors.ts';
import { PAGES } from '../../support/pages.ts';
import { ROOT } from '../../support/root.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const documents = PAGES.map((page) => ({ page, text: readFileSync(join(ROOT, page), 'utf8') }));
const examples = documents.flatMap(({ page, text }) =>
  [...text.matchAll(/<!-- example( root)?: (.+?) -->\n```js\n(.*?)```/gs)].map((match) => ({
    title: `${page}: ${match[2]}`,
    root: match[1] !== undefined,
    code: match[3] as string,
  })),
);

/** The `@example` of a doc comment, without its stars. */
const inComments = readdirSync(join(ROOT, 'lib'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .flatMap((name) => {
    const text = readFileSync(join(ROOT, 'lib', name), 'utf8');
    return [...text.matchAll(/^ \* @example\n \* ```ts\n(.*?)^ \* ```$/gms)].map(([, lines = ''], index) => ({
      file: `lib-${name}-${index}`.replace(/\W+/g, '-'),
      code: lines.replace(/^ \* ?/gm, ''),
    }));
  });

const PAGE = 'docs/library.md';

/** "umaprobe/run" → dist/run.d.ts */
function declarationsOf(door: string): string {
  return join(ROOT, `dist/${door.split('/')[1] ?? 'index'}.d.ts`);
}

/** What the comments of an example say that it prints: `console.log(x); // 3`. */
function outputsOf(code: string): string[] {
  return [...code.matchAll(/console\.log\(.*\);? \/\/ (.+)$/gm)].map((match) => match[1] as string);
}

describe('examples', () => {
  it('are found', () => {
    expect(examples.length).toBeGreaterThan(4);
    // Each block of code is an example or a program that is run (programs.test.ts), or a signature.
    const count = (pattern: RegExp) => documents.flatMap(({ text }) => [...text.matchAll(pattern)]).length;
    const others = count(/<!-- (signature|program: \S+) -->\n```js$/gm);
    expect(count(/^```js$/gm) - others).toBe(examples.length);
  });

  it.each([
    ['of the page of the library', examples.filter(({ title }) => title.startsWith(PAGE))],
    ['of doc comments', inComments],
  ])('%s call every function', (_, codes) => {
    const functions = Object.keys(LIBRARY).filter((name) => name !== 'UmaError');
    expect(functions.filter((name) => !codes.some(({ code }) => new RegExp(`\\b${name}\\(`).test(code)))).toEqual([]);
  });

  it('of both and the programs pass TypeScript under strict', () => {
    const folder = temporaryFolder('strict');
    const blocks = documents.flatMap(({ page, text }) =>
      [...text.matchAll(/<!-- (?:example(?: root)?|program): (.+?) -->\n```js\n(.*?)```/gs)].map(
        ([, title = '', code = '']) => ({
          file: `${page}-${title}`.replace(/\W+/g, '-'),
          code,
        }),
      ),
    );
    expect(blocks.length).toBeGreaterThan(examples.length);
    for (const { code, file } of [...blocks, ...inComments]) writeFileSync(join(folder, `${file}.mts`), code);
    const compilerOptions = {
      ...{ strict: true, noEmit: true, target: 'es2023', module: 'nodenext', skipLibCheck: true },
      ...{ types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] },
      paths: Object.fromEntries(Object.keys(DOORS).map((door) => [door, [declarationsOf(door)]])),
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.mts'] }));
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8', timeout: 60_000 });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  });

  it.for(examples)('$title', ({ code, root, title }, { skip }) => {
    if (root && process.geteuid?.() !== 0) skip('only root writes to the kernel, also on a simulated machine');
    const node = [process.execPath, '--input-type=module', '-e', code];
    const simulates = code.includes('simulate(');
    const command = simulates ? node : [process.execPath, CLI, 'sim', 'run', 'gb10', '--', ...node];
    const ran = spawnSync(command[0] as string, command.slice(1), { cwd: ROOT, encoding: 'utf8', timeout: LIMIT_MS });
    expect(ran.stderr).toBe('');
    expect(ran.status).toBe(0);
    // On other pages a comment says what a value means.
    if (title.startsWith(PAGE))
      expect(ran.stdout.trimEnd().split('\n').map(masked)).toEqual(outputsOf(code).map(masked));
    else expect(ran.stdout).toMatch(/\d/);
  });
});
