/** Asks machines for their snapshots by ssh, all at once. */

import { UmaError } from '../../base/errors.ts';
import { clean, formatDuration } from '../../base/format.ts';
import type { ClusterMachine } from '../../types/index.ts';
import { type Copy, copyLine, NOT_THERE, putFile } from './copy.ts';
import { DocumentReader, type Found, Lines } from './documents.ts';
import { judgeAnswer, type MachineAnswer, unusable, withoutDoubles } from './judge.ts';
import { runBySsh, type SshEnd } from './ssh.ts';

export const DEFAULT_COMMAND = 'umaprobe snapshot --json';

export interface Asking {
  /** Command for the shell of each host. */
  command: string;
  copy: Copy | null;
  onCopy: (copy: { host: string; file: string; bytes: number }) => void | Promise<void>;
  deadlineMs: number;
  signal: AbortSignal | undefined;
}

/** Asks all hosts; the answers are in their order. */
export async function askHosts(hosts: readonly string[], asking: Asking): Promise<ClusterMachine[]> {
  return withoutDoubles(await Promise.all(hosts.map((host) => askHost(host, asking))));
}

async function askHost(host: string, asking: Asking): Promise<ClusterMachine> {
  try {
    return await answerOf(host, asking);
  } catch (error) {
    if (!(error instanceof UmaError)) throw error;
    return notStarted(host, error);
  }
}

/** A ssh that cannot be started is no answer, too: it is not installed, or there are no free descriptors. */
export function notStarted(host: string, { message }: Error): ClusterMachine {
  return unusable(host, 'unreachable', message, 'see whether ssh is installed: ssh -V');
}

async function answerOf(host: string, asking: Asking): Promise<ClusterMachine> {
  const { command, copy } = asking;
  if (copy === null) return ask(host, command, asking);
  const first = await ask(host, copyLine(copy), asking, copy);
  if (first !== NOT_THERE) return first;
  const { bytes, name: file } = copy;
  await asking.onCopy({ host, file, bytes });
  const problem = await putFile(host, copy, asking.signal);
  if (problem !== null) return unusable(host, 'failed', `umaprobe could not be copied there: ${problem}`);
  const second = await ask(host, copyLine(copy), asking, copy);
  return second === NOT_THERE ? unusable(host, 'failed', 'the file that was copied there is gone') : second;
}

function ask(host: string, line: string, asking: Asking): Promise<ClusterMachine>;
function ask(host: string, line: string, asking: Asking, copy: Copy): Promise<ClusterMachine | typeof NOT_THERE>;
async function ask(
  host: string,
  line: string,
  { deadlineMs, signal }: Asking,
  copy: Copy | null = null,
): Promise<ClusterMachine | typeof NOT_THERE> {
  const documents = new DocumentReader();
  const lines = new Lines((text) => documents.line(text));
  const end = await runBySsh(host, line, { deadlineMs, signal, onText: (text) => lines.push(text) });
  lines.end();
  documents.end();
  if (copy !== null && end.code === NOT_THERE) return NOT_THERE;
  return answerAtEnd({ host, line, deadlineMs, end, found: documents.found });
}

export interface Ended {
  host: string;
  /** Command that ran there, for the shell of the host. */
  line: string;
  deadlineMs: number;
  end: SshEnd;
  /** Documents that came, without answers that were taken before. */
  found: readonly Found[];
}

/**
 * Answer of a machine whose ssh has ended.
 *
 * @param judge finds the usable answer: a snapshot by default.
 */
export function answerAtEnd<Usable extends object = never>(
  { deadlineMs, end, found, host, line }: Ended,
  judge: (answer: MachineAnswer) => Usable | ClusterMachine = judgeAnswer,
): Usable | ClusterMachine {
  if (end.how === 'exited' && end.code === 0) return judge({ host, found, cameAt: Date.now() });
  if (end.how === 'timeout')
    return unusable(
      host,
      'timeout',
      `no whole answer came within ${formatDuration(deadlineMs)}`,
      'try it by hand: ssh',
    );
  if (end.how === 'flooded') return unusable(host, 'unreadable', 'it printed more than an answer can have');
  // A document that says why goes before an exit code, and so does an empty recording.
  const said = found.length === 0 ? null : judge({ host, found, cameAt: Date.now() });
  const isWhole = said !== null && !('state' in said && said.state !== 'failed' && said.state !== 'other-version');
  return isWhole ? said : failed(host, line, end);
}

/** Exit code of ssh itself, by its manual. */
const SSH_FAILED = 255;
/** Exit codes of a POSIX shell: there is no such program, or it may not be run. */
const NO_PROGRAM = [126, 127];

/** Messages of ssh, and the remedy for each. `HOST` is the name. */
const REFUSALS: readonly (readonly [said: RegExp, next: string])[] = [
  [
    /host key verification failed|host identification has changed/i,
    'log in by hand and compare its key before it is accepted: ssh HOST',
  ],
  [/permission denied|too many authentication failures/i, 'give it your key: ssh-copy-id HOST'],
  [/could not resolve/i, 'check the name, or add it to ~/.ssh/config'],
  [/timed out|no route|refused|unreachable/i, 'see whether it is on and sshd runs there'],
];

function failed(host: string, line: string, { code, stderr }: SshEnd): ClusterMachine {
  const said = lastWords(stderr);
  if (code === SSH_FAILED) {
    const next = REFUSALS.find(([pattern]) => pattern.test(stderr))?.[1] ?? 'try it by hand: ssh HOST';
    return unusable(
      host,
      'unreachable',
      said === '' ? 'ssh failed' : said.replace(/^ssh: /, ''),
      next.replace('HOST', host),
    );
  }
  if (code !== null && NO_PROGRAM.includes(code)) {
    const program = line.split(' ', 1)[0] ?? '';
    const next = 'install umaprobe there, name it with --command, or send it along: --copy';
    return unusable(host, 'failed', `it cannot run ${program}${said === '' ? '' : `: ${said}`}`, next);
  }
  const how = code === null ? 'a signal ended it' : `it ended with exit code ${code}`;
  return unusable(host, 'failed', said === '' ? how : `${how}: ${said}`);
}

/** The error of a Node program, which its trace follows; else the last line with words: a banner may be before. */
function lastWords(stderr: string): string {
  const lines = stderr.split(/[\r\n]+/).map((line) => clean(line).trim());
  const error = lines.findLast((line) => /^\w*Error: /.test(line));
  return error?.slice(0, 300) ?? (lines.findLast((line) => line !== '') ?? '').slice(-300);
}
