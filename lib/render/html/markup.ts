/** HTML that cannot be escaped by accident the wrong way: text becomes markup only through this tag. */

export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

export type Content = Markup | string | number | null | readonly Content[];

/** html`<p>${name}</p>`: what is put in is escaped, unless it is markup itself; null is nothing. */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Markup {
  return new Markup(strings.map((part, index) => part + render(values[index] ?? null)).join(''));
}

function render(content: Content): string {
  if (content === null) return '';
  if (content instanceof Markup) return content.text;
  if (typeof content === 'string' || typeof content === 'number') return escapeText(String(content));
  return content.map(render).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Also what turns the direction of writing, and control characters: a name from outside must not rearrange the page. */
export function escapeText(text: string): string {
  return text
    .replace(/[^\S\n]+/g, ' ')
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, (character) => (character === '\n' ? character : '\ufffd'))
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** JSON inside a script element: nothing in it may look like the element's end or a comment's beginning. */
export function jsonInScript(document: object): Markup {
  return new Markup(
    JSON.stringify(document).replaceAll('<', '\\u003c').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029'),
  );
}
