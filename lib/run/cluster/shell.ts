/** Words for the shell of another machine: ssh gives its arguments to that shell as one line. */

/**
 * One word, in single quotes, which POSIX shells, fish and csh do not look into. A single quote stands between double
 * quotes; fish alone reads a backslash within single quotes, so that one is put between double quotes as well.
 */
export function remoteWord(word: string): string {
  // zsh takes =ls for a path, and fish %self for a number.
  if (/^[\w@+:,./-][\w@+=:,./-]*$/.test(word)) return word;
  return `'${word.replace(/['\\]/g, (sign) => (sign === "'" ? `'"'"'` : `'"\\\\"'`))}'`;
}
