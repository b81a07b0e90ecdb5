import type { Match, ObjectPage } from '../../contract.ts'
import { insertMember, readAround, scanList, writeList } from '../../list-page.ts'

const around = ['has_more', 'first_id', 'last_id']

/** Lists as this lane has them (wire/lanes.md, section 1.4): the cursor is the last item's id. */
export function readPage({ endpoint }: Match, body: Buffer): ObjectPage | null {
  const list = scanList(body, 'data', 'id', around)
  const type = endpoint.object?.type
  if (list === null || type === undefined) return null
  const items = list.elements.map(({ name, span }) => ({ name: { type, id: name }, span }))
  return { items, more: readAround(body, list, 'has_more') === true, token: null }
}

/** SDKs go on from the last item's id, or from `last_id`, and stop where `has_more` is missing. */
export function writePage(body: Buffer, page: ObjectPage, kept: readonly number[], more: boolean): Buffer {
  const list = scanList(body, 'data', 'id', around)
  if (list === null) return body
  const ids = kept.map((index) => page.items[index]?.name.id)
  const written = writeList(body, list, kept, {
    has_more: more,
    first_id: ids.at(0) ?? null,
    last_id: ids.at(-1) ?? null,
  })
  return more && !list.around.has('has_more') ? insertMember(written, 'has_more', true) : written
}

/** Backwards where the client asked for what is before an item. */
export function nextPage(query: string, page: ObjectPage): string | null {
  const parameters = new URLSearchParams(query)
  const backwards = parameters.has('before') && !parameters.has('after')
  const cursor = (backwards ? page.items[0] : page.items.at(-1))?.name.id
  if (!page.more || cursor === undefined || cursor === '') return null
  parameters.set(backwards ? 'before' : 'after', cursor)
  return `?${parameters}`
}
