/** The pod of monitoring/kubernetes with the program of the Debian package: no Kubernetes, and nothing else of it left out. */

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { parseSize } from '../../lib/base/format.ts';
import { kubernetesDocuments, startPod, whyNoPod } from '../support/kubernetes.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const { deb } = inject('packed');
const documents = kubernetesDocuments();
const reason = documents === null ? 'no python3-yaml here' : deb === null ? 'no dpkg-deb here' : whyNoPod();

describe.skipIf(reason !== null)(`the pod of the DaemonSet${reason === null ? '' : ` (skipped: ${reason})`}`, () => {
  it('runs, and answers its probes and a scrape', async () => {
    const [set] = documents as NonNullable<typeof documents>;
    const { containers, volumes } = set.spec.template.spec;
    const [container] = containers;
    // startPod() is this, but for the profile of seccomp, which a container runtime has.
    expect(container.securityContext).toEqual({
      privileged: false,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    });
    const tree = temporaryFolder('pod-deb');
    execFileSync('dpkg-deb', ['-x', deb as string, tree]);
    const token = 'a-token-of-this-test';
    const secret = join(temporaryFolder('pod-token'), 'token');
    writeFileSync(secret, token, { mode: 0o400 });
    const sourceOf = (name: string): string => {
      const path = volumes.find((volume) => volume.name === name)?.hostPath?.path;
      return path === undefined ? secret : join(tree, path);
    };
    const address = `127.77.${(process.pid >> 8) & 255}.${(process.pid & 255) | 1}`;
    const pod = startPod(container, address, sourceOf);
    let said = '';
    for (const stream of [pod.stdout, pod.stderr]) stream.on('data', (piece: Buffer) => (said += piece));
    const ended = new Promise((resolve) => pod.once('exit', resolve));
    const url = `http://${address}:${container.ports[0]?.containerPort}`;
    const get = async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`${url}${path}`, { headers });
      return { status: response.status, body: await response.text() };
    };
    try {
      for (const { httpGet } of [container.readinessProbe, container.livenessProbe])
        await expect
          .poll(
            () =>
              get(httpGet.path).then(
                ({ status }) => status,
                () => said,
              ),
            { timeout: 20_000 },
          )
          .toBe(200);
      expect((await get('/metrics')).status).toBe(401);
      const scraped = await get('/metrics', { authorization: `Bearer ${token}` });
      expect(scraped).toMatchObject({ status: 200, body: expect.stringMatching(/^umaprobe_memory_part_bytes\{/m) });
      const status = readFileSync(`/proc/${pod.pid}/status`, 'utf8');
      expect(status).toMatch(/^CapPrm:\t0+\nCapEff:\t0+\nCapBnd:\t0+\nCapAmb:\t0+\nNoNewPrivs:\t1$/m);
      expect(readFileSync(`/proc/${pod.pid}/mountinfo`, 'utf8')).toMatch(/ \/ \/ ro\b.* - tmpfs pod /);
      const held = parseSize(`${/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]}KiB`) ?? Number.NaN;
      expect(held).toBeLessThan(parseSize(`${container.resources.limits.memory}B`) ?? 0);
    } finally {
      pod.kill();
    }
    expect(await ended).toBe(143);
    expect(said).toBe(`${url}/ is served; Ctrl-C ends it.\n`);
  });
});
