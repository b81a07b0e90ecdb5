import { subscribe } from 'node:diagnostics_channel'
import { registerHooks } from 'node:module'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getEnvironmentData } from 'node:worker_threads'
import { enterName } from './instrument.ts'
import { callListSlots, type TraceStart } from './trace.ts'

/** A data-plane thread whose sources are replaced, while they are loaded, by instrumented ones. */
const { root, sources, memory } = getEnvironmentData('trace') as TraceStart
const calls = new Int32Array(memory)
const { recording, count, answered, first } = callListSlots

Object.assign(globalThis, {
  [enterName]: (id: number) => {
    if (calls[recording] === 1) calls[first + calls[count]!++] = id
  },
})
subscribe('http.server.response.finish', () => {
  calls[answered] = calls[count]!
})
registerHooks({
  load(url, context, nextLoad) {
    const path = url.startsWith('file:') ? relative(root, fileURLToPath(url)).replaceAll('\\', '/') : ''
    const source = sources[path]
    return source === undefined ? nextLoad(url, context) : { format: 'module-typescript', source, shortCircuit: true }
  },
})
await import('../../src/gateway/thread/thread.ts')
