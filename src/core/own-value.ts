/** A row of a table by a name that somebody else chose: what every object has, such as `constructor`, is none of its rows. */
export function ownValue<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
