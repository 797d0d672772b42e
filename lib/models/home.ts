/** Whose model files are meant: under sudo those of the one who typed it. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';

/** The home of the invoking user; root's own where root was not reached through sudo. */
export function invokingHome(env: NodeJS.ProcessEnv, passwd = readPasswd): string {
  const user = env.SUDO_USER;
  if (user === undefined || user === '' || user === 'root') return homedir();
  return homeOf(user, passwd()) ?? homedir();
}

/** A user's home as /etc/passwd has it; null: not there (a directory service knows more users than that file). */
export function homeOf(user: string, passwd: string): string | null {
  for (const line of passwd.split('\n')) {
    const fields = line.split(':');
    const home = fields[5];
    if (fields[0] === user && home?.startsWith('/') === true) return home;
  }
  return null;
}

function readPasswd(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch {
    return '';
  }
}
