/** A text of an operation with each `{field}` replaced by the value of that name, where there is one. */
export function fillIn(text: string, values: unknown): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value: unknown = typeof values === 'object' && values !== null ? Reflect.get(values, name) : undefined
    return value === undefined ? whole : String(value)
  })
}
