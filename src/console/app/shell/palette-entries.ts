import { sections } from '../areas/settings/sections.ts'
import { operations } from '../contract/operations.ts'
import type { MayCall } from '../session/session.ts'
import { places } from './keys.ts'
import { operationKind, type SearchMatch } from './palette-matches.ts'

/** What the palette offers before anything is typed, and whatever is there: pages, actions, every operation. */
export function fixedEntries(may: MayCall): SearchMatch[] {
  return [
    ...actions
      .filter(({ operation }) => may(operation))
      .map(({ title, to, search }) => entry(title, 'Action', to, search)),
    ...places
      .filter((place) => !('operation' in place) || may(place.operation))
      .map(({ title, to }) => entry(title, 'Page', to)),
    ...sections
      .filter(({ operation }) => may(operation))
      .map(({ word, title }) => entry(title, 'Settings', '/settings/$section', {}, { section: word })),
    entry('Account', 'Page', '/account'),
    entry('All operations', 'Settings', '/settings/operations'),
    ...operations
      .filter(({ name }) => may(name))
      .map(({ name, path }) =>
        entry(path.join(' '), operationKind, '/settings/operations/$operation', {}, { operation: name }),
      ),
  ]
}

const actions = [
  { title: 'Create key', operation: 'keys.create', to: '/keys', search: { create: 'new' } },
  { title: 'Add provider', operation: 'providers.add', to: '/providers', search: { add: 'choose' } },
  { title: 'Add route', operation: 'routes.add', to: '/routing', search: { add: 'choose' } },
  { title: 'Add policy', operation: 'policies.add', to: '/settings/policies', search: { add: 'new' } },
  { title: 'Show failed requests', operation: 'requests.list', to: '/requests', search: { errors: 'true' } },
] as const

function entry(
  title: string,
  kind: string,
  to: string,
  search: Record<string, string> = {},
  params: Record<string, string> = {},
): SearchMatch {
  return { key: `${kind} ${title}`, title, kind, to, params, search: { ...search } }
}
