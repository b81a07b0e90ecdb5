import type { Plugin } from 'esbuild'

/**
 * An ES import of a part of Node calls every getter that this has, and `node:http` has some behind which lie Node's own
 * fetch and HTTP/2: 10 MB of memory that nothing here uses. `require` calls none.
 */
export const requireBuiltins: Plugin = {
  name: 'require-builtins',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'require-call' ? { path, external: true } : { path, namespace: 'builtin' },
    )
    build.onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)})`,
    }))
  },
}

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
