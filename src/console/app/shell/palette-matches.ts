import { findRequestId } from '../../../core/ids.ts'

/** One search result and its address. */
export interface SearchMatch {
  key: string
  title: string
  /** What it is, in a word. */
  kind: string
  to: string
  params: Record<string, string>
  search: Record<string, string>
  /** Other words that people look for it with. */
  words?: string
}

export interface SearchIndex {
  keys: readonly { id: string; name: string; last_four: string; project: string; environment: string; state: string }[]
  routes: readonly { id: string; model: string; project: string; environment: string | null }[]
  providers: readonly { id: string; name: string; kind: string }[]
  policies: readonly { id: string; name: string }[]
  /** Pages, actions and operations that are always there, in this order. */
  fixed: readonly SearchMatch[]
  may(operation: string, project?: string): boolean
}

const mostMatches = 12

/** Every word that was typed must occur; names come before actions on them, and both before what is always there. */
export function findMatches(typed: string, known: SearchIndex): SearchMatch[] {
  const text = typed.trim()
  if (text === '') return known.fixed.filter(({ kind }) => kind !== operationKind).slice(0, mostMatches)
  const id = findRequestId(text) ?? (/^req_/i.test(text) ? text.toLowerCase() : null)
  if (id !== null) return [request(id)]
  const words = text.toLowerCase().split(/\s+/)
  const found = candidates(known, text)
    .map(({ match, name, more, order }) => ({
      match,
      order: order + rankOf(words, name.toLowerCase(), `${match.kind} ${more}`.toLowerCase()),
    }))
    .filter(({ order }) => Number.isFinite(order))
    .sort((left, right) => left.order - right.order)
    .map(({ match }) => match)
  // A whole key stays out of addresses.
  return text.includes('sp_live_') ? found : [...found.slice(0, mostMatches - 1), ofModel(text)]
}

export const operationKind = 'Operation'

interface Candidate {
  match: SearchMatch
  /** What it is found by, first of all. */
  name: string
  /** Other words that find it. */
  more: string
  order: number
}

const far = 10

function candidates({ keys, routes, providers, policies, fixed, may }: SearchIndex, text: string): Candidate[] {
  const plain = (match: SearchMatch, more = '', order = 0, name = match.title): Candidate => ({
    match,
    name,
    more,
    order,
  })
  return [
    ...keys.flatMap((key) => [
      plain(keyMatch(key), `${key.id} ${endsAs(key.last_four, text) ? text : ''}`, 0, key.name),
      ...keyActions(key, may).map((match) => plain(match, '', 2 * far)),
    ]),
    ...routes.flatMap((route) => [
      plain(routeMatch(route), route.id),
      ...routeActions(route, may).map((match) => plain(match, '', 2 * far)),
    ]),
    ...providers.flatMap((provider) => [
      plain(providerMatch(provider), provider.id),
      ...providerActions(provider, may).map((match) => plain(match, '', 2 * far)),
    ]),
    ...policies.map((policy) => plain(policyMatch(policy), policy.id)),
    ...fixed.map((match) => plain(match, match.words ?? '', match.kind === operationKind ? 3 * far : far)),
  ]
}

/** The less, the better; infinite where a word does not occur. */
function rankOf(words: readonly string[], title: string, more: string): number {
  if (!words.every((word) => title.includes(word) || more.includes(word))) return Number.POSITIVE_INFINITY
  const [first = ''] = words
  if (title === words.join(' ')) return -2 * far
  if (title.startsWith(first)) return 0
  return title.includes(first) ? 1 : 2
}

/** `a1b2`, `…a1b2`, or a whole pasted key: only its last four characters are compared. */
function endsAs(lastFour: string, text: string): boolean {
  return text.length >= 4 && text.endsWith(lastFour)
}

function request(id: string): SearchMatch {
  return { key: id, title: id, kind: 'Request', to: '/requests/$id', params: { id }, search: {} }
}

function ofModel(model: string): SearchMatch {
  return { key: 'model', title: model, kind: 'Requests for this model', to: '/requests', params: {}, search: { model } }
}

function keyMatch({ id, name, last_four, project, environment }: SearchIndex['keys'][number]): SearchMatch {
  const kind = `Key in ${project}/${environment}`
  return { key: id, title: `${name} …${last_four}`, kind, to: '/keys/$key', params: { key: id }, search: {} }
}

function routeMatch({ id, model, project, environment }: SearchIndex['routes'][number]): SearchMatch {
  const kind = `Route in ${project}/${environment ?? 'all'}`
  return { key: id, title: model, kind, to: '/routing/$route', params: { route: id }, search: {} }
}

function providerMatch({ id, name, kind }: SearchIndex['providers'][number]): SearchMatch {
  return { key: id, title: name, kind: `Provider, ${kind}`, to: '/providers/$name', params: { name }, search: {} }
}

function policyMatch({ id, name }: SearchIndex['policies'][number]): SearchMatch {
  const params = { section: 'policies' }
  return { key: id, title: name, kind: 'Policy', to: '/settings/$section', params, search: { find: name } }
}

type May = SearchIndex['may']

/** What is done on the page of a resource: its address opens the dialog. */
function keyActions(key: SearchIndex['keys'][number], may: May): SearchMatch[] {
  if (key.state === 'revoked' || !may('keys.edit', key.project)) return []
  return [
    action('Rotate', 'rotate', key.name, keyMatch(key)),
    action('Edit', 'edit', key.name, keyMatch(key)),
    action('Revoke', 'revoke', key.name, keyMatch(key)),
  ]
}

function routeActions(route: SearchIndex['routes'][number], may: May): SearchMatch[] {
  const explain = action('Explain', 'explain', route.model, routeMatch(route))
  if (!may('routes.edit', route.project)) return [explain]
  return [
    explain,
    action('Test', 'test', route.model, routeMatch(route)),
    action('Edit', 'edit', route.model, routeMatch(route)),
  ]
}

function providerActions(provider: SearchIndex['providers'][number], may: May): SearchMatch[] {
  if (!may('providers.edit')) return []
  const check = action('Check', 'check', provider.name, providerMatch(provider))
  return [...(provider.kind === 'demo' ? [] : [check]), action('Edit', 'edit', provider.name, providerMatch(provider))]
}

function action(verb: string, word: string, name: string, of: SearchMatch): SearchMatch {
  return { ...of, key: `${word} ${of.key}`, title: `${verb} ${name}`, search: { do: word } }
}
