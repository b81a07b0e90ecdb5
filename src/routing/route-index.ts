import { compilePattern, isExact, type Pattern } from '../core/pattern.ts'

/** What of a route its validity depends on; the store's and the snapshot's routes both have it. */
export interface RouteShape {
  id: string
  projectId: string
  environmentId: string | null
  model: string
  targets: readonly { upstreamModel: string | null; weight: number; priority: number }[]
  shadow?: { upstreamModel: string | null } | null
}

/** Routes by what makes two of them the same or equally exact, so that thousands are checked in a few look-ups each. */
export class RouteIndex {
  readonly #byModel = new Map<string, RouteShape[]>()
  /** By scope and number of literal characters: only patterns of one group can tie. */
  readonly #groups = new Map<string, PatternGroup>()

  constructor(routes: readonly RouteShape[]) {
    for (const route of routes) {
      add(this.#byModel, `${scopeOf(route)} ${route.model}`, route)
      const pattern = compilePattern(route.model)
      // What has several stars is refused for that, and ties with nothing.
      if (pattern.parts.length === 2) this.#group(route, pattern).add(route, pattern)
    }
  }

  /** Another route of this scope with this model. */
  twin(route: RouteShape): RouteShape | null {
    const same = this.#byModel.get(`${scopeOf(route)} ${route.model}`) ?? []
    return same.find(({ id }) => id !== route.id) ?? null
  }

  /** Another pattern of this scope that is as exact and matches some of the same names. */
  rival(route: RouteShape): RouteShape | null {
    const pattern = compilePattern(route.model)
    return isExact(pattern) ? null : this.#group(route, pattern).rival(route, pattern)
  }

  #group(route: RouteShape, { literals }: Pattern): PatternGroup {
    const key = `${scopeOf(route)} ${literals}`
    const known = this.#groups.get(key)
    if (known !== undefined) return known
    const made = new PatternGroup()
    this.#groups.set(key, made)
    return made
  }
}

interface StarPattern {
  /** What stands on the star's other side, in an order in which its beginnings (or, turned around, its ends) lie together. */
  text: string
  route: RouteShape
}

/**
 * Patterns with one star and equally many literal characters. Of two that overlap, one begins with all that stands before the other's
 * star, and the other ends with all that stands behind the first one's: each is looked up by the shorter side as a whole.
 */
class PatternGroup {
  /** By what stands before the star; `text` is what stands behind it, turned around. */
  readonly #byStart = new Map<string, StarPattern[]>()
  /** By what stands behind the star; `text` is what stands before it. */
  readonly #byEnd = new Map<string, StarPattern[]>()
  #sorted = false

  add(route: RouteShape, { parts: [before = '', after = ''] }: Pattern): void {
    add(this.#byStart, before, { text: turned(after), route })
    add(this.#byEnd, after, { text: before, route })
    this.#sorted = false
  }

  rival(route: RouteShape, { parts: [before = '', after = ''] }: Pattern): RouteShape | null {
    this.#sort()
    const end = turned(after)
    for (let length = 0; length <= before.length; length++) {
      const found = firstWith(this.#byStart.get(before.slice(0, length)), end, route.id)
      if (found !== null) return found
    }
    for (let length = 0; length < after.length; length++) {
      const found = firstWith(this.#byEnd.get(after.slice(after.length - length)), before, route.id)
      if (found !== null) return found
    }
    return null
  }

  #sort(): void {
    if (this.#sorted) return
    for (const lists of [this.#byStart, this.#byEnd])
      for (const list of lists.values()) list.sort((one, other) => (one.text < other.text ? -1 : 1))
    this.#sorted = true
  }
}

/** The first in a sorted list whose text begins so, and that is not the route itself. */
function firstWith(list: readonly StarPattern[] | undefined, start: string, id: string): RouteShape | null {
  if (list === undefined) return null
  let from = 0
  for (let to = list.length; from < to; ) {
    const middle = (from + to) >> 1
    if ((list[middle]?.text ?? '') < start) from = middle + 1
    else to = middle
  }
  for (const { text, route } of list.slice(from, from + 2)) {
    if (!text.startsWith(start)) return null
    if (route.id !== id) return route
  }
  return null
}

const turned = (text: string) => text.split('').reverse().join('')

/** `\n` stands in no name. */
function scopeOf({ projectId, environmentId }: RouteShape): string {
  return `${projectId}\n${environmentId ?? ''}\n`
}

function add<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}
