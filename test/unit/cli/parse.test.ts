import { expect, it, describe as suite } from 'vitest';
import { UmaError } from '../../../lib/base/errors.ts';
import { nearest } from '../../../lib/base/nearest.ts';
import { COMMANDS, listed } from '../../../lib/cli/commands/index.ts';
import type { ListedCommand } from '../../../lib/cli/core/command.ts';
import { describe } from '../../../lib/cli/core/exit.ts';
import { durationOf, positiveOf, wholeOf } from '../../../lib/cli/core/options.ts';
import { colourDepth } from '../../../lib/cli/core/terminal.ts';
import { UsageError } from '../../../lib/cli/core/usage.ts';
import { parse, route } from '../../../lib/cli/parse.ts';
import { usageErrorOf } from '../../support/usage-error.ts';

const command: ListedCommand = {
  name: 'trial',
  group: 'Memory',
  summary: '',
  usage: '<name> [options]',
  description: '',
  options: {
    interval: { type: 'string', placeholder: '<time>', summary: '' },
    exact: { type: 'boolean', summary: '' },
  },
  examples: [],
  readsMachine: true,
  arguments: { min: 0, max: 1, afterDashes: true },
  run: async () => ({ exitCode: 0, document: null, text: null }),
};

suite('finding the command', () => {
  it.each([
    [[], 'snapshot', []],
    [['--json'], 'snapshot', ['--json']],
    [['--exact'], 'snapshot', ['--exact']],
    [['watch', '--json'], 'watch', ['--json']],
    [['--sim', 'gb10', 'doctor'], 'doctor', ['--sim', 'gb10']],
    [['--sim=gb10', 'doctor'], 'doctor', ['--sim=gb10']],
    [['--sim', 'watch'], 'snapshot', ['--sim', 'watch']],
    [['sim', 'run', 'gb10', '--', 'watch'], 'sim run', ['gb10', '--', 'watch']],
    [['sim', '--json', 'list'], 'sim list', ['--json']],
    [['sim', '--help'], 'sim', ['--help']],
    [['help', 'watch'], 'watch', ['--help']],
    [['help'], 'snapshot', ['--help']],
  ])('%j is %s', (argv, name, args) => {
    expect(route(argv)).toMatchObject({ name, args });
  });

  it.each([
    [['snapsot'], '"snapsot" is not a command. Did you mean umaprobe snapshot?'],
    [['snap'], '"snap" is not a command. Did you mean umaprobe snapshot?'],
    [['xyzzy'], '"xyzzy" is not a command.'],
    [['sim'], 'sim needs one of: list, show, run, grow.'],
    [['sim', 'lst'], 'sim has no "lst"; it has list, show, run, grow. Did you mean umaprobe sim list?'],
  ])('%j is refused', (argv, message) => {
    expect(usageErrorOf(() => route(argv))).toBe(message);
  });

  it('has a loadable file for every command, named as in the table', async () => {
    for (const entry of COMMANDS) {
      const loaded = await entry.load();
      expect(loaded.name).toBe(entry.name);
      expect(loaded.examples.length).toBeGreaterThan(0);
      // The examples must be what the parser takes.
      for (const { command: typed } of loaded.examples) {
        const own = typed.slice(typed.indexOf('umaprobe'));
        const words = (own.split(/ [|>] /)[0] ?? '').replaceAll("'", '').split(' ').slice(1);
        const { name, args } = route(words);
        const named = COMMANDS.find((candidate) => candidate.name === name);
        expect(named).toBeDefined();
        if (named === undefined) continue;
        const whole = await listed(named);
        expect(() => parse(whole, args)).not.toThrow();
      }
    }
  });
});

suite('parsing', () => {
  it('returns values, arguments and what follows --', () => {
    expect(parse(command, ['a', '--interval=1s', '--exact', '--', 'b', '--json'])).toMatchObject({
      values: { interval: '1s', exact: true },
      positionals: ['a'],
      rest: ['b', '--json'],
    });
    expect(parse(command, ['--', 'b', 'c'])).toMatchObject({ positionals: [], rest: ['b', 'c'] });
  });

  it.each([
    [['--intervall', '1s'], 'trial has no option --intervall. Did you mean umaprobe trial --interval 1s?'],
    [['-x'], 'trial has no option -x.'],
    [['--interval'], '--interval needs a value: --interval <time>.'],
    [['--interval', '--exact'], '--interval needs a value: --interval <time>.'],
    [['--interval='], '--interval needs a value: --interval <time>.'],
    [['--exact=yes'], '--exact takes no value, got "yes".'],
    [['a', 'b'], 'trial takes one argument, and is given "b", too.'],
    [['a', 'watch'], 'trial takes one argument, and is given "watch", too. Put the command first: umaprobe watch …'],
    [['--__proto__'], 'trial has no option --__proto__.'],
    [['--constructor'], 'trial has no option --constructor.'],
    [['--intervall=1 s'], "trial has no option --intervall. Did you mean umaprobe trial '--interval=1 s'?"],
  ])('%j is refused', (args, message) => {
    expect(usageErrorOf(() => parse(command, args))).toBe(message);
  });

  it('requires an argument unless help is requested', () => {
    const needy = { ...command, arguments: { min: 1, max: 1, afterDashes: false } };
    expect(() => parse(needy, [])).toThrow('An argument is missing: umaprobe trial <name> [options].');
    expect(() => parse(needy, ['--help'])).not.toThrow();
    expect(() => parse(needy, ['a', '--', 'b'])).toThrow('takes nothing after "--"');
  });

  it('checks values', () => {
    const range = { min: 100, max: 1000 };
    expect(durationOf('250ms', '--interval', 'watch', range)).toBe(250);
    expect(() => durationOf('5', '--interval', 'watch', range)).toThrow(
      '--interval "5" has no unit: write 5ms, 5s, 5m or 5h.',
    );
    expect(() => durationOf('5s', '--interval', 'watch', range)).toThrow('--interval "5s" is outside 100ms to 1s.');
    expect(() => wholeOf('1.5', '--n', 'watch', { min: 1, max: 9 })).toThrow(
      '--n "1.5" is not a whole number from 1 to 9.',
    );
    expect(() => positiveOf('0', '--scale', 'sim run', 9)).toThrow('--scale "0" is not a number above 0 and up to 9.');
  });
});

suite('did you mean', () => {
  it('counts edits: an exchange of neighbours is one, and a third of the letters are the most', () => {
    expect(nearest('wacth', ['match', 'watch'])).toBe('watch');
    expect(nearest('kitten', ['sitting'])).toBeNull();
    expect(nearest('kitting', ['sitten'])).toBeNull();
    expect(nearest('snapshoot', ['snipshat'])).toBe('snipshat');
  });

  it('does not guess wildly', () => {
    expect(nearest('doctr', ['doctor', 'watch'])).toBe('doctor');
    expect(nearest('zzzzzz', ['doctor', 'watch'])).toBeNull();
    expect(nearest('', ['doctor'])).toBeNull();
  });
});

suite('failures', () => {
  it('gives a usage error exit code 2 and one line that names the help', () => {
    const { exitCode, message, document } = describe(new UsageError('No.', 'watch'), false);
    expect(exitCode).toBe(2);
    expect(message).toBe('umaprobe: No. See umaprobe watch --help.\n');
    expect(document.error.code).toBe('ERR_USAGE');
  });

  it.each([
    ['ERR_UMA_NO_DEVICE', 3],
    ['ERR_UMA_LIBRARY_MISSING', 3],
    ['ERR_UMA_PERMISSION', 4],
    ['ERR_UMA_BUSY', 5],
    ['ERR_UMA_FLOOR', 5],
    ['ERR_UMA_MODEL', 2],
    ['ERR_UMA_NOT_FOUND', 1],
  ] as const)('%s ends with %d', (code, exitCode) => {
    const error = new UmaError(code, {
      source: 'nvml',
      call: 'nvmlInit_v2',
      status: 9,
      name: 'DRIVER_NOT_LOADED',
      message: 'no driver',
    });
    const failure = describe(error, false);
    expect(failure.exitCode).toBe(exitCode);
    expect(failure.document.error).toMatchObject({
      code,
      source: 'nvml',
      call: 'nvmlInit_v2',
      status: 9,
      nativeName: 'DRIVER_NOT_LOADED',
    });
    expect(failure.message).not.toContain('at ');
  });

  it.each(['LIBRARY_MISSING', 'LOAD_FAILED', 'BUNDLED'])(
    'does not take a broken installation (%s) for a missing GPU',
    (name) => {
      const error = new UmaError('ERR_UMA_LIBRARY_MISSING', {
        source: 'umaprobe',
        call: 'umaprobe.node',
        status: null,
        name,
        message: 'build it from source',
      });
      const failure = describe(error, false);
      expect(failure).toMatchObject({ exitCode: 1, document: { error: { exitCode: 1, source: 'umaprobe' } } });
      expect(failure.message).not.toContain('bug in umaprobe');
    },
  );

  it('takes a probe that finds no CUDA for a missing GPU, and a kernel that is late for none', () => {
    const failure = { source: 'umaprobe', status: null, message: 'x' } as const;
    const noDevice = new UmaError('ERR_UMA_LIBRARY_MISSING', { ...failure, call: 'sweep', name: 'NO_DEVICE' });
    expect(describe(noDevice, false).exitCode).toBe(3);
    const late = (call: string, name = 'TIMEOUT') =>
      describe(new UmaError('ERR_UMA_TIMEOUT', { ...failure, call, name }), false).exitCode;
    expect([late('read /proc/meminfo'), late('nvmlInit_v2'), late('cuInit')]).toEqual([6, 3, 3]);
    expect(late('sweep', 'NO_DEVICE')).toBe(3);
  });

  it('calls an unforeseen error a bug, and shows its stack only for debugging', () => {
    expect(describe(new Error('boom'), false)).toMatchObject({
      exitCode: 1,
      document: { error: { code: 'ERR_INTERNAL' } },
    });
    expect(describe(new Error('boom'), false).message).not.toMatch(/\n\s+at /);
    expect(describe(new Error('boom'), true).message).toMatch(/\n\s+at /);
    expect(describe('text', false).message).toContain('umaprobe: text');
  });
});

suite('colours', () => {
  it.each([
    [{ TERM: 'xterm-256color' }, true, 8],
    [{ TERM: 'xterm' }, true, 4],
    [{ TERM: 'dumb' }, true, 0],
    [{}, true, 0],
    [{ TERM: 'xterm' }, false, 0],
    [{ TERM: 'xterm', FORCE_COLOR: '1' }, false, 4],
    [{ FORCE_COLOR: '3' }, false, 8],
    [{ TERM: 'xterm', FORCE_COLOR: '0' }, true, 0],
    [{ TERM: 'xterm', NO_COLOR: '1' }, true, 0],
    [{ TERM: 'xterm', NO_COLOR: '1', FORCE_COLOR: '1' }, true, 0],
    [{ TERM: 'xterm', NO_COLOR: '' }, true, 4],
  ])('%j on a terminal: %s gives depth %d', (env, isTty, depth) => {
    expect(colourDepth(env, isTty)).toBe(depth);
  });
});
