/**
 * A module that is loaded with its first use, and that later uses have without a promise: to import what is there already asks
 * the module loader again each time.
 */
export function loadOnce<Loaded extends object>(load: () => Promise<Loaded>): () => Loaded | Promise<Loaded> {
  let loaded: Loaded | null = null
  return () => loaded ?? load().then((found) => (loaded = found))
}
