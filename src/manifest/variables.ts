/** `${NAME}`, filled in from variables that the applying command read; `$${` stands for `${` itself. */
const form = /\$(\$\{)|\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

export interface Filled {
  text: string
  /** Variables that are not set, or empty. */
  missing: string[]
}

export function fillVariables(text: string, variables: Readonly<Record<string, string>>): Filled {
  const missing: string[] = []
  const filled = text.replace(form, (whole, escaped: string | undefined, name: string | undefined) => {
    if (escaped !== undefined) return escaped
    const value = name !== undefined && Object.hasOwn(variables, name) ? variables[name] : undefined
    if (value !== undefined && value !== '') return value
    missing.push(name ?? '')
    return whole
  })
  return { text: filled, missing }
}
