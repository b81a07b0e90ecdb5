import { createHash } from 'node:crypto'
import type { AuditRow } from '../schema.ts'
import { canonicalJson, readJson } from '../sqlite/json-column.ts'
import type { AuditFlaw, AuditMark, AuditVerdict } from './audit-tables.ts'

/** What a line's hash covers: all of it, and by the hash before, every line before. */
export type HashedRow = Omit<AuditRow, 'hash'>

/** The current form. The first one had neither place, address nor project, nor the actor's id. */
export const chainForm = 2

/** SHA-256 over the hash before and the line's canonical JSON, in hex; the first line follows the empty text. */
export function hashLine(row: HashedRow): string {
  const line = row.form === 1 ? firstForm(row) : secondForm(row)
  return createHash('sha256').update(row.previous_hash).update(canonicalJson(line)).digest('hex')
}

function firstForm(row: HashedRow) {
  const { id, time, actor, surface, operation } = row
  return { id, time, actor, surface, operation, ...contentOf(row) }
}

function secondForm(row: HashedRow) {
  const { form, sequence, id, time, actor, actor_id, surface, address, operation, project_id } = row
  return { form, sequence, id, time, actor, actor_id, surface, address, operation, project_id, ...contentOf(row) }
}

function contentOf(row: HashedRow) {
  return {
    resource: { kind: row.resource_kind, id: row.resource_id, name: row.resource_name },
    before: readJson(row.before_json),
    after: readJson(row.after_json),
  }
}

/** Walks the chain line by line, in order, and keeps what it finds. */
export class ChainWalk {
  readonly #noted: string | null
  #lines = 0
  #last: AuditMark | null = null
  #flaw: AuditFlaw | null = null
  #noteAt: AuditMark | null = null

  /** `noted`: the hash at which the chain once stood, written down elsewhere. */
  constructor(noted: string | null) {
    this.#noted = noted
  }

  pass(row: AuditRow): void {
    const reason = this.#check(row)
    const mark = { sequence: row.sequence, id: row.id, time: row.time, hash: row.hash }
    if (reason !== null) this.#flaw ??= { ...mark, reason }
    // Behind a flaw nothing is proven: whoever altered one line may have written the rest anew.
    if (this.#flaw === null && row.hash === this.#noted) this.#noteAt = mark
    this.#last = mark
    this.#lines++
  }

  /** `written`: the number of the last line that the database remembers to have given. */
  end(written: number): AuditVerdict {
    if (written > (this.#last?.sequence ?? 0)) this.#flaw ??= this.#cutAt(written)
    return {
      lines: this.#lines,
      head: this.#last,
      flaw: this.#flaw,
      noted: this.#noted === null ? null : (this.#noteAt ?? 'missing'),
    }
  }

  #cutAt(written: number): AuditFlaw {
    const last = this.#last ?? { sequence: 0, id: '', time: '', hash: '' }
    return { ...last, reason: `lines up to number ${written} were written, and the ones after this are missing` }
  }

  #check(row: AuditRow): string | null {
    const due = (this.#last?.sequence ?? 0) + 1
    if (row.sequence !== due) return `line number ${due} is missing here`
    if (row.previous_hash !== (this.#last?.hash ?? '')) return 'it does not follow the line before it'
    return isRight(row) ? null : 'it was changed'
  }
}

function isRight(row: AuditRow): boolean {
  try {
    return hashLine(row) === row.hash
  } catch (error) {
    // Its JSON does not parse.
    if (error instanceof SyntaxError) return false
    throw error
  }
}
