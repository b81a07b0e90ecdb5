import pg from 'pg'

/** What pg's connection does of `COPY`, which its types leave out. */
interface CopyConnection {
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

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

  handleCopyInResponse(connection: CopyConnection): void {
    connection.sendCopyFromChunk(Buffer.from(this.#data.buffer, this.#data.byteOffset, this.#data.byteLength))
    connection.endCopyFrom()
  }
}

/** Rejects with what PostgreSQL refuses it with. */
export async function copyFrom(client: pg.Client, text: string, data: Uint8Array): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    client.query(new CopyQuery(text, data, (error) => (error === null ? resolve() : reject(error))))
  })
}
