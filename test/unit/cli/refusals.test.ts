/**
 * What each command refuses before it reads a machine: one line, exit code 2, and nothing on stdout. Without the binary,
 * and so a proof that nothing was begun. Each command has refusals by the real process in test/sim, too; whole sentences
 * for what is mistyped are in mistakes.test.ts.
 */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { KINDS } from '../../../lib/core/memory/kinds.ts';
import { mainInProcess } from '../../support/in-process.ts';
import { ROOT } from '../../support/root.ts';
import { parseDocument } from '../../support/schemas.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const root = temporaryFolder('refusals');
const at = (name: string) => join(root, name);
function file(name: string, content: string | Uint8Array): string {
  writeFileSync(at(name), content);
  return at(name);
}
mkdirSync(at('folder'));
symlinkSync(file('target', 'mine'), at('link'));
const MODEL = join(ROOT, 'test/support/models/sharded');

type Row = readonly [args: readonly string[], message: RegExp | string];

const REFUSED: Readonly<Record<string, readonly Row[]>> = {
  guard: [
    [[], 'A program is missing after "--", such as umaprobe guard -- python3 train.py.'],
    [['--'], 'A program is missing after "--"'],
    [['python3', 'x.py'], 'Put "--" before the program: umaprobe guard -- python3 x.py.'],
    [
      ['--pid', '1', '--', 'true'],
      'guard takes either a program after "--", or one of --pid, --cgroup, --unit and --system.',
    ],
    [['--pid', '1', '--unit', 'x'], 'guard watches one thing: --pid and --unit exclude each other.'],
    [['--policy', 'x.json', '--', 'true'], '--policy says what --system may stop: give both.'],
    [['--system', '--policy', '/nonexistent'], '--policy "/nonexistent": there is no such file or folder (ENOENT 2)\n'],
    [
      ['--system', '--policy', 'package.json'],
      '--policy "package.json": policy has no option "name". It takes schema, mayStop, never, order.',
    ],
    [['--pid', 'x'], '--pid "x" is not a whole number from 1 to 4194304.'],
    [['--floor', '8', '--', 'true'], '--floor "8" has no unit'],
    [['--grace', '5', '--', 'true'], '--grace "5" has no unit'],
    [['--interval', '2s', '--', 'true'], '--interval "2s" is outside 1ms to 1s.'],
    [['--load-actions', 'dorp', '--', 'true'], '--load-actions "dorp" is not one of drop, compact, none.'],
    [['--ready', '(', '--', 'true'], '--ready "(" is no regular expression of RE2: missing closing ): `(`'],
    [['--flor', '8GiB', '--', 'true'], 'guard has no option --flor. Did you mean umaprobe guard --floor 8GiB -- true?'],
  ],
  cluster: [
    [[], /Which machines\? Give --hosts spark-1,spark-2, --hostfile, or - for answers from a pipe\./],
    [['--hosts', 'a', '--hostfile', 'b'], '--hosts and --hostfile both say which machines: give one.'],
    [['--hosts', '-x'], /--hosts needs a value|expected a name of ~\/\.ssh\/config/],
    [['--hosts=-oProxyCommand=id'], ': a name of --hosts is "-oProxyCommand=id"; expected a name of ~/.ssh/config'],
    [['--hosts', 'a,,b'], '--hosts "a,,b" has an empty entry'],
    [['--hosts', 'a,A'], ': --hosts names "A" twice'],
    [['--hosts', 'abcdefghijklmnopq'.split('').join()], ': length of --hosts is 17; expected 1 to 16'],
    [
      ['--hostfile', file('hosts', '# two\na slots=1\na;b\n')],
      /: --hostfile "[^"]+", line 3 is "a;b"; expected a name of ~\/\.ssh\/config/,
    ],
    [['spark-1'], '"spark-1" is no option. Did you mean umaprobe cluster --hosts spark-1?'],
    [['--hosts', 'a', '--expect', '2'], '--expect needs -: of hosts each is expected.'],
    [['-', '--deadline', '5s'], '--deadline is for hosts that are asked'],
    [['--hosts', 'a', '--deadline', '0s'], '--deadline "0s" is outside 1ms to 10m.'],
    [['--hosts', 'a', '--command', 'x', '--copy', 'y'], '--command and --copy both say what is run there'],
    [['--hosts', 'a', '--command', 'x'.repeat(5000)], ': length of --command is 5000; expected 1 to 4096 characters'],
    [['--hosts', 'a', '--interval', '5s'], '--interval needs --watch.'],
    [['--sim', 'gb10', '--hosts', 'a'], 'cluster reads no machine, so --sim does not apply.'],
  ],
  'cluster check': [
    [['--need', '1GiB', '--hosts', 'a:2'], ': a name of --hosts is "a:2"; expected "a" alone, or with a port'],
    [['--hosts', 'a'], 'What shall fit into each machine? Give --need 96GiB, --model or --params 70e9.'],
    [['--hosts', 'a', '--need', '96'], '--need "96" has no unit'],
    [
      ['--hosts', 'a', '--need', '1GiB', '--tensor-parallel', '2'],
      '--need is a size without a model, so it does not go with --ten',
    ],
    [['--hosts', 'a', '--need', '1GiB', '--model', 'x'], '--need and --model both say what is loaded: give one.'],
    [
      ['--hosts', 'a', '--params', '7e9', '--tensor-parallel', '2'],
      'divided among 2 ranks, one on each machine: name 2 hosts, not 1',
    ],
  ],
  layout: [
    [[], 'Parts are missing: give name=size, a JSON file, or --preset 13b'],
    [['weights'], '"weights" is neither a part, such as weights=26GB, nor a file'],
    [['a=1GB', 'weights'], '"weights" is not a part, such as weights=26GB'],
    [['=1GB'], '"=1GB" is not a part'],
    [['a=1G'], 'The part a "1G" could mean two sizes'],
    [['a=1GB', 'a=2GB'], 'The part "a" is given twice'],
    [['--preset', '70b'], '--preset "70b" is not a preset: there is 13b'],
    [['a=1GB', '--preset', '13b'], '--preset cannot be combined with "a=1GB"'],
    [[file('wrong.json', '{"weights": "2G"}')], /wrong\.json: the part weights "2G" could mean two sizes/],
    [[file('list.json', '[1, 2]')], /list\.json: not an object of names and sizes/],
    [[file('broken.json', '{"weights"')], /broken\.json: not JSON: /],
    [[file('empty.json', '{}')], /empty\.json: it has no parts/],
  ],
  stress: [
    [['--max', '0'], '--max "0" is less than 1B'],
    [['--chunk', '1MiB'], '--chunk "1MiB" is less than 2MiB'],
    [['--chunk', '65GiB'], '--chunk "65GiB" is more than 64GiB'],
    [['--hold', '5'], '--hold "5" has no unit'],
    [['--kind', 'all'], '--kind "all": stress takes one kind; umaprobe sweep takes several'],
    [['--timeout', '1ms'], '--timeout "1ms" is outside 100ms to 24h'],
    [['--device', '300'], '--device "300" is not a whole number from 0 to 255'],
  ],
  sweep: [
    [['--sizes', '0'], '--sizes "0" is less than 1B'],
    [['--sizes', 'banana'], '--sizes "banana" is not a size'],
    [['--sizes', '8G'], /--sizes "8G" could mean two sizes: write 8GB .* or 8GiB/],
    [['--sizes', '9007199254740993'], 'is more than 2^53 − 1 bytes'],
    [['--kind', 'gpu'], `--kind "gpu" is not one of ${KINDS.join(', ')}, all`],
    [['--floor', '1KiB'], /--floor "1KiB" is below 2GiB: .*--i-accept-a-frozen-machine/],
    [['--dtype', 'bf16', '--shape', '4294967296x4294967296'], '4294967296'],
    [['--dtype', 'float3', '--elements', '1e9'], 'float3'],
    [['--dtype', 'bf16'], 'Tensors need --shape 8192x8192 or --elements 1e9'],
    [['--sizes', '1GB', '--preset', 'lab'], '--sizes and --preset both set the sizes'],
    [['--from', '1GB'], 'needs both --from and --to; --to is missing'],
    [['--from', '2GB', '--to', '1GB'], '--to "1GB" is less than --from "2GB"'],
    [['--preset', 'labb'], '--preset "labb" is not one of lab, quick. Did you mean lab?'],
    [['--csv', at('link')], /--csv "[^"]+link" is a symbolic link/],
    [['--csv', at('same'), '--html', `${root}/./same`], '--csv and --html name the same file'],
    [['--journal', at('j'), '--csv', at('j')], /--journal and --csv both name "[^"]+j"/],
    [['--sizes', 'a\x1b[2J\u009b\u202eb'], '--sizes "a?[2J??b" is not a size'],
  ],
  cache: [
    [[], 'cache needs one of: status, evict, drop, compact, reclaim, rule'],
    [['drp'], 'Did you mean umaprobe cache drop?'],
    [['drop', '--sync-limit', '5'], 'has no unit'],
    [['reclaim', '0'], 'The size "0" is less than'],
    [['rule', '--user', 'ALL'], 'user is "ALL"; expected the login name of one user'],
    [['compact', '--gate-block', '1B'], '--gate-block "1B" is less than'],
  ],
  prepare: [
    [['banana'], 'The size "banana" is not a size'],
    [['0'], 'less than'],
  ],
  estimate: [
    [[], 'A model is expected: a folder, a file, a name in a store, or --params 70e9.'],
    [['a', 'b'], /"b"/],
    [['a', '--params', '7e9'], '"a" and --params both name a model'],
    [['--dtype', 'int4', 'a'], '--dtype needs --params'],
    [['--params', '7e9', '--dtype', 'int3'], 'dtype is "int3"; expected one of'],
    [['--params', '0B'], '--params "0B" is not a number of parameters'],
    [['--params', 'seven'], '--params "seven" is not a number of parameters'],
    [[MODEL, '--kv-dtype', 'q8'], '--kv-dtype "q8" is not one of f32'],
    [
      [MODEL, '--for', 'vlm'],
      '--for "vlm" is not one of vllm, sglang, trtllm, llama.cpp, ollama, torch, accelerate. Did you mean vllm?',
    ],
    [[MODEL, '--use', 'train'], '--use "train" is not one of inference, sft'],
    [[MODEL, '--context', '8k'], '--context "8k" is not a whole number'],
    [[at('none')], 'none": there is none; expected a folder'],
    [
      [file('broken.gguf', 'GGUF')],
      'read broken.gguf: its header goes on at byte 4, but the file has 4: it is cut off; download it again',
    ],
  ],
  fit: [
    [['--bytes', '100'], 'has no unit'],
    [[], 'What shall fit?'],
    [['--bytes', '1GB', '--for', 'tgi'], 'is not one of vllm'],
    [['--bytes', '1GB', '--utilization', '0.9'], '--utilization needs --for vllm'],
    [['--bytes', '1GB', '--for', 'vllm', '--utilization', '92'], 'is not a share above 0 and up to 1'],
    [['--bytes', '1GB', '--flags'], '--flags needs --for'],
    [['--params', '7B', '--batch', '64'], '--batch is an option of training: name a --use that trains, such as lora.'],
    [['--params', '7B', '--no-checkpointing'], '--no-checkpointing is an option of training'],
    [
      ['--params', '7B', '--use', 'lora', '--sequences', '64'],
      '--sequences is an option of inference: a training has --batch.',
    ],
    [['--bytes', '1GB', '--params', '7e9'], '--bytes is a size without a model'],
    [['--bytes', '1GB', '--solve', 'context'], 'does not go with --solve'],
  ],
  'sim grow': [
    [['--rate', '1GiB/s'], /^umaprobe: Say how it grows: --rate 4GiB\/s --to 110GiB, or --curve/],
    [['--rate', '4', '--to', '1GiB'], /^umaprobe: --rate "4" has no unit/],
    [['--curve', '5s'], /^umaprobe: --curve: "5s" is not a time and a size, such as 5s:20GiB\. See/],
    [['--curve', '5s:1GiB', '--to', '2GiB'], /^umaprobe: --curve says times and sizes itself/],
    [['--rate', '1B', '--to', '1TiB'], /^umaprobe: --rate takes .*; at most 24/],
  ],
  watch: [
    [['--exec'], '--exec needs a command after "--"'],
    [['--', 'ls'], 'The command after "--" needs --exec: umaprobe watch --exec -- ls.'],
    [['--exec', '--', 'no-such-program'], '--exec: "no-such-program" is no program of PATH that this user may run'],
    [['--exec', '--', root], 'is no program that this user may run'],
    [['--alert', '5'], '--alert "5" has no unit: write 5GB'],
    [['--timeout', '3s'], '--timeout limits --until, which is missing'],
  ],
  metrics: [
    [['--interval', '5s'], '--interval needs --textfile.'],
    [
      ['--textfile', '/nowhere/here'],
      '--textfile "/nowhere/here/umaprobe.prom" cannot be written: there is no directory',
    ],
  ],
  explain: [
    [['CUDA out of memory'], 'To paste a message: umaprobe explain --error -. See'],
    [['vllm.log'], 'is given "vllm.log". Did you mean umaprobe explain --error vllm.log? See'],
    [['--error', 'CUDA out of memory'], 'no file of this name. To paste a message: umaprobe explain --error -. See'],
    [['--error', file('vllm.log.gz', gzipSync('x'))], 'is compressed: zcat'],
  ],
  snapshot: [
    [['--sm', 'gb10'], 'no option --sm. Did you mean umaprobe snapshot --sim gb10? See umaprobe snapshot --help'],
  ],
  doctor: [[['--only', 'xyz'], '--only "xyz" matches no check. umaprobe doctor --list shows the checks.']],
  record: [[['show', '/tmp/rec'], 'is given "/tmp/rec". Did you mean umaprobe record show --folder /tmp/rec? See']],
};

describe.each(Object.entries(REFUSED))('%s', (command, rows) => {
  it.each(rows)('%j', async (args, message) => {
    const { code, stderr, stdout } = await mainInProcess([...command.split(' '), ...args]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/^umaprobe: [^\n]*\n$/);
  });
});

describe.each(['guard', 'launch'])('%s --notify', (command) => {
  it.each([
    ['/nonexistent/program x', '"/nonexistent/program" is no program that this user may run'],
    ['no-such-program', '"no-such-program" is no program that this user may run'],
    ['   ', '"" is no program that this user may run'],
    ['sh -c "date"', '--notify "sh -c "date"": no shell reads its "; put it into a script'],
    ['date; reboot', 'no shell reads its ;'],
    ['echo $HOME', 'no shell reads its $'],
  ])('%j', async (words, message) => {
    const { code, stderr, stdout } = await mainInProcess([command, '--notify', words, '--', 'true']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^umaprobe: [^\n]*\n$/);
  });
});

it.each([['snapsot'], ['--sim', 'gb11'], ['watch', '--interval', '5'], ['sim'], ['doctor', '--only', 'x']])(
  'umaprobe %s %s %s is refused in JSON on stdout under --json, and in one line on stderr as always',
  async (...args) => {
    const { code, stderr, stdout } = await mainInProcess([...args.filter((word) => word !== undefined), '--json']);
    expect(parseDocument(stdout)).toMatchObject({ schema: 'umaprobe/error/1', error: { exitCode: 2 } });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^umaprobe: .*\n$/);
  },
);

it.each([{ UMAPROBE_DEBUG: '1' }, { NODE_DEBUG: 'umaprobe' }])('has its stack with %j', async (env) => {
  expect((await mainInProcess(['--sim', 'gb11'], env)).stderr).toMatch(/\n\s+at /);
  expect((await mainInProcess(['--sim', 'gb11'])).stderr).not.toMatch(/\n\s+at /);
});
