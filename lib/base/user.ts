/** The user of this process, who may have no entry in the user database: a container can run under any user id. */

import { homedir, userInfo } from 'node:os';

/** Home of the user; null: neither HOME nor the user database names one. */
export function ownHome(env: NodeJS.ProcessEnv = process.env): string | null {
  if (env.HOME !== undefined && env.HOME !== '') return env.HOME;
  try {
    return homedir() || userInfo().homedir || null;
  } catch {
    return null;
  }
}

/** Login name; null: the user id has none. */
export function loginName(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}
