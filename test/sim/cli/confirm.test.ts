/** `cache drop` asks at a terminal, and nowhere else. As root: anybody else is refused before. All *simulated*. */
import { describe, expect, it } from 'vitest';
import { CLI, cliEnvironment, runUmaprobe } from '../../support/cli.ts';
import { missingTerminal, openScreen } from '../../support/screen.ts';

const QUESTION = /Drop it now\? \[y\/N\]/;
const CACHED = 'grep ^Cached: /proc/meminfo';
const reason = process.geteuid?.() === 0 ? missingTerminal : 'a simulated machine, too, lets only root drop caches';

/** Types into a terminal where the command runs on a machine full of page cache; answers what the screen shows at the end. */
async function typed(keys: readonly string[], ...options: string[]): Promise<string> {
  const umaprobe = `'${process.execPath}' '${CLI}'`;
  const script = `${umaprobe} cache drop ${options.join(' ')}; echo "exit $?"; ${CACHED}; read -r _`;
  const command = [process.execPath, CLI, 'sim', 'run', 'gb10-cached', '--', 'bash', '-c', script];
  const screen = await openScreen(command, cliEnvironment() as Record<string, string>, { columns: 80, rows: 40 });
  try {
    if (keys.length > 0) {
      await screen.until(QUESTION);
      await screen.type(...keys);
    }
    return await screen.until(/^exit \d+\nCached: +\d+ kB/m);
  } finally {
    screen.close();
  }
}

const cachedGiB = (screen: string): number => Number(/^Cached: +(\d+) kB/m.exec(screen)?.[1]) / 2 ** 20;

describe.skipIf(reason !== null).concurrent('at a terminal (simulated)', () => {
  it.each([['y'], ['Y', 'E', 'S']])('%s drops', async (...keys) => {
    const screen = await typed([...keys, 'Enter']);
    expect(screen).toMatch(/^PLAN {2}About 10\d\.\d\d GiB/m);
    expect(screen).toMatch(/^FREED {2}10\d\.\d\d GiB[\s\S]*^exit 0$/m);
    expect(cachedGiB(screen)).toBeLessThan(5);
  });

  it.each([
    ['no', ['n', 'o', 'Enter']],
    ['an empty line', ['Enter']],
    ['the end of the input', ['C-d']],
  ])('%s is exit 1, and nothing is done', async (_, keys) => {
    const screen = await typed(keys);
    expect(screen).toMatch(/^exit 1$/m);
    expect(screen).not.toContain('FREED');
    expect(cachedGiB(screen)).toBeGreaterThan(100);
  });

  it.each(['--yes', '--dry-run'])('%s is not asked', async (option) => {
    const screen = await typed([], option);
    expect(screen).not.toMatch(QUESTION);
    expect(screen).toMatch(option === '--yes' ? /^FREED {2}/m : /^PLAN {2}/m);
    expect(cachedGiB(screen) > 100).toBe(option === '--dry-run');
  });
});

it.skipIf(process.geteuid?.() !== 0)('without a terminal it acts at once (simulated)', () => {
  const { code, stderr, stdout } = runUmaprobe(['cache', 'drop', '--sim', 'gb10-cached']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^FREED {2}10\d\.\d\d GiB/m);
});

if (reason !== null) it(`is skipped: ${reason}`, (context) => context.skip(reason));
