/** A sudoers rule that permits one user exactly the commands that `--sudo` runs. */

import { invalidArgument, invalidValue } from '../../base/arguments.ts';
import { UmaError } from '../../base/errors.ts';
import { loginName } from '../../base/user.ts';
import type { SudoersRule } from '../../types/index.ts';
import { findSysctl, type Sysctl, sysctlAssignment } from './sysctl.ts';

export interface RuleOptions {
  user: string;
  sysctls: readonly Sysctl[];
  /** Absolute path of the sysctl program; null: not installed. */
  sysctl?: string | null;
}

export function sudoersRule({ user, sysctls, sysctl: program = findSysctl() }: RuleOptions): SudoersRule {
  checkUser(user);
  if (program === null) {
    throw new UmaError('ERR_UMA_NOT_SUPPORTED', {
      source: 'umaprobe',
      call: 'cache rule',
      status: null,
      name: 'ENOENT',
      message: 'there is no sysctl in /usr/sbin, /sbin or /usr/bin, and the rule needs its absolute path',
    });
  }
  const commands = sysctls.map((sysctl) => [program, sysctlAssignment(sysctl)]);
  const permitted = commands.map((command) => command.map(escapeArgument).join(' ')).join(', ');
  // sudo ignores files in sudoers.d with a dot in their name. Two users never share a file: no name has a percent sign.
  const file = `/etc/sudoers.d/umaprobe-${encodeURIComponent(user).replaceAll('.', '%2E')}`;
  const draft = 'umaprobe.sudoers';
  return {
    schema: 'umaprobe/cache-rule/1',
    user,
    commands,
    rule: `${sudoersName(user)} ALL=(root) NOPASSWD: ${permitted}`,
    file,
    install: [`visudo -cf ${draft}`, `sudo install -o root -g root -m 0440 ${draft} ${file}`],
  };
}

/** The login name of the user who runs the command, also under sudo. */
export function invokingUser(env: NodeJS.ProcessEnv): string {
  const sudoUser = env.SUDO_USER;
  if (sudoUser !== undefined && sudoUser !== '') return sudoUser;
  const name = loginName();
  if (name !== null) return name;
  throw invalidArgument('the user id of this process has no login name: name the user to permit (user; --user NAME)');
}

/** Names that useradd or a directory service gives. sudoers gives %group, +netgroup and #uid another meaning. */
const USER = /^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}$/;
/** Names that mean themselves in sudoers. Others are quoted: Defaults is a keyword there, and ADMINS an alias. */
const PLAIN_USER = /^[a-z_][a-z0-9_-]*$/;

function sudoersName(user: string): string {
  return PLAIN_USER.test(user) ? user : `"${user}"`;
}

function checkUser(user: string): void {
  // Quoted, ALL is a user, too; but a rule that a misplaced edit turns into one for everybody is not printed.
  if (USER.test(user) && user !== 'ALL' && user !== 'root') return;
  throw invalidValue(
    'user',
    user === 'root' ? 'a user other than root, who needs no rule' : 'the login name of one user',
    user,
  );
}

/** Escapes the characters that are special in a command's arguments (sudoers(5), "Other special characters"). */
function escapeArgument(argument: string): string {
  return argument.replaceAll(/[\\,:=]/g, '\\$&');
}
