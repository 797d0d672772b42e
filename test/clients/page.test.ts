/** What docs/clients.md shows is what its programs print. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'vitest';
import { blocksOf, expectOutputOf } from '../support/console-blocks.ts';
import { clientPath, missingClients } from '../support/debian.ts';
import { ROOT } from '../support/root.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const missing = missingClients('trixie');
const page = readFileSync(join(ROOT, 'docs/clients.md'), 'utf8');
const blocks = blocksOf(page).filter(({ clients }) => clients);

/** The date of gpustat and the host's name are not the machine's. */
function withoutDate(line: string): string {
  return line.replace(/^\S+ .* \d\d:\d\d:\d\d \d{4} /, 'date ').trimEnd();
}

describe.skipIf(missing !== null)(`docs/clients.md${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
  it.for(blocks.map((block) => [block.line, block.steps.map(({ command }) => command).join('; '), block] as const))(
    'line %d: %s',
    ([, , block], context) => {
      if (block.skip !== null) return context.skip(`the page says: ${block.skip}`);
      const path = [dirname(clientPath('trixie', 'nvtop'))];
      expectOutputOf(block, { cwd: temporaryFolder('clients'), path, mask: withoutDate });
    },
  );
});
