/** A sudoers line that permits exactly the commands that `--sudo` runs, to one user, and nothing else. */
import { userInfo } from 'node:os';
import { invalidValue } from '../base/arguments.ts';
import { UmaError } from '../base/errors.ts';
import { findSysctl, type Sysctl, sysctlAssignment } from './sysctl.ts';

export interface SudoersRule {
  schema: 'umaprobe/cache-rule/1';
  user: string;
  /** What it permits, word by word. */
  commands: string[][];
  /** The line. */
  rule: string;
  /** Where it belongs. */
  file: string;
  /** What to type to check it and to put it there. */
  install: string[];
}

export interface RuleOptions {
  user: string;
  sysctls: readonly Sysctl[];
  sysctl?: string | null;
}

/**
 * What useradd takes, in the spelling that sudoers takes for a user: words in capitals alone are aliases there (ALL is
 * everybody), and %group, +netgroup, #uid are more than one plain name says.
 */
const USER = /^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/;
const ALIAS = /^[A-Z][A-Z0-9_]*$/;

export function checkUser(user: string): string {
  if (USER.test(user) && !ALIAS.test(user) && user !== 'root') return user;
  throw invalidValue(
    'user',
    user === 'root' ? 'a user other than root, who needs no rule' : 'the login name of one user',
    user,
  );
}

/** The one who typed it, also behind sudo. */
export function invokingUser(env: NodeJS.ProcessEnv): string {
  const behindSudo = env.SUDO_USER;
  if (behindSudo !== undefined && behindSudo !== '') return behindSudo;
  try {
    return userInfo().username;
  } catch {
    throw invalidValue('user', 'a login name: this process runs under a user id that has none', '');
  }
}

/** In the words of a command sudoers gives these a meaning of their own (sudoers(5), "Other special characters"). */
export function escaped(word: string): string {
  return word.replaceAll(/[\\,:=]/g, '\\$&');
}

export function sudoersRule({ user, sysctls, sysctl = findSysctl() }: RuleOptions): SudoersRule {
  checkUser(user);
  if (sysctl === null) {
    const message = 'there is no sysctl in /usr/sbin, /sbin or /usr/bin, and the rule needs its absolute path';
    throw new UmaError('ERR_UMA_NOT_SUPPORTED', {
      source: 'umaprobe',
      call: 'cache rule',
      status: null,
      name: 'ENOENT',
      message,
    });
  }
  const commands = sysctls.map((write) => [sysctl, sysctlAssignment(write)]);
  const permitted = commands.map((words) => words.map(escaped).join(' ')).join(', ');
  // sudo does not read files of sudoers.d that have a dot in their name.
  const file = `/etc/sudoers.d/umaprobe-${user.replaceAll('.', '_')}`;
  const draft = 'umaprobe.sudoers';
  return {
    schema: 'umaprobe/cache-rule/1',
    user,
    commands,
    rule: `${user} ALL=(root) NOPASSWD: ${permitted}`,
    file,
    install: [`visudo -cf ${draft}`, `sudo install -o root -g root -m 0440 ${draft} ${file}`],
  };
}
