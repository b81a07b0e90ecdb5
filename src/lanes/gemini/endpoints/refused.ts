import type { Endpoint } from '../../contract.ts'
import { refuse, row } from '../../endpoint-row.ts'

const agents =
  "the provider's hosted agents act with the account's own credentials and environments, which no project owns"
const webhooks = "the provider's webhooks tell of the whole account, which no project owns"
const voices = "the account's own voices are its operator's to make and to remove"
const storage = 'it makes the provider read cloud storage with rights that are not those of the gateway key'
const openai = 'the OpenAI format has a lane of its own, at /v1'

/** Source: wire/lanes.md, section 3.3. */
export const refused: readonly Endpoint[] = [
  row('files.register', 'POST /{version}/files:register', { served: 'nobody', why: storage }),
  ...refuse('agents', '/{version}/agents', agents),
  ...refuse('environments', '/{version}/environments', agents),
  ...refuse('environments', '/upload/{version}/environments', agents),
  ...refuse('triggers', '/{version}/triggers', agents),
  ...refuse('credentials', '/{version}/credentials', agents),
  ...refuse('webhooks', '/{version}/webhooks', webhooks),
  ...refuse('voices', '/{version}/voices', voices),
  ...refuse('openai', '/{version}/openai', openai),
]
