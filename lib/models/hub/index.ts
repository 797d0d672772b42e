/** Models on the Hugging Face Hub, read by range before they are downloaded. The one room that asks another machine. */

import { HubCache } from './cache.ts';
import { type ClientOptions, HubClient } from './client.ts';
import type { HubName } from './name.ts';
import { HubFolder, readRepository } from './repository.ts';
import { hubSettings } from './settings.ts';

export interface HubOptions extends ClientOptions {
  env: Readonly<Record<string, string | undefined>>;
  home: string | null;
}

export interface OpenHub {
  /** A folder of the repository; '': all of it. */
  folderAt(folder: string): HubFolder;
  /** Paths of all files. */
  paths: string[];
  /** Time at which the list of files was read; null: now. */
  readAt: string | null;
}

/** @throws UmaError ERR_UMA_NETWORK, ERR_UMA_PERMISSION, ERR_UMA_MODEL; the signal's reason. */
export async function openHub(name: HubName, { env, home, ...options }: HubOptions): Promise<OpenHub> {
  const settings = hubSettings(env, home);
  const client = new HubClient(settings, options);
  const cache = new HubCache(settings.cacheFolder);
  const repository = await readRepository(name, client, cache);
  return {
    folderAt: (folder) => new HubFolder(repository, folder, client, cache),
    paths: [...repository.files.keys()].sort(),
    readAt: repository.readAt,
  };
}
