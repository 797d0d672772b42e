// Phrases that we do not write, each with the plain one: in pages, in what the command prints, in comments.
// The rule behind them: the subject first, one clause, the noun of the field.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

const PHRASES = [
  [/\btime (was|is) over\b/i, 'the time limit was reached'],
  [/\b(is|are|was|were|but|memory) in pieces\b/i, 'fragmented'],
  [/\blast word\b/i, 'its result'],
  [/\b(has|have) to give (anything|something) back\b/i, 'no reclaim needed'],
  [/\bhas words about\b/i, 'found problems in'],
  // "/** So many are told in a millisecond": the reader wants the unit and the reason.
  [/(\/\*\*|\/\/|^\s*\*|\.) So (many|much)\b/, 'the unit and the reason ("Batch size: 1,000 paths take about 1 ms")'],
  [/\b(come|comes|came|coming) to (an|its|their|the) end\b/i, 'end'],
  [/\bhold(s|ing)? on to what (it|they)\b/i, 'keep the memory'],
  [/\b(the one|those|someone) who\b/i, 'who it is: "the user who", "readers who"'],
  [/\bthe one that leaves\b/i, 'the process that exits'],
  [/\bas far as the \w+ has come\b/i, 'so far'],
  [/\bhalf there\b/i, 'partly touched'],
  [/\bnobody has (to|asked)\b/i, 'what is not needed, or not done'],
  [/\bends? with a receipt\b/i, 'says at the end what it took'],
  [/\banother answer\b/i, 'what differs, and from what'],
  [/\b(is|are) believed only where\b/i, 'when it becomes *unknown*'],
  [/\b(an?|one) (regular expression|pattern|name|answer|value|size|number) that is none\b/i, 'not a valid one'],
  [/\b(memory|size|name) is said by\b/i, 'the option that sets it'],
  [/\bcosts? (its|their) own \w+\b/i, 'what is unknown then'],
  [/\bmachine refuses\b/i, 'nothing can be loaded now'],
  [/\bthat is not known, an? \w+ that is\b/i, 'any other program, with its size'],
];

const PAGES = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs'];
const CODE = ['browser', 'lib', 'native', 'scripts'];

function filesOf(path) {
  if (/\.\w+$/.test(path)) return [path];
  return readdirSync(join(root, path), { recursive: true })
    .map((name) => `${path}/${name}`)
    .filter((name) => /\.(md|ts|mjs|cc|h|json|css)$/.test(name) && name !== 'scripts/wording.mjs');
}

/** Phrases of a text as "file:line: why". A phrase that a line break divides is found, too. */
export function phrasesOf(path, text) {
  const found = [];
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    const next = (lines[index + 1] ?? '').replace(/^\s*(\/\/|\*|-) ?/, '').trim();
    for (const [pattern, plain] of PHRASES) {
      const match = pattern.exec(line) ?? (pattern.test(next) ? null : pattern.exec(`${line} ${next}`));
      if (match !== null) found.push(`${path}:${index + 1}: "${match[0].trim()}": write ${plain}`);
    }
  }
  return found;
}

export function wordingBreaches() {
  return [...PAGES, ...CODE]
    .flatMap(filesOf)
    .flatMap((path) => phrasesOf(path, readFileSync(join(root, path), 'utf8')));
}
