/**
 * Loads a module with its first use. Later uses get it without a promise: `import()` would ask the module loader again
 * each time.
 */
export function loadOnce<Loaded extends object>(load: () => Promise<Loaded>): () => Loaded | Promise<Loaded> {
  let loaded: Loaded | null = null
  return () => loaded ?? load().then((found) => (loaded = found))
}
