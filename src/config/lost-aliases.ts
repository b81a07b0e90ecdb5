import { type Document, type Node, visit } from 'yaml'

/** Where an alias stands for nothing, as offsets: mostly a value that begins with a star, like `*.example.com`. */
export function findLostAliases(document: Document): number[] {
  const anchors = new Set<string>()
  const found: number[] = []
  const note = (_key: unknown, { anchor }: Node & { anchor?: string }) => {
    if (anchor) anchors.add(anchor)
  }
  visit(document, {
    Map: note,
    Seq: note,
    Scalar: note,
    Alias(_key, { source, range }) {
      if (!anchors.has(source)) found.push(range?.[0] ?? 0)
    },
  })
  return found
}
