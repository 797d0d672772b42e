/** Lists of machines as Slurm writes them. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkHosts } from '../../../../lib/run/cluster/hosts.ts';
import { namesOfNodelist } from '../../../../lib/run/launch/nodelist.ts';
import { recognise } from '../../../../lib/run/launch/recognise.ts';

// As `scontrol show hostnames` of Slurm 22.05 prints them.
it.each([
  ['spark-1,spark-2', ['spark-1', 'spark-2']],
  ['spark-[1-2,4],login', ['spark-1', 'spark-2', 'spark-4', 'login']],
  ['n[08-10]', ['n08', 'n09', 'n10']],
  ['rack[1-2]n[0-1]', ['rack1n0', 'rack1n1', 'rack2n0', 'rack2n1']],
  ['n[8-010]', ['n8', 'n9', 'n10']],
  ['', []],
])('%j is %j', (list, names) => {
  expect(namesOfNodelist(list)).toEqual(names);
});

it.each(['a[3-1]', 'a[1-', 'a[x-y]', 'a[]', 'a]1[', 'a[1-999999999]', 'a[0-9]b[0-9]', './nodes', 'a[1,[2]]', '%a'])(
  '%j is no name, so that no machine is left out unsaid',
  (list) => {
    expect(() => checkHosts(namesOfNodelist(list))).toThrow(/expected a name of ~\/\.ssh\/config/);
  },
);

it('of any content has at most 64 names for a part, or the part itself', () => {
  const part = fc.array(fc.constantFrom('a', '[', ']', '1', '90', '-', '007', 'é'), { maxLength: 12 });
  fc.assert(
    fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
      const list = parts.map((words) => words.join('')).join(',');
      expect(namesOfNodelist(list).length).toBeLessThanOrEqual(64 * 8);
      if (!/[[\]]/.test(list)) expect(namesOfNodelist(list)).toEqual(list.split(',').filter((name) => name !== ''));
    }),
  );
});

it('a range has each of its names once, in order', () => {
  const number = fc.integer({ min: 0, max: 9999 });
  fc.assert(
    fc.property(number, fc.integer({ min: 0, max: 63 }), (first, more) => {
      const names = namesOfNodelist(`spark-[${first}-${first + more}]`);
      expect(names).toEqual(Array.from({ length: more + 1 }, (_, index) => `spark-${first + index}`));
    }),
  );
});

it.each([
  ['srun -w spark-1,spark-2', ['spark-1', 'spark-2']],
  ['srun -wspark-[1-2]', ['spark-1', 'spark-2']],
  ['srun -N2 --nodelist=a,[b-d] -K', ['a', '[b-d]']],
  ['srun --nodelist spark-[1-2] -w c', ['c']],
  ['srun -N 2', []],
])('%s names %j', (line, hosts) => {
  const { command } = recognise([...line.split(' '), 'vllm', 'serve', 'm'], {});
  expect(command.hosts).toEqual(hosts);
  const isNotKnown = command.limits.some((limit) => limit.startsWith('Which machines srun chooses is not known'));
  expect(isNotKnown).toBe(hosts.length === 0);
});
