import type { DerivedOperation } from '../contract/derived.ts'
import { operationKind, type SearchMatch } from './palette-matches.ts'
import { places } from './places.ts'

/** What there is besides pages and actions. */
export interface PaletteContents {
  sections: readonly { word: string; title: string; about: string; words?: string; operation: string }[]
  operations: readonly Pick<DerivedOperation, 'name' | 'path'>[]
}

/** What the palette offers before anything is typed, and whatever is there: pages, actions, every operation. */
export function fixedEntries(
  may: (operation: string) => boolean,
  { sections, operations }: PaletteContents,
): SearchMatch[] {
  return [
    ...actions
      .filter(({ operation }) => may(operation))
      .map(({ title, to, search, words = '' }) => ({ ...entry(title, 'Action', to, search), words })),
    ...places
      .filter((place) => !('operation' in place) || may(place.operation))
      .map(({ title, to }) => ({ ...entry(title, 'Page', to), words: pageWords[to] ?? '' })),
    ...sections
      .filter(({ operation }) => may(operation))
      .map(({ word, title, about, words = '' }) => ({
        ...entry(title, 'Settings', '/settings/$section', {}, { section: word }),
        words: `${about} ${words}`,
      })),
    entry('Account', 'Page', '/account'),
    entry('All operations', 'Settings', '/settings/operations'),
    ...operations
      .filter(({ name }) => may(name))
      .map(({ name, path }) =>
        entry(path.join(' '), operationKind, '/settings/operations/$operation', {}, { operation: name }),
      ),
  ]
}

const pageWords: Readonly<Record<string, string>> = {
  '/': 'spend spending spent cost usage traffic statistics',
  '/requests': 'logs errors traces',
}

interface PaletteAction {
  title: string
  operation: string
  to: string
  search: Record<string, string>
  words?: string
}

const actions: readonly PaletteAction[] = [
  { title: 'Create key', operation: 'keys.create', to: '/keys', search: { create: 'new' } },
  { title: 'Add provider', operation: 'providers.add', to: '/providers', search: { add: 'choose' } },
  { title: 'Add route', operation: 'routes.add', to: '/routing', search: { add: 'choose' } },
  {
    title: 'Add policy',
    operation: 'policies.add',
    to: '/settings/policies',
    search: { add: 'new' },
    words: 'budget rate limit quota',
  },
  { title: 'Show failed requests', operation: 'requests.list', to: '/requests', search: { errors: 'true' } },
]

function entry(
  title: string,
  kind: string,
  to: string,
  search: Record<string, string> = {},
  params: Record<string, string> = {},
): SearchMatch {
  return { key: `${kind} ${title}`, title, kind, to, params, search: { ...search } }
}
