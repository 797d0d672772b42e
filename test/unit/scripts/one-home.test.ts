/** One home for each command that we advise, each sentence and each threshold: what stands in two files of lib/ is found. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../../scripts/run.mjs';

type Texts = Readonly<Record<string, string>>;

/** Commands to advise, and the one file that spells each. */
const HOMES: readonly (readonly [command: RegExp, file: string])[] = [
  [/tee \/proc\/sys\/vm\/drop_caches/, 'lib/core/memory/remedies.ts'],
  [/tee \/proc\/sys\/vm\/compact_memory/, 'lib/core/memory/remedies.ts'],
  [/tee \/proc\/sys\/vm\/nr_hugepages/, 'lib/core/memory/remedies.ts'],
  [/tee \/proc\/sys\/vm\/min_free_kbytes/, 'lib/core/memory/watermarks.ts'],
  [/swapoff|swapon/, 'lib/core/memory/remedies.ts'],
  [/\bfuser -/, 'lib/core/memory/remedies.ts'],
  [/\bkho=/, 'lib/core/memory/remedies.ts'],
  [/--gpu-reset/, 'lib/core/memory/driver-status.ts'],
  [/\bmodprobe\b/, 'lib/core/memory/driver-status.ts'],
  [/nvidia-fabricmanager/, 'lib/core/memory/driver-status.ts'],
  [/killed process\|oom-kill/, 'lib/run/explain/messages/message.ts'],
];

/** Characters above which a text is a sentence: the same one in two files is one too many. */
const SENTENCE = 40;

const texts: Texts = Object.fromEntries(
  readdirSync(join(root, 'lib'), { recursive: true })
    .map((name) => `lib/${name}`)
    .filter((path) => path.endsWith('.ts'))
    .map((path) => [path, withoutComments(readFileSync(join(root, path), 'utf8'))]),
);

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');
}

/** The strings of a file; a template is divided at its values. */
function stringsOf(text: string): string[] {
  const strings = text.matchAll(/'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g);
  return [...strings].flatMap(([, single, double, template]) =>
    (single ?? double ?? template ?? '').split(/\$\{[^}]*\}/),
  );
}

const sentencesOf = (text: string) =>
  stringsOf(text)
    .map((string) => string.trim())
    .filter((string) => string.length >= SENTENCE);

/** Named numbers of a file: "NOISE = 64 * MiB". */
const thresholdsOf = (text: string) =>
  [
    ...text.matchAll(
      /^(?:export )?const ([A-Z][A-Z\d_]*) = (-?[\d._]+(?: \*\*? (?:[\d._]+|[KMGT]i?B))*|[KMGT]i?B);$/gm,
    ),
  ].map(([, name, value]) => `${name} = ${value?.replaceAll('_', '')}`);

/** What `pick` finds in more than one file, with the files. */
function twice(files: Texts, pick: (text: string) => readonly string[]): string[] {
  const homes = new Map<string, string[]>();
  for (const [path, text] of Object.entries(files))
    for (const found of new Set(pick(text))) homes.set(found, [...(homes.get(found) ?? []), path]);
  return [...homes].filter(([, paths]) => paths.length > 1).map(([found, paths]) => `${found}: ${paths.join(', ')}`);
}

describe('one home', () => {
  it.each(HOMES)('for the command %s', (command, file) => {
    const spelled = Object.keys(texts).filter((path) =>
      stringsOf(texts[path] ?? '').some((text) => command.test(text)),
    );
    expect(spelled).toEqual([file]);
  });

  it('for each sentence', () => expect(twice(texts, sentencesOf)).toEqual([]));

  it('for each threshold', () => expect(twice(texts, thresholdsOf)).toEqual([]));
});

describe('a second home is found', () => {
  const sentence = 'The memory is free but fragmented; compact it first.';

  it('of a sentence, also as a part of a template, and not in a comment', () => {
    const files = {
      'a.ts': `const a = '${sentence}';`,
      'b.ts': `const b = \`\${size} ${sentence} \${next}\`;`,
      'c.ts': `// '${sentence}'\n/* '${sentence}' */\nconst c = 'The memory is free.';`,
      'd.ts': `const c = 'The memory is free.';`,
    };
    expect(
      twice(
        Object.fromEntries(Object.entries(files).map(([path, text]) => [path, withoutComments(text)])),
        sentencesOf,
      ),
    ).toEqual([`${sentence}: a.ts, b.ts`]);
  });

  it('of a threshold, however its digits are grouped', () => {
    const files = {
      'a.ts': 'const STABLE_MS = 1_000;\nexport const NOISE = 64 * MiB;\n',
      'b.ts': 'const STABLE_MS = 1000;\nconst NOISE = 32 * MiB;\n',
      'c.ts': 'const NOISE = 64 * MiB;\n',
    };
    expect(twice(files, thresholdsOf)).toEqual(['STABLE_MS = 1000: a.ts, b.ts', 'NOISE = 64 * MiB: a.ts, c.ts']);
  });
});
