/** HTML in which no escaping can be forgotten: text becomes markup only through this tag. */
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

/** html`<p>${name}</p>`: values are escaped unless they are markup; null is left out. */
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

/** Replaces control characters and marks of writing direction, too: a foreign name must not rearrange the page. */
export function escapeText(text: string): string {
  return text
    .replace(/[^\S\n]+/g, ' ')
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, (character) => (character === '\n' ? character : '\ufffd'))
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** JSON inside a script element: it must not contain the element's end or the start of a comment. */
export function jsonInScript(document: object): Markup {
  return new Markup(
    JSON.stringify(document).replaceAll('<', '\\u003c').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029'),
  );
}

/**
 * A table in an area that scrolls sideways on a narrow screen: the keyboard reaches it, the first column stays, and a
 * shadow at the edge says that there is more. The caption names the numbers; `name` is the area's name for a screen
 * reader.
 */
export function scrollTable(name: string, caption: string, head: Content, body: Content): Markup {
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${name}"><table><caption><span>${caption}</span></caption><thead>${head}</thead><tbody>${body}</tbody></table></div>`;
}
