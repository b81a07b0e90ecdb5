/**
 * A module that is loaded with its first use, and that later uses have at once: to import what is there already costs a
 * turn of the module loader, which is a tenth of a whole request.
 */
export function loadOnce<Loaded extends object>(load: () => Promise<Loaded>): () => Loaded | Promise<Loaded> {
  let loaded: Loaded | null = null
  return () => loaded ?? load().then((found) => (loaded = found))
}
