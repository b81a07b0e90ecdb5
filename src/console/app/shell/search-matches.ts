/** One search result and its address. */
export interface SearchMatch {
  key: string
  title: string
  /** What it is, in a word. */
  kind: string
  to: string
  params: Record<string, string>
  search: Record<string, string>
}

export interface SearchIndex {
  keys: readonly { id: string; name: string; last_four: string; project: string; environment: string }[]
  routes: readonly { id: string; model: string; project: string; environment: string | null }[]
  providers: readonly { id: string; name: string; kind: string }[]
}

const mostMatches = 10

export function findMatches(typed: string, known: SearchIndex): SearchMatch[] {
  const text = typed.trim()
  if (text === '') return []
  if (/^req_/i.test(text)) return [request(text)]
  const wanted = text.toLowerCase()
  const has = (...words: string[]) => words.some((word) => word.toLowerCase().includes(wanted))
  const found: SearchMatch[] = [
    ...known.keys.filter(({ name, last_four, id }) => has(name, id) || endsAs(last_four, text)).map(keyMatch),
    ...known.routes.filter(({ model }) => has(model)).map(routeMatch),
    ...known.providers.filter(({ name, kind }) => has(name, kind)).map(providerMatch),
  ]
  const ofModel: SearchMatch = {
    key: 'model',
    title: text,
    kind: 'Requests for this model',
    to: '/requests',
    params: {},
    search: { model: text },
  }
  return [...found.slice(0, mostMatches - 1), ofModel]
}

/** `a1b2`, `…a1b2`, or a whole pasted key: only its last four characters are compared. */
function endsAs(lastFour: string, text: string): boolean {
  return text.length >= 4 && text.endsWith(lastFour)
}

function request(id: string): SearchMatch {
  return { key: id, title: id, kind: 'Request', to: '/requests/$id', params: { id }, search: {} }
}

function keyMatch({ id, name, last_four, project, environment }: SearchIndex['keys'][number]): SearchMatch {
  const title = `${name} …${last_four}`
  return { key: id, title, kind: `Key in ${project}/${environment}`, to: '/keys/$key', params: { key: id }, search: {} }
}

function routeMatch({ id, model, project, environment }: SearchIndex['routes'][number]): SearchMatch {
  const kind = `Route in ${project}/${environment ?? 'all'}`
  return { key: id, title: model, kind, to: '/routing/$route', params: { route: id }, search: {} }
}

function providerMatch({ id, name, kind }: SearchIndex['providers'][number]): SearchMatch {
  return { key: id, title: name, kind: `Provider, ${kind}`, to: '/providers/$name', params: { name }, search: {} }
}
