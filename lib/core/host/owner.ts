/** The starter of a process: the container or service that its cgroup names. */

import { parseCgroup } from './procfs.ts';

export interface Owner {
  kind: 'container' | 'unit';
  /** "docker:3f4e0c1b2a9d", "unit:ollama.service". */
  id: string;
  name: string;
}

/** Characters of a container's id that its tools print. */
const SHORT_ID = 12;

/**
 * Names that container runtimes give to cgroups: systemd scopes ("docker-<id>.scope"), folders ("docker/<id>",
 * "kubepods/…/<id>"), and LXC's payloads.
 */
const CONTAINERS: readonly { runtime: string; pattern: RegExp }[] = [
  { runtime: 'docker', pattern: /\/docker[-/]([0-9a-f]{64})(?:\.scope)?(?=\/|$)/ },
  { runtime: 'podman', pattern: /\/libpod-([0-9a-f]{64})(?:\.scope)?(?=\/|$)/ },
  { runtime: 'containerd', pattern: /\/(?:cri-)?containerd-([0-9a-f]{64})(?:\.scope)?(?=\/|$)/ },
  { runtime: 'crio', pattern: /\/crio-([0-9a-f]{64})(?:\.scope)?(?=\/|$)/ },
  { runtime: 'kubernetes', pattern: /\/kubepods[^/]*(?:\/[^/]+)*\/([0-9a-f]{64})(?=\/|$)/ },
  { runtime: 'lxc', pattern: /\/lxc(?:\.payload\.|\/)([^/]+)/ },
];

/** A service of systemd; not the manager of a user's services, which has whole desktops below it. */
const UNIT = /\/([^/]+\.service)(?=\/|$)/g;

/**
 * The owner by a text of `/proc/<pid>/cgroup`; null: none, as for programs of a login session.
 *
 * @param text of the v2, v1 or hybrid hierarchy. Every v1 hierarchy names the same container; systemd names its units in v2,
 *   or in a v1 hierarchy of its own, and only where it may in that of the memory.
 */
export function ownerOf(text: string): Owner | null {
  const path = parseCgroup(text)?.path ?? '';
  for (const { pattern, runtime } of CONTAINERS) {
    const id = pattern.exec(path)?.[1];
    if (id === undefined) continue;
    const name = runtime === 'lxc' ? id : id.slice(0, SHORT_ID);
    return { kind: 'container', id: `${runtime}:${name}`, name };
  }
  const unit =
    unitIn(path) ?? unitIn(/^0::(.*)$/m.exec(text)?.[1]) ?? unitIn(/^\d+:name=systemd:(.*)$/m.exec(text)?.[1]);
  return unit === undefined ? null : { kind: 'unit', id: `unit:${unit}`, name: unit };
}

function unitIn(path = ''): string | undefined {
  const units = [...path.matchAll(UNIT)].map((match) => match[1] as string);
  return units.filter((name) => !/^user@\d+\.service$/.test(name)).at(-1);
}
