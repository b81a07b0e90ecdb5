/** What `${…}` may name in a configuration file: a variable of the environment, or `file:` and an absolute path. */
const names = '[A-Za-z_][A-Za-z0-9_]*|file:/[^{}\\n]+'

/** With the two groups: `${` where it is escaped as `$${`, else the name. */
export const variableForm: RegExp = new RegExp(`\\$(\\$\\{)|\\$\\{(${names})\\}`, 'g')

/** Each once, in their order. */
export function variablesIn(text: string): string[] {
  const found = [...text.matchAll(variableForm)].flatMap(([, , name]) => (name === undefined ? [] : [name]))
  return [...new Set(found)]
}

/** The path where it is a file's; null: it is a variable of the environment. */
export function fileOfVariable(name: string): string | null {
  return name.startsWith('file:') ? name.slice('file:'.length) : null
}

/** Why nothing stands for them. */
export function describeUnset(variables: readonly string[]): string {
  const parts = variables.map((name) => {
    const file = fileOfVariable(name)
    return file === null ? `the variable ${name} is not set` : `the file ${file} cannot be read, or is empty`
  })
  return parts.join(', ')
}

/** A text that looks like a variable would be filled in when the file is applied: in all texts of the value it is escaped. */
export function escapeVariables<Value>(value: Value): Value
export function escapeVariables(value: unknown): unknown {
  if (typeof value === 'string') return value.split('${').join('$${')
  if (Array.isArray(value)) return value.map((member) => escapeVariables(member))
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, escapeVariables(inner)]))
    : value
}
