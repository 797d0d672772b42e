/** What profile() refuses before anything runs. */

import { describe, expect, it } from 'vitest';
import { checkProfileOptions, type ProfileOptions } from '../../../../lib/run/profile/options.ts';

const command = ['x', '{n}'];
const vary = [{ name: 'n', values: [1, 2] }];
const check = (more: object) => checkProfileOptions({ command, vary, ...more } as ProfileOptions);

describe('an option', () => {
  it.each([
    [
      {
        vary: [
          { name: 'n', values: [1] },
          { name: 'n', values: [2] },
        ],
      },
      'parameter n is varied twice',
    ],
    [{ vary: [] }, 'length of vary is 0; expected a whole number from 1 to 16'],
    [{ vary: [{ name: 'b.s', values: [1] }] }, 'vary[0].name is "b.s"; expected letters'],
    [{ vary: [{ name: '__proto__', values: [1] }] }, 'vary[0].name is "__proto__"; expected letters'],
    [{ vary: [{ name: 'n', values: [0, 1] }] }, 'values of n is 0; expected numbers above 0'],
    [{ vary: [{ name: 'n', values: [1, Number.NaN] }] }, 'values of n is NaN; expected numbers above 0'],
    [{ vary: [{ name: 'n', values: [1, 1] }] }, 'values of n is "1, 1"; expected rising numbers'],
    [{ vary: undefined, bisect: { name: 'n', from: 5, to: 5 } }, 'bisect.to is 5; expected more than bisect.from, 5'],
    [{ command: [] }, 'command is empty'],
    [{ command: ['x', 5] }, 'command[1] is 5; expected a text'],
    [{ command: ['x'] }, 'nothing has the placeholder {n}'],
    [{ env: { 'A=B': 'x' } }, 'env is "A=B"'],
    [{ ready: '(?=a)' }, 'ready "(?=a)" is no regular expression of RE2'],
    [{ steps: '(a' }, 'steps "(a" is no regular expression of RE2'],
    [{ stepCount: 2 }, 'stepCount needs steps'],
    [{ metric: 'x' }, 'metric "x" has no group'],
    [{ trialTimeMs: 5 }, 'trialTimeMs is 5; expected 100 to 86400000 milliseconds'],
    [{ limitBytes: 1.5 }, 'limitBytes is 1.5; expected 1 to 2^53'],
    [{ journal: false, resume: true }, 'resume needs the journal'],
    [{ journal: 5 }, 'journal is 5; expected a path, or false'],
  ])('%j is refused', (more, message) => {
    expect(() => check(more)).toThrow(message);
  });

  it('that is good is kept, with its default', () => {
    const checked = check({ steps: '^step', metric: 'x ([0-9]+)', env: { A: '{n}', B: undefined } });
    expect(checked).toMatchObject({
      waitMs: 60_000,
      waitForOthers: false,
      resume: false,
      bisect: null,
      limitBytes: null,
    });
    expect(checked.steps?.count).toBe(3);
    expect(checked.metric?.('speed x 12')).toBe('12');
    expect(check({ waitMs: 5 }).waitForOthers).toBe(true);
  });
});
