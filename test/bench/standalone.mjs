/** How much longer does the standalone file take to start than the package, on the same version of Node? */

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { nodeBinary } from '../../scripts/fetch-programs.mjs';
import { NODE, standaloneFile } from '../../scripts/standalone.mjs';
import { alternating, compare, skip } from './measure.mjs';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const file = standaloneFile(process.arch);
const question = 'umaprobe --version of the standalone file';

if (existsSync(file)) {
  const commands = [
    [file, '--version'],
    [nodeBinary(process.arch, NODE), CLI, '--version'],
  ];
  alternating(commands, 1); // It is unpacked.
  const [ours, theirs] = alternating(commands, 25);
  compare({ question, ours, theirs, unit: 'ms', against: 'the package', atMost: 1.3 });
} else skip(question, 'it is not made: npm run standalone');
