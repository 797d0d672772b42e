/**
 * `{name}` in arguments, environment variables and templates: the value of a parameter. `{file:name}` in the first two: the
 * path of a template, filled in for the trial. `{{name}}` is the text `{name}`. Other braces stay as they are.
 */

import { invalidArgument } from '../../base/arguments.ts';
import { didYouMean } from '../../base/nearest.ts';
import type { ProfileParameters } from '../../types/index.ts';

const PLACEHOLDER = /\{\{((?:file:)?[\w./-]+)\}\}|\{file:([^{}\n]*)\}|\{([A-Za-z_][\w-]*)\}/g;

/** Name of a parameter, as a placeholder may have it. */
export const PARAMETER_NAME = /^[A-Za-z_][\w-]{0,63}$/;

/** Substitutes for the placeholders of one trial. */
export interface Substitutes {
  params: ProfileParameters;
  /** Path of a filled-in template. */
  file(name: string): string;
}

export function fill(text: string, { file, params }: Substitutes): string {
  return text.replace(PLACEHOLDER, (whole, literal?: string, template?: string, name?: string) => {
    if (literal !== undefined) return `{${literal}}`;
    if (template !== undefined) return file(template);
    return name !== undefined && Object.hasOwn(params, name) ? String(params[name]) : whole;
  });
}

/** The parameters and templates that a text names. */
export function placeholdersOf(text: string): { names: string[]; files: string[] } {
  const found = [...text.matchAll(PLACEHOLDER)];
  return {
    names: found.flatMap(([, , , name]) => (name === undefined ? [] : [name])),
    files: found.flatMap(([, , template]) => (template === undefined ? [] : [template])),
  };
}

/** A text that may have placeholders, and what to call it in a message: `argument 3`, `template train.yaml`. */
export interface Source {
  what: string;
  text: string;
}

/** @throws TypeError: a placeholder that no parameter has, or a parameter that no placeholder takes. */
export function checkPlaceholders(sources: readonly Source[], parameters: readonly string[]): void {
  const used = new Set<string>();
  for (const { text, what } of sources) {
    for (const name of placeholdersOf(text).names) {
      if (!parameters.includes(name))
        throw invalidArgument(
          `${what} has the placeholder {${name}}, and no parameter is named so (there is ${parameters.join(', ')}).${didYouMean(name, parameters)} For the text itself write {{${name}}}`,
        );
      used.add(name);
    }
  }
  const unused = parameters.find((name) => !used.has(name));
  if (unused !== undefined)
    throw invalidArgument(
      `parameter ${unused} is varied, and nothing has the placeholder {${unused}}: put it into an argument, an environment variable or a template`,
    );
}
