import type { Upload } from '../upload/upload.ts'
import type { BodyLease } from './body-memory.ts'
import type { MemoryBudget, MemoryHolder } from './memory-budget.ts'

const empty = Buffer.alloc(0)

/** The body of one request, and all that holding it takes. It is released once, when the request has its end. */
export class RequestBody implements MemoryHolder {
  bytes: Buffer = empty
  /** In place of `bytes`, which is empty then: a body that goes up while it arrives. */
  upload: Upload | null = null
  /** Where `bytes` lies, if that memory is used again. */
  lease: BodyLease | null = null
  /** Bytes of the memory budget. */
  reserved = 0

  release(budget: MemoryBudget): void {
    this.upload?.close()
    if (this.reserved > 0) budget.release(this)
    this.lease?.end()
  }
}
