import type { HeldInput } from '../../core/objects/batch-input.ts'
import type { PartAnswer, UploadPart } from '../../core/objects/object-question.ts'

/** For all unfinished lines together; beyond it the oldest are dropped, and their files count as unknown. */
const mostBytes = 32 * 1024 * 1024
const mostUploads = 1000

/** `call`: goes on with it now; '': two did, or one left a part out, or it is over, so nobody knows it; null: the next may. */
type HeldUpload = Pick<UploadPart, 'offset' | 'held'> & { call: string | null }

/**
 * Uploads of files that come in several calls, which may come to several threads: here, in memory, is the one place that knows how far each
 * is. A call that is not the only one to go on at its byte makes the file unknown. Nodes that share it have it in PostgreSQL
 * (`SharedUploads`).
 */
export class HeldInputs {
  readonly #uploads = new Map<string, HeldUpload>()
  #bytes = 0

  answer({ step, name, call, offset, held }: UploadPart): PartAnswer {
    const before = this.#uploads.get(name) ?? { call: null, offset: 0, held: null }
    if (step === 'take') {
      const known = before.call === null && before.offset === offset
      this.#set(name, { call: known ? call : '', offset, held: known ? before.held : null })
      return { known, held: known ? before.held : null }
    }
    const known = before.call === call
    if (known && step === 'leave') this.#set(name, { ...before, call: null })
    else if (known) this.#set(name, { call: held === null ? '' : null, offset, held })
    return { known, held: null }
  }

  #set(name: string, upload: HeldUpload): void {
    this.#remove(name)
    this.#uploads.set(name, upload)
    this.#bytes += sizeOf(upload)
    for (const oldest of this.#uploads.keys()) {
      if (this.#bytes <= mostBytes && this.#uploads.size <= mostUploads) return
      this.#remove(oldest)
    }
  }

  #remove(name: string): void {
    const upload = this.#uploads.get(name)
    if (upload === undefined) return
    this.#bytes -= sizeOf(upload)
    this.#uploads.delete(name)
  }
}

function sizeOf({ held }: HeldUpload): number {
  return (held as HeldInput | null)?.rest.length ?? 0
}
