import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Plugin } from 'esbuild'

/**
 * undici's pool loads HTTP/2, which `src/providers/http.ts` forbids it to speak. It does without, where Node was built
 * without; this is what it then puts in the place.
 */
export const leaveOutHttp2: Plugin = {
  name: 'leave-out-http2',
  setup(build) {
    build.onResolve({ filter: /^node:http2$/ }, ({ path }) => ({ path, namespace: 'absent' }))
    build.onLoad({ filter: /./, namespace: 'absent' }, () => ({ contents: 'module.exports = { constants: {} }' }))
  },
}

/** undici's parser on trial, 160 KB of text in every thread. Used only where the environment asks for it, which the bundle does not. */
export const leaveOutMilo: Plugin = {
  name: 'leave-out-milo',
  setup(build) {
    build.onLoad({ filter: /undici\/lib\/milo\/[a-z-]+\.js$/ }, () => ({
      contents: "throw new Error('left out of the bundle')",
    }))
  },
}

/**
 * zod's small form is a tenth of the whole one, but built on the same files, so that a bundle that holds both would
 * make everyone who uses the small one load the most of the whole. It gets a copy of its own.
 */
export const keepSmallZodApart: Plugin = {
  name: 'keep-small-zod-apart',
  setup(build) {
    const place = (path: string) => ({ path, namespace: 'small-zod', sideEffects: false })
    build.onResolve({ filter: /^zod\/mini$/ }, async ({ path, ...rest }) => {
      if (rest.pluginData === 'resolving') return
      const found = await build.resolve(path, { ...rest, pluginData: 'resolving' })
      return place(found.path)
    })
    build.onResolve({ filter: /^\./, namespace: 'small-zod' }, ({ path, resolveDir }) => place(join(resolveDir, path)))
    build.onLoad({ filter: /./, namespace: 'small-zod' }, async ({ path }) => ({
      contents: await readFile(path, 'utf8'),
      resolveDir: dirname(path),
    }))
  },
}

/** Of the fifty languages in which zod can complain, all of which it names, spgw speaks one. */
export const leaveOutLocales: Plugin = {
  name: 'leave-out-locales',
  setup(build) {
    build.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js'",
    }))
  },
}
