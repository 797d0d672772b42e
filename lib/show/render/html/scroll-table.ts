/** A table that can be wider than the screen. */
import { type Content, html, type Markup } from './markup.ts';

/**
 * A table in an area that scrolls sideways on a narrow screen: the keyboard reaches it, the first column stays, and a
 * shadow at the edge says that there is more. The caption names the numbers; `name` is the area's name for a screen
 * reader.
 */
export function scrollTable(name: string, caption: string, head: Content, body: Content): Markup {
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${name}"><table><caption><span>${caption}</span></caption><thead>${head}</thead><tbody>${body}</tbody></table></div>`;
}
