/** What is read of RDMA ports, of the limit of locked memory and of /dev/shm, from the texts of a kernel. */
import { describe, expect, it } from 'vitest';
import { readReadiness } from '../../../../lib/core/doctor/readiness.ts';
import { kernelFailure } from '../../../support/failures.ts';
import { kernelFilesOf, textsOf } from '../../../support/kernel-files.ts';

const limits = (soft: string) =>
  `Limit                     Soft Limit           Hard Limit           Units     \n` +
  `Max processes             30943                30943                processes \n` +
  `Max locked memory         ${soft.padEnd(20)} unlimited            bytes     \n`;
const USUAL = {
  '/proc/self/limits': limits('8388608'),
  '/proc/self/status': 'Name:\tnode\nCapInh:\t0000000000000000\nCapPrm:\t000001ffffffffff\nCapEff:\t0000000000000000\n',
  '/proc/self/uid_map': '         0          0 4294967295\n',
  '/proc/self/mountinfo': '28 25 0:24 / /dev/shm rw shared:4 - tmpfs tmpfs rw,size=65536k\n',
  '/sys/class/infiniband/rocep1s0f0/ports/1/state': '4: ACTIVE\n',
  '/sys/class/infiniband/rocep1s0f1/ports/1/state': '1: DOWN\n',
};

function machine(changes: Record<string, string | null> = {}, listFails?: string) {
  const files = Object.fromEntries(
    Object.entries({ ...USUAL, ...changes }).filter((file): file is [string, string] => file[1] !== null),
  );
  const kernel = kernelFilesOf(textsOf(files));
  return readReadiness({
    ...kernel,
    list: async (path) => {
      if (listFails !== undefined) return kernelFailure(listFails, `list ${path}`);
      const below = Object.keys(files).filter((file) => file.startsWith(`${path}/`));
      if (below.length === 0) return kernelFailure('ENOENT', `list ${path}`);
      return [...new Set(below.map((file) => file.slice(path.length + 1).split('/')[0] ?? ''))];
    },
  });
}

describe('readiness', () => {
  it('is the ports with a link, the soft limit, and the size of /dev/shm', async () => {
    expect(await machine()).toEqual({
      linkedPorts: ['rocep1s0f0/1'],
      lockable: 8_388_608,
      sharedMemory: 67_108_864,
      from: {
        linkedPorts: '/sys/class/infiniband/*/ports/*/state',
        lockable: '/proc/self/limits',
        sharedMemory: '/proc/self/mountinfo',
      },
    });
  });

  it('without a driver of RDMA has no port; a folder that does not answer is unknown', async () => {
    const none = {
      '/sys/class/infiniband/rocep1s0f0/ports/1/state': null,
      '/sys/class/infiniband/rocep1s0f1/ports/1/state': null,
    };
    expect((await machine(none)).linkedPorts).toEqual([]);
    const silent = await machine({}, 'TIMEOUT');
    expect([silent.linkedPorts, silent.from.linkedPorts]).toEqual([null, expect.stringMatching(/TIMEOUT/)]);
  });

  it('says nothing of ports where one cannot be read and none has a link', async () => {
    const state = '/sys/class/infiniband/rocep1s0f0/ports/1/state';
    const kernel = kernelFilesOf(textsOf({}));
    const list = async (path: string) => [path.endsWith('ports') ? '1' : 'rocep1s0f0'];
    const { from, linkedPorts } = await readReadiness({ ...kernel, list });
    expect([linkedPorts, from.linkedPorts]).toEqual([null, expect.stringContaining(state)]);
  });

  it.each([
    ['none', limits('unlimited'), Number.POSITIVE_INFINITY],
    ['zero', limits('0'), 0],
    ['another text', 'Max locked memory plenty\n', null],
    ['no file', null, null],
  ])('the limit: %s', async (_, text, bytes) => {
    const { from, lockable } = await machine({ '/proc/self/limits': text });
    expect(lockable).toBe(bytes);
    expect(from.lockable).toMatch(bytes === null ? /no line|ENOENT/ : /^\/proc\/self\/limits$/);
  });

  it('CAP_IPC_LOCK lifts the limit, but not that of a rootless container', async () => {
    const root = { '/proc/self/status': 'CapEff:\t000001ffffffffff\n' };
    expect(await machine(root)).toMatchObject({
      lockable: Number.POSITIVE_INFINITY,
      from: { lockable: expect.stringMatching(/^CAP_IPC_LOCK/) },
    });
    const rootless = { ...root, '/proc/self/uid_map': '         0       1000          1\n' };
    expect((await machine(rootless)).lockable).toBe(8_388_608);
    // What Docker gives root: no CAP_IPC_LOCK (bit 14).
    const docker = { '/proc/self/status': 'CapEff:\t00000000a80425fb\n' };
    expect((await machine(docker)).lockable).toBe(8_388_608);
    expect((await machine({ '/proc/self/status': 'CapEff:\t0000000000004000\n' })).lockable).toBe(
      Number.POSITIVE_INFINITY,
    );
  });

  it('nothing is known of a kernel that shows nothing, and why', async () => {
    const nothing = Object.fromEntries(Object.keys(USUAL).map((path) => [path, null]));
    const { from, ...facts } = await machine(nothing, 'EACCES');
    expect(facts).toEqual({ linkedPorts: null, lockable: null, sharedMemory: null });
    for (const why of Object.values(from)) expect(why).toMatch(/EACCES|ENOENT/);
  });
});
