/** A repository of the Hub at one commit: what files it has, and its folders as readers of models know them. */

import { formatCount, MiB } from '../../base/format.ts';
import type { HubCache } from './cache.ts';
import type { HubAnswer, HubClient } from './client.ts';
import { hubError, notRead } from './errors.ts';
import { HubFile } from './file.ts';
import type { HubName } from './name.ts';

/** The list of the largest repositories has 1 MB. */
const LONGEST_LIST = 16 * MiB;
const MOST_FILES = 100_000;
const LONGEST_PATH = 1024;

interface Listed {
  /** null: the list does not say. */
  size: number | null;
  etag: string | null;
}

export interface HubRepository {
  /** "hf:org/name". */
  name: string;
  commit: string;
  files: ReadonlyMap<string, Listed>;
  /** Time at which the list was read; null: now. Else the Hub could not be asked. */
  readAt: string | null;
}

/** A list as the cache keeps it. */
interface KeptList {
  etag: string | null;
  readAt: string;
  text: string;
}

/** @throws UmaError ERR_UMA_NETWORK, ERR_UMA_PERMISSION, ERR_UMA_MODEL. */
export async function readRepository(
  { repository, revision }: HubName,
  client: HubClient,
  cache: HubCache,
): Promise<HubRepository> {
  const { endpoint, isOffline } = client.settings;
  const what = `hf:${repository}`;
  const wanted = revision ?? 'main';
  const url = new URL(`api/models/${repository}/revision/${encodeURIComponent(wanted)}?blobs=true`, endpoint);
  const kept = keptList(cache.read(url.href));
  // The files of a commit do not change.
  if (kept !== null && /^[0-9a-f]{40}$/.test(wanted)) return parseList(what, kept.text, null);
  if (isOffline) {
    if (kept === null) throw notRead(what);
    return parseList(what, kept.text, kept.readAt);
  }
  let answer: HubAnswer;
  try {
    const condition = kept?.etag == null ? {} : { 'if-none-match': kept.etag };
    answer = await client.get(what, url, { accept: 'application/json', ...condition }, kept === null ? [] : [304]);
  } catch (error) {
    if (kept === null || !isUnreachable(error)) throw error;
    return parseList(what, kept.text, kept.readAt);
  }
  if (answer.response.status === 304 && kept !== null) {
    answer.body.cancel();
    return parseList(what, kept.text, null);
  }
  const text = await listText(what, answer);
  const list = parseList(what, text, null);
  const fresh: KeptList = { etag: answer.response.headers.get('etag'), readAt: new Date().toISOString(), text };
  cache.write(url.href, Buffer.from(JSON.stringify(fresh)));
  return list;
}

/** No answer came: an older one is better than none. */
function isUnreachable(error: unknown): boolean {
  const { code, status } = error as { code?: string; status?: number | null };
  return code === 'ERR_UMA_NETWORK' && (status === null || (status ?? 0) >= 500);
}

function keptList(bytes: Buffer | null): KeptList | null {
  try {
    const kept = JSON.parse(bytes?.toString('utf8') ?? 'null') as Partial<KeptList> | null;
    return typeof kept?.text === 'string' && typeof kept.readAt === 'string'
      ? { etag: kept.etag ?? null, readAt: kept.readAt, text: kept.text }
      : null;
  } catch {
    return null;
  }
}

async function listText(what: string, { body, response, url }: HubAnswer): Promise<string> {
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/html')) {
    body.cancel();
    throw hubError(
      what,
      'HUB_ANSWER',
      `${url.host} sent a page instead of a list of files: is there a proxy or a login in between?`,
    );
  }
  const { bytes, hasMore } = await body.read(0, LONGEST_LIST, true);
  if (hasMore)
    throw hubError(what, 'HUB_ANSWER', `the list of its files has more than ${formatCount(LONGEST_LIST)} bytes`);
  return bytes.toString('utf8');
}

function parseList(what: string, text: string, readAt: string | null): HubRepository {
  const wrong = (why: string): Error => hubError(what, 'HUB_ANSWER', `the list of its files ${why}`);
  let list: { sha?: unknown; siblings?: unknown } | null;
  try {
    list = JSON.parse(text) as typeof list;
  } catch {
    throw wrong('is no JSON: is there a proxy in between?');
  }
  const { sha, siblings } = list ?? {};
  if (typeof sha !== 'string' || !/^[\w.-]{1,100}$/.test(sha)) throw wrong('names no commit');
  if (!Array.isArray(siblings) || siblings.length > MOST_FILES) throw wrong('has no files, or too many');
  const files = new Map<string, Listed>();
  for (const sibling of siblings as unknown[]) {
    const { blobId, lfs, rfilename: path, size } = (sibling ?? {}) as Record<string, unknown>;
    if (typeof path !== 'string' || !isPath(path)) continue;
    const { sha256 } = (lfs ?? {}) as Record<string, unknown>;
    files.set(path, {
      size: Number.isSafeInteger(size) && (size as number) >= 0 ? (size as number) : null,
      etag: typeof sha256 === 'string' ? sha256 : typeof blobId === 'string' ? blobId : null,
    });
  }
  return { name: what, commit: sha, files, readAt };
}

function isPath(path: string): boolean {
  return (
    path.length <= LONGEST_PATH &&
    !path.includes('\0') &&
    path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  );
}

/** A folder of a repository. It has the form of the room models' ModelFolder. */
export class HubFolder {
  /** "hf:org/name@commit", and the folder in it. */
  readonly path: string;
  readonly #repository: HubRepository;
  readonly #prefix: string;
  readonly #client: HubClient;
  readonly #cache: HubCache;

  /** @param folder in the repository; '': all of it. */
  constructor(repository: HubRepository, folder: string, client: HubClient, cache: HubCache) {
    this.#repository = repository;
    this.#prefix = folder === '' ? '' : `${folder}/`;
    this.#client = client;
    this.#cache = cache;
    this.path = `${repository.name}@${repository.commit}${folder === '' ? '' : `/${folder}`}`;
  }

  #entries(): { name: string; isFolder: boolean }[] {
    const found = new Map<string, boolean>();
    for (const path of this.#repository.files.keys()) {
      if (!path.startsWith(this.#prefix)) continue;
      const [name = '', more] = path.slice(this.#prefix.length).split('/', 2);
      found.set(name, more !== undefined);
    }
    return [...found].map(([name, isFolder]) => ({ name, isFolder })).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async names(): Promise<string[]> {
    return this.#entries().map(({ name }) => name);
  }

  async folders(): Promise<HubFolder[]> {
    return this.#entries()
      .filter(({ isFolder }) => isFolder)
      .map(({ name }) => new HubFolder(this.#repository, this.#prefix + name, this.#client, this.#cache));
  }

  sizeOf(name: string): number | null {
    return this.#repository.files.get(this.#prefix + name)?.size ?? null;
  }

  async checkInside(names: readonly string[]): Promise<void> {
    const missing = names.find((name) => !this.#repository.files.has(this.#prefix + name));
    if (missing !== undefined) throw hubError(missing, 'HUB_MISSING', `${this.path} has no such file`, 'ERR_UMA_MODEL');
  }

  async withFile<T>(name: string, work: (file: HubFile) => Promise<T>): Promise<T> {
    const path = this.#prefix + name;
    const listed = this.#repository.files.get(path);
    if (listed === undefined) throw Object.assign(new Error(`${this.path} has no file ${name}`), { code: 'ENOENT' });
    const { commit, name: repository } = this.#repository;
    const place = path.split('/').map(encodeURIComponent).join('/');
    const url = new URL(`${repository.slice(3)}/resolve/${commit}/${place}`, this.#client.settings.endpoint);
    const shown = `${path} of ${repository}`;
    const size = listed.size ?? (await this.#sizeAt(shown, url));
    const file = new HubFile(this.#client, this.#cache, { path: shown, url, size, etag: listed.etag });
    try {
      return await work(file);
    } finally {
      file.keep();
    }
  }

  /** Asks for a size if the list has none. */
  async #sizeAt(what: string, url: URL): Promise<number> {
    const { body, response } = await this.#client.get(what, url, { range: 'bytes=0-0' }, [206]);
    body.cancel();
    const text =
      response.status === 206
        ? response.headers.get('content-range')?.split('/')[1]
        : response.headers.get('content-length');
    const size = text === undefined || text === null || text === '' ? Number.NaN : Number(text);
    if (Number.isSafeInteger(size) && size >= 0) return size;
    throw hubError(what, 'HUB_ANSWER', 'the server does not say how long it is');
  }
}
