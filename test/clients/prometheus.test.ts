/** Prometheus' own tool reads what `umaprobe metrics` prints, and tries the alerts on series of machines that froze and that did not. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { machines } from '../../lib/sim.ts';
import { umaprobe } from '../support/cli.ts';
import { clientPath, missingClients } from '../support/debian.ts';
import { ROOT } from '../support/root.ts';

const missing = missingClients('bookworm');
/** Each of their readings takes its whole time limit. */
const HANGING = ['gb10-hang', 'gb10-cuda-hang'];

function promtool(args: readonly string[], input = ''): { status: number | null; output: string } {
  const { status, stderr, stdout } = spawnSync(clientPath('bookworm', 'promtool'), args, { encoding: 'utf8', input });
  return { status, output: stdout + stderr };
}

describe.skipIf(missing !== null)(`promtool${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
  it.each(machines().filter(({ name }) => !HANGING.includes(name)))(
    'accepts the metrics of $name',
    async ({ name }) => {
      const { code, stdout } = await umaprobe(['metrics', '--sim', name]);
      expect(code).toBe(0);
      expect(promtool(['check', 'metrics'], stdout)).toEqual({ status: 0, output: '' });
    },
  );

  it('accepts the alerts, and finds that they fire where they should and nowhere else', () => {
    const rules = join(ROOT, 'monitoring', 'umaprobe.rules.yml');
    expect(promtool(['check', 'rules', rules])).toMatchObject({ status: 0 });
    const tests = promtool(['test', 'rules', rules.replace('.yml', '.test.yml')]);
    expect(tests.status, tests.output).toBe(0);
  });
});
