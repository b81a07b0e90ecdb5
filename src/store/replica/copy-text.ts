export type CopiedValue = string | number | null

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
  '\0': copiable('\0'),
}

/** PostgreSQL's text has no NUL. */
export function copiable(text: string): string {
  return text.replaceAll('\0', '\ufffd')
}

/** A row as PostgreSQL's `COPY … FROM STDIN` reads it, in its text format, without the end of its line. */
export function copyLine(row: readonly CopiedValue[]): string {
  return row.map(copyValue).join('\t')
}

export function copyValue(value: CopiedValue): string {
  if (value === null) return '\\N'
  const text = typeof value === 'string' ? value : String(value)
  return hasSpecial.test(text) ? text.replace(special, (character) => escapes[character] ?? character) : text
}

/** The same of JSON, in which no other character occurs that is special: many times as fast. */
export function copyJson(text: string | null): string {
  if (text === null) return '\\N'
  return text.includes('\\') ? text.replaceAll('\\', '\\\\') : text
}
