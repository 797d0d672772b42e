/** Do 16 machines take as long as the slowest one? The ssh here is a script that takes a second; one call of it is the other side. */

import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { snapshot } from 'umaprobe';
import { cluster } from 'umaprobe/run';
import { compare, quantile, temporaryFolder } from './measure.mjs';

const folder = temporaryFolder();
const ssh = join(folder, 'ssh');
const sent = join(folder, 'sent.json');
writeFileSync(ssh, `#!/bin/sh\nsleep 1\ncat ${sent}\n`);
chmodSync(ssh, 0o755);
writeFileSync(sent, JSON.stringify(await snapshot({ memGetInfo: 'never' })));
process.env.PATH = `${folder}:${process.env.PATH}`;
const hosts = Array.from({ length: 16 }, (_, at) => `spark-${at}`);

const [ours, theirs] = [[], []];
for (let round = 0; round < 5; round++) {
  const started = performance.now();
  spawnSync(ssh);
  const between = performance.now();
  await cluster({ hosts });
  theirs.push(between - started);
  ours.push(performance.now() - between);
}
compare({
  question: '16 machines by ssh, of which each takes a second',
  ours: quantile(ours, 0.5),
  theirs: quantile(theirs, 0.5),
  unit: 'ms',
  against: 'one ssh',
  atMost: 1.3,
});
