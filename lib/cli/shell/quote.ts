/** Text in a shell script. */

/** One word for bash, zsh and fish: in single quotes, which none of them looks into. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'"'"'`)}'`;
}
