import type { BodyReading } from '../contract.ts'
import { WholeReader } from '../whole-reader.ts'

/** Of an upload that goes on only the last answer has a body. Source: wire/lanes.md, section 3.4. */
export class UploadReader extends WholeReader {
  constructor() {
    super({ model: '', id: 'name', usage: '', readUsage: () => null })
  }

  override body(bytes: Buffer): BodyReading {
    return bytes.length === 0 ? { wrong: null } : super.body(bytes)
  }
}
