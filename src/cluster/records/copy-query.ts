import type { Socket } from 'node:net'
import pg from 'pg'

/** The part of pg's connection that `COPY` uses and its types leave out. */
interface CopyConnection {
  readonly stream: Socket
  endCopyFrom(): void
}

/** A data message: this letter, its length including these four bytes, the data. */
const dataLetter = 'd'.charCodeAt(0)
const lengthBytes = 4

/** A `COPY … FROM STDIN` with all of its data, since pg's own query has none to send. */
class CopyQuery extends pg.Query {
  readonly #data: Uint8Array
  /** Called once by pg: at the end, or after a timeout. */
  callback: (error: Error | null) => void

  constructor(text: string, data: Uint8Array, callback: (error: Error | null) => void) {
    super(text)
    this.#data = data
    this.callback = callback
  }

  /** Written without a copy: pg would copy the data into memory that stays until V8 collects it. */
  handleCopyInResponse(connection: CopyConnection): void {
    const { stream } = connection
    const head = Buffer.alloc(1 + lengthBytes, dataLetter)
    head.writeInt32BE(lengthBytes + this.#data.length, 1)
    stream.cork()
    stream.write(head)
    stream.write(this.#data)
    connection.endCopyFrom()
    stream.uncork()
  }
}

/** Rejects with PostgreSQL's error. The data must not change until PostgreSQL has answered the next question. */
export async function copyFrom(client: pg.Client, text: string, data: Uint8Array): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    client.query(new CopyQuery(text, data, (error) => (error === null ? resolve() : reject(error))))
  })
}
