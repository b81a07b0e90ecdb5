import type { Fault } from '../core/errors.ts'
import { JsonMembers, type JsonTree, readTree, tooManyValues } from './json-tree.ts'

/** What to do with the members of an object, or with the elements of an array, which go by the array's name. */
export interface MemberVisitor {
  /** A member whose value is a string. `parent` is the name under which its object stands, '' at the top. Both are folded (`foldName`). */
  text(name: string, value: string, parent: string): void
  /** A member whose value is a text too long for any id. */
  long?(name: string, parent: string): void
  /** Whether to look into an object or array of this name, as it is written: what a client's own tools call their fields is none of ours. */
  enter(name: string): boolean
}

/** Visits every member of a JSON value whose grammar has been checked, repeated ones too; none where there are too many. */
export function walkMembers(bytes: Buffer, visitor: MemberVisitor): Fault | null {
  const tree = readTree(bytes)
  if (tree === null) return tooManyValues
  const waiting: [value: JsonTree, name: string, parent: string, written: string][] = [[tree.root, '', '', '']]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [value, name, parent, written] = next
    if (typeof value === 'string') visitor.text(name, value, parent)
    else if (typeof value === 'symbol') visitor.long?.(name, parent)
    else if (value === null || !visitor.enter(written)) continue
    else if (value instanceof JsonMembers)
      for (const member of value.entries) waiting.push([member.value, member.name, name, member.written])
    else for (const element of value) waiting.push([element, name, parent, written])
  }
  return null
}
