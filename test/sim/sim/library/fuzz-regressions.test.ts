/**
 * What the fuzzer found (npm run test:fuzz), without the fuzzer: descriptions that the simulator once accepted, and then
 * crashed or wrote files that do not add up. The schema of machine files refuses them too; the library is its own gate.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Failure } from '../../../../lib/base/errors.ts';
import { native, simulatorLibrary } from '../../../../lib/core/native/binding.ts';
import { loadMachine } from '../../../../lib/sim/load.ts';
import { flatten } from '../../../../lib/sim/machine.ts';
import { printedOnMachine } from '../../../support/binary-on-machine.ts';
import { machineFile } from '../../../support/machines.ts';
import { ROOT } from '../../../support/root.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const regressions = join(ROOT, 'test/fuzz/regressions/machine');
const folder = temporaryFolder('fuzz-regressions');

it.each(readdirSync(regressions))('%s is refused, and a field is named', (name) => {
  // The last of two lines of one path counts.
  const lines = readFileSync(join(regressions, name), 'utf8');
  const description = flatten(loadMachine('gb10')) + lines;
  const failure = native().simBoot(simulatorLibrary(), description, join(folder, name)) as Failure;
  expect(failure).toMatchObject({ name: 'EINVAL' });
  const paths = lines.split('\n').map((line) => line.split(' ')[0] as string);
  expect(paths.filter((path) => path !== '' && failure.message.startsWith(path))).toHaveLength(1);
});

it('free blocks add up to MemFree where all of it is in large blocks', async () => {
  const machine = machineFile('large-blocks', { contiguity: { share: 1 }, memory: { slabUnreclaimable: 8_533_000 } });
  const [buddyinfo, meminfo] = (await printedOnMachine(
    machine,
    "for (const text of b.readFiles(['/proc/buddyinfo', '/proc/meminfo'])) print(text);",
  )) as [string, string];
  const pages = buddyinfo
    .trimEnd()
    .split('\n')
    .flatMap((line) =>
      line
        .trim()
        .split(/\s+/)
        .slice(4)
        .map((blocks, order) => Number(blocks) * 2 ** order),
    )
    .reduce((sum, count) => sum + count, 0);
  expect(pages * 4).toBe(Number(/^MemFree: +(\d+) kB/m.exec(meminfo)?.[1]));
});
