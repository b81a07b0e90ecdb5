const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/** JSON indented for people, with every number and string as it was written; null: it is not JSON. */
export function indentJson(text: string): string | null {
  if (!isJson(text)) return null
  let written = ''
  let depth = 0
  let last = ''
  for (const [part] of text.matchAll(token)) {
    if (part === '}' || part === ']') {
      depth--
      written += last === '{' || last === '[' ? part : `${lineAt(depth)}${part}`
    } else {
      written += last === '{' || last === '[' || last === ',' ? `${lineAt(depth)}${part}` : part
      if (part === ':') written += ' '
      if (part === '{' || part === '[') depth++
    }
    last = part
  }
  return written
}

const lineAt = (depth: number) => `\n${'  '.repeat(depth)}`

/** Of any kind, a number or a text as well. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
