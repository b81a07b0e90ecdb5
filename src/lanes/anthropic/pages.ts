import type { ObjectName, ObjectType } from '../../core/stored-object.ts'
import type { ObjectPage } from '../contract.ts'
import { readAround, scanList, writeList } from '../list-page.ts'
import { readQuery, writeQuery } from '../query.ts'

/**
 * Two ways to page: by the ids at a page's ends (`has_more`, `first_id`, `last_id`), or by a token (`next_page`). Older
 * versions of one list page the other way, so the answer says which it is. Source: wire/lanes.md, section 2.4.
 */
const around = ['has_more', 'first_id', 'last_id', 'next_page']

export function page(type: ObjectType, body: Buffer): ObjectPage | null {
  const list = scanList(body, 'data', 'id', around)
  if (list === null) return null
  const next = readAround(body, list, 'next_page')
  const token = typeof next === 'string' && next !== '' ? next : null
  return {
    items: list.elements.map(({ name, span }) => ({ name: { type, id: name }, span })),
    more: token !== null || readAround(body, list, 'has_more') === true,
    token,
  }
}

export function writePage(body: Buffer, token: string | null, kept: readonly number[], more: boolean): Buffer {
  const list = scanList(body, 'data', 'id', around)
  if (list === null) return body
  const names = kept.map((index) => list.elements[index]?.name)
  return writeList(body, list, kept, {
    has_more: more,
    first_id: names[0] ?? null,
    last_id: names.at(-1) ?? null,
    next_page: more ? token : null,
  })
}

/** Pages go the way that the client's first question went. */
export function nextPage(query: string, items: readonly { name: ObjectName }[], token: string | null): string | null {
  const asked = readQuery(query)
  if (token !== null) return writeQuery(query, asked.has('page_token') ? 'page_token' : 'page', token)
  const backwards = asked.has('before_id')
  const end = backwards ? items[0] : items.at(-1)
  return end === undefined ? null : writeQuery(query, backwards ? 'before_id' : 'after_id', end.name.id)
}
