/** Changes elements that differ into those of new markup: focus, scroll position and open details stay. */

/** @param markup of umaprobe, in which all foreign text is escaped. */
export function morphInto(element: Element, markup: string): void {
  const template = document.createElement('template');
  template.innerHTML = markup;
  morphChildren(element, template.content);
}

function morphChildren(from: Node, to: Node): void {
  const [old, next] = [[...from.childNodes], [...to.childNodes]];
  for (const [place, node] of next.entries()) {
    const before = old[place];
    if (before === undefined) from.appendChild(node);
    else if (before.nodeName === node.nodeName) morphNode(before, node);
    else from.replaceChild(node, before);
  }
  for (const node of old.slice(next.length)) from.removeChild(node);
}

function morphNode(from: Node, to: Node): void {
  if (from instanceof Element && to instanceof Element) {
    morphAttributes(from, to);
    morphChildren(from, to);
  } else if (from.nodeValue !== to.nodeValue) from.nodeValue = to.nodeValue;
}

function morphAttributes(from: Element, to: Element): void {
  // The reader has opened it.
  for (const { name } of [...from.attributes])
    if (!to.hasAttribute(name) && name !== 'open') from.removeAttribute(name);
  for (const { name, value } of to.attributes) if (from.getAttribute(name) !== value) from.setAttribute(name, value);
}
