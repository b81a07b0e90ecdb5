/**
 * A row of a table by a name that somebody else chose. What every object inherits, such as `constructor`, is not a row.
 */
export function ownValue<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
