/** A recognised command while it is filled in. */

import type { EstimateOptions, ExtraModel, RecognisedCommand, UnreadPart } from '../../types/index.ts';
import type { ReadArguments } from './command-line.ts';

/** Options of a command line with their values. */
export type Given = ReadonlyMap<string, string>;

export class Draft {
  #command: RecognisedCommand;

  constructor(command: RecognisedCommand) {
    this.#command = command;
  }

  get command(): RecognisedCommand {
    return this.#command;
  }

  set(values: Partial<RecognisedCommand>): void {
    this.#command = { ...this.#command, ...values };
  }

  use(options: EstimateOptions): void {
    this.set({ use: { ...this.#command.use, ...options } });
  }

  understand(option: string, value: string): void {
    this.set({ understood: [...this.#command.understood, { option, value }] });
  }

  assume(sentence: string): void {
    this.set({ assumed: [...this.#command.assumed, sentence] });
  }

  unread(effect: UnreadPart['effect'], text: string, part: UnreadPart['part'] = 'option'): void {
    this.set({ unread: [...this.#command.unread, { text, part, effect }] });
  }

  limit(sentence: string): void {
    this.set({ limits: [...this.#command.limits, sentence] });
  }

  /** The value of an option, noted as understood; null, and noted as unread, if it is not as expected. */
  number(option: string, text: string, parse: (text: string) => number | null): number | null {
    const number = parse(text);
    if (number === null) this.unread('either', `${option} "${text}" is not understood.`);
    else this.understand(option, text);
    return number;
  }

  /** The same for an option that may be absent. */
  read(values: Given, option: string, parse: (text: string) => number | null): number | null {
    const text = values.get(option);
    return text === undefined ? null : this.number(option, text, parse);
  }

  /** Adds a model that is loaded besides the main one, by its path as the program sees it, or its name. */
  extra(
    { model, ...extra }: Pick<ExtraModel, 'kind' | 'option' | 'model'> & Partial<ExtraModel>,
    hostPath: (path: string) => string | null,
  ): void {
    if (model === '') return;
    const path = hostPath(model);
    if (path === null) this.unread('more', `${extra.option} ${model} is inside the container.`);
    else this.set({ extras: [...this.#command.extras, { modelFile: null, use: {}, ...extra, model: path }] });
  }

  /** The model, by its path on this machine. */
  model(model: string | undefined, hostPath: (path: string) => string | null): void {
    if (model === undefined || model === '') return;
    const path = hostPath(model);
    if (path === null) this.unread('either', `The model ${model} is inside the container.`, 'model');
    else this.set({ model: path });
  }
}

/** The reason for a server's unknown model. */
export const CLIENTS_CHOOSE = 'Its clients choose the models that it loads.';

/**
 * Notes parts that were read without being understood.
 *
 * @param lacksModel a word behind an option that is not known may then be the model.
 */
export function noteUnread({ doubtful, unread }: ReadArguments, draft: Draft, lacksModel: boolean): void {
  for (const { effect, text } of unread) draft.unread(effect, text);
  if (!lacksModel || doubtful.length === 0) return;
  const words = doubtful.map((word) => `"${word}"`).join(' or ');
  draft.unread('either', `${words} may be the model or the value of an option: write the model first.`, 'model');
}
