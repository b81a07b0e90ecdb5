import type { Socket } from 'node:net'
import pg from 'pg'

/** What pg's connection does of `COPY`, which its types leave out. */
interface CopyConnection {
  readonly stream: Socket
  endCopyFrom(): void
}

/** A message of data: this letter, its length with these four bytes, the data. */
const dataLetter = 'd'.charCodeAt(0)
const lengthBytes = 4

/** A `COPY … FROM STDIN` with all that it is to take: pg's own query, which has nothing to give when PostgreSQL asks for it. */
class CopyQuery extends pg.Query {
  readonly #data: Uint8Array
  /** Called once, by pg: at the end, or when its time is over. */
  callback: (error: Error | null) => void

  constructor(text: string, data: Uint8Array, callback: (error: Error | null) => void) {
    super(text)
    this.#data = data
    this.callback = callback
  }

  /** Written as it is: pg would copy it, into memory that stays until V8 looks for garbage. */
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

/** Rejects with what PostgreSQL refuses it with. The data must stay until PostgreSQL has answered what is asked next. */
export async function copyFrom(client: pg.Client, text: string, data: Uint8Array): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    client.query(new CopyQuery(text, data, (error) => (error === null ? resolve() : reject(error))))
  })
}
