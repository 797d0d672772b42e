import { describe, expect, it } from 'vitest';
import { ownerOf } from '../../../../lib/core/host/owner.ts';
import { grouped, type Loose } from '../../../../lib/core/processes/group.ts';

const MiB = 2 ** 20;

function loose(pid: number, parentPid: number, name: string, held = 0, rest: Partial<Loose> = {}): Loose {
  return {
    pid,
    parentPid,
    name,
    command: null,
    uid: 1000,
    owner: null,
    held,
    heldFrom: 'pss',
    rss: held,
    anonymous: held,
    file: 0,
    shared: 0,
    swap: 0,
    locked: 0,
    peakRss: held,
    pss: { total: held, anonymous: held, file: 0, shared: 0, locked: 0 },
    gpuBytes: 0,
    ...rest,
  };
}

const groupsOf = (...list: Loose[]) => grouped(list).groups.map(({ id, pids }) => [id, pids] as const);

describe('grouped', () => {
  it('an engine and its workers are one tree, below the shell that started it', () => {
    const groups = groupsOf(
      loose(1, 0, 'systemd'),
      loose(10, 1, 'sshd'),
      loose(11, 10, 'bash'),
      loose(20, 11, 'vllm', 10),
      loose(21, 20, 'VLLM::EngineCor', 50),
      loose(22, 21, 'python3', 20),
    );
    expect(groups[0]).toEqual(['tree:20', [21, 22, 20]]);
    expect(groups.map(([id]) => id)).toEqual(['tree:20', 'tree:1', 'tree:10', 'tree:11']);
  });

  it('a parent that is not listed, or was never read, makes a root', () => {
    expect(groupsOf(loose(20, 11, 'python3', 1), loose(21, 20, 'python3', 2))).toEqual([['tree:20', [21, 20]]]);
  });

  it('what a service starts outside of it is a tree of its own', () => {
    const owner = { kind: 'unit', id: 'unit:vllm.service', name: 'vllm.service' } as const;
    const list = [loose(20, 1, 'vllm', 9, { owner }), loose(21, 20, 'helper', 5), loose(22, 21, 'helper', 1)];
    expect(groupsOf(...list)).toEqual([
      ['unit:vllm.service', [20]],
      ['tree:21', [21, 22]],
    ]);
  });

  it('a circle of reused pids ends', () => {
    const groups = groupsOf(loose(20, 21, 'a', 1), loose(21, 20, 'b', 2));
    expect(groups.flatMap(([, pids]) => pids).sort()).toEqual([20, 21]);
  });

  it('a container or service keeps its processes, whoever started them', () => {
    const owner = { kind: 'unit', id: 'unit:ollama.service', name: 'ollama.service' } as const;
    const { groups } = grouped([
      loose(1, 0, 'systemd'),
      loose(30, 1, 'ollama', 1, { owner }),
      loose(31, 30, 'ollama', 9, { owner }),
      loose(32, 31, 'sh', 0, { owner: null }),
    ]);
    expect(groups[0]).toMatchObject({ id: 'unit:ollama.service', kind: 'unit', rootPid: 30, pids: [31, 30], held: 10 });
    expect(groups.find(({ id }) => id === 'tree:32')).toBeDefined();
  });

  it('sums use the share of shared pages, and say when a sum counts them more than once', () => {
    const pss = { total: 30, anonymous: 25, file: 3, shared: 2, locked: 0 };
    const exact = grouped([
      loose(20, 1, 'a', 27 * MiB, { pss, anonymous: 100, file: 50, shared: 40 }),
      loose(21, 20, 'w', 27 * MiB, { pss, anonymous: 100, file: 50, shared: 40 }),
    ]).groups[0];
    expect(exact).toMatchObject({ anonymous: 50, file: 6, shared: 4, exact: true });
    const bound = grouped([loose(20, 1, 'a', 98), loose(21, 20, 'w', 2, { heldFrom: 'rss', pss: null })]).groups[0];
    expect(bound).toMatchObject({ held: 100, exact: false });
    const nearly = grouped([loose(20, 1, 'a', 99), loose(21, 20, 'w', 1, { heldFrom: 'rss', pss: null })]).groups[0];
    expect(nearly).toMatchObject({ exact: true });
  });

  it('GPU memory of a group is unknown when that of one process is', () => {
    expect(grouped([loose(20, 1, 'a', 1, { gpuBytes: 5 }), loose(21, 20, 'b')]).groups[0]?.gpuBytes).toBe(5);
    const unknown = loose(21, 20, 'b', 0, { gpuBytes: null });
    expect(grouped([loose(20, 1, 'a', 1, { gpuBytes: 5 }), unknown]).groups[0]?.gpuBytes).toBeNull();
  });

  it('workers of one name under one parent are a pool; one alone is none', () => {
    const workers = [1, 2, 3].map((n) => loose(20 + n, 20, 'pt_data_worker', n));
    const [group] = grouped([loose(20, 1, 'python3', 9), ...workers, loose(40, 20, 'nvcc', 1)]).groups;
    expect(group?.pools).toEqual([{ name: 'pt_data_worker', parentPid: 20, pids: [23, 22, 21], held: 6 }]);
    const [two] = grouped([loose(20, 1, 'python3', 9), ...workers.slice(1)]).groups;
    expect(two?.pools).toMatchObject([{ pids: [23, 22], held: 5 }]);
  });
});

describe('ownerOf', () => {
  const id = '3f4e0c1b2a9d'.padEnd(64, '0');
  it.each([
    [`0::/system.slice/docker-${id}.scope`, 'docker:3f4e0c1b2a9d'],
    [`0::/docker/${id}`, 'docker:3f4e0c1b2a9d'],
    [`12:cpu:/\n4:memory:/docker/${id}\n0::/\n`, 'docker:3f4e0c1b2a9d'],
    [`0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-${id}.scope/container`, 'podman:3f4e0c1b2a9d'],
    [
      `0::/system.slice/containerd.service/kubepods-burstable-pod1.slice:cri-containerd:${id}`,
      'unit:containerd.service',
    ],
    [`0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-${id}.scope`, 'containerd:3f4e0c1b2a9d'],
    [`0::/kubepods/burstable/pod1/${id}`, 'kubernetes:3f4e0c1b2a9d'],
    ['0::/lxc.payload.spark/init.scope', 'lxc:spark'],
    ['0::/system.slice/ollama.service', 'unit:ollama.service'],
    ['0::/system.slice/runner.service/job.service/payload', 'unit:job.service'],
    ['0::/user.slice/user-1000.slice/user@1000.service/app.slice/lmstudio.service', 'unit:lmstudio.service'],
    ['0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-gnome-code-1.scope', undefined],
    ['0::/user.slice/user-1000.slice/session-3.scope', undefined],
    ['9:name=systemd:/\n4:memory:/process/1\n0::/system.slice/vllm.service\n', 'unit:vllm.service'],
    ['1:name=systemd:/system.slice/vllm.service\n4:memory:/user\n', 'unit:vllm.service'],
    [`1:name=systemd:/a.service\n4:memory:/docker/${id}\n0::/system.slice/docker.service\n`, 'docker:3f4e0c1b2a9d'],
    ['0::/../../other', undefined],
    ['', undefined],
  ])('%j', (text, expected) => expect(ownerOf(text)?.id).toBe(expected));
});
