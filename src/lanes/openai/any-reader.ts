import type { BodyReading } from '../contract.ts'
import { WholeReader } from '../whole-reader.ts'

/** For answers that need not be JSON: bytes, plain text, or nothing at all. What is JSON is read. */
export class AnyReader extends WholeReader {
  override body(bytes: Buffer): BodyReading {
    super.body(bytes)
    return { wrong: null }
  }
}
