/** A function of the caller that hears what happens. What it throws or rejects with ends the work, and no process. */
export class Listener<Event> {
  readonly #call: ((event: Event) => void | Promise<void>) | undefined;
  readonly #onFailed: (error: unknown) => void;
  /** Its promises that have not settled. */
  readonly #pending = new Set<Promise<void>>();
  /** Wrapped, because it can throw or reject with anything, null included. */
  #thrown: { error: unknown } | null = null;

  /** @param onFailed is called when it has failed, and the work must end. */
  constructor(call: ((event: Event) => void | Promise<void>) | undefined, onFailed: (error: unknown) => void) {
    this.#call = call;
    this.#onFailed = onFailed;
  }

  /** One that has failed hears nothing more. */
  hear(event: Event): void {
    if (this.#thrown !== null) return;
    try {
      const returned = this.#call?.(event);
      if (returned === undefined) return;
      const settled = Promise.resolve(returned)
        .catch((error: unknown) => this.fail(error))
        .finally(() => this.#pending.delete(settled));
      this.#pending.add(settled);
    } catch (error) {
      this.fail(error);
    }
  }

  fail(error: unknown): void {
    this.#thrown ??= { error };
    this.#onFailed(error);
  }

  throwIfFailed(): void {
    if (this.#thrown !== null) throw this.#thrown.error;
  }

  /** Waits for its promises; then throws what it has failed with. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending);
    this.throwIfFailed();
  }
}
