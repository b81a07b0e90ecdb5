import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** Runs a module in so many threads that begin together, and gives back what each of them posts. */
export async function runThreads<Answer>(module: URL, count: number, data: object): Promise<Answer[]> {
  const gate = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  const workers = Array.from(
    { length: count },
    (_, thread) => new Worker(module, { workerData: { ...data, gate, thread } }),
  )
  try {
    const answers = workers.map(async (worker) => {
      await once(worker, 'message')
      return once(worker, 'message')
    })
    await Promise.all(workers.map((worker) => once(worker, 'message')))
    Atomics.store(new Int32Array(gate), 0, 1)
    Atomics.notify(new Int32Array(gate), 0)
    return (await Promise.all(answers)).map(([answer]) => answer as Answer)
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()))
  }
}
