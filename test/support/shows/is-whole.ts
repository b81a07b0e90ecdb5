/** Whether all of what a show has is to be seen (`npm run shows`), and not the sample that fits among the tests. */
export const isWhole = process.env.SPGW_SHOWS === 'all'

const chance = Math.random()

/** One of so many, beginning by chance, so that all are seen over a few runs; all of them where the whole is shown. */
export function oneOf<Item>(many: number, items: readonly Item[]): Item[] {
  return isWhole ? [...items] : items.filter((_, at) => at % many === Math.floor(chance * many))
}

/**
 * Every second one, beginning by chance, so that all are seen over a few runs; all of them where the whole is shown. With the
 * next `turn` it is the others.
 */
export function half<Item>(items: readonly Item[], turn = 0): Item[] {
  return isWhole ? [...items] : items.filter((_, at) => (at + turn) % 2 === (chance < 0.5 ? 0 : 1))
}
