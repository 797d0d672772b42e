/** Names of machines: what ssh takes as one, and nothing that it would take for an option. */

import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkHosts, hostsOfFile } from '../../../../lib/run/cluster/hosts.ts';
import { remoteWord } from '../../../../lib/run/cluster/shell.ts';
import { findTool } from '../../../../scripts/run.mjs';

it.each([
  'spark-1',
  'user@spark-1.local',
  '192.168.100.11',
  'fe80::1%enp1',
  '[::1]',
  'ssh://me@spark:2222',
  'ssh://[::1]:22',
])('%s is a name', (host) => {
  expect(checkHosts([host])).toEqual([host]);
});

it.each([
  ['-oProxyCommand=id', /hosts\[0\] is "-oProxyCommand=id"; expected a name/],
  ['--', /expected a name/],
  ['-l@spark', /expected a name/],
  ['a b', /expected a name/],
  ['a;id', /expected a name/],
  ['$(id)', /expected a name/],
  ['a\nb', /expected a name/],
  ['', /expected a name/],
  ['spark:2', /expected "spark" alone, or with a port "ssh:\/\/spark:2"/],
])('%j is none', (host, message) => {
  expect(() => checkHosts([host])).toThrow(message);
});

it('are 1 to 16, each once', () => {
  expect(() => checkHosts([])).toThrow(/length of hosts is 0; expected 1 to 16/);
  expect(() => checkHosts(Array.from({ length: 17 }, (_, i) => `s${i}`))).toThrow(/length of hosts is 17/);
  expect(() => checkHosts(['spark', 'Spark'])).toThrow(/names "Spark" twice/);
  expect(() => checkHosts('spark')).toThrow(/expected an array of host names/);
});

describe('a file of hosts', () => {
  it('is that of mpirun, with slots and comments', () => {
    const text =
      '# two Sparks\nspark-1 slots=1 max_slots=2\r\n\n  spark-2:1   # the other\nspark-1 slots=1\nme@spark-3\n';
    expect(hostsOfFile('spark slots=2\nSPARK\n')).toHaveLength(1);
    expect(hostsOfFile(text).map(({ name }) => name)).toEqual(['spark-1', 'spark-2', 'me@spark-3']);
  });

  it('of any content has names without spaces, or none', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const { name } of hostsOfFile(text)) expect(name).toMatch(/^[^\s,#]+$/);
      }),
    );
  });
});

const shells = ['sh', 'bash', 'zsh', 'fish'].filter((name) => findTool(name) !== null);

it.each(shells)('a word for %s on another machine is one word there', (shell) => {
  const sign = fc.constantFrom(...`'"\\$\`!*?~#;&|<>(){}[]=% -a\nü`);
  fc.assert(
    fc.property(fc.array(fc.string({ unit: sign }), { minLength: 1, maxLength: 30 }), (words) => {
      const line = words.map((text) => remoteWord(text)).join(' ');
      const printed = execFileSync(shell, ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' });
      expect(printed).toBe(words.map((text) => `${text}\0`).join(''));
    }),
    { numRuns: 15, examples: [[['=a', '%self', 'a=b', '~', '']]] },
  );
});
