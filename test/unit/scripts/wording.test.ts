/** Phrases that are not plain English are found in pages, in output and in comments, each with the plain one. */
import { describe, expect, it } from 'vitest';
import { phrasesOf } from '../../../scripts/wording.mjs';

describe('the wording', () => {
  it.each([
    ['docs/x.md', 'Its time was over.', 'the time limit was reached'],
    ['docs/x.md', 'Memory is free but in pieces.', 'fragmented'],
    ['lib/x.ts', "reason: 'it did not end within 30 s of its last word',", 'its result'],
    ['lib/x.ts', '/** So many are told in a millisecond. */', 'the unit and the reason'],
    ['native/x.cc', '// The loop came to its end.', 'end'],
    ['lib/x.ts', '// The user, or the one who called sudo.', 'who it is'],
  ])('of %s: %s', (path, text, plain) => {
    expect(phrasesOf(path, text)).toEqual([expect.stringMatching(`^${path}:1: .*write ${plain}`)]);
  });

  it('is found across the end of a line, once', () => {
    expect(phrasesOf('lib/x.ts', '// Here nobody has\n// to give anything back.')).toHaveLength(2);
    expect(phrasesOf('docs/x.md', 'text\nThe search came to\nits end.\ntext')).toEqual([
      expect.stringMatching('docs/x.md:2: "came to its end"'),
    ]);
  });

  it.each(['There are so many files that it takes a minute.', 'Two pieces of memory.', 'The end.'])(
    'leaves alone: %s',
    (text) => expect(phrasesOf('docs/x.md', text)).toEqual([]),
  );
});
