/** The user of this process, who may have no entry in the user database: a container can run under any user id. */

import { homedir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Home of the user; null: neither HOME nor the user database names one. */
export function ownHome(env: NodeJS.ProcessEnv = process.env): string | null {
  if (env.HOME !== undefined && env.HOME !== '') return env.HOME;
  try {
    return homedir() || userInfo().homedir || null;
  } catch {
    return null;
  }
}

/** Folder of umaprobe in the user's cache: in $XDG_CACHE_HOME, or in ~/.cache; null: the user has no home. */
export function ownCache(env: NodeJS.ProcessEnv = process.env): string | null {
  const given = env.XDG_CACHE_HOME;
  if (given !== undefined && isAbsolute(given)) return join(given, 'umaprobe');
  const home = ownHome(env);
  return home === null ? null : join(home, '.cache', 'umaprobe');
}

/** Login name; null: the user id has none. */
export function loginName(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}
