/** Names in a text, with spaces or line ends between them. */
export function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
