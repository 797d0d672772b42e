/** Machines that answer by ssh, and each way in which they do not: never a snapshot, always a reason. */
import { getEventListeners } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GiB, MiB } from '../../../../lib/base/format.ts';
import { cluster, readMachines } from '../../../../lib/run/cluster/index.ts';
import { runBySsh } from '../../../../lib/run/cluster/ssh.ts';
import { fakeSshOnPath, printing, sentSnapshot } from '../../../support/fake-ssh.ts';

const ssh = fakeSshOnPath();

const BANNER = `head -c 10485760 /dev/zero | tr '\\0' 'x'; printf '\\e[2J\\e]0;owned\\a\\n'`;

/** The one machine that runs a script. */
async function answerOf(script: string, options: object = {}) {
  ssh.host('spark', script);
  const [machine] = await readMachines({ hosts: ['spark'], ...options });
  return machine;
}

describe('a machine that answers', () => {
  it('is asked by the own ssh, in batch mode, with its host key', async () => {
    const sent = sentSnapshot('spark');
    const machine = await answerOf(printing(sent));
    expect(machine).toEqual({
      host: 'spark',
      state: 'answered',
      because: null,
      next: null,
      ageMs: machine?.ageMs,
      snapshot: sent,
    });
    expect(ssh.calls().at(-1)).toBe(
      '-o BatchMode=yes -o ConnectTimeout=5 -o ClearAllForwardings=yes -o RemoteCommand=none -T -- spark umaprobe snapshot --json',
    );
    expect(ssh.calls().join()).not.toMatch(/StrictHostKeyChecking|UserKnownHostsFile/);
  });

  it.each([
    ['on stdout', `${BANNER}; `],
    ['on stderr', `{ ${BANNER}; } >&2; `],
  ])('answers behind a banner of 10 MB and terminal escapes %s', async (_, banner) => {
    expect(await answerOf(banner + printing(sentSnapshot('spark')))).toMatchObject({ state: 'answered' });
  });

  it('is asked by another command', async () => {
    await answerOf(printing(sentSnapshot('spark')), { command: '/opt/umaprobe snapshot --json' });
    expect(ssh.calls().at(-1)).toMatch(/-- spark \/opt\/umaprobe snapshot --json$/);
  });

  it('is not waited for by its kept connection, which holds stderr open', async () => {
    const started = performance.now();
    expect(await answerOf(`sleep 20 >/dev/null & disown; ${printing(sentSnapshot('spark'))}`)).toMatchObject({
      state: 'answered',
    });
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

describe('a machine without a usable answer', () => {
  const at = (ms: number) => new Date(Date.now() + ms).toISOString();
  const sent = (overrides: object) => printing(sentSnapshot('spark', {}, overrides));

  it.each([
    [
      'that is off',
      'echo "ssh: connect to host spark port 22: No route to host" >&2; exit 255',
      'unreachable',
      /No route to host/,
      /sshd/,
    ],
    [
      'with another host key',
      'echo "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @" >&2; echo "Host key verification failed." >&2; exit 255',
      'unreachable',
      /^Host key verification failed\.$/,
      /compare its key/,
    ],
    [
      'that refuses the key',
      'echo "me@spark: Permission denied (publickey,password)." >&2; exit 255',
      'unreachable',
      /Permission denied/,
      /ssh-copy-id spark/,
    ],
    [
      'without umaprobe',
      'echo "bash: line 1: umaprobe: command not found" >&2; exit 127',
      'failed',
      /^It cannot run umaprobe: bash/,
      /--copy/,
    ],
    [
      'whose umaprobe may not be run',
      'echo "bash: line 1: /usr/bin/umaprobe: Permission denied" >&2; exit 126',
      'failed',
      /^It cannot run umaprobe: bash/,
      /--copy/,
    ],
    ['whose command fails', 'echo oh >&2; exit 4', 'failed', /ended with exit code 4: oh/, null],
    [
      'whose umaprobe fails',
      `${printing({ schema: 'umaprobe/error/1', error: { message: 'no /proc' } })}\nexit 1`,
      'failed',
      /^The umaprobe there failed: no \/proc/,
      null,
    ],
    ['that ends by a signal', 'kill -9 $$', 'failed', /A signal ended it/, null],
    ['that prints nothing', 'true', 'unreadable', /nothing that was printed is JSON/, null],
    ['that prints half', printing('{"schema": "umaprobe/snapshot/1",'), 'unreadable', /in the middle/, null],
    ['that prints two', `${sent({})}\n${sent({})}`, 'unreadable', /2 documents/, null],
    [
      'that prints another document',
      printing({ schema: 'umaprobe/doctor/1' }),
      'unreadable',
      /no snapshot of umaprobe/,
      'let each rank print one: umaprobe snapshot --json',
    ],
    [
      'that prints without end',
      'yes "$(printf \'x%.0s\' {1..4000})"',
      'unreadable',
      /more than an answer can have/,
      null,
    ],
    [
      'of another version',
      sent({ umaprobeVersion: '9.9.9\u001b[2J' }),
      'other-version',
      /^It has umaprobe 9\.9\.9\?\[2J, and this is/,
      /--copy/,
    ],
    [
      'of a version without a name',
      sent({ umaprobeVersion: undefined }),
      'other-version',
      /an older umaprobe/i,
      /--copy/,
    ],
    [
      'of another schema',
      sent({ schema: 'umaprobe/snapshot/3', umaprobeVersion: '3.0.0' }),
      'other-version',
      /3\.0\.0/,
      /--copy/,
    ],
    ['whose snapshot lacks a part', sent({ judgement: undefined }), 'unreadable', /not a whole snapshot/, null],
    ['whose number is a text', sent({ host: { total: '128518619136' } }), 'unreadable', /not a whole snapshot/, null],
    [
      'whose reading is old',
      sent({ at: at(-120_000) }),
      'stale',
      /^Its reading is 2 min \d+ s old, or its clock is slow\.$/,
      /NTP/,
    ],
    [
      'whose clock is ahead',
      sent({ at: at(60_000) }),
      'stale',
      /^Its clock is \S+ s ahead of this one\.$|1 min 0 s ahead/,
      /NTP/,
    ],
  ] as const)('%s', async (_, script, state, because, next) => {
    const machine = await answerOf(script);
    expect(machine).toMatchObject({ state, snapshot: null, because: expect.stringMatching(because) });
    expect(machine?.next ?? null).toEqual(next === null ? null : expect.stringMatching(next));
  });

  it('that hangs has its deadline, and the others do not wait for more', async () => {
    ssh.host('hangs', 'exec sleep 60');
    ssh.host('spark', printing(sentSnapshot('spark')));
    const started = performance.now();
    const machines = await readMachines({ hosts: ['hangs', 'spark'], deadlineMs: 5000 });
    expect(machines.map(({ state }) => state)).toEqual(['timeout', 'answered']);
    expect(machines[0]?.because).toMatch(/within 5\.00 s/);
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  it('that is another one by name alone counts once', async () => {
    const one = sentSnapshot('spark');
    for (const name of ['a', 'b']) ssh.host(name, printing(one));
    expect(await readMachines({ hosts: ['a', 'b'] })).toMatchObject([
      { host: 'a', state: 'answered' },
      { host: 'b', state: 'doubled', snapshot: null, because: expect.stringMatching(/the same machine as a/) },
    ]);
  });

  it('that does not know its boot id may be another one of them', async () => {
    ssh.host('a', printing(sentSnapshot('a')));
    ssh.host('b', sent({ bootId: null }));
    expect((await readMachines({ hosts: ['a', 'b'] })).map(({ state }) => state)).toEqual(['answered', 'doubled']);
  });
});

it('ends every ssh when it is aborted', async () => {
  ssh.host('hangs', 'exec sleep 60');
  const abort = new AbortController();
  const read = readMachines({ hosts: ['hangs'], signal: abort.signal });
  setTimeout(() => abort.abort(new Error('enough')), 300);
  await expect(read).rejects.toThrow('enough');
});

it('says why a Node program there has crashed', async () => {
  const trace =
    "node:internal/modules\\n  throw err;\\n\\nError: Cannot find module '/opt/x.js'\\n    at load (node:1)\\n\\nNode.js v20.20.2\\n";
  expect(await answerOf(`printf "${trace}" >&2; exit 1`)).toMatchObject({
    because: "It ended with exit code 1: Error: Cannot find module '/opt/x.js'.",
  });
});

it('says that there is no ssh', async () => {
  const { PATH } = process.env;
  process.env.PATH = '/nonexistent';
  try {
    expect(await readMachines({ hosts: ['spark'] })).toMatchObject([
      { state: 'unreachable', because: expect.stringMatching(/^Start ssh: .*could not be started.*ENOENT/) },
    ]);
  } finally {
    process.env.PATH = PATH;
  }
});

it('lists the weakest machine first', async () => {
  ssh.host('roomy', printing(sentSnapshot('roomy')));
  ssh.host('busy', printing(sentSnapshot('busy', { host: { free: 30 * GiB, available: 40 * GiB } })));
  ssh.host('off', 'echo "ssh: connect to host off port 22: Connection refused" >&2; exit 255');
  const two = await cluster({ hosts: ['roomy', 'busy'] });
  expect(two.machines.map(({ host }) => host)).toEqual(['busy', 'roomy']);
  expect(two).toMatchObject({ limiting: 'busy', safe: two.machines[0]?.snapshot?.judgement.safe.bytes });
  expect(two.summary).toMatch(/can be loaded on each of 2 machines: busy has the least\.$/);
  const three = await cluster({ hosts: ['roomy', 'off', 'busy'] });
  expect(three.machines.map(({ host }) => host)).toEqual(['off', 'busy', 'roomy']);
  expect(three).toMatchObject({
    limiting: 'off',
    safe: null,
    level: null,
    summary: 'off gave no usable answer; 2 of 3 machines did.',
  });
});

describe('an ssh that stays', () => {
  const PIECE = 20 * MiB;
  const print = `head -c ${PIECE} /dev/zero | tr '\\0' x`;

  async function flooded(renewed: boolean): Promise<string> {
    ssh.host('talks', `${print}; ${print}`);
    let characters = 0;
    const onText = (text: string, renew: () => void): void => {
      const before = characters;
      characters += text.length;
      if (renewed && before < PIECE && characters >= PIECE) renew();
    };
    return (await runBySsh('talks', 'watch', { deadlineMs: 60_000, signal: undefined, onText })).how;
  }

  it('may send 32 MiB for each of its answers, and not more', async () => {
    expect(await flooded(true)).toBe('exited');
    expect(await flooded(false)).toBe('flooded');
  });

  it('is not started for a caller who has aborted', async () => {
    const before = ssh.calls().length;
    const run = { deadlineMs: 60_000, signal: AbortSignal.abort(new Error('enough')), onText: () => undefined };
    await expect(runBySsh('talks', 'watch', run)).rejects.toThrow('enough');
    expect(ssh.calls()).toHaveLength(before);
  });

  it('has ended when its answer is late', async () => {
    ssh.host('hangs', 'echo $$; exec sleep 60');
    let pid = '';
    const onText = (text: string): void => {
      pid += text.trim();
    };
    expect(await runBySsh('hangs', 'watch', { deadlineMs: 3000, signal: undefined, onText })).toMatchObject({
      how: 'timeout',
      code: null,
    });
    expect(pid).toMatch(/^\d+$/);
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
  });

  it('leaves nothing at the signal', async () => {
    const { signal } = new AbortController();
    ssh.host('ends', 'echo done');
    await runBySsh('ends', 'watch', { deadlineMs: 60_000, signal, onText: () => undefined });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
