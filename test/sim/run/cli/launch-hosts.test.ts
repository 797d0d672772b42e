/** A launch that starts ranks on other machines: each is asked first, and the one that is short is named. */
import { existsSync, writeFileSync } from 'node:fs';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LaunchReport } from '../../../../lib/types/index.ts';
import { findTool } from '../../../../scripts/run.mjs';
import { CLI, runInShell, umaprobe } from '../../../support/cli.ts';
import { fakeSsh } from '../../../support/fake-ssh.ts';
import { CONFIG, document, folder } from '../../../support/launch-cli.ts';

const ssh = fakeSsh();
const env = { PATH: `${ssh.folder}:${process.env.PATH}` };
for (const [name, machine] of [
  ['idle', 'gb10'],
  ['busy', 'gb10-busy'],
  ['resting', 'gb10-resting'],
  ['node-1', 'gb10'],
  ['node-2', 'gb10-busy'],
] as const)
  ssh.host(name, `exec ${process.execPath} ${CLI} snapshot --json --sim ${machine}`);
ssh.host('off', 'echo "ssh: connect to host off port 22: No route to host" >&2; exit 255');

let markers = 0;
/** What the launch says, and whether its program ran. */
async function launched(words: readonly string[], program?: readonly string[]) {
  markers += 1;
  const marker = join(folder, `rank-${markers}`);
  const command = program ?? ['touch', marker];
  const typed = ['launch', '--sim', 'gb10', '--no-record', ...words, '--', ...command];
  const { code, stderr, stdout } = await umaprobe(typed, env);
  return { code, stderr, stdout, ran: existsSync(marker) };
}

describe('--hosts', () => {
  it.skipIf(findTool('script') === null)('are named on a terminal while they are waited for', () => {
    const command = `${process.execPath} ${CLI} launch --sim gb10 --no-record --dry-run --bytes 20GiB --hosts idle -- true`;
    const { stdout } = runInShell(`script -qefc '${command}' /dev/null`, { env });
    expect(stdout).toMatch(/^umaprobe: asking idle by ssh\r$/m);
  });

  it('that ssh does not take are wrong usage', async () => {
    const { code, ran, stderr } = await launched(['--bytes', '20GiB', '--hosts', 'idle,-x']);
    expect({ code, ran }).toEqual({ code: 2, ran: false });
    expect(stderr).toMatch(/^umaprobe: a name of --hosts is "-x"; expected a name of .*\n$/);
  });

  it('starts where a rank fits on each', async () => {
    const { code, ran, stderr } = await launched(['--bytes', '20GiB', '--hosts', 'idle,busy']);
    expect(stderr).toMatch(/machine +busy: 20\.0 GiB fit/);
    expect(stderr).toMatch(/complete +hosts +Nothing stands in the way on idle, busy\./);
    expect({ code, ran }).toEqual({ code: 0, ran: true });
  });

  it.each([
    ['is short', 'idle,busy', 1, /busy: 60\.0 GiB fit after the steps below.*What to do there: stop VLLM::EngineCor/],
    ['can load nothing', 'idle,resting', 5, /resting: /],
    ['does not answer', 'idle,off', 3, /off: Connect to host off port 22: No route to host\./],
  ] as const)('starts nothing where a machine %s', async (_, hosts, code, message) => {
    const refused = await launched(['--bytes', '60GiB', '--hosts', hosts, '--json']);
    expect({ code: refused.code, ran: refused.ran }).toEqual({ code, ran: false });
    const { outcome, plan, summary } = document(refused.stdout) as LaunchReport;
    expect([outcome, summary]).toEqual(['refused', expect.stringMatching(message)]);
    expect(plan.ranks.map(({ host, refuses }) => [host, refuses])).toEqual(
      hosts.split(',').map((host, at) => [host, at === 1]),
    );
    expect((await launched(['--bytes', '60GiB', '--hosts', hosts, '--dry-run'])).code).toBe(code);
    expect((await launched(['--bytes', '60GiB', '--hosts', hosts, '--anyway'])).ran).toBe(true);
  });
});

const SERVE = ['vllm', 'serve', CONFIG, '--max-model-len', '32768', '--gpu-memory-utilization', '0.5'];
const planned = async (...start: string[]) => {
  const { code, stdout } = await launched(['--dry-run', '--json'], [...start, ...SERVE]);
  const { plan } = document(stdout);
  return { code, verdict: plan.verdict, ranks: plan.ranks.map(({ host, verdict }) => [host, verdict]), plan };
};

describe('mpirun', () => {
  const planOf = (...start: string[]) => planned('mpirun', '-np', '2', ...start);

  it('has each machine of -H asked, but for this one', async () => {
    const { code, ranks, verdict } = await planOf('-H', 'localhost:1,busy:1');
    expect(ranks).toEqual([['busy', expect.stringMatching(/^(no|tight|fits-after)$/)]]);
    expect([code, verdict]).toEqual([1, ranks[0]?.[1]]);
    expect((await planOf('-H', 'localhost,idle')).ranks).toEqual([['idle', 'fits']]);
  });

  it('has none of its own names asked', async () => {
    const [address] = Object.values(networkInterfaces()).flatMap((all) => all?.map((each) => each.address) ?? []);
    expect((await planOf('-H', `${hostname()}:1,${address}`)).ranks).toEqual([]);
  });

  it('with names that ssh does not take starts nothing', async () => {
    const { code, ranks } = await planOf('-H', 'idle,node[1-4]');
    expect([code, ranks]).toEqual([3, [['idle, node[1-4]', null]]]);
  });

  it('has each machine of its file asked', async () => {
    const file = join(folder, 'hostfile');
    writeFileSync(file, 'idle slots=1\nbusy slots=1\n');
    expect((await planOf('--hostfile', file)).ranks.map(([host]) => host)).toEqual(['idle', 'busy']);
  });
});

describe('srun', () => {
  it('has each machine of its list asked, but for this one', async () => {
    const [own = ''] = hostname().split('.');
    const { code, ranks } = await planned('srun', '-N3', '-w', `${own},idle,bus[y]`);
    expect([code, ranks]).toEqual([3, [[`idle, bus[y]`, null]]]);
    expect((await planned('srun', '-N2', `--nodelist=${own},idle`)).ranks).toEqual([['idle', 'fits']]);
    const short = await planned('srun', '-N2', '-w', 'node-[1-2]');
    expect([short.code, short.verdict]).toEqual([1, 'fits-after']);
    expect(short.ranks).toEqual([
      ['node-1', 'fits'],
      ['node-2', 'fits-after'],
    ]);
  });

  it('with a list that is not understood starts nothing, and says that nobody was asked', async () => {
    const { code, plan } = await planned('srun', '-w', './nodes');
    expect(code).toBe(3);
    expect(plan.ranks).toMatchObject([
      {
        refuses: true,
        summary: expect.stringMatching(/^No other machine is asked: a machine in the command is "\.\/nodes"; expected/),
        next: 'name the machines by --hosts',
      },
    ]);
  });
});
