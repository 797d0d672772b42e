/** The key k of watch: ends a process, after a question that says which one. */
import { clean } from '../../base/format.ts';
import { processes } from '../../core/processes/index.ts';
import { type ChosenProcess, chooseProcess, isAlive, signalProcess, whyNotEnded } from '../../run/guard/end-process.ts';
import type { ProcessesReport, ProcessGroup } from '../../types/index.ts';

/** Time after which a process that got SIGTERM, or SIGKILL, is said to be still there. */
const PATIENCE_MS = 3000;
const CHECK_MS = 200;

/** The key that says yes; any other one says no. */
const YES = 'y';

/** An entry of the list. */
interface AskedProcess {
  pid: number;
  /** Name in the list; null: not known. */
  name: string | null;
  group: ProcessGroup;
  /** That of the group: its top is meant. */
  key: string;
}

type Signal = 'SIGTERM' | 'SIGKILL';

export class EndDialog {
  readonly #changed: () => void;
  #question: { process: ChosenProcess; signal: Signal } | null = null;
  #text = '';
  #timer: NodeJS.Timeout | undefined;
  /** Questions so far. */
  #asked = 0;

  /** @param changed is called when there is something else to say. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** The question, or what became of it; '': nothing. */
  get text(): string {
    return this.#text;
  }

  get asks(): boolean {
    return this.#question !== null;
  }

  /** Asks about the process of an entry of the list, as it is now: the list may be a minute old. */
  async ask({ group, key, name, pid }: AskedProcess, deadlineMs: number): Promise<void> {
    this.close();
    this.#text = `Process ${pid} …`;
    const asked = ++this.#asked;
    const report = await processes({ pssLimitMs: 0, deadlineMs }).catch((error: unknown) => String(error));
    // Meanwhile another question was asked, or the picture was closed.
    if (asked !== this.#asked) return;
    this.#text =
      typeof report === 'string' ? `Nothing was ended: ${clean(report)}` : this.#about(report, pid, name, group, key);
    this.#changed();
  }

  /** The question, or why there is none. */
  #about(report: ProcessesReport, pid: number, name: string | null, group: ProcessGroup, key: string): string {
    const process = chooseProcess(pid);
    if (process === null)
      return `Process ${pid} ${report.simulated === null ? 'has ended' : 'is simulated: no signal reaches it'}.`;
    if (name !== null && process.name !== name) return `Process ${pid} has ended: ${nameOf(process)} is another one.`;
    const why = whyNotEnded(pid, report);
    if (why !== null) return `${nameOf(process)} is not ended: ${clean(why)}.`;
    const { startedAt } = process;
    const started = startedAt === null ? '' : `, started ${startedAt.slice(0, 19).replace('T', ' ')} UTC`;
    // systemd and container engines may start it again.
    const owner = group.kind === 'tree' ? '' : `, of ${clean(group.name)}`;
    const top = key === group.id && group.pids.length > 1 ? `, the top of ${group.pids.length} processes` : '';
    this.#question = { process, signal: 'SIGTERM' };
    return `End ${nameOf(process)}${started}${owner}${top}? ${YES}: SIGTERM, other keys: no`;
  }

  /** The answer to the question. */
  answer(key: string): void {
    const question = this.#question;
    this.#question = null;
    this.#text = '';
    if (question !== null && key === YES) this.#send(question.process, question.signal);
  }

  #send(process: ChosenProcess, signal: Signal): void {
    const name = nameOf(process);
    switch (signalProcess(process, signal)) {
      case 'exited':
        this.#text = `${name} has ended; nothing was sent.`;
        return;
      case 'refused':
        this.#text = `${name} belongs to another user: sudo kill ${process.pid}`;
        return;
      case 'ok':
        this.#text = `${signal} was sent to ${name}, which has not ended yet.`;
        this.#follow(process, signal, performance.now());
    }
  }

  #follow(process: ChosenProcess, signal: Signal, sentAt: number): void {
    this.#timer = setInterval(() => {
      const ended = !isAlive(process);
      if (!ended && performance.now() - sentAt < PATIENCE_MS) return;
      clearInterval(this.#timer);
      const name = nameOf(process);
      if (ended) this.#text = `${name} has ended.`;
      else if (signal === 'SIGKILL')
        this.#text = `${name} has not ended: it waits in the kernel, for a driver or a disk.`;
      else {
        this.#question = { process, signal: 'SIGKILL' };
        this.#text = `${name} has not ended. ${YES}: SIGKILL, which lets it save nothing, other keys: no`;
      }
      this.#changed();
    }, CHECK_MS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#asked++;
    this.#question = null;
    this.#text = '';
  }
}

function nameOf({ name, pid }: ChosenProcess): string {
  return `${pid} ${clean(name)}`;
}
