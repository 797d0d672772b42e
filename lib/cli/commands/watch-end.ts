/** The key k of watch: ends a process, after a question that says which one. */
import { clean } from '../../base/format.ts';
import { type ChosenProcess, chooseProcess, isAlive, signalProcess, whyNotEnded } from '../../guard/end-process.ts';
import type { ProcessesReport } from '../../types/index.ts';

/** After this time a process that got SIGTERM, or SIGKILL, is said to be still there. */
const PATIENCE_MS = 3000;
const CHECK_MS = 200;

/** The key that says yes; any other one says no. */
const YES = 'y';

type Signal = 'SIGTERM' | 'SIGKILL';

export class EndDialog {
  readonly #changed: () => void;
  #question: { process: ChosenProcess; signal: Signal } | null = null;
  #text = '';
  #timer: NodeJS.Timeout | undefined;

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

  /** Asks about a process. @param count of processes that it is the top of. */
  ask(pid: number, count: number, report: ProcessesReport): void {
    this.close();
    const process = chooseProcess(pid);
    if (process === null) {
      const simulated = report.simulated === null ? 'has ended' : 'is simulated: no signal reaches it';
      this.#text = `Process ${pid} ${simulated}.`;
      return;
    }
    const why = whyNotEnded(pid, report);
    if (why !== null) {
      this.#text = `${nameOf(process)} is not ended: ${clean(why)}.`;
      return;
    }
    const top = count > 1 ? `, the top of ${count} processes` : '';
    const { startedAt } = process;
    const started = startedAt === null ? '' : `, started ${startedAt.slice(0, 19).replace('T', ' ')} UTC`;
    this.#question = { process, signal: 'SIGTERM' };
    this.#text = `End ${nameOf(process)}${started}${top}? ${YES}: SIGTERM, other keys: no`;
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
      case 'gone':
        this.#text = `${name} has ended; nothing was sent.`;
        return;
      case 'not permitted':
        this.#text = `${name} belongs to another user: sudo kill ${process.pid}`;
        return;
      case 'sent':
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
    this.#question = null;
    this.#text = '';
  }
}

function nameOf({ name, pid }: ChosenProcess): string {
  return `${pid} ${clean(name)}`;
}
