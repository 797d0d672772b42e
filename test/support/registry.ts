/** A registry of npm on loopback that has umaprobe; all else comes from the registry of this machine. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { capture } from '../../scripts/run.mjs';

/** What a registry keeps of package.json in the short form, which installers ask for. */
const ABBREVIATED = 'application/vnd.npm.install-v1+json';
const KEPT = [
  'name',
  'version',
  'bin',
  'engines',
  'os',
  'cpu',
  'dependencies',
  'optionalDependencies',
  'peerDependencies',
];

interface Document {
  name: string;
  versions?: Record<string, { dist: { tarball: string } }>;
}

/** A document of the other registry, with its tarballs here: Yarn 1 fetches them from where the document says. */
function here(body: Buffer, url: string): string {
  const document = JSON.parse(body.toString()) as Document;
  for (const { dist } of Object.values(document.versions ?? {}))
    dist.tarball = `${url}/${document.name}/-/${dist.tarball.replace(/^.*\//, '')}`;
  return JSON.stringify(document);
}

export interface Registry {
  url: string;
  /** What was asked for, in order. */
  asked: string[];
  close(): void;
}

/**
 * @param files the tarball, and package.json as it is inside.
 * @returns a registry that serves the short form only, with `hasInstallScript` where npm would run one.
 */
export async function startRegistry(files: { tarball: string; manifest: Record<string, unknown> }): Promise<Registry> {
  const upstream = capture('npm', ['config', 'get', 'registry']).trim().replace(/\/?$/, '/');
  const tarball = readFileSync(files.tarball);
  const asked: string[] = [];
  let url = '';
  const document = (): object => {
    const { name, version, scripts } = files.manifest as { name: string; version: string; scripts?: object };
    const hasInstallScript = Object.keys(scripts ?? {}).some((key) => /^(pre|post)?install$/.test(key));
    const entry = {
      ...Object.fromEntries(KEPT.filter((key) => key in files.manifest).map((key) => [key, files.manifest[key]])),
      ...(hasInstallScript ? { hasInstallScript } : {}),
      dist: {
        tarball: `${url}/${name}/-/${name}-${version}.tgz`,
        integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
        shasum: createHash('sha1').update(tarball).digest('hex'),
      },
    };
    // Long ago, for package managers that refuse what was published today.
    return {
      name,
      'dist-tags': { latest: version },
      versions: { [version]: entry },
      modified: '2026-01-01T00:00:00.000Z',
    };
  };
  const answer = async (path: string, response: ServerResponse): Promise<void> => {
    if (path === '/umaprobe') {
      response.writeHead(200, { 'content-type': ABBREVIATED }).end(JSON.stringify(document()));
    } else if (path.startsWith('/umaprobe/-/')) {
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(tarball);
    } else {
      const found = await fetch(new URL(path.slice(1), upstream), { headers: { accept: ABBREVIATED } });
      const type = found.headers.get('content-type') ?? 'application/json';
      const body = Buffer.from(await found.arrayBuffer());
      response.writeHead(found.status, { 'content-type': type }).end(type.includes('json') ? here(body, url) : body);
    }
  };
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(request.url ?? '/', response).catch((error: unknown) => response.writeHead(502).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    asked,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
