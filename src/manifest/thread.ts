import { parentPort, workerData } from 'node:worker_threads'
import { readDocuments } from './read.ts'
import { type ReadRequest, toMessage } from './thread-message.ts'

/** A thread of its own, for one call: a parser of YAML takes as long as a file makes it take, and cannot be stopped in between. */
const { documents, variables } = workerData as ReadRequest
parentPort?.postMessage(toMessage(readDocuments(documents, variables)))
