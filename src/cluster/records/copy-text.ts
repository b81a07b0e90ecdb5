type CopiedValue = string | number | null

const special = /[\\\b\f\n\r\t\v\0]/g
const hasSpecial = /[\\\b\f\n\r\t\v\0]/
const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  // PostgreSQL's text has no such character.
  '\0': '\ufffd',
}

/** Rows as PostgreSQL's `COPY … FROM STDIN` reads them, in its text format. */
export function copyText(rows: readonly (readonly CopiedValue[])[]): string {
  return rows.map((row) => `${row.map(copyValue).join('\t')}\n`).join('')
}

function copyValue(value: CopiedValue): string {
  if (value === null) return '\\N'
  const text = typeof value === 'string' ? value : String(value)
  return hasSpecial.test(text) ? text.replace(special, (character) => escapes[character] ?? character) : text
}
